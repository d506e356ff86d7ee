package windbg_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/windbg"
	"heapdrift/internal/corpus"
)

// The walkthrough of a server with four heaps of the garbage collector, as it was published.
func TestWalkthrough(t *testing.T) {
	page, err := os.ReadFile(corpus.Path(t, "..", "seeds", "002_1fb834a266508236.txt"))
	if err != nil {
		t.Fatal(err)
	}
	captures := read(t, string(page))
	if len(captures) != 1 || len(captures[0].Warnings) > 0 {
		t.Fatalf("%d captures, %v", len(captures), captures[0].Warnings)
	}
	want := []capture.ManagedHeap{
		{Name: "Heap 0", Bytes: 24_013_548, Small: 20_448_012, Large: 3_565_536, Segments: 2},
		{Name: "Heap 1", Bytes: 22_471_520, Small: 21_680_640, Large: 790_880, Segments: 2},
		{Name: "Heap 2", Bytes: 22_705_180, Small: 22_605_060, Large: 100_120, Segments: 2},
		{Name: "Heap 3", Bytes: 19_809_408, Small: 19_509_048, Large: 300_360, Segments: 2},
	}
	total := int64(0)
	for i, h := range captures[0].Memory.Managed {
		if h != want[i] {
			t.Errorf("%+v, want %+v", h, want[i])
		}
		total += h.Bytes
	}
	if total != 88_999_656 {
		t.Errorf("%d bytes in all, want 88,999,656", total)
	}
}

// Published outputs, with the figures that they show.
func TestPublishedOutputs(t *testing.T) {
	root := corpus.Path(t, "umdh", "related")
	for file, want := range map[string]string{
		"windbg.heap-s.ntheap.x86.excerpt.txt":      "heap 0x510000 NT heap 32 bits 8000002 LFH reserved 166055936 committed 152547328 virtual 165945344 free 44311552 in 1549 ucr 40 blocks 0 in 542 lock 138 External fragmentation  29 % (1549 free blocks)\n",
		"windbg.heap-s.winxp-vista.x86.excerpt.txt": "heap 0x150000 NT heap 32 bits 2 lookaside lists reserved 16777216 committed 16744448 virtual 16744448 free 2048 in 0 ucr 1 blocks 0 in 0 lock 0 \n",
		"windbg.heap-stat.excerpt.txt":              "group size of 0x510000 size 1402368: 760083456 in 542 example 0x0 \n",
		"windbg.heap-flt-s.excerpt.txt":             "group size of 0x510000 size 1402368: 7011840 in 5 example 0xac49030 \n",
		"windbg.heap-l.excerpt.txt":                 "reach: of 16777216 in 32822 unreachable 4000 in 8 (+96): !heap -l detected 29050 blocks; 8 of them are in the log\n",
		"windbg.heap-p-a.ust.excerpt.txt":           "< 6a4aca4e TestLeakLib!+1ca4e <",
		"windbg.address-summary.new.excerpt.txt":    "use heap: 2741 regions, 1396441088 bytes, largest 0\n",
		"windbg.address-summary.old.excerpt.txt":    "largest free: 714539008 at 0x30f00000\n",
		"verifier-stop.windbg-log.excerpt.txt":      "sample VERIFIER STOP 900: 0xaed3f58, 0 bytes",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := renderAll(read(t, string(text))); !strings.Contains(got, want) || strings.Contains(got, "\nmalformed") ||
			strings.Contains(got, "\ninconsistent") {
			t.Errorf("%s: no %q in\n%s", file, want, got)
		}
		if !windbg.Sniff(text) {
			t.Errorf("%s is not recognised", file)
		}
	}
}

// What people have pasted, with the figures that a reader finds by eye.
func TestPastedOutputs(t *testing.T) {
	root := corpus.Path(t, "windbg")
	for file, want := range map[string]string{
		"t02a_dmp1.log":         "heap 0x33f0000 NT heap 32 bits 2 LFH reserved 1101824 committed 73728 virtual 1044480 free 1024 in 9 ucr 1 blocks 0 in 11 lock 1 \n",
		"t02b_dmp2.log":         "heap 0x33f0000 NT heap 32 bits 2 LFH reserved 1101824 committed 73728 virtual 1044480 free 1024 in 9 ucr 1 blocks 0 in 43 lock 1 \n",
		"t09_sql_commented.txt": "share MEM_COMMIT: 0 regions, 461099008 bytes\nshare MEM_FREE: 0 regions, 5738496 bytes\nshare MEM_RESERVE: 0 regions, 1680580608 bytes\n",
		"t10_goapp.md":          "group size of 0x1980000 size 280: 3640 in 13 example 0x19819e0 \n",
		"t20_npp149_avrf.txt":   "sample VERIFIER STOP 900: 0x19615258, 0 bytes",
		"t29_terminal_2009.md":  "heap 0x520000 NT heap 32 bits 2 LFH reserved 633970688 committed 632758272 virtual 633970688 free 1753088 in 2165 ucr 95 blocks 0 in 1 lock 0 \n",
		"t30_randomascii_f.txt": "heap 0x145a3fd0000 heap 64 bits 0  reserved 32350208 committed 32350208 ",
		"t31_heap0.txt":         "heap 0xbd4aef0000 heap 64 bits 0  reserved 1044480 committed 45056 ",
		"t37_growth_two_s.log":  " blocks 0 in 43 lock 1 \n",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if !windbg.Sniff(text) {
			t.Errorf("%s is not recognised", file)
		}
		if got := renderAll(read(t, string(text))); !strings.Contains(got, want) || strings.Contains(got, "\nmalformed") ||
			strings.Contains(got, "\ninconsistent") {
			t.Errorf("%s: no %q in\n%s", file, want, got)
		}
	}
	for file, want := range map[string][3]int{"t09_sql_commented.txt": {1, 6, 0}, "t10_goapp.md": {1, 5, 4},
		"t29_terminal_2009.md": {1, 5, 3}, "t31_heap0.txt": {1, 2, 0}, "t37_growth_two_s.log": {2, 1, 0}} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		captures := read(t, string(text))
		m := captures[len(captures)-1].Memory
		if got := [3]int{len(captures), len(m.Heaps), len(m.Groups)}; got != want {
			t.Errorf("%s: instants, heaps and sizes are %v, want %v", file, got, want)
		}
	}
}

// Logs of UMDH and pages about it are not taken for logs of WinDbg.
func TestSniffPassesOthers(t *testing.T) {
	for _, file := range []string{"umdh/INDEX.md", "umdh/related/appverifier.leak-layer.schema.excerpt.xml",
		"../seeds/004_8f2751642d70861c.txt"} {
		text, err := os.ReadFile(corpus.Path(t, strings.Split(file, "/")...))
		if err != nil {
			t.Fatal(err)
		}
		if windbg.Sniff(text[:min(len(text), 64<<10)]) {
			t.Errorf("%s is taken for a log", file)
		}
		if _, err := windbg.Read(t.Context(), bytes.NewReader(text)); err == nil && strings.HasSuffix(file, ".xml") {
			t.Errorf("%s is read", file)
		}
	}
}
