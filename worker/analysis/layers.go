package analysis

import (
	"regexp"
	"strings"
)

// allocators matches functions that allocate on behalf of their caller: never the one to blame when they stand
// at the inner end of a stack. Compilers and debuggers print the same function in several spellings, so
// leading underscores and trailing decorations are open where they vary.
var allocators = regexp.MustCompile(`^(?:` + strings.Join([]string{
	// ntdll
	`RtlAllocateHeap|RtlReAllocateHeap|RtlCreateHeap|RtlExtendHeap|RtlDebug(?:Re)?AllocateHeap|RtlAllocateHeapSlowl.*`,
	`Rtlp(?:Re)?AllocateHeap.*|RtlpLowFragHeap.*|RtlpHp.*|RtlpExtendHeap|RtlpFindAndCommitPages|RtlpCommit.*|RtlpGrow.*|RtlpCreateUCREntry`,
	`RtlpCallInterceptRoutine|RtlpLogHeap.*|(?:Nt|Zw)AllocateVirtualMemory(?:Ex)?|(?:Nt|Zw)MapViewOfSection.*`,
	// kernel32, KERNELBASE
	`(?:Heap|Local|Global)(?:Re)?Alloc(?:Stub)?|VirtualAlloc(?:Ex|ExNuma|2|FromApp)?(?:Stub)?|MapViewOfFile.*|CreateFileMapping.*`,
	// C run time
	`_*(?:malloc|calloc|realloc)(?:_base|_dbg|_impl|_crt)?|_recalloc.*|_expand.*|_*heap_alloc.*|_*nh_malloc.*|_aligned_(?:offset_)?(?:malloc|realloc).*`,
	`_*(?:str|wcs|mbs)dup(?:_dbg)?|operator new(?:\[\])?.*`,
	// COM, OLE
	`CoTaskMem(?:Alloc|Realloc)|CRetailMalloc_.*|CSpyMalloc_.*|IMallocAlloc|APP_DATA::.*|Sys(?:Re)?AllocString.*|SafeArray(?:Alloc|Create).*|VariantCopy.*`,
	// CLR
	`EEHeapAlloc.*|EEVirtualAlloc.*|Clr(?:Virtual)?Alloc.*|CExecutionEngine::.*|UnlockedLoaderHeap::.*`,
	// other allocators
	`(?:mi|je|tc)_.*|tcmalloc::.*|scalable_(?:malloc|calloc|realloc)|rpmalloc.*|dl(?:malloc|calloc|realloc)|PartitionAlloc.*|allocator_shim::.*|base::allocator::.*|g_malloc.*|g_slice_alloc.*|moz_x(?:malloc|realloc|calloc).*`,
}, "|") + `)$`)

// threadStarts matches functions that every stack of a thread has at its outer end.
var threadStarts = regexp.MustCompile(`^(?:_*RtlUserThreadStart|BaseThreadInitThunk|BaseThreadStart|BaseProcessStart|_*(?:w?main|w?WinMain)CRTStartup|__scrt_common_main.*|invoke_main|__tmainCRTStartup|thread_start.*|_?threadstart(?:ex)?|_beginthread.*|TppWorkerThread|TppWorkpExecuteCallback|TppSimplepExecuteCallback|RtlpTpWorkCallback|LdrpCallInitRoutine|LdrpInitializeThread)$`)

// Modules of the run-time libraries, for frames that have no name: an unnamed frame in one of them at the inner
// end of a stack is taken for the allocator, one in the system's at the outer end for the thread's start.
var (
	allocatorModules   = regexp.MustCompile(`^(?i:ntoskrnl|ntkrnlmp|ntkrnlpa|ntkrpamp|ntdll|kernelbase|kernel32|ucrtbased?|msvcrt|msvcr\d+d?|vcruntime\d+d?)$`)
	threadStartModules = regexp.MustCompile(`^(?i:ntdll|kernel32|kernelbase)$`)
)

// inKernel reports whether an address lies in the half of 64-bit Windows that is the kernel's: the inner end of the stacks
// of system calls.
func inKernel(address uint64) bool { return address >= 0xFFFF800000000000 }

// isAllocator reports whether a frame at the inner end of a stack belongs to the allocator.
func isAllocator(f *Frame) bool {
	if f.Function == "" {
		return allocatorModules.MatchString(f.Module)
	}
	return allocators.MatchString(f.Function)
}

// isThreadStart reports whether a frame at the outer end of a stack belongs to the start of the thread.
func isThreadStart(f *Frame) bool {
	if f.Function == "" {
		return threadStartModules.MatchString(f.Module)
	}
	return threadStarts.MatchString(f.Function)
}
