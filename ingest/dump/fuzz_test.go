package dump_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// FuzzRead writes numbers over parts of a small dump: whatever they are, reading ends, and the capture reads back as it
// was written. The packages of the container and of the heaps fuzz their own input.
func FuzzRead(f *testing.F) {
	var dumps [][]byte
	for i, windows := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		p := ntheaptest.Make(ntheaptest.Recipe{Windows: windows, Seed: uint64(i), Stacks: true, LFH: true, Heaps: 1,
			Segments: 1, Blocks: 8, Virtual: 1})
		dumps = append(dumps, dumptest.Of(p, dumptest.Program{Roots: []uint64{p.Blocks[0].Address}}).Bytes())
	}
	f.Add(uint8(0), uint32(0), uint64(0), uint32(0), uint64(0))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, value uint64, other uint32, more uint64) {
		data := bytes.Clone(dumps[int(which)%len(dumps)])
		for _, change := range []struct {
			at    uint32
			value uint64
		}{{at, value}, {other, more}} {
			binary.LittleEndian.PutUint64(data[uint64(change.at)%uint64(len(data)-8):], change.value)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		c, err := dump.Read(ctx, bytes.NewReader(data), int64(len(data)), dump.Options{})
		if ctx.Err() != nil {
			t.Fatal("reading does not end")
		}
		if err != nil {
			return
		}
		var artifact bytes.Buffer
		if err := c.Write(&artifact); err != nil {
			t.Fatal(err)
		}
		again, err := capture.Read(&artifact)
		if err != nil || again.Blocks.Len() != c.Blocks.Len() || again.Total(0) != c.Total(0) {
			t.Fatalf("the capture does not hold together: %v", err)
		}
	})
}
