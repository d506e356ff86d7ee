package analysis

import "heapdrift/ingest/capture"

// UseNames are what tools call a use of the address space.
type UseNames struct {
	Title   string // here
	WinDbg  string // in !address -summary
	Classic string // in !address -summary of old debuggers
	Meaning string
}

var useNames = map[capture.UseName]UseNames{
	capture.UsePrivate: {"VirtualAlloc", "<unknown>", "RegionUsageIsVAD",
		"private memory that is in no heap and no stack: VirtualAlloc by the program, its libraries or its runtime"},
	capture.UseHeap: {"Heaps", "Heap", "RegionUsageHeap",
		"segments and virtual blocks of the heaps that HeapAlloc serves, malloc and new mostly with it"},
	capture.UseUnreached: {"Heap blocks without a pointer", "Heap", "RegionUsageHeap",
		"parts of heaps that are mostly blocks which no pointer was found to"},
	capture.UsePageHeap: {"Page heap", "PageHeap", "RegionUsagePageHeap",
		"the heaps of gflags +hpa or Application Verifier, with pages of their own for every block"},
	capture.UseManaged: {"Managed heaps", "<unknown>", "RegionUsageIsVAD", "memory of the garbage collector of .NET"},
	capture.UseStack:   {"Thread stacks", "Stack", "RegionUsageStack", "the stacks of threads, as far as they may grow"},
	capture.UseImage:   {"Images", "Image", "RegionUsageImage", "programs and libraries"},
	capture.UseMapped:  {"Mapped files", "MappedFile", "RegionUsageIsVAD", "files and shared sections"},
	capture.UsePEB:     {"PEB", "PEB", "RegionUsagePeb", "the environment block of the process"},
	capture.UseTEB:     {"TEBs", "TEB", "RegionUsageTeb", "the environment blocks of threads"},
	capture.UseSystem: {"System", "Other", "RegionUsageEnvironmentBlock, RegionUsageProcessParametrs",
		"what the evidence counts as the system's"},
	capture.UseFree: {"Free", "Free", "RegionUsageFree", "address space that nothing has taken"},
}

// NamesOfUse is what tools call a use.
func NamesOfUse(use capture.UseName) UseNames {
	if w, ok := useNames[use]; ok {
		return w
	}
	return UseNames{Title: string(use)}
}

// Committed is what all uses commit.
func Committed(s *capture.Space) (bytes int64) {
	for i := range s.Uses {
		bytes += s.Uses[i].Committed
	}
	return bytes
}

// UsedAddressSpace is the address space that is not free.
func UsedAddressSpace(s *capture.Space) (bytes int64) {
	for i := range s.Uses {
		if s.Uses[i].Name != capture.UseFree {
			bytes += s.Uses[i].Reserved
		}
	}
	return bytes
}

// UsedBelowLimit is the address space that is not free and that the program can use: the 64-bit side of a 32-bit one
// lies above that.
func UsedBelowLimit(s *capture.Space) (bytes int64) {
	if s.Bits != 32 || s.Map == nil || s.Map.LeftOut {
		return UsedAddressSpace(s)
	}
	limit := int64(4 << 30)
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	for i := range s.Map.Stretches {
		st := &s.Map.Stretches[i]
		if below := limit - int64(st.Address); below >= st.Size {
			bytes += st.Taken
		} else if below > 0 {
			bytes += min(st.Taken, below)
		}
	}
	return bytes
}

// Fragmentation is the part of the free address space outside of its largest hole, as DebugDiag counts it; ok is false
// where the evidence does not tell.
func Fragmentation(s *capture.Space) (part float64, ok bool) {
	for i := range s.Uses {
		if u := &s.Uses[i]; u.Name == capture.UseFree && u.Reserved > 0 && s.LargestFree > 0 {
			return 1 - float64(min(s.LargestFree, u.Reserved))/float64(u.Reserved), true
		}
	}
	return 0, false
}

// Unexplained is what the system charges the process beyond the private bytes of all uses; ok is false where the
// evidence does not tell one of them. VMMap gives the sum of its regions for both numbers. They are equal to the byte,
// which no count of the system's is, so that they tell nothing about the rest.
func Unexplained(s *capture.Space) (private, rest int64, ok bool) {
	for i := range s.Uses {
		private += s.Uses[i].Private
	}
	return private, s.PrivateBytes - private, s.PrivateBytes > 0 && private > 0 && s.PrivateBytes != private
}
