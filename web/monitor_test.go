package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/metrics"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
	"heapdrift/web"
)

func TestMonitor(t *testing.T) {
	opt, _ := options(t)
	url := testdb.New(t)
	moved := filepath.Join(t.TempDir(), "blobs")
	var err error
	if opt.Blobs, err = blob.Open(t.Context(), "file://"+moved); err != nil {
		t.Fatal(err)
	}
	if opt.Store, err = store.Open(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opt.Store.Close)
	target := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"}
	if _, err := opt.Store.CreateEvidence(t.Context(), target,
		store.Evidence{Name: "a.txt", SHA256: "a", Bytes: 123, Kind: "umdh"}); err != nil {
		t.Fatal(err)
	}
	if err := opt.Store.CreateFreed(t.Context(), "orphans", store.Removal{Files: 2, Bytes: 50}); err != nil {
		t.Fatal(err)
	}
	queueFails := false
	var outOfOrder error
	m := metrics.New(metrics.Options{Store: opt.Store, Blobs: opt.Blobs, Version: "1.2.3", SchemaVersion: store.KnownSchema()})
	m.Job(store.JobRead, "done", time.Second)
	m.Request("page", 503, "away", time.Second)
	m.Request("page", 200, "", time.Second)
	m.Uploaded(77)
	m.Searched("msdl.microsoft.com", "not-found")
	monitor := &web.Monitor{Metrics: m.Handler(), Version: "1.2.3", Log: slog.New(slog.DiscardHandler),
		Checks: web.Checks(opt.Store, opt.Blobs, 0, func(context.Context) error {
			if queueFails {
				return http.ErrBodyNotAllowed
			}
			return nil
		}, func(context.Context) error { return outOfOrder })}
	get := func(path string) (int, string) {
		t.Helper()
		answer := httptest.NewRecorder()
		monitor.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Code, string(body)
	}
	status, text := get("/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if status != 200 || err != nil {
		t.Fatal(status, err)
	}
	for name, want := range map[string]float64{
		"heapdrift_jobs": 1, "heapdrift_evidence_bytes": 123, "heapdrift_uploaded_bytes_total": 77,
		"heapdrift_symbol_searches_total": 1, "heapdrift_http_refusals_total": 1,
		"heapdrift_jobs_stuck": 0, "heapdrift_database_up": 1, "heapdrift_schema_version": float64(store.KnownSchema()),
		"heapdrift_build_info": 1, "heapdrift_freed_bytes": 50,
	} {
		f := families[name]
		if f == nil || len(f.Metric) != 1 || f.Metric[0].GetGauge().GetValue()+f.Metric[0].GetCounter().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, f, want)
		}
	}
	if f := families["heapdrift_jobs_longest_wait_seconds"]; f == nil || f.Metric[0].GetGauge().GetValue() <= 0 {
		t.Errorf("a job waits: %v", f)
	}
	if h := families["heapdrift_job_seconds"]; h == nil || h.Metric[0].GetHistogram().GetSampleCount() != 1 {
		t.Errorf("%v", h)
	}
	if status, _ := get("/healthz"); status != 200 {
		t.Error(status)
	}
	ready := func() (int, map[string]string) {
		t.Helper()
		status, text := get("/readyz")
		var view struct{ Checks map[string]string }
		if err := json.Unmarshal([]byte(text), &view); err != nil {
			t.Fatal(err)
		}
		return status, view.Checks
	}
	if status, checks := ready(); status != 200 || len(checks) != 6 {
		t.Errorf("%d %v", status, checks)
	}
	if err := os.Rename(moved, moved+"-old"); err != nil {
		t.Fatal(err)
	}
	if status, checks := ready(); status != 503 || !strings.Contains(checks["blobs"], "was renamed or replaced") || checks["database"] != "ok" {
		t.Errorf("the folder of the blobs was renamed: %d %v", status, checks)
	}
	if err := os.Rename(moved+"-old", moved); err != nil {
		t.Fatal(err)
	}
	queueFails = true
	if status, checks := ready(); status != 503 || checks["queue"] != http.ErrBodyNotAllowed.Error() || checks["database"] != "ok" {
		t.Errorf("%d %v", status, checks)
	}
	queueFails = false
	outOfOrder = errors.New("TMPDIR of worker w2 is full")
	if status, checks := ready(); status != 503 || checks["worker"] != "TMPDIR of worker w2 is full" || checks["queue"] != "ok" {
		t.Errorf("%d %v", status, checks)
	}
	outOfOrder = nil
	if err := storetest.ChangeSchema(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if status, checks := ready(); status != 503 || !strings.Contains(checks["schema"], "schema") || checks["database"] != "ok" {
		t.Errorf("%d %v", status, checks)
	}
	monitor.Checks = web.Checks(opt.Store, opt.Blobs, 1<<62, nil, nil)
	if status, checks := ready(); status != 503 || !strings.Contains(checks["disk"], "HEAPDRIFT_MIN_FREE") || checks["blobs"] != "ok" {
		t.Errorf("%d %v", status, checks)
	}
}
