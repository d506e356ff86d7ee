package umdh_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
)

func TestParseFrame(t *testing.T) {
	type text = capture.FrameText
	for line, want := range map[string]struct {
		text
		address uint64
	}{
		`	CppResourceLeaks!LeakHeapMemory+00000083 (...\cppresourceleaks.cpp, 228)`: {text{Module: "CppResourceLeaks",
			Function: "LeakHeapMemory", Offset: 0x83, File: `...\cppresourceleaks.cpp`, Line: 228}, 0},
		`MSVCR80!malloc+7A (f:\dd\vctools\crt_bld\self_x86\crt\src\malloc.c, 163)`: {text{Module: "MSVCR80",
			Function: "malloc", Offset: 0x7A, File: `f:\dd\vctools\crt_bld\self_x86\crt\src\malloc.c`, Line: 163}, 0},
		"ntdll!RtlAllocateHeap+0x00000808": {text{Module: "ntdll",
			Function: "RtlAllocateHeap", Offset: 0x808}, 0},
		" MyApp!operator new+0x0000000E \r\n": {text{Module: "MyApp",
			Function: "operator new", Offset: 0xE}, 0},
		"7C8531E4 : ntdll!RtlAllocateHeapSlowly+1": {text{Module: "ntdll",
			Function: "RtlAllocateHeapSlowly", Offset: 1}, 0x7C8531E4},
		"7C8531E4 : ntdll!RtlAllocateHeapSlowl": {text{Module: "ntdll",
			Function: "RtlAllocateHeapSlowl"}, 0x7C8531E4},
		"mod!???+00000000 : 6D031AF7":      {text{Module: "mod"}, 0x6D031AF7},
		"mod!???+12F4":                     {text{Module: "mod", Offset: 0x12F4}, 0},
		"<no module>!???+0 : 7FFE82352933": {text{}, 0x7FFE82352933},
		"<nomodule>!???+0 : 7FFE82352933":  {text{}, 0x7FFE82352933},
		"	7FFE82352933":                    {text{}, 0x7FFE82352933},
		"SHELL32!Ordinal915+14B4": {text{Module: "SHELL32",
			Function: "Ordinal915", Offset: 0x14B4}, 0},
		"a!operator+++2B (c:\\x.cpp, 1)": {text{Module: "a",
			Function: "operator++", Offset: 0x2B, File: `c:\x.cpp`, Line: 1}, 0},
		"a!operator++2B": {text{Module: "a",
			Function: "operator+", Offset: 0x2B}, 0},
		"a!T<float>::operator+=+2B": {text{Module: "a",
			Function: "T<float>::operator+=", Offset: 0x2B}, 0},
		"a!`anonymous namespace'::f+1": {text{Module: "a",
			Function: "`anonymous namespace'::f", Offset: 1}, 0},
		"a!std::function<void (int, char)>::operator()+1F (c:\\a.h, 2)": {text{Module: "a",
			Function: "std::function<void (int, char)>::operator()", Offset: 0x1F, File: `c:\a.h`, Line: 2}, 0},
		`a!f+1 (C:\Program Files (x86)\a+1 (old), b.cpp, 12)`: {text{Module: "a", Function: "f",
			Offset: 1, File: `C:\Program Files (x86)\a+1 (old), b.cpp`, Line: 12}, 0},
		`a!f+1 (c:\d\été.cpp, 12)`: {text{Module: "a", Function: "f",
			Offset: 1, File: `c:\d\été.cpp`, Line: 12}, 0},
		`a!f+1 (c:\never ends`: {text{Module: "a",
			Function: "f", Offset: 1}, 0},
		"my app-2.0!f+1": {text{Module: "my app-2.0",
			Function: "f", Offset: 1}, 0},
		"a!f": {text{Module: "a", Function: "f"}, 0},
		"Base!Crypt+add": {text{Module: "Base",
			Function: "Crypt", Offset: 0xADD}, 0},
		"a!f+10000000000000000": {text{Module: "a", Function: "f+10000000000000000"}, 0}, // 65 bits are no offset
	} {
		got, address, ok := umdh.ParseFrame(line)
		if !ok || got != want.text || address != want.address {
			t.Errorf("%q: %+v at %X, %v; want %+v at %X", line, got, address, ok, want.text, want.address)
		}
	}
	for _, line := range []string{"", " ", "...", "Alias", "hello", "What a day! It rains", "!f+1", "a!", "a!+1",
		"12345678901234567", "12 34"} {
		if got, address, ok := umdh.ParseFrame(line); ok {
			t.Errorf("%q is taken for the frame %+v at %X", line, got, address)
		}
	}
}
