package footprint

import "heapdrift/ingest/capture"

// A UseNames has the names of one use of the address space, in heapdrift and in other tools.
type UseNames struct {
	Title   string // in heapdrift
	WinDbg  string // in !address -summary
	Classic string // in !address -summary of old debuggers
	Meaning string // what it is, in a sentence
}

var useNames = map[capture.UseName]UseNames{
	capture.UsePrivate: {"VirtualAlloc", "<unknown>", "RegionUsageIsVAD",
		"private memory outside heaps and stacks: VirtualAlloc by the program, its libraries or its runtime"},
	capture.UseHeap: {"Heaps", "Heap", "RegionUsageHeap",
		"segments and virtual blocks of Windows heaps: HeapAlloc, usually also malloc and new"},
	capture.UseUnreached: {"Heap blocks without a pointer", "Heap", "RegionUsageHeap",
		"parts of heaps where most blocks have no pointer to them"},
	capture.UsePageHeap: {"Page heap", "PageHeap", "RegionUsagePageHeap",
		"the heaps of gflags +hpa or Application Verifier, with pages of their own for every block"},
	capture.UseManaged: {"Managed heaps", "<unknown>", "RegionUsageIsVAD", "memory of the .NET garbage collector"},
	capture.UseStack:   {"Thread stacks", "Stack", "RegionUsageStack", "stacks of threads, with the part reserved for growth"},
	capture.UseImage:   {"Images", "Image", "RegionUsageImage", "programs and libraries"},
	capture.UseMapped:  {"Mapped files", "MappedFile", "RegionUsageIsVAD", "files and shared sections"},
	capture.UsePEB:     {"PEB", "PEB", "RegionUsagePeb", "the environment block of the process"},
	capture.UseTEB:     {"TEBs", "TEB", "RegionUsageTeb", "the environment blocks of threads"},
	capture.UseSystem: {"System", "Other", "RegionUsageEnvironmentBlock, RegionUsageProcessParametrs",
		"memory that the evidence assigns to the system"},
	capture.UseFree: {"Free", "Free", "RegionUsageFree", "address space that is not in use"},
}

// NamesOfUse returns the names of a use.
func NamesOfUse(use capture.UseName) UseNames {
	if w, ok := useNames[use]; ok {
		return w
	}
	return UseNames{Title: string(use)}
}

// CommittedBytes is the sum of the committed bytes of all uses.
func CommittedBytes(s *capture.Space) (bytes int64) {
	for i := range s.Uses {
		bytes += s.Uses[i].Committed
	}
	return bytes
}

// UsedAddressSpace is how many bytes of the address space are not free.
func UsedAddressSpace(s *capture.Space) (bytes int64) {
	for i := range s.Uses {
		if s.Uses[i].Name != capture.UseFree {
			bytes += s.Uses[i].Reserved
		}
	}
	return bytes
}

// UsedBelowLimit is how many bytes of the address space are not free, below the limit of the program. A 32-bit program
// has 64-bit modules above its limit.
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

// Fragmentation is the part of the free address space, from 0 to 1, that lies outside of the largest free range, as
// DebugDiag counts it; ok is false if unknown.
func Fragmentation(s *capture.Space) (part float64, ok bool) {
	for i := range s.Uses {
		if u := &s.Uses[i]; u.Name == capture.UseFree && u.Reserved > 0 && s.LargestFree > 0 {
			return 1 - float64(min(s.LargestFree, u.Reserved))/float64(u.Reserved), true
		}
	}
	return 0, false
}

// Unexplained splits the system's count of private bytes. explained is the sum over all uses. unexplained is the count
// minus this sum, and negative where the sum is more. ok is false where one of the two is unknown. VMMap gives the sum
// of its regions for both numbers: if they are equal to the byte, the rest is unknown.
func Unexplained(s *capture.Space) (explained, unexplained int64, ok bool) {
	for i := range s.Uses {
		explained += s.Uses[i].Private
	}
	ok = s.PrivateBytes > 0 && explained > 0 && s.PrivateBytes != explained
	return explained, s.PrivateBytes - explained, ok
}
