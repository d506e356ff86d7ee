package run_test

import (
	"fmt"
	"html"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

// text is a page without its markup, with one space where there was any.
func text(page string) string {
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return regexp.MustCompile(`\s+`).ReplaceAllString(html.UnescapeString(page), " ")
}

func TestTracePage(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, "; <strong>", "25.2 MB more", "</strong>", "<code>memtest!Cache::Insert</code>")
	pagestest.Has(t, text(page), "recorded 0.0 – 60.0 s", "exited at 57.5 s", "2,412,380 events",
		"6 Mar 2025 09:00:00 UTC",
		"No events or buffers were lost: 2,412,380 events from 0.0 – 60.0 s.", "Held memory", "Virtual memory",
		"exited at 57.5 s", "Window", "Before exit", "Last half",
		"Totals", "until just before the process exited", "Heap ▲ +5.18 MB", "Virtual memory ▲ +20.0 MB",
		"Heap’s own commits same bytes as Heap", "Ranked", "Lifetimes", "Sites", "before exit, grew by")
	pagestest.Lacks(t, text(page), "The process exited at 57.5 s, inside this window", "At exit")
	pagestest.Has(t, page,
		`aria-label="Held memory from 0.0 s to 60.0 s: heaps 0 B at the start, at most 6.10 MB, 0 B at the end; virtual memory 0 B at the start, at most 30.0 MB, 0 B at the end."`)
	pagestest.Has(t, page, fmt.Sprintf(`href="/api/v1/runs/%d/allocations?download=1"`, run),
		fmt.Sprintf(`href="/api/v1/runs/%d/report?format=json&amp;download=1"`, run))
	pagestest.Lacks(t, page, "style=", "onclick", "NaN", "Inf", "Snapshots</h2>", "UMDH text")
	if scripts := strings.Count(page, "<script"); scripts != strings.Count(page, `<script src="/static/`) {
		t.Error("a script stands in the page")
	}
	whole := s.Page(fmt.Sprintf("/runs/%d?from=0&to=60", run))
	pagestest.Has(t, text(whole), "Totals of the whole trace", "The process exited at 57.5 s, inside this window",
		"impacting was 5.18 MB of heap and 20.0 MB of virtual memory", "Show the time before exit", "before exit")
	pagestest.Has(t, whole,
		fmt.Sprintf(`<a href="/runs/%d"`, run)) // the window that it opens on has no address of its own
}

// Numbers of the time before the exit are the same whether they come from the report or from the allocation table.
func TestTraceOpensBeforeExit(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	asked := s.Windows.Asked.Load()
	for _, order := range []string{"growth", "bytes", "count", "size", "transient"} {
		told := numbersOfRows(s.Page(pagestest.SitesPath(run, "sort="+order)))
		scanned := numbersOfRows(s.Page(pagestest.SitesPath(run,
			"from=0&to=57.499999998&sort="+order))) // one instant earlier
		if order == "growth" || order == "transient" { // equal ones keep the report's order: what heaps took from the system is last
			slices.Sort(told)
			slices.Sort(scanned)
		}
		if len(told) < 9 || !slices.Equal(told, scanned) {
			t.Errorf("by %s:\n%s\n%s", order, strings.Join(told, "\n"), strings.Join(scanned, "\n"))
		}
	}
	if n := s.Windows.Asked.Load() - asked; n != 1 {
		t.Errorf("asked %d windows, want 1", n)
	}
}

// A window is judged by itself: its reasons count its own blocks, and the page says which time they are of.
func TestWindowIsJudgedByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	survivors := regexp.MustCompile(`(?:None of the|Not freed:) ([0-9,]+) (?:of [0-9,]+ )?blocks older than [^ ]+ m?s`)
	told := func(query string) (page, counted string) {
		page = text(s.Page(fmt.Sprintf("/runs/%d?q=AppendLine&%s", run, query)))
		_, why, _ := strings.Cut(page, " Reasons")
		if m := survivors.FindStringSubmatch(why); m != nil {
			return page, m[1]
		}
		t.Errorf("%s: no reason in %.300s", query, why)
		return page, ""
	}
	const note = "Classes and reasons: this selection ("
	long, all := told("from=30&to=50")
	pagestest.Has(t, long, note+"30 to 50 s). Verdict: the whole run.", "leak", "AppendLine", "Reasons, for the selection",
		"Frees in the whole trace", "Whole run", "growing")
	_, some := told("from=40&to=50")
	if n, half := number(some), number(all)/2; n < half*9/10 || n > half*11/10 {
		t.Errorf("in half of the time %s blocks, in all of it %s", some, all)
	}
	whole := text(s.Page(fmt.Sprintf("/runs/%d?q=AppendLine", run)))
	pagestest.Has(t, whole, "growing", "AppendLine")
	pagestest.Lacks(t, whole, note, "for the selection", "Whole run")
	pagestest.Has(t, text(s.Page(pagestest.SitesPath(run, "from=30&to=50"))), note+"30 to 50 s). Verdict: the whole run.")
	pagestest.Lacks(t, text(s.Page(pagestest.SitesPath(run, ""))), note)
	pagestest.Has(t, text(s.Page(fmt.Sprintf("/runs/%d?size=1-64", run))), note+"some allocations of 0 to 57.5 s)")
}

// number is a count as pages print it.
func number(text string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return n
}

// Where memory is older than the trace, the numbers of the time before the exit come from the allocation table, even
// for a report that is too large to wait for.
func TestTraceOpensBeforeExitOfOlderMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	p := memtest()
	for i := range 2001 {
		p.Sites = append(p.Sites, pagestest.AllocationSite{Kind: allocations.KindHeap, Heap: 0,
			Stack: pagestest.Join(heapAllocate, []string{fmt.Sprintf("memtest!Filler%d+0x10", i)}, background),
			Lives: pagestest.RegularLives(20*pagestest.Second, 21*pagestest.Second, 2*pagestest.Second, pagestest.Second, 64)})
	}
	p.Sites = append(p.Sites, pagestest.AllocationSite{Kind: allocations.KindHeap, Heap: 0,
		Stack: pagestest.Join(heapAllocate, []string{"memtest!Before+0x10"}, background),
		Lives: []pagestest.Life{{From: allocations.BeforeTrace, Size: 1 << 20, To: p.Exited, End: allocations.EndExit}}})
	page := text(s.Page(fmt.Sprintf("/runs/%d?metric=held", pagestest.AddTrace(t, s, pagestest.DefaultTarget, p))))
	pagestest.Has(t, page, "Totals until just before the process exited", "Heap ▲ +5.18 MB +6,338 1.00 MB 1 6.18 MB 6,339",
		"memtest! Before", "1.00 MB")
	pagestest.Lacks(t, page, "cannot be read", "No numbers for this window")
}

// numbersOfRows are the texts of the rows of a table of sites, without their classes and without peaks of single sites,
// which windows do not know.
func numbersOfRows(page string) (rows []string) {
	for _, row := range regexp.MustCompile(`(?s)<tr data-row.*?</tr>`).FindAllString(page, -1) {
		rows = append(rows, text(regexp.MustCompile(`(?s)<td class="(k-class|num k-peak)".*?</td>`).ReplaceAllString(row,
			"")))
	}
	return rows
}

// Spikes and steps link to windows that show them.
func TestTraceJumps(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	p := memtest()
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, p)
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	spikes, steps := jumpLinks(page, "Spikes of virtual memory"), jumpLinks(page, "Steps of virtual memory")
	if len(spikes) != 4 || len(steps) != 2 {
		t.Fatalf("%d spikes, %d steps: %q, %q", len(spikes), len(steps), spikes, steps)
	}
	for i, link := range spikes {
		if near(link[1], float64(30+5*i)) > 0.25 { // the line of a trace has stretches of 0.15 s
			t.Errorf("spike %q, want one at %d s", link[1], 30+5*i)
		}
		window := s.Page(html.UnescapeString(link[0]))
		pagestest.Has(t, text(window),
			"20.0 MB 2 20.0 MB 2 10.0 MB 1 10.0 MB 1") // at its start, at its end, allocated, freed
		pagestest.Has(t, window, `<a href="`+link[0]+`"`, `aria-current="true">`+link[1])
	}
	if near(steps[1][1], 25) > 0.25 {
		t.Errorf("step %q, want one at 25 s", steps[1][1])
	}
	pagestest.Has(t, text(s.Page(html.UnescapeString(steps[1][0]))), "Virtual memory ▲ +10.0 MB +1")

	p.Sites = nil
	for i := range 12 {
		p.Sites = append(p.Sites,
			pagestest.AllocationSite{Kind: allocations.KindVirtual, Heap: -1, Stack: pagestest.Join(virtualAlloc, testMain),
				Lives: []pagestest.Life{{From: int64(i+1) * 4 * pagestest.Second,
					To: int64(i+1)*4*pagestest.Second + 500*pagestest.Millisecond, Size: uint64(i+20) << 20,
					End: allocations.EndFree}}})
	}
	to := pagestest.DefaultTarget
	to.Run = "2"
	page = s.Page(fmt.Sprintf("/runs/%d", pagestest.AddTrace(t, s, to, p)))
	if spikes = jumpLinks(page, "Spikes of virtual memory"); len(spikes) != 10 || near(spikes[0][1], 12) > 0.25 ||
		!strings.HasSuffix(spikes[0][1], ", 22.0 MB") {
		t.Errorf("%q", spikes)
	}
	pagestest.Has(t, page, "2 smaller ones not listed")
}

// near is the distance in seconds of the time with which a link begins from another time.
func near(link string, at float64) float64 {
	var got float64
	_, _ = fmt.Sscanf(link, "%f", &got) // 0 where it begins with none
	return math.Abs(got - at)
}

// jumpLinks are the addresses and texts of links to jumps of one kind.
func jumpLinks(page, name string) (links [][2]string) {
	_, nav, _ := strings.Cut(page, `aria-label="`+name+`"`)
	nav, _, _ = strings.Cut(nav, "</nav>")
	for _, m := range regexp.MustCompile(`<a href="([^"]*)"[^>]*>([^<]*)</a>`).FindAllStringSubmatch(nav, -1) {
		links = append(links, [2]string{m[1], m[2]})
	}
	return links
}

// Without scripts the form and the links give all that the chart does.
func TestTraceWindowWithoutScripts(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	page := s.Page(pagestest.SitesPath(run, "from=20&to=29&sort=size"))
	pagestest.Has(t, page, `id="window"`, `value="20"`, `value="29"`,
		`<noscript><input type="hidden" name="sort" value="size"><input type="hidden" name="view" value="sites">`)
	pagestest.Has(t, page, `class="brush-shade" x="0" y="10" width="33.33%"`)
	pagestest.Has(t, text(page), "from 20 to 29 s", "Heap ▲ +369 KB +1,059",
		"Virtual memory ▲ +10.0 MB +1 10.0 MB 1 20.0 MB 2 10.0 MB 1 0 B 0")
	pagestest.Has(t, page, "report?format=json&amp;window=20,29&amp;download=1", "of the window")
	if rows := blames(page); len(rows) != 9 || rows[0] != "memtest!Buffers::Reserve" {
		t.Errorf("rows %q", rows)
	}
	pagestest.Lacks(t, text(page), "The process exited")
}

// Windows are parsed leniently, and each window has one address.
func TestTraceWindowAddresses(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	for query, says := range map[string]string{
		"": "until just before the process exited", "?from=0&to=60": "of the whole trace",
		"?from=-5&to=1e6": "of the whole trace",
		"?from=x&to=NaN":  "until just before the process exited",
		"?from=&to=":      "until just before the process exited", "?from=50": "from 50 to 57.5 s",
		"?from=0&to=57.499999999": "until just before the process exited", "?to=2.5": "from 0 to 2.5 s",
		"?from=29&to=20":              "from 20 to 29 s",
		"?from=1e1&to=1.0000000001e1": "from 10 to 10 s", "?from=5&to=5": "from 5 to 5 s",
		"?from=%2020%20&to=+29": "from 20 to 29 s", "?from=Inf&to=1e300": "until just before the process exited",
	} {
		page := text(s.Page(fmt.Sprintf("/runs/%d%s", run, query)))
		if !strings.Contains(page, "Totals "+says) {
			t.Errorf("%q is not %s", query, says)
		}
	}
	pagestest.Lacks(t, s.Page(fmt.Sprintf("/runs/%d?from=0&to=60&kind=nonsense", run)), "kind=nonsense")
}

// Sorting uses the window's numbers of all sites, and everything else is as without a window.
func TestTraceSites(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	crowded := pagestest.DefaultTarget
	crowded.Run = "2"
	many := pagestest.AddTrace(t, s, crowded, crowd(40))
	for _, test := range []struct {
		run           int64
		query, extent string
		first         string
	}{
		{run, "", "10", "memtest!Buffers::Reserve"},
		{run, "?sort=transient", "10", "memtest!ManipulateTemporaryBuffer"},
		{run, "?sort=allocs", "10", "memtest!Parser::Tokenize"},
		{run, "?sort=size", "10", "memtest!ManipulateTemporaryBuffer"},
		{run, "?sort=nonsense", "10", "memtest!Buffers::Reserve"},
		{run, "?sort=exit", "10", "memtest!Buffers::Reserve"}, // where the store cannot sort, the rank decides
		{run, "?kind=virtual&sort=name", "2 of 10", "memtest!Buffers::Reserve"},
		{run, "?kind=heap-virtual", "1 of 10", "memtest!Cache::Insert"},
		{run, "?from=30&to=50", "10", "memtest!Shop::Orders::Receipt::AppendLine"},
		{run, "?from=30&to=50&sort=transient", "10", "memtest!ManipulateTemporaryBuffer"},
		{run, "?from=30&to=50&sort=bytes", "10", "memtest!Buffers::Reserve"},
		{run, "?from=30&to=50&sort=name", "10", ""},
		{run, "?from=30&to=50&class=transient", "3 of 10", "memtest!ManipulateTemporaryBuffer"},
		{run, "?from=30&to=50&class=leak&kind=heap", "3 of 10", "memtest!Shop::Orders::Receipt::AppendLine"},
		{run, "?from=30&to=50&q=loop", "1 of 10", "memtest!InnerLoopOperation"},
		{run, "?from=50&to=60&sort=exit", "8", "memtest!Buffers::Reserve"},
		{run, "?from=59&to=60", "0", ""},
		{many, "?from=100&to=500", "1–50 of 80", ""},
		{many, "?from=100&to=500&page=9", "51–80 of 80", ""},
		{many, "?from=100&to=500&sort=name&page=2", "51–80 of 80", ""},
		{many, "?from=100&to=500&sort=size&heap=0x1d147270000", "2 of 80", "crowd!Pool39::Scratch"},
	} {
		page := s.Page(pagestest.SitesPath(test.run, test.query))
		pagestest.Has(t, page, `role="status">`+test.extent+"<")
		if rows := blames(page); test.first != "" && (len(rows) == 0 || rows[0] != test.first) {
			t.Errorf("%s: %q, want %s first", test.query, rows, test.first)
		}
	}
	pagestest.Has(t, text(s.Page(pagestest.SitesPath(run, "from=59&to=60"))),
		"No memory was allocated, freed or held in this window.")
	seen := map[string]bool{}
	for _, query := range []string{"", "&page=2"} {
		for _, row := range regexp.MustCompile(`data-row="(\d+)"`).FindAllStringSubmatch(s.Page(pagestest.SitesPath(many,
			"from=100&to=500&sort=allocs"+query)), -1) {
			seen[row[1]] = true
		}
	}
	if len(seen) != 80 {
		t.Errorf("two pages have %d sites, want 80", len(seen))
	}
}

func TestTraceSiteOpens(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	page := s.Page(pagestest.SitesPath(run, "from=20&to=29&open=0"))
	pagestest.Has(t, page, `data-fragment="/runs/1/sites/0?from=20&amp;to=29"`, `id="d0"`)
	pagestest.Has(t, text(page), "In the window Whole trace Impacting ▲ +10.0 MB = 0 B At start 10.0 MB 0 B",
		"2 allocator frames · ntdll, VirtualAlloc", "10,485,760 B", "25.0 s", "Stack as text", "memtest!Buffers::Reserve+88")
	part := s.Page(fmt.Sprintf("/runs/%d/sites/0?from=20&to=29", run), "HX-Request", "true")
	pagestest.Has(t, text(part), "In the window", "Whole trace")
	pagestest.Lacks(t, text(s.Page(fmt.Sprintf("/runs/%d/sites/0?from=0&to=60", run), "HX-Request", "true")),
		"In the window")
}

// The last windows are kept: sorting and paging ask no table again.
func TestTraceWindowsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	for _, query := range []string{"from=20&to=29", "from=20&to=29&sort=size", "from=20&to=29&q=a", "from=1", "from=2",
		"from=3", "from=20&to=29", "from=4", "from=5", "from=20&to=29", "from=2"} {
		s.Page(fmt.Sprintf("/runs/%d?%s", run, query))
	}
	if n := s.Windows.Asked.Load(); n != 7 {
		t.Errorf("asked %d times, want 7", n)
	}
}

// A page is made of one snapshot: a report that is replaced while a window of the old one is computed has sites of
// other ranks, and the page shows neither their names beside numbers of the old one, nor keeps those numbers for the
// new one.
func TestReportReplacedMeanwhile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, path := range []string{"/runs/%d?view=sites&from=20&to=29", "/runs/%d/sites/0?view=sites&from=20&to=29"} {
		s, calm := pagestest.Open(t), pagestest.Open(t)
		run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
		if other := pagestest.AddTrace(t, calm, pagestest.DefaultTarget, memtest()); other != run {
			t.Fatalf("runs %d and %d", run, other)
		}
		show := func(s *pagestest.Server) string {
			return s.Page(fmt.Sprintf(path, run), "HX-Request", "true", "HX-Target", "sites")
		}
		old := s.Windows.Runs[run]
		s.Windows.Meanwhile = func() {
			r := *old.Report
			r.Sites = slices.Clone(r.Sites)
			slices.Reverse(r.Sites)
			s.Windows.Runs[run] = pagestest.TracedRun{Report: &r, Rows: old.Rows}
			replaceReport(t, s.Store, run, &r)
		}
		if page := show(s); page != show(calm) {
			t.Errorf("%s: the page mixes two reports", path)
		}
		if n := s.Windows.Asked.Load(); n != 1 {
			t.Errorf("%s: asked %d times, want 1", path, n)
		}
		if now := show(s); now == show(calm) || s.Windows.Asked.Load() != 2 {
			t.Errorf("%s: the page shows the old report still, asked %d times", path, s.Windows.Asked.Load())
		}
	}
}

// A writingClient looks at what is held while the answer is written to it.
type writingClient struct {
	http.ResponseWriter
	windows *pagestest.TraceWindows
	held    int64
}

func (c *writingClient) Write(p []byte) (int, error) {
	c.held = max(c.held, c.windows.Held.Load())
	return c.ResponseWriter.Write(p)
}

// A client that is slow to read its page keeps nobody else from computing a window; neither does a client whose window
// is kept already.
func TestSlowClientsHoldNoTurn(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	for _, path := range []string{"/runs/%d?from=20&to=29", "/runs/%d?from=20&to=29&sort=size",
		"/runs/%d/sites/0?from=20&to=29", "/runs/%d?from=1"} {
		client := &writingClient{ResponseWriter: httptest.NewRecorder(), windows: s.Windows}
		req := httptest.NewRequest(http.MethodGet, fmt.Sprintf(path, run), nil)
		req.Header.Set("HX-Request", "true")
		s.Handler.ServeHTTP(client, req)
		if client.held != 0 || s.Windows.Held.Load() != 0 {
			t.Errorf("%s: %d turns are held while the page is written, %d after it", path, client.held, s.Windows.Held.Load())
		}
	}
	if n := s.Windows.Asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

// htmx gets the parts that depend on the window, and nothing else.
func TestTraceWindowForHtmx(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	part := s.Page(fmt.Sprintf("/runs/%d?from=20&to=29&q=&heap=", run), "HX-Request", "true", "HX-Target", "totals")
	if !strings.HasPrefix(part, `<section class="card totals" id="totals"`) {
		t.Errorf("the part begins with %.80s", part)
	}
	for _, id := range []string{"window", "heaps", "export", "downloads", "views", "view", "choices"} {
		if n := strings.Count(part, `id="`+id+`"`); n != 1 {
			t.Errorf("%d parts with the id %s", n, id)
		}
	}
	if n := strings.Count(part, `hx-swap-oob="true"`); n != 5 {
		t.Errorf("%d parts beside the first, want 5", n)
	}
	pagestest.Lacks(t, part, "<html", `class="chart lanes"`)
}

// Where a window cannot be computed the page says why, and shows the numbers of the whole trace.
func TestTraceWithoutTable(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	delete(s.Windows.Runs, run)
	page := s.Page(fmt.Sprintf("/runs/%d?from=20&to=29", run))
	pagestest.Has(t, text(page), "No numbers for this window table-missing", "not there any more", "whole trace")
	pagestest.Has(t, page, `value="60"`)
}

func TestTraceWithLosses(t *testing.T) {
	s := pagestest.Open(t)
	page := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddTrace(t, s, pagestest.DefaultTarget, crowd(7))))
	pagestest.Has(t, text(page), "Inconclusive", "Evidence limits", "A block whose free event was lost looks like a leak.",
		"12,408 events were lost", "3 buffers were lost", "1 note on the evidence", "811 frees", "Held memory")
	pagestest.Has(t, page, `class="show-h5"`, "7, most growth first")
	pagestest.Lacks(t, page, `class="show-h6"`, "were lost: 2,412,380")
	page = s.Page("/runs/1?heap=0x1d147060000") // a heap that is too small to be drawn is drawn when it is chosen
	pagestest.Has(t, page, `class="show-h6"`, "0x1d147060000")
}

// Traces with little in them: virtual memory alone, one heap, or nothing over time.
func TestSmallTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	for i, test := range []struct {
		p        pagestest.TracedProcess
		has, not []string
	}{
		{pagestest.TracedProcess{Name: "v.exe", End: pagestest.Second,
			Sites: []pagestest.AllocationSite{{Kind: allocations.KindVirtual, Heap: -1,
				Lives: []pagestest.Life{{From: 1, Size: 4096}}}}},
			[]string{">Virtual memory</text>", "the trace has no heap events of this process</td>",
				"The trace has no heap events of this process"}, []string{`class="show-h1"`, ">Heaps</text>"}},
		{pagestest.TracedProcess{Name: "one.exe", End: 3 * pagestest.Millisecond, Heaps: 1,
			Sites: []pagestest.AllocationSite{{Kind: allocations.KindHeap, Heap: 0,
				Lives: []pagestest.Life{{From: 1, Size: 16}}}}},
			[]string{">0 s</text>", ">0.0005</text>", "the trace has no VirtualAlloc events of this process"},
			[]string{`class="show-h1"`, ">Virtual memory</text>"}},
		{pagestest.TracedProcess{Name: "instant.exe", End: 1, Heaps: 1,
			Sites: []pagestest.AllocationSite{{Kind: allocations.KindHeap, Heap: 0,
				Lives: []pagestest.Life{{From: 0, Size: 16}}}}}, []string{"16 B"}, nil},
		{pagestest.TracedProcess{Name: "days.exe", End: 200_000 * pagestest.Second, Heaps: 1,
			Sites: []pagestest.AllocationSite{{Kind: allocations.KindHeap, Heap: 0,
				Lives: []pagestest.Life{{From: pagestest.Second, Size: 1 << 40}}}}},
			[]string{"50,000", "1.00 TB"}, nil},
	} {
		to := pagestest.DefaultTarget
		to.Run = fmt.Sprint(i)
		run := pagestest.AddTrace(t, s, to, test.p)
		page := s.Page(fmt.Sprintf("/runs/%d", run))
		pagestest.Has(t, page, test.has...)
		pagestest.Lacks(t, page, append(test.not, "NaN", "Inf")...)
		s.Page(fmt.Sprintf("/runs/%d?from=0&to=0", run))
	}
}

func TestHostileTraceStaysText(t *testing.T) {
	s := pagestest.Open(t)
	p := memtest()
	p.Name = pagestest.Hostile
	p.Sites[0].Stack = []string{"memtest!" + pagestest.Hostile + "+0x1"}
	p.Warnings = []capture.Warning{{Code: "x" + pagestest.Hostile, Message: pagestest.Hostile}}
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, p)
	for _, query := range []string{"", "?from=20&to=29&open=0", "?from=%3Cscript%3E&to=%22%3E", "?kind=%3Cscript%3E"} {
		page := s.Page(fmt.Sprintf("/runs/%d%s", run, query))
		pagestest.Lacks(t, page, "<script>alert", `"><script>`)
	}
	status, _ := s.Get(fmt.Sprintf("/runs/%d/sites/10", run))
	if status != http.StatusNotFound {
		t.Errorf("status %d of a site that is not there", status)
	}
}

// All pages that take evidence name both kinds.
func TestTracesAreNamed(t *testing.T) {
	s := pagestest.Open(t)
	pagestest.Has(t, text(s.Page("/")), "UMDH logs, ETW traces and full dumps", "UMDH snapshots",
		"a trace of it with wpr or xperf", "7z")
	pagestest.Has(t, text(s.Page("/upload")), "Drop UMDH logs, traces or dumps here", "ETW traces (.etl)",
		"zip (also .etl.zip and .diagsession)", "kernel.etl and heap.etl", "Record with UMDH", "Record a trace",
		"wpr -start VirtualAllocation -start Heap -filemode", "xperf -merge")
}

// replaceReport stores another report of a run.
func replaceReport(t testing.TB, s *store.Store, run int64, r *analysis.Report) {
	t.Helper()
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	pagestest.SaveNames(t, s, run)
	in := pagestest.Must[store.AnalysisInput](t)(storetest.Now(t, s).FindAnalysisInput(t.Context(), run))
	if err := s.UpdateResult(t.Context(), pagestest.Claim(t, s, store.JobAnalyse, run),
		store.Result{Report: r, ReportKey: "another-report", Revision: in.Revision}); err != nil {
		t.Fatal(err)
	}
}
