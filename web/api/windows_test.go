package api_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/problem"
	"heapdrift/worker/workertest"
)

// startTrace is a node with the run of a generated trace, uploaded as one file.
func startTrace(t *testing.T) (n *node, run store.Run, end int64) {
	t.Helper()
	p := workertest.Start(t)
	n = startOn(t, p.Store, p.Blobs)
	scenario := etltest.Invent(5, etltest.ScenarioSize{})
	n.do("PUT", evidence("name", "broken.etl"), strings.NewReader(strings.Repeat("no trace ", 100))).want(t,
		415, "not-etl")
	e := decode[uploadedFile](t,
		n.do("PUT", evidence("name", "whole.etl"), bytes.NewReader(scenario.File(etltest.Format{}))).want(t, 201, ""))
	return n, p.AwaitSettled(t, e.Run), scenario.End
}

func TestWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n, run, end := startTrace(t)
	path := func(query string) string { return fmt.Sprintf("/api/v1/runs/%d/window?%s", run.ID, query) }
	type view struct {
		Run    int64
		Window struct {
			From int64 `json:"from_ns"`
			To   int64 `json:"to_ns"`
		}
		Totals    analysis.Totals
		SiteCount int64 `json:"site_count"`
		Sites     []struct {
			Ordinal int
			Blame   string
			analysis.Amounts
		}
	}
	whole := decode[view](t, n.do("GET", path(fmt.Sprintf("from_ns=0&to_ns=%d&top=3", end)), nil).want(t, 200, ""))
	summary, err := storetest.Now(t, n.store).FindSummary(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Run != run.ID || len(whole.Sites) != 3 || whole.SiteCount != run.SiteCount || whole.Sites[0].Ordinal != 0 ||
		whole.Sites[0].Blame == "" ||
		*whole.Totals.Heap.Growth != *summary.Totals.Heap.Growth || whole.Totals.Virtual.AIFI != summary.Totals.Virtual.AIFI {
		t.Errorf("%+v\n%+v", whole, summary.Totals)
	}
	part := decode[view](t,
		n.do("GET", path("top=0&window="+url.QueryEscape(fmt.Sprintf("%f,%f", float64(end)/3e9, float64(end)/2e9))),
			nil).want(t, 200, ""))
	if int64(len(part.Sites)) != run.SiteCount || !slices.IsSortedFunc(part.Sites, func(a, b struct {
		Ordinal int
		Blame   string
		analysis.Amounts
	}) int {
		return int(b.Growth.Bytes - a.Growth.Bytes)
	}) {
		t.Errorf("%d sites", len(part.Sites))
	}
	if d := part.Window.From - end/3; d < -1000 || d > 1000 {
		t.Errorf("%+v", part.Window)
	}
	sum := int64(0)
	for _, s := range part.Sites {
		sum += s.Allocated.Bytes
	}
	if all := part.Totals.Heap.Allocated.Bytes + part.Totals.Virtual.Allocated.Bytes + part.Totals.HeapVirtual.Allocated.Bytes; sum != all || all == 0 {
		t.Errorf("sites allocated %d bytes, in all %d", sum, all)
	}
	for query, code := range map[string]string{
		"": "bad-window", "from_ns=1": "bad-window", "from_ns=x&to_ns=2": "bad-window", "from_ns=3&to_ns=2": "bad-window",
		"window=1": "bad-window", "window=2,1": "bad-window",
		"window=5000,6000": "bad-window", "window=0,1&top=-1": "invalid-top", "window=NaN,1": "bad-window",
		"from_ns=1&to_ns=99999999999999999999":                   "bad-window",
		"from_ns=-9223372036854775808&to_ns=9223372036854775807": "bad-window",
	} {
		n.do("GET", path(query), nil).want(t, 422, code)
	}
	n.do("GET", "/api/v1/runs/999/window?window=0,1", nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/runs/x/window?window=0,1", nil).want(t, 404, "not-found")
}

func TestReportOfWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n, run, end := startTrace(t)
	base := fmt.Sprintf("/api/v1/runs/%d/report?", run.ID)
	window := url.QueryEscape(fmt.Sprintf("0.1,%f", float64(end)/2e9))
	a := n.do("GET", base+"window="+window, nil).want(t, 200, "")
	report, err := analysis.ReadJSON(bytes.NewReader(a.body))
	if err != nil || report.Window.FromNS != 100_000_000 || report.Trace == nil || len(report.Sites) == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	whole := n.do("GET", base, nil).want(t, 200, "")
	if whole.Header.Get("ETag") == a.Header.Get("ETag") || bytes.Equal(a.body, whole.body) {
		t.Error("the window has the report of the whole trace")
	}
	n.do("GET", base+"window="+window, nil, "If-None-Match", a.Header.Get("ETag")).want(t, 304, "")
	for _, format := range []string{"text", "markdown", "csv", "folded"} {
		a := n.do("GET", base+"download=1&format="+format+"&window="+window, nil).want(t, 200, "")
		if len(a.body) == 0 || !strings.Contains(a.Header.Get("Content-Disposition"), "heapdrift-shop") {
			t.Errorf("%s: %d bytes, %v", format, len(a.body), a.Header)
		}
	}
	n.do("GET", base+"window=9,8", nil).want(t, 422, "bad-window")
	n.do("GET", base+"window=9000,9001", nil).want(t, 422, "bad-window")
}

func TestTraceReadAgain(t *testing.T) {
	p := problem.FromError(&analysis.Error{Code: analysis.CodeReadAgain, Message: "ask again"})
	if p.Status != 409 || p.Code != "read-again" || p.Detail != "ask again" || p.Title == "Conflict" {
		t.Errorf("%+v", p)
	}
}

func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n, run, _ := startTrace(t)
	path := fmt.Sprintf("/api/v1/runs/%d/allocations", run.ID)
	a := n.do("GET", path, nil).want(t, 200, "")
	if !bytes.HasPrefix(a.body, []byte("PAR1")) || !bytes.HasSuffix(a.body, []byte("PAR1")) ||
		a.ContentLength != int64(len(a.body)) ||
		!strings.Contains(a.Header.Get("Content-Disposition"), "heapdrift-shop-100-soak-1-allocations.parquet") {
		t.Errorf("%d bytes, %v", len(a.body), a.Header)
	}
	end := n.do("GET", path, nil, "Range", "bytes=-4").want(t, 206, "")
	if string(end.body) != "PAR1" {
		t.Errorf("%q", end.body)
	}
	n.do("GET", path, nil, "If-None-Match", a.Header.Get("ETag")).want(t, 304, "")
	n.do("GET", path, nil, "Range", "bytes=99999999-").want(t, 416, "")
	if head := n.do("HEAD", path, nil).want(t, 200, ""); head.ContentLength != a.ContentLength || len(head.body) != 0 {
		t.Errorf("%v", head.Header)
	}
	_, table, err := storetest.Now(n.t, n.store).FindTraceReport(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.blobs.Delete(t.Context(), table.Key); err != nil {
		t.Fatal(err)
	}
	n.do("GET", path, nil).want(t, 410, "table-missing")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d/window?window=0,1", run.ID), nil).want(t, 410, "table-missing")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d/report?window=0,1", run.ID), nil).want(t, 410, "table-missing")
}

func TestRunsWithoutTrace(t *testing.T) {
	n := start(t)
	run := n.put(umdhLog(0)).Run
	for _, what := range []string{"window?window=0,1", "allocations", "report?window=0,1"} {
		n.do("GET", fmt.Sprintf("/api/v1/runs/%d/%s", run, what), nil).want(t, 404, "no-report-yet")
	}
	n.read()
	n.analyse(report(analysis.StatusLeak, 1))
	for _, what := range []string{"window?window=0,1", "allocations", "report?window=0,1"} {
		n.do("GET", fmt.Sprintf("/api/v1/runs/%d/%s", run, what), nil).want(t, 404, "not-a-trace")
	}
}
