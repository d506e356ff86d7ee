package leaks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/web/pages/pagestest"
)

// receipts are the stacks that allocate lines of receipts: as in the shop, from another line of Commit, and through a
// vector.
func receipts() []pagestest.Sample {
	const reprint, push = `shopd!Shop::Orders::Order::Commit+0x2ff@c:\src\shopd\order\order.cpp:231`,
		`shopd!std::vector<Line,std::allocator<Line>>::push_back+0x44`
	all := slices.Clone(pagestest.Shop)
	at, through := slices.Clone(pagestest.Shop[0].Stack), slices.Clone(pagestest.Shop[0].Stack)
	at[len(pagestest.NewFrames)+1] = reprint
	through = slices.Insert(through, len(pagestest.NewFrames), push)
	at[len(pagestest.NewFrames)+1] = reprint
	return append(all, pagestest.Sample{Heap: 0, Size: 384, Stack: at, Blocks: pagestest.RisingBlocks(10, 60)},
		pagestest.Sample{Heap: 0, Size: 384, Stack: through, Blocks: pagestest.RisingBlocks(5, 20)})
}

// The page of a leak shows its stacks: the one that grows most is open, with lines, and for each the page says what it
// holds in which builds.
func TestStacksOfALeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	var runs []int64
	for i, samples := range [][]pagestest.Sample{pagestest.Shop, receipts(), receipts()} {
		to := pagestest.DefaultTarget
		to.Build = fmt.Sprint(4811 + i)
		runs = append(runs, pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(samples, 11)))
	}
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	page := s.Page("/projects/shopd/signatures/" + leak.Text)
	_, card, _ := strings.Cut(page, `id="stacks"`)
	card, _, _ = strings.Cut(card, "</section>")
	pagestest.Has(t, pagestest.Words(card), "Stacks", "2 variants, lines of build 4813",
		"▲ +2.29 MB in 50 min", "holds 2.34 MB in 6,400 blocks", "4 allocator frames · ntdll, ucrtbase, operator new",
		"shopd! Shop:: Orders:: Receipts:: Receipt:: AppendLine", "receipt.cpp:118", "order.cpp:207",
		"2 thread start frames · kernel32, ntdll",
		"2 calls with different lines", "order.cpp:207", "2.12 MB", "5,790", "order.cpp:231", "229 KB", "610",
		"seen in 3 builds, 4811 to 4813, 3 runs", "4813", "soak-60min, run 1", "4811",
		"vector&lt;T&gt;::push_back", "▲ +75.0 KB", "holds 76.9 KB in 205 blocks", "seen in builds 4812 and 4813, 2 runs")
	pagestest.Has(t, card, `<li class="blame"><span class="fn" title="shopd!Shop::Orders::Receipts::Receipt::AppendLine`,
		fmt.Sprintf(`href="/runs/%d"`, runs[2]), fmt.Sprintf(`href="/runs/%d"`, runs[0]))
	open := regexp.MustCompile(`<details class="variant" open>`).FindAllString(card, -1)
	if all := strings.Count(card, `<details class="variant"`); all != 2 || len(open) != 1 ||
		strings.Index(card, `class="variant" open`) > strings.Index(card, "push_back") {
		t.Errorf("%d variants, %d of them open: the first one is to be", all, len(open))
	}
	pagestest.Lacks(t, card, "more stack", "more variant")
}

// Of very many stacks the first few are shown, and the page says how many more there are.
func TestManyStacksOfALeak(t *testing.T) {
	s := pagestest.Open(t)
	var many []pagestest.Sample
	for i := range 200 {
		stack := slices.Clone(pagestest.Shop[0].Stack)
		many = append(many, pagestest.Sample{Heap: 0, Size: 384,
			Stack: slices.Insert(stack, len(pagestest.NewFrames),
				fmt.Sprintf("shopd!std::_Uninitialized_copy%dx<Line>+0x10", i)),
			Blocks: pagestest.RisingBlocks(5, int64(300-i))})
	}
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(many, 6))
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	page := s.Page("/projects/shopd/signatures/" + leak.Text)
	_, card, _ := strings.Cut(page, `id="stacks"`)
	card, _, _ = strings.Cut(card, "</section>")
	pagestest.Has(t, pagestest.Words(card), "200 stacks in run 1, lines of build 4812",
		"194 more stacks of this leak in run 1. All stacks of this leak in the run")
	link := pagestest.LinkOf(t, card, "All stacks of this leak in the run")
	if n := strings.Count(card, `<details class="variant"`); n != 6 {
		t.Errorf("%d variants are shown", n)
	}
	pagestest.Has(t, pagestest.Words(s.Page(link)), "200")
}

// traced is a process whose trace shows the same stack leaking.
func traced() pagestest.TracedProcess {
	return pagestest.TracedProcess{Name: "shopd.exe", End: 60 * pagestest.Second, Heaps: 1,
		Sites: []pagestest.AllocationSite{{Kind: allocations.KindHeap, Heap: 0, Stack: pagestest.Shop[0].Stack,
			Lives: pagestest.RegularLives(pagestest.Millisecond, 59*pagestest.Second, 10*pagestest.Millisecond, 0, 384)}}}
}

// dumped is the shop as a full dump has it, in which nothing points to the lines of receipts.
func dumped() *capture.Capture {
	c := pagestest.CapturesOf(pagestest.Shop, 11)[10]
	c.Kind = capture.KindMinidump
	c.Sites[0].Unreachable = true
	c.Memory = &capture.Memory{Reach: &capture.PointerSearch{}}
	return c
}

// The page shows side by side what each kind of evidence tells of a leak, and says of the other kinds why they do not
// show it.
func TestEvidenceKindsOfALeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s := pagestest.Open(t)
	soak := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 11))
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	card := func() string {
		_, card, _ := strings.Cut(s.Page("/projects/shopd/signatures/"+leak.Text), `id="witnesses"`)
		card, _, _ = strings.Cut(card, "</section> </section>")
		card, _, _ = strings.Cut(card, `id="states"`)
		return card
	}
	pagestest.Has(t, pagestest.Words(card()), "Evidence for build 4812", "one kind of evidence shows the leak",
		"leak UMDH snapshots", "Held",
		"2.12 MB in 5,790 blocks", "Growth", "▲ +2.07 MB in 50 min", "Rate", "2.48 MB/hour", "certain",
		"Average block 384 B", "soak-60min, run 1",
		"Trace No trace has been uploaded for this build.", "Full dump No dump has been uploaded for this build.")

	trace := pagestest.DefaultTarget
	trace.Scenario = "trace-60s"
	traceRun := pagestest.AddTrace(t, s, trace, traced())
	again := card()
	pagestest.Has(t, pagestest.Words(again),
		"2 kinds of evidence show the leak: leak (UMDH snapshots), growing (Trace)",
		"UMDH snapshots", "growing Trace", "Growth ▲ +2.16 MB in 60 s", "Average block 384 B", "trace-60s, run 1",
		"No dump has been uploaded for this build.")
	pagestest.Has(t, again, fmt.Sprintf(`href="/runs/%d"`, soak), fmt.Sprintf(`href="/runs/%d"`, traceRun))

	// A dump of the same process shows by itself which blocks nothing points to.
	full := pagestest.DefaultTarget
	full.Scenario = "dumped"
	pagestest.AddRun(t, s.Store, full, append(pagestest.CapturesOf(pagestest.Shop, 11), dumped()))
	pagestest.Has(t, pagestest.Words(card()),
		"3 kinds of evidence show the leak: leak (UMDH snapshots), growing (Trace), unreferenced (Full dump)",
		"unreferenced Full dump", "Held 2.12 MB in 5,790 blocks", "Growth one snapshot: no growth measured",
		"Average block 384 B", "Unreferenced 5,790 of 5,790 blocks", "dumped, run 1")

	// In the next build there is no trace, and the page leads to the one that shows it.
	next := pagestest.DefaultTarget
	next.Build = "4813"
	pagestest.AddRun(t, s.Store, next, pagestest.CapturesOf(pagestest.Shop, 11))
	later := card()
	pagestest.Has(t, pagestest.Words(later), "Evidence for build 4813",
		"Trace No trace has been uploaded for this build. Shown by build 4812: trace-60s, run 1", "Full dump No dump",
		"Shown by build 4812: dumped, run 1")
	if link := pagestest.LinkOf(t, later, "trace-60s, run 1"); link != fmt.Sprintf("/runs/%d", traceRun) {
		t.Errorf("the trace of the build before is at %s", link)
	}
}
