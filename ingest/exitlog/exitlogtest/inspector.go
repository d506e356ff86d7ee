package exitlogtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

func init() { writers["intel-inspector"] = writeInspector }

// writeInspector writes the problems that Intel Inspector reports, below what it counts.
func writeInspector(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	fmt.Fprintf(b, "%d new problem(s) found\n    %d Memory leak problem(s) detected\n\n", len(t.Left), len(t.Left))
	for i, l := range t.Left {
		fmt.Fprintf(b, "P%d: Error: Memory leak: New\n P%d.%d: Memory leak: %d Bytes: New\n", i+1, i+1, r.IntN(90), l.Size)
		fmt.Fprintf(b, "  %s(%d): Error X%d: Allocation site: Function %s: Module C:\\build\\%s\n", l.File, l.Line, i+1, l.Function, s.Program)
		fmt.Fprintf(b, "  Code snippet:\n   %d  {\n  >%d    new int[9];\n\n  Stack (1 of 1 instance(s))\n", l.Line-1, l.Line)
		fmt.Fprintf(b, "  >%s!%s - %s:%d\n   %s!main - c:\\src\\main.cpp:12\n   KERNEL32.DLL!0x17614\n\n", s.Program, l.Function, l.File, l.Line, s.Program)
	}
}
