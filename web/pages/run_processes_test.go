package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// submit sends a form as browsers do.
func (s *site) submit(path string, form url.Values, header ...string) (int, string) {
	s.t.Helper()
	req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path,
		strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(req)
}

// manyProcesses is a run of a trace of n processes: p0.exe holds the most.
func manyProcesses(t testing.TB, s *site, n int, process string) int64 {
	t.Helper()
	e := addEvidence(t, s.store, target, "all.etl")
	p := memtest()
	var stored []store.StoredCapture
	in := analysis.Input{Files: []analysis.File{{Name: e.Name, SHA256: e.SHA256, Bytes: e.Bytes}}}
	base := p.capture(t)
	for i := range n {
		c := *base
		c.Process = capture.Process{Name: fmt.Sprintf("p%d.exe", i), PID: uint32(100 + i), Bits: 64}
		if i > 0 { // the others hold the same
			c.Sites = base.Sites[1:]
		}
		stored, in.Captures = append(stored,
			store.StoredCapture{Capture: &c, Artifact: "artifact", Table: store.Table{Key: "table"}}), append(in.Captures, &c)
	}
	if err := s.store.CreateCaptures(t.Context(), claim(t, s.store, store.JobRead, e.RunID), stored); err != nil {
		t.Fatal(err)
	}
	saveReport(t, s.store, e.RunID,
		must[*analysis.Report](t)(analysis.Analyze(t.Context(), []analysis.Input{in}, analysis.Options{Process: process})))
	return e.RunID
}

func panelOf(t testing.TB, page string) string {
	t.Helper()
	_, panel, found := strings.Cut(page, `id="processes"`)
	if !found {
		t.Fatal("the page has no panel of processes")
	}
	panel, _, _ = strings.Cut(panel, "</section>")
	return panel
}

func TestProcessPanel(t *testing.T) {
	s := open(t)
	run := manyProcesses(t, s, 60, "p30.exe")
	panel := panelOf(t, s.page(fmt.Sprintf("/runs/%d", run)))
	has(t, panel, "60, most held first", fmt.Sprintf(`action="/runs/%d/process"`, run), `value="p0.exe"`,
		"PID 100", `value="p7.exe"`,
		`value="p30.exe"`, `aria-current="true"`, "in this report", "<details>", "41 more", `value="p8.exe"`,
		`value="p49.exe"`, "Not listed: 10.")
	lacks(t, panel, `value="p50.exe"`, "Report on the largest process")
	if n := strings.Count(panel, "aria-current"); n != 1 {
		t.Errorf("%d are marked", n)
	}
}

func TestNoPanelOfOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := open(t)
	lacks(t, s.page(fmt.Sprintf("/runs/%d", addTrace(t, s, target, memtest()))), `id="processes"`)
	lacks(t, s.page(fmt.Sprintf("/runs/%d",
		addRun(t, s.store, leaks.Target{Project: "p", Build: "2"}, capturesOf(shop[:1], 2)))), `id="processes"`)
}

// A choice on the page leads to the report on the process, without scripts.
func TestProcessIsChosenOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, p := openTracing(t)
	run := s.sent(p, "made.etl", etltest.Invent(5, etltest.Size{}).File(etltest.Format{}))
	choices, _, err := storetest.Now(t, s.store).ListProcesses(t.Context(), run.ID, 9)
	if err != nil || len(choices) < 2 {
		t.Fatalf("%+v, %v", choices, err)
	}
	before := s.page("/runs/1")
	has(t, before, "several-processes")
	has(t, before, "Processes on the page")
	other := choices[1]
	form := url.Values{"process": {other.Choose}}
	if status, _ := s.submit("/runs/1/process", form, "Origin", "https://elsewhere.example", "Sec-Fetch-Site",
		"cross-site"); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	if status, to := s.submit("/runs/1/process", form, "Sec-Fetch-Site", "same-origin"); status != http.StatusSeeOther ||
		to != "/runs/1" {
		t.Errorf("%d to %s", status, to)
	}
	if now := p.Settled(t, 1); now.Process != other.Choose {
		t.Errorf("%q is chosen", now.Process)
	}
	page := s.page("/runs/1")
	r := must[*analysis.Report](t)(storetest.Now(t, s.store).FindSummary(t.Context(), 1))
	if !other.IsOf(r) {
		t.Errorf("a report on %+v", r.Process)
	}
	_, marked, _ := strings.Cut(panelOf(t, page), `aria-current="true"`)
	has(t, marked, other.Name, "in this report")
	has(t, panelOf(t, page), `value="">Report on the largest process`)
	for _, wrong := range []url.Values{{"process": {"nobody.exe"}}, {}, {"other": {"x"}}} {
		if status, page := s.submit("/runs/1/process", wrong); status != http.StatusUnprocessableEntity ||
			!strings.Contains(page, "invalid-process") {
			t.Errorf("%v: %d", wrong, status)
		}
	}
	if status, _ := s.submit("/runs/1/process",
		url.Values{"process": {strings.Repeat("x", 1<<20)}}); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
	if status, _ := s.submit("/runs/999/process", form); status != http.StatusNotFound {
		t.Error(status)
	}
}

func TestProcessPanelInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := manyProcesses(t, s, 60, "p30.exe")
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url, run)))
	b.is(`document.querySelector("#processes details").open = true`)
	b.accessible("processes")
	b.keep("processes")
	b.turn("dark")
	b.legible("processes, dark")
	b.do(cdp.EmulateViewport(390, 844))
	b.fits("processes, narrow")
	b.is(`document.querySelector("#processes button[value='p3.exe']").click(), true`)
	b.see(`document.querySelector("#processes button[value='']") && document.querySelector("[sse-connect]")`)
	if now := must[store.Run](t)(storetest.Now(t, s.store).FindRun(t.Context(), run)); now.Process != "p3.exe" ||
		now.State() != "processing" {
		t.Errorf("%+v", now)
	}
}
