package umdh_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/umdh"
	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/golden"
)

// fixtures writes the logs in testdata; -update writes them to files. The process is invented, and some of it is
// changed so that the rarer lines occur.
func fixtures(t *testing.T) map[string]string {
	t.Helper()
	logs := map[string]string{}
	for _, bits := range []int{32, 64} {
		p := umdhtest.Invent(uint64(bits), umdhtest.ProcessSize{Bits: bits, Stacks: 7, Blocks: 24, Modules: 2})
		p.Stacks[2].AliasStacks = [][]umdhtest.Frame{p.Stacks[3].Frames[:3], p.Stacks[4].Frames[1:4]}
		p.Stacks[5].Frames = append([]umdhtest.Frame{{Address: 0x1234560}}, p.Stacks[5].Frames...) // of no module
		old, now := p.Snapshot(0), p.Snapshot(4)
		now.Heaps[0].Blocks[1].Stack = -1
		for name, write := range map[string]func(*bytes.Buffer) error{
			"snapshot": func(b *bytes.Buffer) error { return p.WriteSnapshot(b, now) },
			"hex":      func(b *bytes.Buffer) error { return p.WriteDiff(b, old, now, umdhtest.Hex) },
			"decimal":  func(b *bytes.Buffer) error { return p.WriteDiff(b, old, now, umdhtest.Decimal) },
			"single":   func(b *bytes.Buffer) error { return p.WriteDiff(b, &umdhtest.Snapshot{}, now, umdhtest.Hex) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			logs[fmt.Sprintf("%s%d", name, bits)] = b.String()
		}
	}
	return logs
}

func TestGolden(t *testing.T) {
	for name, log := range fixtures(t) {
		golden.Check(t, "testdata/"+name+".txt", log)
	}
	for file, log := range golden.Inputs(t, "testdata/*.txt") {
		var out strings.Builder
		for _, c := range read(t, log, umdh.BaseAuto) {
			out.WriteString(render(c))
		}
		golden.Check(t, strings.TrimSuffix(file, ".txt")+".golden", out.String())
	}
}
