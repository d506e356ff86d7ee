// Package exitlogtest writes the logs that package exitlog reads: the output of a suite of tests under a tool that
// lists leaks, plain or as a CI job prints it. It spells the layouts again, apart from the reader.
package exitlogtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Block is a block that a test left.
type Block struct {
	File     string // source file with its folder
	Line     int    // line of the allocation
	Size     int    // bytes
	Function string // function that allocated it, for tools that print stacks
}

// A Test is a test of GoogleTest with the blocks that it left.
type Test struct {
	Name string
	Left []Block
}

// A Suite is a program of tests. Seed chooses what changes with each run: addresses, and the numbers of allocations.
type Suite struct {
	Program string // file name of the program
	Tests   []Test
	Seed    uint64
}

// CRT is the log of a CI job with a suite whose tests each call _CrtMemDumpAllObjectsSince.
func (s *Suite) CRT() string { return s.log("crt-leaks") }

// VLD is the log of a CI job with a suite whose tests each call VLDReportLeaks.
func (s *Suite) VLD() string { return s.log("vld") }

// writeCRT writes what _CrtMemDumpAllObjectsSince prints for a test.
func writeCRT(b *strings.Builder, _ *Suite, t *Test, r *rand.Rand) {
	b.WriteString("Detected memory leaks!\nDumping objects ->\n")
	for _, l := range t.Left {
		fmt.Fprintf(b, "%s(%d) : {%d} normal block at 0x%08X, %d bytes long.\n", l.File, l.Line, r.IntN(90_000), r.Uint32(), l.Size)
		b.WriteString(" Data: <                > " + strings.Repeat("CD ", 16) + "\n")
	}
	b.WriteString("Object dump complete.\n")
}

// writeVLD writes what VLDReportLeaks prints for a test.
func writeVLD(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	b.WriteString("WARNING: Visual Leak Detector detected memory leaks!\n")
	for i, l := range t.Left {
		fmt.Fprintf(b, "---------- Block %d at 0x%08X: %d bytes ----------\n", i+1, r.Uint32(), l.Size)
		fmt.Fprintf(b, "  Leak Hash: 0x%08X, Count: 1, Total %d bytes\n  Call Stack (TID %d):\n", r.Uint32(), l.Size, r.IntN(20_000))
		fmt.Fprintf(b, "    ucrtbased.dll!malloc()\n    %s (%d): %s!%s() + 0x2F bytes\n", l.File, l.Line, s.Program, l.Function)
		fmt.Fprintf(b, "    c:\\src\\main.cpp (12): %s!main() + 0x5 bytes\n    KERNEL32.DLL!BaseThreadInitThunk() + 0x14 bytes\n", s.Program)
		b.WriteString("  Data:\n    CD CD CD CD                                                  ........ ........\n\n\n")
	}
	fmt.Fprintf(b, "Visual Leak Detector detected %d memory leaks (%d bytes).\n", len(t.Left), t.bytes())
}

// log is Plain with the time that a CI system puts before each line.
func (s *Suite) log(kind string) string {
	r := rand.New(rand.NewPCG(s.Seed, 2))
	var out strings.Builder
	for line := range strings.Lines(fmt.Sprintf("##[group]Run %s\n", s.Program) + s.Plain(kind)) {
		fmt.Fprintf(&out, "2026-01-02T03:04:%02d.%07dZ %s", r.IntN(60), r.IntN(10_000_000), line)
	}
	return out.String()
}
