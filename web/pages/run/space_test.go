package run_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
	"heapdrift/web/pages/pagestest"
)

// fragmented is a dump of a 32-bit program whose address space is cut up by reservations all over it.
func fragmented(t testing.TB) *capture.Capture {
	t.Helper()
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win7x86, Seed: 7, Stacks: true, LFH: true, Heaps: 4,
		Segments: 3, Blocks: 300, Virtual: 6})
	d := dumptest.Of(p, dumptest.Program{PID: 4242})
	d.Memory = append(d.Memory,
		minidumptest.Memory{Address: d.Modules[0].Base, Bytes: minidumptest.Image{Bits: 32}.Bytes()})
	used := slices.DeleteFunc(d.Regions, func(r minidumptest.Region) bool { return r.State == memFree })
	random := rand.New(rand.NewPCG(3, 4))
	at := uint64(0x1000_0000)
	add := func(size uint64, state, protect, kind uint32) {
		r := minidumptest.Region{Base: at, Size: size, AllocationBase: at, State: state, Protect: protect, Type: kind}
		for _, u := range used {
			if r.Base < u.Base+u.Size && u.Base < r.Base+r.Size {
				at = u.Base + u.Size
				return
			}
		}
		used = append(used, r)
		at += size + uint64(random.IntN(24))<<19
	}
	for at < 0x7E00_0000 {
		switch size := uint64(1+random.IntN(48)) << 16; random.IntN(6) {
		case 0, 1:
			add(size<<3, 0x1000, 4, 0x20000)
		case 2:
			add(size<<2, 0x2000, 0, 0x20000)
		case 3:
			add(size, 0x1000, 2, 0x40000)
		default:
			add(size, 0x1000, 0x20, 0x1000000)
		}
	}
	d.Regions = withFree(used, 0x7FFF_0000)
	data := d.Bytes()
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// memFree is MEM_FREE of winnt.h.
const memFree = 0x10000

// withFree sorts regions and adds what is free between them, up to an end.
func withFree(regions []minidumptest.Region, end uint64) (list []minidumptest.Region) {
	slices.SortFunc(regions, func(a, b minidumptest.Region) int { return cmp.Compare(a.Base, b.Base) })
	at := uint64(0x1_0000)
	for _, r := range append(regions, minidumptest.Region{Base: end}) {
		if r.Base > at {
			list = append(list, minidumptest.Region{Base: at, Size: r.Base - at, State: memFree, Protect: 1})
		}
		if r.Size > 0 {
			list = append(list, r)
		}
		at = max(at, r.Base+r.Size)
	}
	return list
}

// The address space is shown as a picture and a table that agree; for evidence with sums alone the page says so.
func TestAddressSpaceOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	narrow := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget,
		[]*capture.Capture{fragmented(t)})))
	pagestest.Has(t, narrow, `<pattern id="use-stack" class="u-stack"`, `fill="url(#use-heap)"`)
	pagestest.Has(t, pagestest.Words(narrow), "Address space", "free", "pale: reserved", "32-bit program, limit 2.00 GB",
		"One row is 128 MB, one cell 512 KB",
		"Largest free block: 227 MB at 0x1cf1000. Fragmentation: 78.3 %",
		"Map as a table", "0x78000000 – 0x80000000")
	wide := pagestest.DefaultTarget
	wide.Build = "4902"
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d/memory", pagestest.AddRun(t, s.Store, wide, dumps(t)))))
	pagestest.Has(t, page, "Heap blocks without a pointer", "64-bit program", "128 TB free",
		"Not drawn: 2 pieces of more than 64.0 MB each")
	sums := pagestest.DefaultTarget
	sums.Build = "4903"
	old := dumps(t)[:1]
	old[0].Memory.Space.Map = nil
	page = pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, sums, old))))
	pagestest.Has(t, page, "to get a map: this evidence has no addresses", "Largest free block:")
	pagestest.Lacks(t, page, "Map as a table")
}

// The address space of a 32-bit process is checked; TestMemoryInBrowser checks that of a 64-bit one.
func TestAddressSpaceInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, []*capture.Capture{fragmented(t)})
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d/memory", s.URL, run)))
	b.OnScreens("space-32")
}
