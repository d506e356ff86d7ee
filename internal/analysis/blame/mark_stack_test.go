package blame_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	const start = " < kernel32!BaseThreadInitThunk < ntdll!RtlUserThreadStart"
	for _, c := range []struct{ name, rules, stack, blame, origin, layers string }{
		{"malloc in main", "",
			"ntdll!RtlAllocateHeap < ucrtbase!_malloc_base < app!operator new < app!main < app!invoke_main < app!__scrt_common_main_seh" + start, "app!main", "app!main", "alloc alloc alloc app base base base base"},
		{"container", "", "ntdll!RtlAllocateHeap < app!malloc < app!std::_Allocate<16> < app!std::vector<int>::push_back < app!Fill" + start, "app!Fill", "app!std::_Allocate", "alloc alloc plumbing plumbing app base base"},
		{"on behalf", "", "ntdll!RtlAllocateHeap < KERNELBASE!LocalAlloc < uxtheme!LoadTheme < user32!CreateWindowExW < app!Show" + start, "app!Show", "uxtheme!LoadTheme", "alloc alloc system system app base base"},
		{"third party", "", "ntdll!RtlAllocateHeap < uxtheme!Load < other!Do < user32!Call" + start, "other!Do",
			"uxtheme!Load", "alloc system third-party system base base"},
		{"system", "", "ntdll!RtlAllocateHeap < uxtheme!Load < user32!Call" + start, "uxtheme!Load", "uxtheme!Load",
			"alloc system system base base"},
		{"plumbing alone", "", "ntdll!RtlAllocateHeap < app!std::_Allocate<1> < app!std::thread::thread" + start,
			"app!std::thread::thread", "app!std::_Allocate", "alloc plumbing plumbing base base"},
		{"allocator alone", "", "ntdll!RtlAllocateHeap < KERNELBASE!HeapAlloc", "kernelbase!HeapAlloc",
			"kernelbase!HeapAlloc", "alloc alloc"},
		{"start alone", "", "kernel32!BaseThreadInitThunk < ntdll!RtlUserThreadStart", "kernel32!BaseThreadInitThunk",
			"kernel32!BaseThreadInitThunk", "base base"},
		{"allocator in mid-stack", "", "ntdll!RtlAllocateHeap < app!Grow < app!malloc < app!main", "app!Grow",
			"app!Grow", "alloc app app app"},
		{"no names", "", "ntdll+0x10 < ucrtbase+0x20 < app+0x30 < kernel32+0x40 < ntdll+0x50", "app!<unknown>+0x30@",
			"app!<unknown>+0x30@", "alloc alloc app base base"},
		{"no names, nothing own", "", "ntdll!ZwAllocateVirtualMemory < KERNELBASE+0x20" + start, "kernelbase!<unknown>+0x20@",
			"kernelbase!<unknown>+0x20@", "alloc alloc base base"},
		{"tools", "", "verifier!AVrfDebugPageHeapAllocate < ntdll!RtlDebugAllocateHeap < ntdll!RtlAllocateHeap < app!f",
			"app!f", "app!f", "tool tool alloc app"},
		{"kernel", "", "nt!NtAllocateVirtualMemory < nt!KiSystemServiceCopyEnd < ntdll!ZwAllocateVirtualMemory < app!f",
			"app!f", "app!f", "alloc alloc alloc app"},
		{"heap grows", "", "ntdll!NtAllocateVirtualMemory < ntdll!RtlpFindAndCommitPages < ntdll!RtlpExtendHeap < ntdll!RtlAllocateHeap < app!f", "app!f", "app!f", "alloc heap-growth heap-growth alloc app"},
		{"an export stands for the heap's inside", "", "ntdll!RtlWalkHeap < ntdll!RtlAllocateHeap < kernelbase!LocalAlloc < uxtheme!SHGetItem < uxtheme!View",
			"uxtheme!SHGetItem", "uxtheme!SHGetItem", "alloc alloc alloc system system"},
		{"four frames inside of the heap", "", "ntdll!A < ntdll!B < ntdll!C < ntdll!D < ntdll!RtlAllocateHeap < uxtheme!Load",
			"uxtheme!Load", "uxtheme!Load", "alloc alloc alloc alloc alloc system"},
		{"five frames are more than the heap has", "", "ntdll!A < ntdll!B < ntdll!C < ntdll!D < ntdll!E < ntdll!RtlAllocateHeap < uxtheme!Load",
			"ntdll!A", "ntdll!A", "system system system system system system system"},
		{"ntdll allocates for itself", "", "ntdll!RtlAllocateHeap < ntdll!RtlCreateActivationContext < ntdll!LdrLoadDll < app!f",
			"app!f", "ntdll!RtlCreateActivationContext", "alloc system system app"},
		{"32 bits", "", "ntdll!RtlAllocateHeap < app!f < kernel32!BaseThreadInitThunk < ntdll!__RtlUserThreadStart < ntdll!_RtlUserThreadStart < wow64+0x1 < wow64!Wow64LdrpInitialize < ntdll!LdrInitializeThunk", "app!f", "app!f", "alloc app base base base base base base"},
		{"C run time linked in", "",
			"ntdll!RtlAllocateHeap < app!_malloc_dbg < app!_getbuf < app!_fopen_s < app!Load < app!main", "app!Load",
			"app!getbuf", "alloc alloc plumbing plumbing app app"},
		{"question marks", "", "ntdll!??? < app!f", "app!f", "app!f", "alloc app"},
		{"lambda", "", "ntdll!RtlAllocateHeap < app!main::<lambda_0>::operator() < app!main",
			"app!main::<lambda>::operator()", "app!main::<lambda>::operator()", "alloc app app"},
		{"an allocator's library", "", "mimalloc!internal_thing < app!f", "app!f", "app!f", "alloc app"},
		{"outside", "", "ntdll!RtlAllocateHeap < ?", "<unknown>+", "<unknown>+", "alloc third-party"},
		{"no stack", "", "", "", "", ""},
		{"rule: wrapper", "function:MyAlloc* -> alloc", "ntdll!RtlAllocateHeap < app!MyAllocate < app!f", "app!f",
			"app!f", "alloc alloc app"},
		{"rule: not ours", "module:app -> -app", "ntdll!RtlAllocateHeap < app!operator new < app!f < own!g", "own!g", "app!f",
			"alloc alloc third-party app"},
		{"rule: ours", "module:other -> +app", "ntdll!RtlAllocateHeap < other!operator new < other!f < app!g", "other!f",
			"other!f", "alloc alloc app app"},
		{"rule: ours by function", "function:std::MyOwn* -> +app", "ntdll!RtlAllocateHeap < app!std::MyOwnThing < app!g",
			"app!std::MyOwnThing", "app!std::MyOwnThing", "alloc app app"},
		{"rule: start", "function:WorkerLoop -> base", "ntdll!RtlAllocateHeap < app!f < app!WorkerLoop" + start, "app!f",
			"app!f", "alloc app base base base"},
		{"rule: start by module", "module:own -> base",
			"ntdll!RtlAllocateHeap < own!operator new < own!f < app!g < own!loop" + start, "own!f", "own!f",
			"alloc alloc app app base base base"},
		{"rule: first wins", "function:f -> plumbing\nfunction:f -> +app", "ntdll!RtlAllocateHeap < app!f < app!g", "app!g",
			"app!f", "alloc plumbing app"},
		{"rule: attributes do not stop", "function:f -> owner=me\nfunction:f -> plumbing",
			"ntdll!RtlAllocateHeap < app!f < app!g", "app!g", "app!f", "alloc plumbing app"},
		{"rule: tool", "module:other -> tool", "other!hook < ntdll!RtlAllocateHeap < app!f", "app!f",
			"app!f", "tool alloc app"},
		{"rule: origin", "origin:third-party -> +app", "ntdll!RtlAllocateHeap < other!f < app!g", "other!f",
			"other!f", "alloc app app"},
		{"rule: path", `path:c:/APP/o*.dll -> system`, "ntdll!RtlAllocateHeap < other!f < app!g", "app!g",
			"other!f", "alloc system app"},
	} {
		p := newProgram(parse(t, c.rules))
		stack := p.stack(c.stack)
		placed := blame.MarkStack(stack)
		name := func(i int) string {
			if i < 0 {
				return ""
			}
			return stack[i].Name()
		}
		var layers []string
		for _, m := range placed.Marks {
			layers = append(layers, string(m.Layer))
			if blame.ExplainRule(m.Rule) == "" {
				t.Errorf("%s: no explanation of %q", c.name, m.Rule)
			}
		}
		if name(placed.Blame) != c.blame || name(placed.Origin) != c.origin || strings.Join(layers, " ") != c.layers {
			t.Errorf("%s: blame %s, origin %s, %v; want %s, %s, %s", c.name, name(placed.Blame), name(placed.Origin), layers,
				c.blame, c.origin, c.layers)
		}
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		module blame.Module
		file   string // with the function behind a space, f otherwise
		want   string
	}{
		{blame.Module{Name: "foo", Path: `C:\Windows\System32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `c:/windows/syswow64/foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `D:\WINNT\system32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `\SystemRoot\System32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `\Device\HarddiskVolume12\Windows\WinSxS\x\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `\??\C:\Windows\System32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `\Windows\System32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `%SystemRoot%\System32\foo.dll`}, "", "origin/path"},
		{blame.Module{Name: "foo", Path: `C:\Windows\Temp\build\foo.exe`, Program: true}, "", "origin/program"},
		{blame.Module{Name: "foo", Path: `C:\Windows\System32\config\systemprofile\jenkins\foo.exe`, Program: true}, "",
			"origin/program"},
		{blame.Module{Name: "foo", Path: `C:\MyWindows\foo.dll`}, "", "origin/third-party"},
		{blame.Module{Name: "foo", Path: `\\server\Windows\foo.dll`}, "", "origin/third-party"},
		{blame.Module{Name: "kernel32"}, "", "origin/system-name"},
		{blame.Module{Name: "d3d11"}, "", "origin/system-name"},
		{blame.Module{Name: "msxml6"}, "", "origin/system-name"},
		{blame.Module{Name: "ntdll_77a10000"}, "", "origin/system-name"},
		{blame.Module{Name: "kernel32", Own: true}, "", "origin/system-name"},
		{blame.Module{Name: "version", Own: true, Private: true}, "", "origin/own-symbols"},
		{blame.Module{Name: "shopsvc", Path: `C:\Windows\System32\shopsvc.dll`, Own: true, Private: true},
			"", "origin/own-symbols"},
		{blame.Module{Name: "shopdrv", Path: `\SystemRoot\System32\drivers\shopdrv.sys`, Own: true, Private: true},
			"", "origin/own-symbols"},
		{blame.Module{Name: "shopsvc", Path: `C:\Windows\System32\shopsvc.dll`, Private: true}, "", "origin/path"}, // not uploaded: the system's
		{blame.Module{Name: "tiptsf", Path: `C:\Windows\System32\tiptsf.dll`, Own: true}, "", "origin/path"},       // a public PDB that a member uploaded
		{blame.Module{Name: "tiptsf", Own: true}, "", "origin/third-party"},
		{blame.Module{Name: "ucrtbase", Path: `C:\Windows\System32\ucrtbase.dll`, Own: true, Private: true}, "", "origin/path"}, // its public PDB has lines
		{blame.Module{Name: "msvcp140", Path: `C:\app\msvcp140.dll`, Own: true, Private: true}, "", "origin/runtime-name"},
		{blame.Module{Name: "stripped", Path: `C:\app\stripped.dll`, Own: true}, "", "origin/own-symbols"},
		{blame.Module{Name: "USER32", Path: "USER32.dll"}, "", "origin/system-name"},
		{blame.Module{Name: "version", Path: `C:\app\version.dll`}, "", "origin/third-party"},
		{blame.Module{Name: "MSVCP140_1", Path: `C:\app\msvcp140_1.dll`, Private: true}, "", "origin/runtime-name"},
		{blame.Module{Name: "MSVCR120"}, "", "origin/runtime-name"},
		{blame.Module{Name: "mfc140u", Path: `C:\app\mfc140u.dll`}, "", "origin/runtime-name"},
		{blame.Module{Name: "app", Program: true, Private: true},
			`D:\a\_work\1\s\src\vctools\crt\vcstartup\src\heap\new_scalar.cpp`, "origin/runtime-source"},
		{blame.Module{Name: "app", Program: true, Private: true},
			`D:\VS\2022\VC\Tools\MSVC\14.38.33130\include\xmemory ATL::CWindow::Create`, "origin/runtime-source"},
		{blame.Module{Name: "app", Program: true}, `D:\VS\2022\VC\Tools\MSVC\14.38.33130\include\xmemory Document::Load`,
			"origin/program"},
		{blame.Module{Name: "app", Own: true, Private: true, Program: true}, `c:\src\app.cpp`, "origin/own-symbols"},
		{blame.Module{Name: "app", Private: true}, "", "origin/private-symbols"},
		{blame.Module{Name: "app", Program: true}, "", "origin/program"},
		{blame.Module{Name: "zlib1", Path: `C:\app\zlib1.dll`}, "", "origin/third-party"},
	} {
		file, function, ok := strings.Cut(c.file, " ")
		if !ok {
			function = "f"
		}
		class := blame.DefaultRules().Class(&blame.Frame{Module: &c.module, Function: function, File: file})
		if class.Between.Rule != c.want {
			t.Errorf("%+v %s: %s, want %s", c.module, c.file, class.Between.Rule, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, id := range append(blame.RuleIDs(), "project/7") {
		if s := blame.ExplainRule(id); !strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q", id, s)
		}
	}
	for _, id := range blame.CoreRuleIDs() {
		if blame.ExplainRule(id) == "" {
			t.Errorf("no explanation of %s", id)
		}
	}
	if blame.ExplainRule("none/such") != "" {
		t.Error("an explanation of nothing")
	}
}
