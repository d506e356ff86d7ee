package run_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

// blames are the functions of a page's table, in its order.
func blames(page string) []string {
	var list []string
	if _, table, found := strings.Cut(page, `<div id="sites"`); found { // the findings above have names as well
		page = table
	}
	for _, m := range regexp.MustCompile(`class="who" [^>]* title="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		list = append(list, html.UnescapeString(m[1]))
	}
	return list
}

func TestReport(t *testing.T) {
	s, run := pagestest.OpenShop(t)
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, "Leaking", "<strong>shopd.exe leaks 2.77 MB in 11,570 blocks from 4 leaks in 5 stacks</strong>",
		"lost objects of shopd!Shop::Orders::Order::Commit", "<b>shopd.exe</b>", "x64, PID 4242", "<b>4812</b>", "main",
		"<b>soak-60min</b>", "over 50 min",
		"6 Mar 2025 09:00", "matched by id")
	pagestest.Has(t, page,
		`aria-label="Held memory over 11 snapshots: 2.15 MB in 1,692 blocks at the first, 5.76 MB in 14,763 blocks at the last."`, "5.76 MB held")
	pagestest.Has(t, page, `aria-sort="descending"`,
		`<span class="mod">shopd!</span><wbr><span class="ns">Shop::</span><wbr>`,
		`<span class="fn">AppendLine</span>`, "receipt.cpp:118", `title="2,223,360 B">2.12 MB`, "5,790",
		`title="+2,169,600 B in +5,650 blocks">▲ +2.07 MB`, "▲ +2.48 MB/hour")
	pagestest.Has(t, page, "4 allocator frames", `class="blame"`, "Block size", "384 B") // the first leak is open
	page = s.Page(pagestest.SitesPath(run, ""))
	pagestest.Has(t, page,
		`title="first own frame below the allocator; else the first third-party frame, else of Windows"`)
	pagestest.Has(t, page, `aria-sort="descending"`, `shopd!Shop::…::</span><span class="fn">Receipt::AppendLine`,
		"receipt.cpp:118",
		`title="2,223,360 B">2.12 MB`, "5,790", "▲ +2.07 MB", "▲ +5,650")
	pagestest.Has(t, page, "▼ −1.64 KB") // Log::Rotate shrinks
	pagestest.Has(t, page, `>alias</span>`)
	pagestest.Has(t, page, `>no stack</span>`)
	pagestest.Has(t, page, "Heaps", "0x1d147000000", "5.50 MB")
	pagestest.Has(t, page, "plugin.dll", "none", "0 of 2 frames resolved",
		"<b>plugin.pdb</b>, age 1, GUID <code>5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2</code>",
		"3 modules without effect on this report",
		"shopd.exe", "private")
	pagestest.Has(t, page, "11 files", "shopd-1.log", "1.18 MB", "umdh-snapshot", "1 snapshot")
	for _, format := range []string{"text", "json", "markdown", "folded", "csv", "pprof", "speedscope", "sarif", "junit"} {
		pagestest.Has(t, page, fmt.Sprintf(`href="/api/v1/runs/%d/report?format=%s&amp;download=1"`, run, format))
	}
	pagestest.Has(t, page, "no-symbols")
	before, _, _ := strings.Cut(page, "<template") // the content of a template is not part of the page
	pagestest.Lacks(t, before, "sse-connect")
	pagestest.Lacks(t, page, "http-equiv", "style=", "onclick", "javascript:")
	if scripts := strings.Count(page, "<script"); scripts != strings.Count(page, `<script src="/static/`) {
		t.Error("a script stands in the page")
	}
}

// The column of growth has bytes in all rows, in any order, and says by what it is sorted; how fast a leak grows stands
// below, where all of the time is selected.
func TestColumnOfGrowth(t *testing.T) {
	s, run := pagestest.OpenShop(t)
	const difference = "bytes at the last snapshot minus bytes at the first"
	for _, test := range []struct{ query, title, grown, rate string }{
		{"", difference + "; below: growth rate of a leak. Sorted: by severity of the class, then score, then growth",
			"▲ +2.07 MB", "▲ +2.48 MB/hour"},
		{"?metric=held", difference + "; below: growth rate of a leak", "▲ +2.07 MB", "▲ +2.48 MB/hour"},
		{"?kind=heap",
			difference + "; below: growth rate of a leak. Sorted: by severity of the class, then score, then growth",
			"▲ +2.07 MB", "▲ +2.48 MB/hour"},
		{"?since=2&until=6", difference + ". Sorted: leaks and growing first, then by growth", "▲ +848 KB", ""},
	} {
		page := s.Page(fmt.Sprintf("/runs/%d%s", run, test.query))
		pagestest.Has(t, page, `class="num k-growth" title="`+test.title+`"`)
		_, row, _ := strings.Cut(page, `<span class="loc">receipt.cpp:118`)
		_, cell, _ := strings.Cut(row, `<td class="num k-growth">`)
		cell, _, _ = strings.Cut(cell, "</td>")
		if got, want := strings.TrimSpace(test.grown+" "+test.rate), pagestest.Words(cell); got != want {
			t.Errorf("%q: %q, want %q", test.query, want, got)
		}
	}
}

// In a part of a series, all that is not of the part says so: its classes and reasons are of all snapshots.
func TestPartOfASeries(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s, run := pagestest.OpenShop(t)
	const note = "Classes and reasons: all 11 snapshots. Held, blocks and growth: snapshots 2 to 6."
	page := s.Page(fmt.Sprintf("/runs/%d?since=2&until=6", run))
	pagestest.Has(t, pagestest.Words(page), note, "AppendLine", "over all 11 snapshots: From 140 to 5,790 blocks",
		"1.09 MB 2,965",
		"Reasons, over all 11 snapshots", "From 140 to 5,790 blocks", "Whole run", "2.12 MB", "UMDH format")
	selected := s.Page(fmt.Sprintf("/api/v1/runs/%d/views/ranked?since=2&until=6&format=umdh-text", run))
	sites := s.Page(pagestest.SitesPath(run, "since=2&until=6&open=0"))
	pagestest.Has(t, pagestest.Words(sites), note)
	part := s.Page(fmt.Sprintf("/runs/%d/sites/0?since=2&until=6", run), "HX-Request", "true")
	pagestest.Has(t, sites, fmt.Sprintf(`data-fragment="/runs/%d/sites/0?since=2&amp;until=6"`, run))
	for name, page := range map[string]string{"ranked": page, "sites": sites, "a site": part} {
		_, printed, _ := strings.Cut(page, `id="umdh-`)
		_, printed, _ = strings.Cut(printed, ">")
		line, _, _ := strings.Cut(printed, "\n")
		if line == "" || !strings.Contains(selected, html.UnescapeString(line)) {
			t.Errorf("%s: %q is not in what UMDH prints of the selection:\n%.300s", name, line, selected)
		}
	}
	whole := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", run)))
	pagestest.Lacks(t, whole, "Classes and reasons:", "over all 11 snapshots", "Whole run")
}

func TestReportOfOneAndTwoSnapshots(t *testing.T) {
	s := pagestest.Open(t)
	one := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget,
		pagestest.CapturesOf(pagestest.Shop, 1))))
	pagestest.Has(t, one, "4 more snapshots needed", "Held memory at one snapshot: 2.15 MB in 1,692 blocks.",
		"2.15 MB held at one snapshot")
	pagestest.Lacks(t, one, "matched by", `class="l-growing"`)
	cut := pagestest.CapturesOf(pagestest.Shop, 2)
	cut[1].Snapshots[0].LowerBound = true
	cut[1].Warnings = append(cut[1].Warnings,
		capture.Warning{Code: capture.Truncated, Message: "the log ends early", Place: "line 20113", Count: 1})
	to := pagestest.DefaultTarget
	to.Run = "2"
	two := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, to, cut)))
	pagestest.Has(t, two, "the log ends early", "(shopd-2.log, line 20113)", "truncated",
		"no-symbols") // the warnings that limit the verdict come first
	pagestest.Has(t, two, "lower bound: the evidence is truncated", `class="bound-band" x="50.00%"`,
		`class="mark-dot bound"`)
	pagestest.Has(t, two, "≥")
}

// Snapshots without rising times stand at equal distances; many of them are not all labelled.
func TestChartWithoutTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	timeless := pagestest.CapturesOf(pagestest.Shop, 40)
	for _, c := range timeless {
		c.Snapshots[0].TakenAt = timeless[0].Snapshots[0].TakenAt
	}
	page := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, timeless)))
	if n := strings.Count(page, `class="mark-dot"`); n != 40 {
		t.Errorf("%d marks, want 40", n)
	}
	pagestest.Has(t, page, `y="164">37</text>`, `y="164">40</text>`)
	pagestest.Lacks(t, page, "0 min", "NaN", "Inf")
}

func TestSitesAreSortedFilteredAndPaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(300), 3))
	for _, test := range []struct {
		query, extent, first string
	}{
		{"", "1–50 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"},
		{"?sort=nonsense&page=x&class=%00&heap=zzz", "1–50 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"},
		{"?sort=bytes", "1–50 of 313", "shopd!Catalog::Preload"},
		{"?sort=blocks", "1–50 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"},
		{"?sort=count", "1–50 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"},
		{"?sort=name", "1–50 of 313", ""}, // no stack, no name
		{"?page=2", "51–100 of 313", ""},
		{"?page=7", "301–313 of 313", ""},
		{"?page=999", "301–313 of 313", ""},
		{"?q=function299", "1 of 313", "gen!Space4::Class29::Function299"},
		{"?q=%20AppendLine%00", "1 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"},
		{"?q=BackTrace2003", "1 of 313", "shopd!SearchIndex::Rebuild"},
		{"?q=Http::Worker::Run", "4 of 313", "shopd!Shop::Orders::Receipts::Receipt::AppendLine"}, // in an outer frame
		{"?q=nosuchthing", "0 of 313", ""},
		{"?heap=0x1d148a20000", "2 of 313", "plugin+0x2a40"},
		{"?class=growing&heap=0x1d148a20000", "1 of 313", "plugin+0x2a40"},
		{"?class=stable&sort=bytes", "50 of 313", "shopd!Catalog::Preload"},
	} {
		page := s.Page(pagestest.SitesPath(run, test.query))
		pagestest.Has(t, page, `role="status">`+test.extent+"<")
		rows := blames(page)
		if test.first != "" && (len(rows) == 0 || rows[0] != test.first) {
			t.Errorf("%s: rows %q, want %s first", test.query, rows, test.first)
		}
		if len(rows) > 50 {
			t.Errorf("%s: %d rows", test.query, len(rows))
		}
	}
	page := s.Page(pagestest.SitesPath(run, "q=Class&sort=bytes&class=growing&page=2"))
	pagestest.Has(t, page, "sort=bytes", "class=growing", "q=Class") // each link keeps the other choices
	pagestest.Has(t, page, `<input type="hidden" name="sort" value="bytes">`,
		`<input type="hidden" name="class" value="growing">`,
		"text: Class", `aria-label="Remove the filter by text"`)
	pagestest.Has(t, s.Page(pagestest.SitesPath(run, "q=nosuchthing")), "No site matches.", "Show all 313")
}

func TestTableAloneForHtmx(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 2))
	part := s.Page(fmt.Sprintf("/runs/%d?q=Receipt&sort=growth&class=", run), "HX-Request", "true", "HX-Trigger", "filter")
	pagestest.Has(t, part, `<div id="sites">`, "Receipt::AppendLine", `id="choices"`, `hx-swap-oob="true"`)
	pagestest.Lacks(t, part, "<html", "Held memory")
	if whole := s.Page(fmt.Sprintf("/runs/%d", run), "HX-Request", "true", "HX-History-Restore-Request",
		"true"); !strings.Contains(whole, "<html") {
		t.Error("going back gives a part of the page")
	}
}

func TestSiteOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(300), 3))
	open := s.Page(pagestest.SitesPath(run, "open=0"))
	pagestest.Has(t, open, `id="s0" class="open"`, `aria-expanded="true"`, `id="d0"`,
		"4 allocator frames · ntdll, ucrtbase, operator new",
		`class="blame"`, "AppendLine", "+0xc4", "receipt.cpp:118", "2 thread start frames · kernel32, ntdll", "487,680 B",
		"384 B", "BackTrace", "2001", "sig1:")
	pagestest.Has(t, open, "+   69f00 (  77100 -   d200)", "BackTrace2001", "\tntdll!RtlAllocateHeap+2F4")
	part := s.Page(fmt.Sprintf("/runs/%d/sites/0", run), "HX-Request", "true")
	if !strings.HasPrefix(part, `<tr class="detail is-growing" id="d0">`) {
		t.Errorf("the part begins with %.80s", part)
	}
	status, location := s.Get(fmt.Sprintf("/runs/%d/sites/120", run))
	if want := fmt.Sprintf("/runs/%d?open=120&page=3&view=sites#s120", run); status != http.StatusSeeOther ||
		location != want {
		t.Errorf("%d to %s, want %s", status, location, want)
	}
	pagestest.Has(t, s.Page(location), `id="d120"`)
	for text, says := range map[string][]string{
		"Xml::Node": {"or, under the same id", "Json::Node::Clone", "several possible stacks for these blocks"},
		"no-such":   {"No site matches."},
		"plugin":    {`class="blame unresolved"`, "plugin+0x2a40", "plugin!???+2A40"},
	} {
		page := s.Page(pagestest.SitesPath(run, "q="+text))
		if m := regexp.MustCompile(`data-row="(\d+)"`).FindStringSubmatch(page); m != nil {
			page = s.Page(pagestest.SitesPath(run, "q="+text+"&open="+m[1]))
		}
		pagestest.Has(t, page, says...)
	}
}

func TestHostileNamesStayText(t *testing.T) {
	s := pagestest.Open(t)
	captures := pagestest.CapturesOf(pagestest.Shop, 2)
	for _, c := range captures {
		c.Process.Name = pagestest.Hostile
		c.Modules[0].Path = `C:\` + pagestest.Hostile
		c.Warnings = append(c.Warnings, capture.Warning{Code: "x" + pagestest.Hostile, Message: pagestest.Hostile,
			Place: pagestest.Hostile})
	}
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, captures)
	failed := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "<img src=x onerror=alert(1)>.log")
	pagestest.FailRead(t, s.Store, failed.RunID,
		store.Failure{Code: "<i>code</i>", Message: "<b>" + pagestest.Hostile, Final: true})
	for _, path := range []string{"", "?open=10", "?q=%3Cscript%3E", "?q=%22%3E%3Cscript%3E"} {
		page := s.Page(fmt.Sprintf("/runs/%d%s", run, path))
		pagestest.Lacks(t, page, "<script>alert", "<img", "<i>code", `"><script>`)
		pagestest.Has(t, page, html.EscapeString("<script>alert("))
	}
	pagestest.Lacks(t, s.Page("/projects/shopd?scenario=%3Cscript%3E"), "<script>")
	pagestest.Lacks(t, s.Page("/upload?project=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"), "<script>alert")
}

func TestNothingThere(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 1))
	for _, path := range []string{
		"/runs/999", "/runs/x", "/runs/99999999999999999999", "/runs/999/events", fmt.Sprintf("/runs/%d/sites/13", run),
		fmt.Sprintf("/runs/%d/sites/-1", run),
		fmt.Sprintf("/runs/%d/sites/x", run), "/runs/999/sites/0", "/projects/nobody", "/projects/%00",
		"/projects/%FF", "/no/such/page",
	} {
		status, page := s.Get(path, "Accept", "text/html")
		if status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
		pagestest.Has(t, page, "<html", "404", "Page not found", "not-found", "All projects")
	}
}

// Lines of a stack link to the team's source where the project says where that is, and nowhere else.
func TestSourceLinksOfAStack(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 3))
	if _, page := s.Get(fmt.Sprintf("/runs/%d", run)); strings.Contains(page, `class="loc" href`) {
		t.Error("a stack has links that nobody asked for")
	}
	links := pagestest.Must[leaks.SourceLinks](t)(leaks.ParseSourceLinks(`c:\src\shopd https://git.example/shopd/blob/{branch}/{path}?build={build}#L{line}`, ""))
	if err := s.Store.UpdateSourceLinks(t.Context(), pagestest.DefaultTarget.Project, links, "mei"); err != nil {
		t.Fatal(err)
	}
	_, page := s.Get(fmt.Sprintf("/runs/%d", run))
	if !strings.Contains(page,
		`<a class="loc" href="https://git.example/shopd/blob/main/order/receipt.cpp?build=4812#L118" rel="noreferrer"`) {
		t.Errorf("receipt.cpp:118 is no link")
	}
	_, page = s.Get(pagestest.SitesPath(run, "open=0"))
	if !strings.Contains(page, `https://git.example/shopd/blob/main/`) {
		t.Errorf("the stack of a site has no link")
	}
}
