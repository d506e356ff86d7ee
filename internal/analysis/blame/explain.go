package blame

import "strings"

// explanations of the core's rules, for people who ask why a frame has its layer.
var explanations = map[string]string{
	"tool/module":     "The image belongs to a tool that watches allocations, such as Application Verifier; its frames are skipped.",
	"tool/verifier":   "Application Verifier or page heap stands in for the heap here; its frames are skipped.",
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
	"alloc/wrapper":      "A wrapper around malloc of a customary name: it allocates for its caller.",
	"alloc/others":       "A function of a known allocator library: it allocates for its caller.",
	"alloc/module":       "The image is an allocator library: at the inner end of a stack all its functions allocate for their caller.",
	"alloc/unnamed":      "The function is unknown, but at the inner end of a stack the code of this system or run-time image is the allocator's.",
	"alloc/inside-ntdll": "A function of ntdll that the Windows heap called, whatever its name: it allocates for its caller.",
	"alloc/kernel":       "The address lies in the kernel: the inner end of a system call that allocates.",

	"heap-growth/nt":  "The Windows heap takes more memory from the system here, for blocks of whoever allocates: it is counted, not blamed.",
	"heap-growth/clr": "The .NET garbage collector takes more memory from the system here: it is counted, not blamed.",

	"plumbing/crt":           "A function of the C run time that keeps memory for its caller: whoever uses it is to blame.",
	"plumbing/stl":           "Code of the C++ standard library: whoever uses it is to blame.",
	"plumbing/boost":         "Code of Boost: whoever uses it is to blame.",
	"plumbing/rust":          "Code of Rust's standard library: whoever uses it is to blame.",
	"plumbing/atl":           "A string, smart pointer or container of ATL: whoever uses it is to blame.",
	"plumbing/mfc":           "A string or container of MFC: whoever uses it is to blame.",
	"plumbing/qt":            "A string or container of Qt: whoever uses it is to blame.",
	"plumbing/com-support":   "A helper class for COM such as _bstr_t, WRL or C++/WinRT: whoever uses it is to blame.",
	"plumbing/gdiplus":       "The wrapper classes of GDI+: whoever uses them is to blame.",
	"plumbing/delphi":        "A helper of Delphi's run-time library: whoever uses it is to blame.",
	"plumbing/thunk":         "A thunk or check that the compiler put between two functions.",
	"plumbing/serialisation": "Code of a library for formats or formatting such as JSON, XML or protobuf: whoever uses it is to blame.",
	"plumbing/abseil":        "Code of Abseil: whoever uses it is to blame.",
	"plumbing/glib":          "A string or container of GLib: whoever uses it is to blame.",
	"plumbing/chromium":      "A container, string or callback of Chromium or Mozilla: whoever uses it is to blame.",

	"base/thread":  "Windows starts the thread here: every stack has it, so it tells nothing.",
	"base/crt":     "The C run time starts the program, the thread or a DLL here: its own code, which tells nothing.",
	"base/pool":    "Windows' thread pool calls its work here: many stacks have it, so it tells nothing.",
	"base/window":  "Windows delivers a message or a callback here: many stacks have it, so it tells nothing.",
	"base/clr":     "The .NET run time starts the thread here: every stack has it, so it tells nothing.",
	"base/unnamed": "The function is unknown, but at the outer end of a stack the code of this system image starts the thread.",
	"base/wow64":   "The layer that runs 32-bit programs on 64-bit Windows: every stack of such a program has it at its outer end.",

	"origin/kernel":          "The address lies in the kernel.",
	"origin/path":            "The image lies in the folder of Windows.",
	"origin/runtime-name":    "The image is a run-time library of Microsoft's, by its name.",
	"origin/system-name":     "The image is a part of Windows, by its name; the evidence gives no path.",
	"origin/runtime-source":  "The source file is one of the run-time libraries', linked into the program.",
	"origin/own-symbols":     "The team uploaded the PDB of this image: it is the team's own.",
	"origin/private-symbols": "The symbols of this image name source lines: only who built it has such symbols.",
	"origin/program":         "The image is the program that the process was started from.",
	"origin/third-party":     "The image is neither a part of Windows nor known as the team's own.",
	"origin/no-module":       "The address lies in no image: generated code, or an image that the evidence does not list.",
}

// Explain says in one sentence what a rule is about; "" for an id that no rule has.
func Explain(rule string) string {
	if line, ok := strings.CutPrefix(rule, "project/"); ok {
		return "Line " + line + " of the project's rules says so."
	}
	return explanations[rule]
}
