package exitlogtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kinds are the kinds of the captures that Plain writes lists for.
func Kinds() []string {
	kinds := make([]string, 0, len(writers))
	for kind := range writers {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// A writer writes the list that a tool prints after a test, or at the end of a program.
type writer func(b *strings.Builder, s *Suite, t *Test, r *rand.Rand)

// writers are the tools. Where two versions of a tool differ, the version follows the kind.
var writers = map[string]writer{
	"crt-leaks":      writeCRT,
	"vld":            writeVLD,
	"drmemory":       writeDrMemory,
	"sanitizer":      writeSanitizer,
	"fastmm":         writeFastMM4,
	"fastmm 5":       writeFastMM5,
	"fastmm summary": writeFastMM5Summary,
}

// Plain is the output of a suite under a tool, without anything of a CI system. It panics for a kind that Kinds does
// not have.
func (s *Suite) Plain(kind string) string {
	write := writers[kind]
	r := rand.New(rand.NewPCG(s.Seed, 1))
	var b strings.Builder
	fmt.Fprintf(&b, "[==========] Running %d tests from 1 test suite.\n", len(s.Tests))
	for i := range s.Tests {
		t := &s.Tests[i]
		fmt.Fprintf(&b, "[ RUN      ] %s\n", t.Name)
		if len(t.Left) > 0 {
			write(&b, s, t, r)
		}
		fmt.Fprintf(&b, "[       OK ] %s (%d ms)\n", t.Name, r.IntN(9))
	}
	return b.String()
}

// pid is the id of the process of a suite.
func (s *Suite) pid() int { return 4000 + int(s.Seed%1000) }

func (t *Test) bytes() int {
	sum := 0
	for _, l := range t.Left {
		sum += l.Size
	}
	return sum
}

// writeDrMemory writes what Dr. Memory prints, each block an error of its own.
func writeDrMemory(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	fmt.Fprintf(b, "~~Dr.M~~ Dr. Memory version 2.6.0\nDr. Memory results for pid %d: %q\n", s.pid(), s.Program)
	for i, l := range t.Left {
		at := r.Uint32()
		fmt.Fprintf(b, "~~Dr.M~~ \n~~Dr.M~~ Error #%d: LEAK %d direct bytes %#08x-%#08x + 0 indirect bytes\n", i+1, l.Size, at, int(at)+l.Size)
		fmt.Fprintf(b, "~~Dr.M~~ # 0 replace_malloc               [d:\\drmemory_package\\common\\alloc_replace.c:2577]\n")
		fmt.Fprintf(b, "~~Dr.M~~ # 1 %-20s [%s:%d]\n~~Dr.M~~ # 2 main                 [c:\\src\\main.cpp:12]\n", l.Function, l.File, l.Line)
		fmt.Fprintf(b, "~~Dr.M~~ # 3 KERNEL32.dll!BaseThreadInitThunk +0x18     (%#08x <KERNEL32.dll+0x6359>)\n", r.Uint32())
	}
	fmt.Fprintf(b, "~~Dr.M~~ \n~~Dr.M~~ ERRORS FOUND:\n~~Dr.M~~       %d unique,     %d total,    %d byte(s) of leak(s)\n",
		len(t.Left), len(t.Left), t.bytes())
	b.WriteString("~~Dr.M~~       0 unique,     0 total,      0 byte(s) of possible leak(s)\n")
}

// writeSanitizer writes what LeakSanitizer prints, each block a leak of its own.
func writeSanitizer(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	fmt.Fprintf(b, "\n=================================================================\n==%d==ERROR: LeakSanitizer: detected memory leaks\n\n", s.pid())
	for _, l := range t.Left {
		fmt.Fprintf(b, "Direct leak of %d byte(s) in 1 object(s) allocated from:\n", l.Size)
		fmt.Fprintf(b, "    #0 %#x in operator new(unsigned int) C:\\llvm\\compiler-rt\\lib\\asan\\asan_new_delete.cpp:99\n", r.Uint32())
		fmt.Fprintf(b, "    #1 %#x in %s %s:%d:%d\n", r.Uint32(), l.Function, l.File, l.Line, 1+r.IntN(40))
		fmt.Fprintf(b, "    #2 %#x in main c:\\src\\main.cpp:12:3\n    #3 %#x  (C:\\WINDOWS\\System32\\KERNEL32.DLL+0x18001761)\n\n", r.Uint32(), r.Uint32())
	}
	fmt.Fprintf(b, "SUMMARY: AddressSanitizer: %d byte(s) leaked in %d allocation(s).\n", t.bytes(), len(t.Left))
}

// delphiUnit is the unit of a file, "Cache" of c:\src\Cache.pas.
func delphiUnit(file string) string {
	unit, _, _ := strings.Cut(file[strings.LastIndexByte(file, '\\')+1:], ".")
	return unit
}

// delphiFrame is a call as the debug DLL of FastMM prints it, behind the address.
func delphiFrame(l *Block) string {
	unit := delphiUnit(l.File)
	return fmt.Sprintf("[%s][%s][%s.%s][%d]", l.File[strings.LastIndexByte(l.File, '\\')+1:], unit, unit,
		strings.ReplaceAll(l.Function, "::", "."), l.Line)
}

// writeFastMM4 writes the log of FastMM 4.
func writeFastMM4(b *strings.Builder, _ *Suite, t *Test, r *rand.Rand) {
	const rule = "--------------------------------2026/1/2 3:04:05--------------------------------\n"
	for _, l := range t.Left {
		fmt.Fprintf(b, rule+"A memory block has been leaked. The size is: %d\n\n", l.Size)
		fmt.Fprintf(b, "This block was allocated by thread %#X, and the stack trace (return addresses) at the time was:\n", r.Uint32N(1<<16))
		fmt.Fprintf(b, "%X [System.pas][System][System.@GetMem][4843]\n%X %s\n%X [Unknown function at GetDC]\n\n", r.Uint32(), r.Uint32(), delphiFrame(&l), r.Uint32())
		fmt.Fprintf(b, "The block is currently used for an object of class: TStringList\n\nThe allocation number is: %d\n\n", r.IntN(9999))
		fmt.Fprintf(b, "Current memory dump of 256 bytes starting at pointer address %X:\n", r.Uint32())
		b.WriteString(strings.Repeat("CC 32 41 00 00 00 00 00 00 00 00 00 00 00 00 00\n", 2) + ".  2  A  .  .  .  .  .\n")
	}
	fmt.Fprintf(b, rule+"This application has leaked memory. The small block leaks are (excluding expected leaks registered by pointer):\n\n")
	fmt.Fprintf(b, "5 - 12 bytes: TStringList x %d\n\nThe sizes of leaked medium and large blocks are (excluding expected leaks registered by pointer): 4096\n\n", len(t.Left))
	b.WriteString("Note: Memory leak detail is logged to a text file in the same folder as this application.\n")
}

// writeFastMM5 writes the log of FastMM 5.
func writeFastMM5(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	const rule = "--------------------------------2026-01-02 03:04:05.678--------------------------------\n"
	for i, l := range t.Left {
		at := "by thread"
		if i%2 == 1 {
			at = "on 2026-01-02 03:04:01 by thread"
		}
		fmt.Fprintf(b, rule+"A memory block has been leaked. The size is: %d\n\n", l.Size)
		fmt.Fprintf(b, "This block was allocated %s %#X, and the stack trace (return addresses) at the time was:\n", at, r.Uint32N(1<<16))
		fmt.Fprintf(b, "%08X[System.pas][System][System.@GetMem][4843]\n%08X%s\n%08X[kernel32.dll]\n\n", r.Uint32(), r.Uint32(), delphiFrame(&l), r.Uint32())
		fmt.Fprintf(b, "The block is currently used for an object of class: TStringList\n\nThe allocation number is: %d\n\n", r.IntN(9999))
		fmt.Fprintf(b, "Current memory dump of %d bytes starting at pointer address %X:\n90 4B 4A 00 00 00 00 00\n.  K  J  .  .  .  .  .\n\n", l.Size, r.Uint32())
	}
	b.WriteString(rule)
	writeFastMM5Summary(b, s, t, r)
}

// writeFastMM5Summary writes the list that FastMM 5 ends its log with, and shows where nothing else is logged.
func writeFastMM5Summary(b *strings.Builder, _ *Suite, t *Test, _ *rand.Rand) {
	b.WriteString("This application has leaked memory. The leaks ordered by size are:\n\n")
	bySize := map[int]int{}
	for _, l := range t.Left {
		bySize[l.Size]++
	}
	sizes := make([]int, 0, len(bySize))
	for size := range bySize {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		fmt.Fprintf(b, "%d: 1 x System.Generics.Collections.TDictionary<System.string,System.Rtti.TRttiType>", size)
		if n := bySize[size] - 1; n > 0 {
			fmt.Fprintf(b, ", %d x Unknown", n)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nMemory leak detail was logged to C:\\build\\tests_MemoryManager_EventLog.txt\n")
}
