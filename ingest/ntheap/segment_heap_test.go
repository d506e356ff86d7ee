package ntheap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// segmentRecipes are processes with segment heaps, and an NT heap as every process has.
func segmentRecipes() map[string]ntheaptest.Recipe {
	all := map[string]ntheaptest.Recipe{}
	for i, v := range ntheaptest.SegmentHeapVersions {
		for _, stacks := range []bool{false, true} {
			seed := uint64(2 * i)
			if stacks {
				seed++
			}
			all[fmt.Sprintf("%s stacks=%t", v.Name, stacks)] = ntheaptest.Recipe{
				Windows: v, Seed: seed, Stacks: stacks, LFH: true, Segments: 2, Blocks: 14, Virtual: 9, SegmentHeaps: 2,
			}
		}
	}
	return all
}

func TestSegmentHeaps(t *testing.T) {
	for name, r := range segmentRecipes() {
		if testing.Short() && name != "10.0.17763 x86 stacks=false" && name != "10.0.22631 x64 stacks=true" {
			continue // all of them take seconds
		}
		for more := range uint64(2) {
			t.Run(fmt.Sprintf("%s seed=%d", name, more), func(t *testing.T) {
				r.Seed += more * 16
				made := ntheaptest.Make(r)
				o := read(t, process(made))
				if len(o.heaps.Gaps) > 0 || !told(made, o.heaps.Notes) || len(o.walks) != len(made.Heaps) {
					t.Fatalf("%d heaps, gaps %v, notes %q", len(o.walks), o.heaps.Gaps, o.heaps.Notes)
				}
				for i, w := range o.walks {
					if w.Facts.Kind == ntheap.KindSegment {
						compareSegmentHeap(t, &made.Heaps[i], w)
					}
				}
				compareBlocks(t, o.blocks, made.Blocks)
			})
		}
	}
}

// TestSegmentHeapsWithoutPadding walks heaps of Windows' own programs, whose blocks have no padding. Up to build 16299
// the only sign of that is a block smaller than the padding.
func TestSegmentHeapsWithoutPadding(t *testing.T) {
	for i, v := range ntheaptest.SegmentHeapVersions {
		t.Run(v.Name, func(t *testing.T) {
			made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Seed: uint64(i), System: true, Segments: 2, Blocks: 14,
				Virtual: 3, SegmentHeaps: 1})
			o := read(t, process(made))
			compareSegmentHeap(t, &made.Heaps[1], o.walks[1])
			compareBlocks(t, o.blocks, made.Blocks)
		})
	}
}

func compareSegmentHeap(t *testing.T, want *ntheaptest.Heap, w *ntheap.WalkResult) {
	t.Helper()
	f := w.Facts
	if len(w.Gaps)+len(w.Warnings) > 0 {
		t.Errorf("gaps %v, warnings %v", w.Gaps, w.Warnings)
	}
	if f.Reserved != int64(want.Reserved) || f.Committed != int64(want.Committed) || f.Walked != int64(want.Committed) {
		t.Errorf("reserved %#x, committed %#x, walked %#x; want %#x and %#x", f.Reserved, f.Committed, f.Walked,
			want.Reserved, want.Committed)
	}
	if f.Free.Count != int64(want.Free) || w.FreeLFH.Count != int64(want.FreeLFH) || f.Segments != int64(want.Segments) {
		t.Errorf("%d free, %d free in the LFH, %d segments; want %+v", f.Free.Count, w.FreeLFH.Count, f.Segments, want)
	}
	if most := max(f.Free.Bytes, 0x3000); f.LargestFree <= 0 || f.LargestFree > most { // free chunks keep what is not a whole page
		t.Errorf("the largest of %d free has %#x bytes, of %#x that are committed", f.Free.Count, f.LargestFree, f.Free.Bytes)
	}
	if f.Busy.Count == 0 || w.Areas[ntheap.VS].Count == 0 || f.LFH.Count == 0 || f.Blocks.Count == 0 ||
		w.Areas[ntheap.Backend].Count == 0 || w.Subsegments == 0 {
		t.Errorf("a kind of blocks is missing: %+v", w.Areas)
	}
	if !strings.Contains(f.Note, "key of LFH subsegments was inferred") {
		t.Errorf("note %q", f.Note)
	}
}

// checkInside checks what holds whatever the memory says: every block of a segment heap lies in an extent, and in no
// other block.
func checkInside(t *testing.T, o *outcome) {
	t.Helper()
	for i, w := range o.walks {
		if w.Facts.Kind != ntheap.KindSegment {
			continue
		}
		var blocks []ntheaptest.Block
		for _, b := range o.blocks {
			if b.Heap == o.heaps.List[i].Handle {
				blocks = append(blocks, b)
			}
		}
		slices.SortFunc(blocks, func(a, b ntheaptest.Block) int { return int(int64(a.Address - b.Address)) })
		slices.SortFunc(w.Extents, func(a, b ntheap.Extent) int { return int(int64(a.Address - b.Address)) })
		end, x := uint64(0), 0
		for _, b := range blocks {
			if b.Address < end {
				t.Errorf("block %x begins in the one before it", b)
			}
			end = b.Address + b.Size
			for x < len(w.Extents) && w.Extents[x].Address+w.Extents[x].Size <= b.Address {
				x++
			}
			if x == len(w.Extents) || b.Address < w.Extents[x].Address || end > w.Extents[x].Address+w.Extents[x].Size {
				t.Errorf("block %x lies in no extent", b)
			}
		}
		walked := int64(0)
		for _, s := range w.Segments {
			if s.Walked > s.Size {
				t.Errorf("%#x bytes were walked of a segment of %#x", s.Walked, s.Size)
			}
			walked += int64(s.Walked)
		}
		if len(w.Segments) > 0 && walked > w.Facts.Walked {
			t.Errorf("%#x bytes in segments, %#x at all", walked, w.Facts.Walked)
		}
	}
}

// TestSegmentHeapCounters takes the counters of a heap whose other structures fit nothing. Offsets are those of Windows
// 10 from 1903 on.
func TestSegmentHeapCounters(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 2, SegmentHeaps: 1})
	handle := made.Heaps[1].Handle
	for _, test := range []struct {
		name    string
		build   uint32
		pages   [3]uint64 // reserved, committed, free
		counted bool
		why     string
	}{
		{"contexts elsewhere", 19045, [3]uint64{0x300, 0x200, 0x10}, true, "contexts"},
		{"build 10240", 10240, [3]uint64{0x300, 0x200, 0x10}, true, "ntdll.pdb of that build"},
		{"no counters", 19045, [3]uint64{0x300, 0x400, 0x10}, false, "contexts"},
		{"nothing", 19045, [3]uint64{}, false, "contexts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := process(made)
			p.Version.Build = test.build
			p.Memory = edited(made.Memory, func(at uint64, b []byte) {
				if at != handle {
					return
				}
				clear(b[0x100:0x800])
				for i, pages := range test.pages {
					put(b[0x80+8*i:], pages, 8)
				}
			})
			o := read(t, p)
			f := o.heaps.List[1].Facts()
			want := [3]int64{0x300000, 0x200000, 0x10000}
			if !test.counted {
				want = [3]int64{}
			}
			if got := [3]int64{f.Reserved, f.Committed, f.Free.Bytes}; f.Kind != ntheap.KindSegment || got != want ||
				(f.Note == "") != test.counted {
				t.Errorf("%+v", f)
			}
			w := o.walks[1]
			if len(w.Gaps) != 1 || w.Gaps[0].Bytes != want[1] || !strings.Contains(w.Gaps[0].Why, test.why) ||
				w.Facts.Busy.Count != 0 {
				t.Errorf("%+v", w)
			}
			if test.counted && w.Warnings[0].Code != capture.PartialHeap {
				t.Errorf("warnings %v", w.Warnings)
			}
		})
	}
}

// TestSegmentHeapNextWindows walks a build that is newer than any known, and says that it is, and what was inferred.
func TestSegmentHeapNextWindows(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win24H2x64, Seed: 3, Stacks: true, Segments: 2,
		Blocks: 14, Virtual: 3, SegmentHeaps: 1})
	p := process(made)
	p.Version.Build = 27842
	o := read(t, p)
	compareSegmentHeap(t, &made.Heaps[1], o.walks[1])
	compareBlocks(t, o.blocks, made.Blocks)
	if note := o.walks[1].Facts.Note; !strings.Contains(note, "no constant in them, as inferred") ||
		!strings.Contains(note, "newer than all") {
		t.Errorf("note %q", note)
	}
}

// TestSegmentHeapOwnTypes: the PDB's types are used for a build that the table lacks, unless the memory does not match
// them.
func TestSegmentHeapOwnTypes(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, System: true, Segments: 1, Blocks: 14,
		Virtual: 3, SegmentHeaps: 1})
	p := process(made)
	p.Version.Build, p.Types = 10240, listed(t, "layout x64 10.0.18362")
	o := read(t, p)
	compareSegmentHeap(t, &made.Heaps[1], o.walks[1])
	compareBlocks(t, o.blocks, made.Blocks)
	if f := o.walks[1].Facts; f.LayoutSource != "ntdll.pdb" {
		t.Errorf("layout %q", f.LayoutSource)
	}
	p.Memory = edited(made.Memory, func(at uint64, b []byte) { // pages are described in another way: nothing has the mark of chunks
		for page := range len(b) / 0x1000 {
			if mark := b[page*0x1000+0x22:]; at+uint64(page)*0x1000 > made.Heaps[1].Handle {
				mark[0] ^= 1
			}
		}
	})
	o = read(t, p)
	if w := o.walks[1]; len(w.Gaps) != 1 || w.Gaps[0].Bytes != w.Facts.Committed ||
		!strings.Contains(w.Gaps[0].Why, "has another page layout") ||
		!strings.Contains(w.Facts.Note, "another page layout") {
		t.Errorf("%+v", w)
	}
}

// listed are types of the embedded table, as a PDB would give them.
func listed(t *testing.T, head string) pdb {
	t.Helper()
	table, err := os.ReadFile("layouts.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(table), head)
	if !ok {
		t.Fatalf("no %q", head)
	}
	text, _, _ = strings.Cut(text, "layout ")
	types := pdb{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0][0] != '_' {
			continue
		}
		fields := map[string]uint64{}
		words = append([]string{words[0], "size"}, words[1:]...)
		for i := 1; i+1 < len(words); i += 2 {
			if fields[words[i]], err = strconv.ParseUint(words[i+1], 0, 32); err != nil {
				t.Fatal(err)
			}
		}
		types[words[0]] = fields
	}
	return types
}

// TestSegmentHeapsAtOnce walks heaps of a process at the same time: they infer the keys that they share once.
func TestSegmentHeapsAtOnce(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win11, Seed: 5, Segments: 1, Blocks: 8,
		Virtual: 2, SegmentHeaps: 3})
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil {
		t.Fatal(err)
	}
	var busy [8]int64
	var all sync.WaitGroup
	for i := range busy {
		all.Go(func() {
			walked, err := heaps.List[1+i%3].Walk(t.Context(), func(ntheap.Block) error { return nil })
			if err != nil || len(walked.Gaps)+len(walked.Warnings) > 0 {
				t.Errorf("%v, gaps %v, warnings %v", err, walked.Gaps, walked.Warnings)
			}
			busy[i] = walked.Facts.Busy.Bytes
		})
	}
	all.Wait()
	for i := range busy {
		if busy[i] == 0 || busy[i] != busy[i%3] {
			t.Errorf("walk %d found %d bytes, another %d", i, busy[i], busy[i%3])
		}
	}
}

// TestSegmentHeapCancelled: a walk that is cancelled before it has inferred the keys leaves that to the next walk.
func TestSegmentHeapCancelled(t *testing.T) {
	made := ntheaptest.Make(segmentRecipes()["10.0.22631 x64 stacks=false"])
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	if _, err := heaps.List[1].Walk(ctx, func(ntheap.Block) error {
		if n++; n == 100 {
			cancel()
		}
		return nil
	}); !errors.Is(err, context.Canceled) || n > 10_000 {
		t.Errorf("%v after %d blocks", err, n)
	}
	if _, err := heaps.List[2].Walk(ctx, func(ntheap.Block) error { return errors.New("it goes on") }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
	if walked, err := heaps.List[2].Walk(t.Context(), func(ntheap.Block) error { return nil }); err != nil ||
		len(walked.Gaps) > 0 {
		t.Errorf("%v, gaps %v", err, walked.Gaps)
	}
}

// TestSegmentHeapErrors: the error of a visitor is returned, whatever kind of block the visitor was given.
func TestSegmentHeapErrors(t *testing.T) {
	made := ntheaptest.Make(segmentRecipes()["10.0.19045 x64 stacks=true"])
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	for _, place := range []ntheap.Area{ntheap.Backend, ntheap.LFH, ntheap.VS, ntheap.Large} {
		_, err := heaps.List[1].Walk(t.Context(), func(b ntheap.Block) error {
			if b.Area == place {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", place, err)
		}
	}
}
