package ntheap_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// small is a process with two heaps of every kind of block.
func small(v *ntheaptest.WindowsVersion) *ntheaptest.Process {
	return ntheaptest.Make(ntheaptest.Recipe{Windows: v, Stacks: true, LFH: true, Heaps: 2, Segments: 2,
		Blocks: 30, Virtual: 1})
}

// TestWithoutPEB finds heaps by what reservations begin with.
func TestWithoutPEB(t *testing.T) {
	for _, v := range ntheaptest.NTHeapVersions {
		t.Run(v.Name, func(t *testing.T) {
			made := small(v)
			for _, peb := range []uint64{0, made.PEB + 0x10_0000_0000, made.PEB + 0x1000_0000} {
				p := process(made)
				p.PEB = peb
				heaps, err := ntheap.Open(t.Context(), p)
				if err != nil || len(heaps.List) != len(made.Heaps) || len(heaps.Gaps) > 0 || len(heaps.Notes) != 2 {
					t.Errorf("%v, %d heaps, gaps %v, notes %q", err, len(heaps.List), heaps.Gaps, heaps.Notes)
				}
				o := read(t, p)
				compareBlocks(t, o.blocks, made.Blocks)
			}
		})
	}
}

// TestPartOfHeapsListed finds heaps that the PEB does not list, as from 24H2 on, and says so; segments are no heaps.
func TestPartOfHeapsListed(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Heaps: 3, Segments: 3, Blocks: 20})
	for _, test := range []struct {
		listed     byte
		candidates bool
		spoilt     bool // the last heap has no signature
		heaps      int
		note       string
		gaps       int
	}{
		{listed: 3, candidates: true, heaps: 3},
		{listed: 2, candidates: true, heaps: 3, note: "the PEB lists 2 of the 3 heaps"},
		{listed: 1, candidates: true, heaps: 3, note: "the PEB lists 1 of the 3 heaps"},
		{listed: 0, candidates: true, heaps: 3, note: "the PEB lists 1 of the 3 heaps"}, // the process heap is named by itself
		{listed: 1, candidates: false, heaps: 1},
		{listed: 1, candidates: true, spoilt: true, heaps: 2, note: "the PEB lists 1 of the 2 heaps", gaps: 1},
		{listed: 3, candidates: true, spoilt: true, heaps: 2, gaps: 1},
	} {
		p := process(made)
		if !test.candidates {
			p.Candidates = nil
		}
		p.Memory = written(made.Memory, made.PEB+0xe8, test.listed)
		if test.spoilt {
			p.Memory = &patchedMemory{p.Memory, []patch{{made.Heaps[2].Handle + 0x98, []byte{0}}}}
		}
		heaps, err := ntheap.Open(t.Context(), p)
		if err != nil || len(heaps.List) != test.heaps || strings.Join(heaps.Notes, " ") != test.note &&
			!strings.HasPrefix(strings.Join(heaps.Notes, " "), test.note+";") || len(heaps.Gaps) < test.gaps ||
			test.gaps == 0 && len(heaps.Gaps) > 0 {
			t.Errorf("%+v: %v, %d heaps, notes %q, gaps %v", test, err, len(heaps.List), heaps.Notes, heaps.Gaps)
		}
	}
}

// TestOwnFlags: Open reads stacks if the heap's own flags say that it keeps them, even if the PEB denies that, and
// looks for stacks if neither says anything.
func TestOwnFlags(t *testing.T) {
	made := small(ntheaptest.Win10x64)
	for _, own := range []bool{true, false} {
		p := process(made)
		p.Memory = edited(made.Memory, func(at uint64, b []byte) {
			if at == made.PEB {
				put(b[0xbc:], 0, 4) // NtGlobalFlag
			}
			for _, heap := range made.Heaps {
				if at == heap.Handle && !own {
					put(b[0x70:], 2, 4) // Flags
				}
			}
		})
		if !own {
			p.PEB = 0
		}
		o := read(t, p)
		if o.heaps.StackTraces != own {
			t.Errorf("stack traces %t", o.heaps.StackTraces)
		}
		compareBlocks(t, o.blocks, made.Blocks)
	}
}

// TestAtOnce walks all heaps of a process concurrently.
func TestAtOnce(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Stacks: true, LFH: true, Heaps: 6, Segments: 2,
		Blocks: 100, Virtual: 2})
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil {
		t.Fatal(err)
	}
	found := make([][]ntheaptest.Block, len(heaps.List))
	var all sync.WaitGroup
	for i, heap := range heaps.List {
		all.Go(func() {
			if _, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
				found[i] = append(found[i], ntheaptest.Block{Heap: heap.Handle, Address: b.Address, Size: b.Size,
					Place: b.Area.String(), Stack: heaps.Stack(b.Trace, nil)})
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	compareBlocks(t, slices.Concat(found...), made.Blocks)
}

func TestNoHeaps(t *testing.T) {
	var coded *evidence.Error
	if _, err := ntheap.Open(t.Context(), ntheap.Process{Bits: 64}); !errors.As(err, &coded) ||
		coded.Code != ntheap.CodeBadProcess {
		t.Errorf("no memory: %v", err)
	}
	if _, err := ntheap.Open(t.Context(), ntheap.Process{Memory: ntheaptest.Memory{}, Bits: 16}); !errors.As(err,
		&coded) || coded.Code != ntheap.CodeBadProcess {
		t.Errorf("16 bits: %v", err)
	}
	heaps, err := ntheap.Open(t.Context(), ntheap.Process{Memory: ntheaptest.Memory{}, Bits: 64, PEB: 0x1000})
	if !errors.As(err, &coded) || coded.Code != ntheap.CodeNoHeaps ||
		!strings.Contains(err.Error(), "MiniDumpWithFullMemory") || len(heaps.Notes) != 1 {
		t.Errorf("nothing there: %v, notes %q", err, heaps.Notes)
	}
}

// TestLayouts says which layout fits where the version is unknown, wrong, or not in the table.
func TestLayouts(t *testing.T) {
	for _, test := range []struct {
		made   *ntheaptest.WindowsVersion
		said   ntheap.Version
		arm    bool
		layout string
		notes  int
	}{
		{ntheaptest.Win10x64, ntheap.Version{Major: 10, Build: 19045}, false, "10.0.19045 x64 (embedded)", 0},
		{ntheaptest.Win10x64, ntheap.Version{}, false, "10.0.19045 x64 (embedded)", 0},
		{ntheaptest.Win10x64, ntheap.Version{Major: 10, Build: 19045}, true, "10.0.19045 x64, used for ARM64 (embedded)", 0},
		{ntheaptest.Win24H2x64, ntheap.Version{Major: 10, Build: 26100}, false, "10.0.26100 x64 (embedded)", 0},
		{ntheaptest.Win7x64, ntheap.Version{Major: 10, Build: 19045}, false, "6.1.7601 x64 (embedded)", 1},
		{ntheaptest.Win1607, ntheap.Version{Major: 10, Build: 10586}, false, "10.0.14393 x64 (embedded)", 1},
		{ntheaptest.Win10x86, ntheap.Version{Major: 10, Build: 22631}, false, "10.0.19045 x86 (embedded)", 1},
		{ntheaptest.XPx86, ntheap.Version{Major: 5, Minor: 1, Build: 2600}, false, "5.1.2600 x86 (embedded)", 0},
	} {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: test.made, Blocks: 10})
		p := process(made)
		p.Version, p.ARM64 = test.said, test.arm
		heaps, heap := openOne(t, p)
		if heap.Layout != test.layout || heap.Facts().LayoutSource != test.layout || len(heaps.Notes) != test.notes {
			t.Errorf("%s said to be %s: layout %q, want %q; notes %q", test.made.Name, test.said, heap.Layout,
				test.layout, heaps.Notes)
		}
	}
}

// pdb is a PDB with some types.
type pdb map[string]map[string]uint64

func (p pdb) Offset(typ, field string) (uint64, bool) { at, ok := p[typ][field]; return at, ok }
func (p pdb) Size(typ string) (uint64, bool)          { at, ok := p[typ]["size"]; return at, ok }

// TestPDB: the types of ntdll's own PDB take precedence over the table, which supplies those that the PDB lacks.
func TestPDB(t *testing.T) {
	made := small(ntheaptest.Win10x64)
	p := process(made)
	p.Types = pdb{"_HEAP_UCR_DESCRIPTOR": {"size": 0x30, "SegmentEntry": 0x10, "Address": 0x20, "Size": 0x28}}
	heaps, err := ntheap.Open(t.Context(), p)
	if err != nil || len(heaps.List) != 2 || heaps.List[0].Layout != "ntdll.pdb" {
		t.Fatalf("%v, %d heaps: %+v", err, len(heaps.List), heaps.List)
	}
	o := read(t, p)
	compareBlocks(t, o.blocks, made.Blocks)
}

// TestStop: a walk ends early if visit returns an error, or if its context ends.
func TestStop(t *testing.T) {
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.XPx86, ntheaptest.Win10x64} {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, LFH: true, PageHeap: !v.Old(), Blocks: 200, Virtual: 3})
		heaps, err := ntheap.Open(t.Context(), process(made))
		if err != nil {
			t.Fatal(err)
		}
		enough := errors.New("enough")
		for _, heap := range heaps.List {
			total := 0
			if _, err := heap.Walk(t.Context(), func(ntheap.Block) error { total++; return nil }); err != nil {
				t.Fatal(err)
			}
			for stop := 1; stop <= total; stop++ {
				n := 0
				walked, err := heap.Walk(t.Context(), func(ntheap.Block) error {
					if n++; n == stop {
						return enough
					}
					return nil
				})
				if own := walked.Areas[ntheap.Bookkeeping].Count; !errors.Is(err, enough) || n != stop ||
					walked.Facts.Busy.Count-own != int64(stop) {
					t.Fatalf("%s heap %#x stopped at %d: %v after %d, %d counted", v.Name, heap.Handle, stop, err, n,
						walked.Facts.Busy.Count)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := heaps.List[0].Walk(ctx, func(ntheap.Block) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled walk: %v", err)
		}
		if _, err := ntheap.Open(ctx, process(made)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled opening: %v", err)
		}
	}
	large := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64}, 100_000, 40)
	_, heap := openOne(t, process(large.Process))
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	if _, err := heap.Walk(ctx, func(ntheap.Block) error {
		if n++; n == 1000 {
			cancel()
		}
		return nil
	}); !errors.Is(err, context.Canceled) || n > 10_000 {
		t.Errorf("cancelled after 1000 blocks: %v after %d", err, n)
	}
}

// TestSegmentHeap recognises a segment heap and takes its counters. Offsets are those of Windows 10 from 1903 on.
func TestSegmentHeap(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 1})
	handle := made.Heaps[0].Handle
	p := process(made)
	p.Memory = edited(made.Memory, func(at uint64, b []byte) {
		if at != handle {
			return
		}
		clear(b[:0x800])
		put(b[0x10:], 0xDDEEDDEE, 4)
		for i, pages := range []uint64{0x300, 0x200, 0x10} { // MemStats: reserved, committed, free
			put(b[0x80+8*i:], pages, 8)
		}
	})
	_, heap := openOne(t, p)
	f := heap.Facts()
	if heap.Kind != ntheap.KindSegment || f.Reserved != 0x300000 || f.Committed != 0x200000 || f.Free.Bytes != 0x10000 ||
		f.LayoutSource != "10.0.19045 x64 (embedded)" {
		t.Errorf("%+v", f)
	}
	walked, err := heap.Walk(t.Context(), func(ntheap.Block) error { return errors.New("there are no blocks") })
	if err != nil || len(walked.Gaps) != 1 || walked.Gaps[0].Bytes != 0x200000 ||
		walked.Warnings[0].Code != capture.PartialHeap {
		t.Errorf("%v, gaps %v, warnings %v", err, walked.Gaps, walked.Warnings)
	}
}
