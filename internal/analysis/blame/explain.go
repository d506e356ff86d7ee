package blame

import "strings"

// explanations say why a rule of the core gives a frame its layer.
var explanations = map[string]string{
	"tool/module":     "The image belongs to a tool that watches allocations, such as Application Verifier; its frames are skipped.",
	"tool/verifier":   "Application Verifier or page heap replaces the heap here; its frames are skipped.",
	"tool/debug-heap": "The heap's debugging code runs here because the process is debugged or checked; its frames are skipped.",
	"tool/hook":       "A tool that records allocations has hooked the allocator; its frames are skipped.",

	"alloc/ntdll":        "A function of the Windows heap or of the system calls below it: it allocates for its caller.",
	"alloc/kernel32":     "HeapAlloc, VirtualAlloc or another of Windows' allocation functions: it allocates for its caller.",
	"alloc/crt":          "malloc or another allocation function of the C run time: it allocates for its caller.",
	"alloc/new":          "operator new: it allocates for its caller.",
	"alloc/com":          "CoTaskMemAlloc, SysAllocString or another allocation function of COM and RPC: it allocates for its caller.",
	"alloc/clr":          "An allocation function of the .NET run time: it allocates for its caller.",
	"alloc/mimalloc":     "A function of mimalloc: it allocates for its caller.",
	"alloc/jemalloc":     "A function of jemalloc: it allocates for its caller.",
	"alloc/tcmalloc":     "A function of tcmalloc: it allocates for its caller.",
	"alloc/tbb":          "A function of oneTBB's allocator: it allocates for its caller.",
	"alloc/wrapper":      "A wrapper around malloc with a common name: it allocates for its caller.",
	"alloc/checkers":     "A function by which a leak detector replaces malloc: it allocates for its caller.",
	"alloc/others":       "A function of a known allocator library: it allocates for its caller.",
	"alloc/module":       "The image is an allocator library: at the inner end of a stack, its functions allocate for their caller.",
	"alloc/unnamed":      "The function is unknown. At the inner end of a stack, code of this system or run-time image is the allocator.",
	"alloc/inside-ntdll": "A function of ntdll that the Windows heap called: it allocates for its caller.",
	"alloc/kernel":       "The address is in the kernel: a system call that allocates.",

	"heap-growth/nt":  "The Windows heap takes more memory from the system here, for all its users: counted, not blamed.",
	"heap-growth/clr": "The .NET garbage collector takes more memory from the system here: counted, not blamed.",

	"plumbing/crt":           "A function of the C run time that allocates for its caller: the caller is blamed.",
	"plumbing/stl":           "Code of the C++ standard library: its caller is blamed.",
	"plumbing/boost":         "Code of Boost: its caller is blamed.",
	"plumbing/rust":          "Code of Rust's standard library: its caller is blamed.",
	"plumbing/atl":           "A string, smart pointer or container of ATL: its caller is blamed.",
	"plumbing/mfc":           "A string or container of MFC: its caller is blamed.",
	"plumbing/qt":            "A string or container of Qt: its caller is blamed.",
	"plumbing/com-support":   "A helper class for COM such as _bstr_t, WRL or C++/WinRT: its caller is blamed.",
	"plumbing/gdiplus":       "A wrapper class of GDI+: its caller is blamed.",
	"plumbing/delphi":        "A helper of Delphi's run-time library: its caller is blamed.",
	"plumbing/thunk":         "A thunk or check that the compiler put between two functions.",
	"plumbing/serialisation": "Code of a library for JSON, XML, protobuf or text formatting: its caller is blamed.",
	"plumbing/abseil":        "Code of Abseil: its caller is blamed.",
	"plumbing/glib":          "A string or container of GLib: its caller is blamed.",
	"plumbing/chromium":      "A container, string or callback of Chromium or Mozilla: its caller is blamed.",

	"base/thread":  "Windows starts the thread here: the frame is in every stack and is not blamed.",
	"base/crt":     "The C run time starts the program, the thread or a DLL here: the frame is not blamed.",
	"base/pool":    "Windows' thread pool calls a work item here: the frame is in many stacks and is not blamed.",
	"base/window":  "Windows delivers a message or a callback here: the frame is in many stacks and is not blamed.",
	"base/clr":     "The .NET run time starts the thread here: the frame is in every stack and is not blamed.",
	"base/unnamed": "The function is unknown. At the outer end of a stack, code of this system image starts the thread.",
	"base/wow64":   "The layer that runs 32-bit programs on 64-bit Windows: such a program has this frame at the outer end of every stack.",

	"origin/kernel":          "The address is in the kernel.",
	"origin/path":            "The image is in the Windows folder.",
	"origin/runtime-name":    "The image has the name of a Microsoft run-time library.",
	"origin/system-name":     "The image has the name of a part of Windows; the evidence has no path.",
	"origin/runtime-source":  "The source file belongs to a run-time library that is linked into the program.",
	"origin/own-symbols":     "The team uploaded the PDB of this image: the image is the team's own.",
	"origin/private-symbols": "The symbols of this image have source lines: only its builder has such symbols.",
	"origin/program":         "The image is the program of the process.",
	"origin/third-party":     "The image is not a part of Windows, and not marked as the team's own.",
	"origin/no-module":       "The address is outside all images: generated code, or an image that the evidence does not list.",
}

// ExplainRule describes a rule in a sentence; "" for an unknown id.
func ExplainRule(rule string) string {
	if line, ok := strings.CutPrefix(rule, "project/"); ok {
		return "Line " + line + " of the project's rules matches this frame."
	}
	return explanations[rule]
}
