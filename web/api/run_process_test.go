package api_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
)

func TestChooseProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n, _, _ := startTrace(t)
	type view struct {
		Process   string
		State     string
		Processes []struct {
			Process, Name    string
			PID              uint32
			OutstandingBytes int64 `json:"outstanding_bytes"`
		}
	}
	post := func(body string) answer { return n.do("POST", "/api/v1/runs/1/process", strings.NewReader(body)) }
	shown := decode[view](t, n.do("GET", "/api/v1/runs/1", nil).want(t, 200, ""))
	if shown.Process != "" || len(shown.Processes) < 2 {
		t.Fatalf("%+v", shown)
	}
	for i, p := range shown.Processes[1:] {
		if p.OutstandingBytes > shown.Processes[i].OutstandingBytes {
			t.Errorf("%+v is listed behind %+v", p, shown.Processes[i])
		}
	}
	other := shown.Processes[1]
	chosen := decode[view](t, post(`{"process": "`+other.Process+`"}`).want(t, 202, ""))
	if chosen.Process != other.Process || chosen.State != "processing" {
		t.Errorf("%+v", chosen)
	}
	n.do("GET", "/api/v1/runs/1/verdict?wait=60s", nil).want(t, 200, "")
	r := decode[analysis.Report](t, n.do("GET", "/api/v1/runs/1/report", nil).want(t, 200, ""))
	if r.Process.PID != other.PID || r.Process.Name != other.Name {
		t.Errorf("a report on %+v, want %+v", r.Process, other)
	}
	for _, body := range []string{"", "{}", "[]", "x", `{"process": 7}`, `{"process": null}`, `{"process": "nobody.exe"}`,
		`{"process": "\u0000"}`} {
		post(body).want(t, 422, "invalid-process")
	}
	post(`{"process": "`+strings.Repeat("x", 1<<20)+`"}`).want(t, 413, "too-large")
	if now := decode[view](t, n.do("GET", "/api/v1/runs/1", nil).want(t, 200, "")); now.Process != other.Process ||
		now.State != "ready" {
		t.Errorf("%+v", now)
	}
	if back := decode[view](t, post(`{"process": ""}`).want(t, 202, "")); back.Process != "" {
		t.Errorf("%+v", back)
	}
	n.do("POST", "/api/v1/runs/999/process", strings.NewReader(`{"process": ""}`)).want(t, 404, "not-found")
	n.do("POST", "/api/v1/runs/x/process", strings.NewReader(`{"process": ""}`)).want(t, 404, "not-found")
}
