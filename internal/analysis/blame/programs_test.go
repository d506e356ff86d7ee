package blame_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

// Stacks of programs from other compilers and frameworks: the frames that identify the leak, the blame frame first.
func TestPrograms(t *testing.T) {
	t.Parallel()
	const start = " < KERNELBASE!BaseThreadInitThunk < ntdll!RtlUserThreadStart"
	p := newProgram(blame.DefaultRules())
	for name, test := range map[string]struct{ stack, frames string }{
		"Delphi string": {"KERNELBASE!VirtualAlloc < app!System.SysGetMem < app!System.@GetMem < app!System.@NewUnicodeString < app!System.@UStrSetLength < app!Unit1.TForm1.Button1Click", "app!Unit1.TForm1.Button1Click"},
		"Delphi object": {"KERNELBASE!VirtualAlloc < app!FastMM4.FastGetMem < app!System.TObject.NewInstance < app!System.@ClassCreate < app!Shop.TCart.Create < app!Shop.Load", "app!Shop.TCart.Create app!Shop.Load"},
		".NET native":   {"ntdll!RtlAllocateHeap < app!RhpGcAlloc < app!RhpNewArrayRare < app!Shop_Orders__Load < app!Shop_Program__Main", "app!Shop_Orders__Load app!Shop_Program__Main"},
		"GDI+": {"ntdll!RtlAllocateHeap < user32!GpMalloc < app!Gdiplus::Bitmap::Bitmap < app!Skin::Load < app!main",
			"app!Skin::Load app!main"},
		"own thread pool": {"ntdll!RtlAllocateHeap < app!operator new < app!CThreadPool::Flush < app!CThreadPool::Worker",
			"app!CThreadPool::Flush app!CThreadPool::Worker"},
		"ATL thread pool": {"ntdll!RtlAllocateHeap < app!operator new < app!Work::Execute < app!ATL::CThreadPool<Work,ATL::Win32ThreadTraits>::ThreadProc", "app!Work::Execute"},
		"catch, 64 bits":  {"ntdll!RtlAllocateHeap < app!operator new < app!Log::Add < app!`Parser::Run'::`1'::catch$0 < ucrtbase!_CallSettingFrame < ntdll!RcConsolidateFrames < app!Parser::Run < app!main", "app!Log::Add app!Parser::Run app!main"},
		"catch, 32 bits": {"ntdll!RtlAllocateHeap < app!operator new < app!Log::Add < app!Parser::Run < app!main",
			"app!Log::Add app!Parser::Run app!main"},
	} {
		if s := p.sign(test.stack + start); strings.Join(s.Frames, " ") != test.frames {
			t.Errorf("%s: %q, want %q", name, s.Frames, test.frames)
		}
	}
}

// A function of the team may have the name of one in the C run time: its source file tells them apart.
func TestOwnFunctionsWithNamesOfTheRunTime(t *testing.T) {
	t.Parallel()
	module := &blame.Module{Name: "app", Program: true, Private: true}
	for file, want := range map[string]blame.Layer{
		`C:\shop\paths.c`: blame.LayerApp,
		`minkernel\crts\ucrt\src\appcrt\filesystem\fullpath.cpp`: blame.LayerPlumbing,
		"": blame.LayerPlumbing, // nothing tells
	} {
		if c := blame.DefaultRules().Class(&blame.Frame{Module: module, Function: "getpath",
			File: file}); c.Between.Layer != want {
			t.Errorf("in %q: %s, want %s", file, c.Between.Layer, want)
		}
	}
}

// The run time's frames that load a DLL in mid-stack belong to the run time, whether the evidence has source lines or
// not.
func TestRunTimeInMidStack(t *testing.T) {
	for _, file := range []string{"", `d:\a01\_work\4\s\src\vctools\crt\vcstartup\src\startup\dll_dllmain.cpp`} {
		c := blame.DefaultRules().Class(&blame.Frame{Module: &blame.Module{Name: "plugin", Own: true},
			Function: "dllmain_dispatch", File: file})
		if c.Between.Layer != blame.LayerSystem || c.Outer.Layer != blame.LayerBase {
			t.Errorf("file %q: %+v", file, c)
		}
	}
}
