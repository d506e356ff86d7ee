package run_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
	"heapdrift/ingest/windbg"
	"heapdrift/web/pages/pagestest"
)

// dumps are two full dumps of one process, as the reader gives them; between them a heap and a kind of block have
// grown.
func dumps(t testing.TB) []*capture.Capture {
	t.Helper()
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 4, Stacks: true, LFH: true, Heaps: 3,
		Segments: 2, Blocks: 200, Virtual: 2})
	kept := []uint64{}
	for i := 0; i < len(p.Blocks); i += 2 {
		kept = append(kept, p.Blocks[i].Address)
	}
	d := dumptest.Of(p, dumptest.Program{PID: 4242, Roots: kept,
		Private: []uint64{8 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}})
	d.Counters = &minidumptest.Counters{Private: 40 << 20, WorkingSet: 30 << 20}
	d.Comments = []string{"*** procdump -ma app.exe: <b>memory</b> above 30 MB"}
	d.Handles = []minidumptest.Handle{{Handle: 4, Type: "Event", Name: `\BaseNamedObjects\go`}, {Handle: 8, Type: "File"},
		{Handle: 12, Type: "Event"}}
	d.Unloaded = []minidumptest.UnloadedImage{{Name: `C:\app\plugin.dll`, Base: 0x7FFE_0000_0000, Size: 0x9000}}
	var list []*capture.Capture
	for k := range 2 {
		d.Time = time.Date(2026, 3, 6, 9, 10*k, 0, 0, time.UTC)
		data := d.Bytes()
		c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	first := list[0].Memory
	first.Heaps[0].Committed -= 65536
	first.Heaps[0].Busy.Bytes -= 4096
	first.Groups[0].Usage.Bytes -= 1 << 20
	return list
}

// walkthrough is DebugDiag's report on a leak in a library of somebody else.
func walkthrough(t testing.TB) *capture.Capture {
	t.Helper()
	list, err := debugdiag.Read(t.Context(), bytes.NewReader(debugdiagtest.Walkthrough().MIME()))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d captures, %v", len(list), err)
	}
	return list[0]
}

func TestMemoryOfADump(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, dumps(t))
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, fmt.Sprintf("/runs/%d/memory?of=1", run), `class="u-heap"`, "&lt;unknown&gt;")
	// The proof stands before all tables.
	pagestest.Has(t, pagestest.Words(page), "Unreferenced blocks", "No pointer was found to", "Address space",
		"Largest free block:", "Memory by use", "Show all tables", "VirtualAlloc", "Heaps", "Thread stacks", "Images",
		"Windows charges the process 40.0 MB of private bytes", "No pointer was found to", "Heaps",
		" of that are free (", "Largest free block: ", "Free inside", "Largest free", "Scattered", "LFH",
		"▲ +64.0 KB", "▲ +4.00 KB")

	all := s.Page(fmt.Sprintf("/runs/%d/memory", run))
	pagestest.Has(t, all, "procdump -ma app.exe: &lt;b&gt;memory&lt;/b&gt; above 30 MB")
	pagestest.Has(t, pagestest.Words(all), "shopd-1.log", "shopd-2.log", "Windows 10.0.19045", "Busy blocks by size",
		"Unreachable",
		"Largest other reservations", "4 of 1.00 MB each",
		"main", "Handles by type", "Event", "MEM_PRIVATE", "PAGE_READWRITE", "plugin.dll")
	pagestest.Lacks(t, pagestest.Words(s.Page(fmt.Sprintf("/runs/%d/memory?of=0", run))), "▲ +64.0 KB")
	for path, want := range map[string]int{"of=2": http.StatusNotFound, "of=x": http.StatusNotFound,
		"of=-1": http.StatusNotFound} {
		if code, _ := s.Get(fmt.Sprintf("/runs/%d/memory?%s", run, path)); code != want {
			t.Errorf("%s: %d", path, code)
		}
	}
	logs := pagestest.DefaultTarget
	logs.Build = "4900"
	if code, _ := s.Get(fmt.Sprintf("/runs/%d/memory",
		pagestest.AddRun(t, s.Store, logs, pagestest.CapturesOf(pagestest.Shop, 1)))); code != http.StatusNotFound {
		t.Errorf("a run of logs has a page of memory: %d", code)
	}
}

// The library of somebody else is named first, and nobody calls the runtime a leak.
func TestWalkthroughOfAThirdPartyLibrary(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, []*capture.Capture{walkthrough(t)})
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", run)))
	pagestest.Has(t, page, "the most, 148 MB in 37,888 blocks (94 %), from 3rdparty!IFMX_IsInTransaction", "148 MB",
		"mscorsvr", "8.75 MB",
		"Functions reported by DebugDiag", "Leak probability (tool)", "SQLFetch",
		"These allocations were not freed yet; they need not be leaks")
	pagestest.Lacks(t, page, "1 leak", "probably leaking")
}

// Of several pieces of evidence the page shows the one that tells most, and beside it the claims of the others.
func TestMemoryOfSeveralTools(t *testing.T) {
	s := pagestest.Open(t)
	report := walkthrough(t)
	report.Process.Name = "app.exe"
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, append(dumps(t), report))
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", run)))
	pagestest.Has(t, page, "Memory by use dump, shopd-2.log", "Thread stacks", "Functions reported by DebugDiag",
		"IFMX_IsInTransaction", "Heaps dump, shopd-2.log")
}

// A log of WinDbg lists no allocations, and the page shows what the log does tell.
func TestRunOfNothingButFacts(t *testing.T) {
	s := pagestest.Open(t)
	list, err := windbg.Read(t.Context(),
		strings.NewReader("0:000> !heap -s\n  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast\n"+
			"                    (k)     (k)    (k)     (k) length      blocks cont. heap\n00460000 00000002    1024    512    512      4     2     1    0      0   LFH\n"))
	if err != nil {
		t.Fatal(err)
	}
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, list))))
	pagestest.Has(t, page, "Inconclusive", "the evidence shows where memory is, but lists no allocations",
		"Memory outside of allocations",
		"WinDbg !heap -s", "Heaps", "0x460000", "512 KB")
}

// Leaks that Application Verifier reports stand above the sites, and growth follows from the counts of two logs.
func TestReportedLeaksOnThePage(t *testing.T) {
	s := pagestest.Open(t)
	look := "0:000> !heap -s\n  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast\n                    (k)     (k)    (k)     (k) length      blocks cont. heap\n" +
		"-----\n00460000 00000002    1024    512    512      4     2     1   %d      0   LFH\n-----\n"
	list, err := windbg.Read(t.Context(), strings.NewReader(fmt.Sprintf(look, 11)+"0:000> g\n"+fmt.Sprintf(look, 43)+
		"=======================================\nVERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked.\n\n\t191A7BE0 : Address of the leaked allocation.\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, list))))
	pagestest.Has(t, page, "Application Verifier reports 1 leak", "Application Verifier leaks", "VERIFIER STOP 900",
		"A heap allocation was leaked.", "0x191a7be0", "11 → 43")
}

func TestMemoryInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, dumps(t))
	other := pagestest.DefaultTarget
	other.Build = "4901"
	report := pagestest.AddRun(t, s.Store, other, []*capture.Capture{walkthrough(t)})
	for name, path := range map[string]string{"dump": fmt.Sprintf("/runs/%d", run),
		"memory": fmt.Sprintf("/runs/%d/memory", run), "debugdiag": fmt.Sprintf("/runs/%d", report)} {
		b.Do(cdp.Navigate(s.URL + path))
		b.OnScreens(name)
	}
}
