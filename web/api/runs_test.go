package api_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// claim claims the jobs that are due.
func (n *node) claim() (leases []store.Lease) {
	n.t.Helper()
	due, err := n.store.DispatchAllJobs(n.t.Context(), 0)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, job := range due {
		lease, err := n.store.ClaimJob(n.t.Context(), job.ID, time.Minute)
		if err != nil {
			n.t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	return leases
}

// read ends the due read jobs and the search for symbols that follows, as if the evidence held nothing to store.
func (n *node) read() {
	n.t.Helper()
	for _, lease := range n.claim() {
		if err := n.store.CreateCaptures(n.t.Context(), lease, nil); err != nil {
			n.t.Fatal(err)
		}
	}
	for _, lease := range n.claim() {
		naming, err := n.store.BeginSymbolSearch(n.t.Context(), lease.RunID)
		if err != nil {
			n.t.Fatal(err)
		}
		if err := n.store.UpdateNames(n.t.Context(), lease, naming, ""); err != nil {
			n.t.Fatal(err)
		}
	}
}

// analyse ends the due analysis with a report.
func (n *node) analyse(r *analysis.Report) {
	n.t.Helper()
	n.analyseAs(r, r.WriteJSON)
}

// analyseAs is analyse with a report whose stored form the caller writes.
func (n *node) analyseAs(r *analysis.Report, write func(io.Writer) error) {
	n.t.Helper()
	text, pipe := io.Pipe()
	go func() {
		z, err := zstd.NewWriter(pipe)
		if err == nil {
			err = write(z)
		}
		if err == nil {
			err = z.Close()
		}
		pipe.CloseWithError(err)
	}()
	digest, err := blob.PutContent(n.t.Context(), n.blobs, text)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, lease := range n.claim() {
		if err := n.store.UpdateResult(n.t.Context(), lease,
			store.Result{Report: r, ReportKey: blob.ContentKey(digest.SHA256), Revision: 1}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// fail ends the due jobs without a result.
func (n *node) fail(code, message string) {
	n.t.Helper()
	for _, lease := range n.claim() {
		if err := n.store.FailJob(n.t.Context(), lease,
			store.Failure{Code: code, Message: message, Final: true}); err != nil {
			n.t.Fatal(err)
		}
	}
}

func report(status analysis.VerdictStatus, sites int) *analysis.Report {
	r := &analysis.Report{
		Schema: analysis.Schema, Process: analysis.Process{Name: "shop.exe", PID: 4242, Bits: 32},
		Verdict:  analysis.EvidenceVerdict{Status: status, Sentence: "shop.exe does " + string(status) + "."},
		Evidence: []analysis.Evidence{{File: "a.txt", Kind: "umdh-snapshot", Used: true}},
	}
	if status == analysis.StatusInconclusive {
		r.Verdict.SnapshotsMissing = 3
	}
	for range sites {
		r.Sites = append(r.Sites, analysis.Site{
			Signature: "s", Kind: "heap", Verdict: analysis.ClassGrowing, Series: []analysis.Point{}, Flags: []string{},
			Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: 1, Bytes: 10},
				Growth: &analysis.Amount{Count: 1, Bytes: 10}},
			Stack: r.AddStack(&analysis.Frame{Module: "shop", Function: "Leak"}),
		})
	}
	return r
}

type runView struct {
	ID                                                    int64
	Project, Build, Scenario, Name, State, Status, Branch string
	Complete                                              bool
	Progress                                              struct {
		Pending, Percent int
		Jobs             []struct{ Kind, State string }
	}
	Evidence []struct {
		Name, State string
		Error       *struct{ Code, Message string }
	}
	Error *struct{ Code, Message string }
	Links map[string]string
}

func TestRun(t *testing.T) {
	n := start(t)
	up := n.put(umdhLog(1000), "branch", "main")
	n.put(umdhLog(2000), "name", "b.txt")
	run := decode[runView](t, n.do("GET", "/api/v1/runs/1", nil).want(t, 200, ""))
	if run.ID != up.Run || run.Project != "shop" || run.Build != "100" || run.Scenario != "soak" || run.Name != "1" ||
		run.Branch != "main" || run.State != "processing" || run.Complete || run.Progress.Pending != 2 ||
		len(run.Evidence) != 2 {
		t.Errorf("%+v", run)
	}
	for range 2 { // once more changes nothing
		if run = decode[runView](t, n.do("POST", run.Links["complete"], nil).want(t, 200, "")); !run.Complete {
			t.Errorf("%+v", run)
		}
	}
	n.fail("no-stacks", "the log has no stacks")
	run = decode[runView](t, n.do("GET", run.Links["self"], nil).want(t, 200, ""))
	if run.State != "failed" || run.Progress.Pending != 0 || run.Progress.Percent != 100 || run.Evidence[0].Error == nil ||
		run.Evidence[0].Error.Code != "no-stacks" {
		t.Errorf("%+v", run)
	}
}

func TestRunReady(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000))
	n.read()
	n.analyse(report(analysis.StatusLeak, 3))
	run := decode[runView](t, n.do("GET", "/api/v1/runs/1", nil).want(t, 200, ""))
	if run.State != "ready" || run.Status != "leak" || run.Progress.Percent != 100 || len(run.Progress.Jobs) != 3 {
		t.Errorf("%+v", run)
	}
}

func TestNotFound(t *testing.T) {
	n := start(t)
	for _, path := range []string{"/api/v1/runs/7", "/api/v1/runs/7/report", "/api/v1/runs/7/verdict?wait=5s",
		"/api/v1/runs/x", "/api/v1/runs/99999999999999999999", "/api/v1/runs/-1", "/api/v1/runs/",
		"/api/v1/compare?project=p", "/api/v1/projects/p/signatures", "/api/v1/", "/api/v2/runs/1"} {
		n.do("GET", path, nil).want(t, 404, "not-found")
	}
	n.do("POST", "/api/v1/runs/7/complete", nil).want(t, 404, "not-found")
	a := n.do("GET", "/api/v1/evidence", nil).want(t, 405, "method-not-allowed")
	if allow := a.Header.Get("Allow"); !strings.Contains(allow, "PUT") {
		t.Errorf("Allow: %q", allow)
	}
}

func TestReport(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000))
	n.do("GET", "/api/v1/runs/1/report", nil).want(t, 404, "no-report-yet")
	if a := n.do("GET", "/api/v1/runs/1/report", nil); !strings.Contains(string(a.body), `"state":"processing"`) {
		t.Errorf("%s", a.body)
	}
	n.read()
	want := report(analysis.StatusLeak, 30)
	n.analyse(want)
	var stored strings.Builder
	if err := want.WriteJSON(&stored); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ query, accept, contentType, has string }{
		{"", "", "application/json", stored.String()}, {"", "*/*", "application/json", stored.String()},
		{"?format=json", "text/csv", "application/json", stored.String()},
		{"", "text/html,*/*;q=0.1", "application/json", stored.String()},
		{"", "text/plain", "text/plain; charset=utf-8", "LEAK\n"},
		{"?format=text&top=2", "", "text/plain; charset=utf-8", "28 more sites"},
		{"?format=markdown&top=2", "", "text/markdown; charset=utf-8", "28 more sites"},
		{"", "text/markdown;q=0.9, text/plain;q=0.1", "text/markdown; charset=utf-8", "| 30 |"},
		{"", "text/csv", "text/csv; charset=utf-8", "signature,kind"},
		{"?format=folded", "", "text/plain; charset=utf-8", "heap;shop!Leak"},
		{"?format=sarif", "", "application/sarif+json", `"version": "2.1.0"`},
		{"", "application/sarif+json", "application/sarif+json", "LEAK001"},
		{"?format=sarif", "", "application/sarif+json", `"heapdrift/shop/soak/`},
		{"?format=junit", "", "application/xml", `<testsuite name="heapdrift shop soak"`},
		{"?format=junit", "", "application/xml", `<property name="project" value="shop">`}, {"?format=speedscope", "", "application/vnd.speedscope+json",
			"shop!Leak"}, {"?format=pprof", "", "application/octet-stream", "\x1f\x8b"},
	} {
		a := n.do("GET", "/api/v1/runs/1/report"+test.query, nil, "Accept", test.accept).want(t, 200, "")
		if a.Header.Get("Content-Type") != test.contentType || !strings.Contains(string(a.body), test.has) {
			t.Errorf("%s, Accept %s: %s\n%.300s", test.query, test.accept, a.Header.Get("Content-Type"), a.body)
		}
		tag := a.Header.Get("ETag")
		if again := n.do("GET", "/api/v1/runs/1/report"+test.query, nil, "Accept", test.accept, "If-None-Match", `"x", `+
			tag); again.StatusCode != http.StatusNotModified || len(again.body) > 0 {
			t.Errorf("%s: %d for a report that the client has", test.query, again.StatusCode)
		}
	}
	for query, code := range map[string]string{"format=x": "invalid-format", "top=-1": "invalid-top",
		"top=x": "invalid-top"} {
		n.do("GET", "/api/v1/runs/1/report?"+query, nil).want(t, 422, code)
	}
	n.do("GET", "/api/v1/runs/1/report", nil, "Accept", "image/png").want(t, 406, "not-acceptable")
}

// A report that an older version stored is sent in today's layout, in every coding and format.
func TestReportOfTheLayoutBefore(t *testing.T) {
	before, err := os.ReadFile("../../internal/analysis/export/testdata/report.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	today, err := os.ReadFile("../../internal/analysis/export/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	n := start(t)
	n.put(umdhLog(1000))
	n.read()
	n.analyseAs(report(analysis.StatusLeak, 3), func(w io.Writer) error { _, err := w.Write(before); return err })
	n.do("GET", "/api/v1/runs/1/report", nil, "Accept-Encoding", "identity").want(t, 200, "")
	for _, coding := range []string{"identity", "zstd", "gzip"} {
		if _, body := n.reportCoded(coding); string(body) != string(today) {
			t.Errorf("%s: %.300s", coding, body)
		}
	}
	if a := n.do("GET", "/api/v1/runs/1/report?format=folded", nil).want(t, 200, ""); !strings.Contains(string(a.body),
		"heap;plugin+0x2a40;") {
		t.Errorf("%s", a.body)
	}
}

// reportCoded asks for the report of the first run in a coding, and decodes it.
func (n *node) reportCoded(accept string) (*http.Response, []byte) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodGet, n.URL+"/api/v1/runs/1/report", nil)
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", accept)
	res, err := n.Client().Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // read only
	var body io.Reader = res.Body
	switch res.Header.Get("Content-Encoding") {
	case "zstd":
		body, err = zstd.NewReader(body)
	case "br":
		body = brotli.NewReader(body)
	case "gzip":
		body, err = gzip.NewReader(body)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		n.t.Fatal(err)
	}
	return res, text
}

// The report is the same in every coding; a client that takes the stored coding gets the report as it is stored.
func TestReportCoded(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000))
	n.read()
	n.analyse(report(analysis.StatusLeak, 300))
	plain := n.do("GET", "/api/v1/runs/1/report", nil, "Accept-Encoding", "identity").want(t, 200, "")
	if plain.Header.Get("Content-Encoding") != "" ||
		plain.Header.Get("Vary") != "Accept, Accept-Encoding" && len(plain.Header.Values("Vary")) != 2 {
		t.Errorf("%v", plain.Header)
	}
	for accept, coding := range map[string]string{"zstd": "zstd", "gzip, deflate, br, zstd": "zstd",
		"br;q=0.5, zstd;q=0.4": "br", "gzip;q=1, *;q=0.1": "gzip"} {
		res, got := n.reportCoded(accept)
		if coding == "zstd" && res.ContentLength <= 0 {
			t.Errorf("%s: of unknown length", accept)
		}
		if !bytes.Equal(got, plain.body) || res.Header.Get("Content-Encoding") != coding ||
			res.Header.Get("ETag") != plain.Header.Get("ETag") {
			t.Errorf("%s: %d bytes instead of %d, %v", accept, len(got), len(plain.body), res.Header)
		}
	}
}

func TestReportDownload(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000), "build", "1.2+rc#3/x64", "scenario", "größer")
	n.read()
	n.analyse(report(analysis.StatusLeak, 1))
	a := n.do("GET", "/api/v1/runs/1/report?format=markdown&download=1", nil).want(t, 200, "")
	if got := a.Header.Get("Content-Disposition"); got != "attachment; filename*=utf-8''heapdrift-shop-1.2+rc-3-x64-gr%C3%B6%C3%9Fer-1.md" {
		t.Errorf("%s", got)
	}
	if got := n.do("GET", "/api/v1/runs/1/report", nil).Header.Get("Content-Disposition"); got != "" {
		t.Errorf("%s", got)
	}
}

// A report that cannot be sent whole must not look whole.
func TestReportDamaged(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000))
	n.read()
	n.analyse(report(analysis.StatusLeak, 5000))
	run, err := storetest.Now(n.t, n.store).FindRun(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	whole := n.content(run.ReportKey[strings.LastIndex(run.ReportKey, "/")+1:])
	if _, err := n.blobs.Put(t.Context(), run.ReportKey, strings.NewReader(string(whole[:len(whole)-10]))); err != nil {
		t.Fatal(err)
	}
	res, err := n.Client().Get(n.URL + "/api/v1/runs/1/report")
	if err != nil {
		return // the connection breaks before the head
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.ReadAll(res.Body); err == nil && res.StatusCode == http.StatusOK {
		t.Error("a damaged report arrives as if it were whole")
	}
	n.do("GET", "/api/v1/runs/1/report?format=text", nil).want(t, 500, "internal")
}

type verdictView struct {
	State, Status, Gate, Sentence, URL string
	New, Fixed, Persisting             []string
	Pending                            int
	FailedEvidence                     int `json:"failed_evidence"`
}

func TestVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for status, gate := range map[analysis.VerdictStatus]string{analysis.StatusLeak: "failed", analysis.StatusNoLeak: "passed",
		analysis.StatusInconclusive: "inconclusive"} {
		n := start(t)
		n.put(umdhLog(1000))
		v := decode[verdictView](t, n.do("GET", "/api/v1/runs/1/verdict", nil).want(t, 202, ""))
		if v.Gate != "pending" || v.Pending != 1 {
			t.Errorf("%+v", v)
		}
		began := time.Now()
		v = decode[verdictView](t, n.do("GET", "/api/v1/runs/1/verdict?wait=300ms", nil).want(t, 202, ""))
		if took := time.Since(began); v.Gate != "pending" || took < 300*time.Millisecond || took > 10*time.Second {
			t.Errorf("%+v after %v", v, took)
		}
		decided := make(chan answer)
		go func() { decided <- n.do("GET", "/api/v1/runs/1/verdict?wait=60s", nil) }()
		n.read() // also queues the analysis, so that the run never looks decided in between
		select {
		case a := <-decided:
			t.Fatalf("decided before the analysis: %s", a.body)
		case <-time.After(1500 * time.Millisecond):
		}
		made := report(status, 1)
		if status == analysis.StatusLeak {
			made.Findings = append(made.Findings, found(sigLeak, "Leak", analysis.ClassLeak, 10))
		}
		n.analyse(made)
		v = decode[verdictView](t, (<-decided).want(t, 200, ""))
		if v.Gate != gate || v.Status != string(status) || v.State != "ready" || v.Sentence == "" || v.URL != "/runs/1" ||
			v.New == nil || v.Fixed == nil || v.Persisting == nil {
			t.Errorf("%+v", v)
		}
	}
}

func TestVerdictOfFailures(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000))
	n.fail("worker-lost", "the worker was lost")
	v := decode[verdictView](t, n.do("GET", "/api/v1/runs/1/verdict?wait=1s", nil).want(t, 200, ""))
	if v.Gate != "error" || v.Status != "error" || v.FailedEvidence != 1 ||
		!strings.Contains(v.Sentence, "a.txt could not be read: the worker was lost") {
		t.Errorf("%+v", v)
	}
	n.put(umdhLog(2000), "name", "b.txt")
	n.read()
	n.fail("pid-changed", "the logs are of two processes")
	if v = decode[verdictView](t, n.do("GET", "/api/v1/runs/1/verdict", nil).want(t, 200, "")); v.Gate != "error" ||
		!strings.Contains(v.Sentence, "two processes") {
		t.Errorf("%+v", v)
	}
	for _, wait := range []string{"soon", "-1s", "60", "1h1"} {
		n.do("GET", "/api/v1/runs/1/verdict?wait="+wait, nil).want(t, 422, "invalid-wait")
	}
	n.do("GET", "/api/v1/runs/1/verdict?wait=1000h", nil).want(t, 200, "") // limited to the longest wait
	if !slices.Contains([]string{"failed", "ready"}, decode[runView](t, n.do("GET", "/api/v1/runs/1", nil)).State) {
		t.Error("state")
	}
}
