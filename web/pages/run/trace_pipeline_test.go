package run_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
	"heapdrift/worker"
	"heapdrift/worker/workertest"
)

// openTracing starts a server with a worker behind it, which answers for windows from the tables of traces.
func openTracing(t testing.TB) (*pagestest.Server, *workertest.Pipeline) {
	t.Helper()
	p := workertest.Start(t)
	return pagestest.Serve(t, p.Store, p.Blobs, &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, ColumnBytes: 256 << 20}), p
}

// sent uploads evidence like a script and waits for the report.
func sent(s *pagestest.Server, p *workertest.Pipeline, name string, file []byte) store.Run {
	s.T.Helper()
	req := pagestest.Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodPut, s.URL+
		"/api/v1/evidence?project=shop&build=1&name="+name, bytes.NewReader(file)))
	if status, body := s.Send(req); status != http.StatusCreated {
		s.T.Fatalf("%d %s", status, body)
	}
	return p.AwaitSettled(s.T, 1)
}

// A trace passes through the whole pipeline: the page shows of a window what happened in it.
func TestTraceThroughPipeline(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s, p := openTracing(t)
	scenario := etltest.Invent(5, etltest.ScenarioSize{})
	run := sent(s, p, "made.etl", scenario.File(etltest.Format{}))
	if run.AnalysedAt == nil {
		t.Fatalf("no report: %s %s", run.ErrorCode, run.Error)
	}
	r := pagestest.Must[*analysis.Report](t)(storetest.Now(t, s.Store).FindSummary(t.Context(), run.ID))
	number := -1
	for i, process := range scenario.Processes {
		if process.PID == r.Process.PID && strings.EqualFold(process.Name, r.Process.Name) {
			number = i
		}
	}
	var lives []etltest.Lifetime
	for _, l := range scenario.Lifetimes() {
		if l.Process == number {
			lives = append(lives, l)
		}
	}
	middle := (r.Trace.FromNS + r.Trace.ToNS) / 2 / int64(time.Millisecond) * int64(time.Millisecond)
	for _, window := range [][2]int64{{0, middle}, {middle, r.Trace.ToNS}, {middle / 2, middle}} {
		want, _ := etltest.Window(lives, window[0], window[1])
		part := s.Page(fmt.Sprintf("/runs/1?from=%v&to=%v", float64(window[0])/1e9, float64(window[1])/1e9), "HX-Request",
			"true", "HX-Target", "totals")
		shown := func(sum etltest.Sum) string {
			return fmt.Sprintf("%s %s", quantity.Bytes(int64(sum.Bytes)), quantity.Count(int64(sum.Count)))
		}
		row := text(part)
		row = row[strings.Index(row, " Heap "):strings.Index(row, " Virtual memory ")]
		if says := strings.Join([]string{shown(want.AIFO), shown(want.AIFI), shown(want.AOFI), shown(want.AOFO)},
			" "); !strings.HasSuffix(row, says) {
			t.Errorf("window %v of %s: %q, want %q", window, r.Process.Name, row, says)
		}
	}
	if status, table := s.Get("/api/v1/runs/1/allocations?download=1"); status != http.StatusOK ||
		!strings.HasPrefix(table, "PAR1") {
		t.Errorf("the allocation table: %d, %.8q", status, table)
	}
	if status, report := s.Get("/api/v1/runs/1/report?format=json&window=0,0.5&download=1"); status != http.StatusOK ||
		!strings.Contains(report, `"to_ns":500000000`) {
		t.Errorf("the report of a window: %d, %.200s", status, report)
	}
}

// The exercise of Microsoft's performance documentation, in the browser.
func TestLabTraceInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	file := pagestest.Must[[]byte](t)(os.ReadFile(corpus.Path(t, "lab", "B", "memory.etl")))
	s, p := openTracing(t)
	b := pagestest.Browse(t)
	sent(s, p, "memory.etl", file)
	b.Do(cdp.Navigate(s.URL + "/runs/1?view=sites"))
	b.CheckAccessibility("lab trace")
	b.See(`document.querySelector("#totals").innerText.includes("126 MB")`)
	b.SaveScreenshot("lab-b")
	// 10 MB more in the middle.
	b.Is(dragged(14.0/31, 16.0/31))
	b.See(`document.querySelector("#totals tbody tr:nth-child(2) td:nth-child(2)").innerText.includes("+10.0 MB")`)
	b.See(`document.querySelector("tr[data-row] .k-growth").innerText === "▲ +10.0 MB"`)
	b.SaveScreenshot("lab-b-window")
	// Four spikes of 10 MB, and nothing of them left.
	b.Do(cdp.Navigate(s.URL + "/runs/1?view=sites&from=18&to=30&sort=transient&kind=virtual"))
	b.See(`["= 0 B", "= 0", "0 B", "40.0 MB", "4", "40.0 MB"].every((v, i) => document.querySelectorAll("tr[data-row]:first-of-type .num")[i].innerText === v)`)
	// 319 blocks of 40 bytes.
	b.Do(cdp.Navigate(s.URL + "/runs/1?view=sites&from=10&to=20&kind=heap"))
	b.See(`document.querySelector("tr[data-row] .k-count").innerText === "▲ +319" && document.querySelector("tr[data-row] .k-growth").title === "" && document.querySelector("tr[data-row] .k-growth span").title === "+12,760 B in +319 blocks"`)
	// The table of signatures shows each of these facts in one row.
	b.Do(cdp.Navigate(s.URL + "/runs/1?from=18&to=30&metric=transient&kind=virtual"))
	b.See(`document.querySelector(".rt tr[data-row] .k-aifi").innerText === "40.0 MB" && document.querySelector(".rt tr[data-row] .k-aifi").title.endsWith("in 4 allocations")`)
	b.Do(cdp.Navigate(s.URL + "/runs/1?from=10&to=20&kind=heap"))
	b.See(`document.querySelector(".rt tr[data-row]").innerText.includes("leak") && document.querySelector(".rt tr[data-row] .k-growth span").title === "+12,760 B in +319 blocks"`)
	b.SaveScreenshot("lab-b-ranked")
	b.Do(cdp.Navigate(s.URL + "/runs/1?view=lifetimes&from=14&to=16&kind=virtual"))
	b.See(`[...document.querySelectorAll(".allocations tbody tr")].some(r => r.querySelectorAll(".num")[2].innerText === "10,485,760 B")`)
	b.SaveScreenshot("lab-b-lifetimes")
}
