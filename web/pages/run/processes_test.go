package run_test

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
	"heapdrift/web/pages/pagestest"
)

// manyProcesses is a run of a trace of n processes: p0.exe holds the most.
func manyProcesses(t testing.TB, s *pagestest.Server, n int, process string) int64 {
	t.Helper()
	e := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "all.etl")
	p := memtest()
	var stored []store.StoredCapture
	in := analysis.Input{Files: []analysis.File{{Name: e.Name, SHA256: e.SHA256, Bytes: e.Bytes}}}
	base := p.Capture(t)
	for i := range n {
		c := *base
		c.Process = capture.Process{Name: fmt.Sprintf("p%d.exe", i), PID: uint32(100 + i), Bits: 64}
		if i > 0 { // the others hold the same
			c.Sites = base.Sites[1:]
		}
		stored, in.Captures = append(stored,
			store.StoredCapture{Capture: &c, ArtifactKey: "artifact", Table: store.AllocationTable{Key: "table"}}), append(in.Captures, &c)
	}
	if err := s.Store.CreateCaptures(t.Context(), pagestest.Claim(t, s.Store, store.JobRead, e.RunID), stored); err != nil {
		t.Fatal(err)
	}
	pagestest.SaveReport(t, s.Store, e.RunID,
		pagestest.Must[*analysis.Report](t)(analysis.Analyze(t.Context(), []analysis.Input{in},
			analysis.Options{Process: process})))
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
	s := pagestest.Open(t)
	run := manyProcesses(t, s, 60, "p30.exe")
	panel := panelOf(t, s.Page(fmt.Sprintf("/runs/%d", run)))
	pagestest.Has(t, panel, "60, most held first", fmt.Sprintf(`action="/runs/%d/process"`, run), `value="p0.exe"`,
		"PID 100", `value="p7.exe"`,
		`value="p30.exe"`, `aria-current="true"`, "in this report", "<details>", "41 more", `value="p8.exe"`,
		`value="p49.exe"`, "Not listed: 10.")
	pagestest.Lacks(t, panel, `value="p50.exe"`, "Report on the largest process")
	if n := strings.Count(panel, "aria-current"); n != 1 {
		t.Errorf("%d are marked", n)
	}
}

func TestNoPanelOfOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	pagestest.Lacks(t, s.Page(fmt.Sprintf("/runs/%d", pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest()))),
		`id="processes"`)
	pagestest.Lacks(t, s.Page(fmt.Sprintf("/runs/%d",
		pagestest.AddRun(t, s.Store, leaks.UploadTarget{Project: "p", Build: "2"}, pagestest.CapturesOf(pagestest.Shop[:1], 2)))),
		`id="processes"`)
}

// A choice on the page leads to the report on the process, without scripts.
func TestProcessIsChosenOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, p := openTracing(t)
	run := sent(s, p, "made.etl", etltest.Invent(5, etltest.ScenarioSize{}).File(etltest.Format{}))
	choices, _, err := storetest.Now(t, s.Store).ListProcesses(t.Context(), run.ID, 9)
	if err != nil || len(choices) < 2 {
		t.Fatalf("%+v, %v", choices, err)
	}
	before := s.Page("/runs/1")
	pagestest.Has(t, before, "several-processes")
	pagestest.Has(t, before, "Processes on the page")
	other := choices[1]
	form := url.Values{"process": {other.Choose}}
	if status, _ := s.Submit("/runs/1/process", form, "Origin", "https://elsewhere.example", "Sec-Fetch-Site",
		"cross-site"); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	if status, to := s.Submit("/runs/1/process", form, "Sec-Fetch-Site", "same-origin"); status != http.StatusSeeOther ||
		to != "/runs/1" {
		t.Errorf("%d to %s", status, to)
	}
	if now := p.AwaitSettled(t, 1); now.ChosenProcess != other.Choose {
		t.Errorf("%q is chosen", now.ChosenProcess)
	}
	page := s.Page("/runs/1")
	r := pagestest.Must[*analysis.Report](t)(storetest.Now(t, s.Store).FindSummary(t.Context(), 1))
	if !other.IsOf(r) {
		t.Errorf("a report on %+v", r.Process)
	}
	_, marked, _ := strings.Cut(panelOf(t, page), `aria-current="true"`)
	pagestest.Has(t, marked, other.Name, "in this report")
	pagestest.Has(t, panelOf(t, page), `value="">Report on the largest process`)
	for _, wrong := range []url.Values{{"process": {"nobody.exe"}}, {}, {"other": {"x"}}} {
		if status, page := s.Submit("/runs/1/process", wrong); status != http.StatusUnprocessableEntity ||
			!strings.Contains(page, "invalid-process") {
			t.Errorf("%v: %d", wrong, status)
		}
	}
	if status, _ := s.Submit("/runs/1/process",
		url.Values{"process": {strings.Repeat("x", 1<<20)}}); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
	if status, _ := s.Submit("/runs/999/process", form); status != http.StatusNotFound {
		t.Error(status)
	}
}

func TestProcessPanelInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := manyProcesses(t, s, 60, "p30.exe")
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
	b.Is(`document.querySelector("#processes details").open = true`)
	b.CheckAccessibility("processes")
	b.SaveScreenshot("processes")
	b.SetTheme("dark")
	b.CheckColours("processes, dark")
	b.Do(cdp.EmulateViewport(390, 844))
	b.CheckFitsWidth("processes, narrow")
	b.Is(`document.querySelector("#processes button[value='p3.exe']").click(), true`)
	b.See(`document.querySelector("#processes button[value='']") && document.querySelector("[sse-connect]")`)
	if now := pagestest.Must[store.Run](t)(storetest.Now(t, s.Store).FindRun(t.Context(), run)); now.ChosenProcess != "p3.exe" ||
		now.State() != "processing" {
		t.Errorf("%+v", now)
	}
}
