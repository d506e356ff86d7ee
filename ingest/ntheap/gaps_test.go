package ntheap_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// TestManyGaps: a walk reports the first gaps of a heap one by one and the rest as one, and together they have all lost
// bytes.
func TestManyGaps(t *testing.T) {
	large := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64}, 20_000, 100)
	p := process(large.Process)
	p.Memory = edited(large.Memory, func(at uint64, b []byte) {
		for i := uint64(50); i < large.Count; i += 100 {
			if entry := large.Block(i).Address - 8; entry-at < uint64(len(b)) {
				b[entry-at] ^= 0x80
			}
		}
	})
	_, heap := openOne(t, p)
	n := uint64(0)
	walked, err := heap.Walk(t.Context(), func(ntheap.Block) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	var lost int64
	for _, gap := range walked.Gaps {
		lost += gap.Bytes
	}
	f := walked.Facts
	if n != large.Count-200 || f.BadEntries != 200 || len(walked.Gaps) != 65 || f.Walked+lost != f.Committed {
		t.Errorf("%d blocks, %d bad entries, %d gaps of %d bytes, %d of %d walked", n, f.BadEntries, len(walked.Gaps),
			lost, f.Walked, f.Committed)
	}
	if last := walked.Gaps[64]; !strings.HasPrefix(last.Why, "136 more ranges") {
		t.Errorf("last gap %+v", last)
	}
	if w := walked.Warnings[0]; w.Code != capture.PartialHeap || w.Count != lost {
		t.Errorf("warnings %+v", walked.Warnings)
	}
}

// TestOldLFH: a container of Windows XP's low-fragmentation heap whose subsegment is lost becomes a gap, not a block.
func TestOldLFH(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.XPx86, Blocks: 40})
	heap := made.Heaps[0].Handle
	var container ntheaptest.Block
	for _, b := range made.Blocks {
		if b.Size > container.Size {
			container = b
		}
	}
	p := process(made)
	p.Memory = edited(made.Memory, func(at uint64, b []byte) {
		if off := heap + 0x586 - at; off < uint64(len(b)) {
			b[off] = 2 // FrontEndHeapType
		}
		if off := container.Address + 0xc - at; off < uint64(len(b)) {
			binary.LittleEndian.PutUint32(b[off:], 0xF0E0D0C0)
		}
	})
	o := read(t, p)
	if gaps := o.walks[0].Gaps; len(gaps) != 1 || gaps[0].What != "LFH subsegment" ||
		uint64(gaps[0].Address) != container.Address || gaps[0].Bytes < int64(container.Size) {
		t.Errorf("gaps %+v", gaps)
	}
	for _, b := range o.blocks {
		if b.Address == container.Address {
			t.Errorf("the container is a block: %x", b)
		}
	}
}
