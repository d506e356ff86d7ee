package pagestest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// DefaultTarget is where tests upload to by default.
var DefaultTarget = leaks.UploadTarget{Project: "shopd", Build: "4812", Branch: "main", Scenario: "soak-60min",
	Run: "1"}

// FailRead fails the next read job of a run; for good if f.Final.
func FailRead(t testing.TB, s *store.Store, run int64, f store.Failure) {
	t.Helper()
	if err := s.FailJob(t.Context(), Claim(t, s, store.JobRead, run), f); err != nil {
		t.Fatal(err)
	}
}

// AddEvidence records a file without reading it.
func AddEvidence(t testing.TB, s *store.Store, to leaks.UploadTarget, name string) store.Evidence {
	t.Helper()
	if err := to.Normalize(); err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(name))) // the digest of no file: nothing is read
	return Must[store.Evidence](t)(s.CreateEvidence(t.Context(), to,
		store.Evidence{Name: name, SHA256: digest, Bytes: 1_234_567, Kind: "umdh"}))
}

// Claim takes the next job of a kind.
func Claim(t testing.TB, s *store.Store, kind string, run int64) store.Lease {
	t.Helper()
	return claims(t, s, kind, run, 1)[0]
}

// claims takes the next n jobs of a kind, the oldest first.
func claims(t testing.TB, s *store.Store, kind string, run int64, n int) (leases []store.Lease) {
	t.Helper()
	_ = Must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), 0))
	for _, j := range Must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), run)) {
		if j.Kind == kind && j.State == "queued" && len(leases) < n {
			leases = append(leases, Must[store.Lease](t)(s.ClaimJob(t.Context(), j.ID, time.Minute)))
		}
	}
	if len(leases) < n {
		t.Fatalf("run %d has %d of %d jobs to %s", run, len(leases), n, kind)
	}
	return leases
}

// AddRun stores a run with its report and returns the run's id. edit changes the report before it is stored.
func AddRun(t testing.TB, s *store.Store, to leaks.UploadTarget, captures []*capture.Capture,
	edit ...func(*analysis.Report)) int64 {
	t.Helper()
	var run int64
	var inputs []analysis.Input
	for k, c := range captures {
		name := fmt.Sprintf("shopd-%d.log", k+1)
		e := AddEvidence(t, s, to, name)
		run = e.RunID
		inputs = append(inputs, analysis.Input{Files: []analysis.File{{Name: name, SHA256: e.SHA256, Bytes: e.Bytes}},
			Captures: []*capture.Capture{c}})
	}
	for k, lease := range claims(t, s, store.JobRead, run, len(captures)) {
		if err := s.CreateCaptures(t.Context(), lease,
			[]store.StoredCapture{{Capture: captures[k], ArtifactKey: "artifact", Bytes: 5}}); err != nil {
			t.Fatal(err)
		}
	}
	r := Must[*analysis.Report](t)(analysis.Analyze(t.Context(), inputs, analysis.Options{}))
	for _, change := range edit {
		change(r)
	}
	SaveReport(t, s, run, r)
	return run
}

// SaveReport ends the symbolise job of a run without names, and its analyse job with the given report.
func SaveReport(t testing.TB, s *store.Store, run int64, r *analysis.Report) {
	t.Helper()
	SaveNames(t, s, run)
	in := Must[store.AnalysisInput](t)(storetest.Now(t, s).FindAnalysisInput(t.Context(), run))
	key := "report"
	if blobs, ok := blobsOf.Load(s); ok {
		key = putReport(t, blobs.(blob.Store), r)
	}
	if err := s.UpdateResult(t.Context(), Claim(t, s, store.JobAnalyse, run),
		store.Result{Report: r, ReportKey: key, Revision: in.Revision}); err != nil {
		t.Fatal(err)
	}
}

// blobsOf holds the blob stores of the tests' servers, by database store.
var blobsOf sync.Map

// putReport stores a report as a worker does, and returns its key.
func putReport(t testing.TB, blobs blob.Store, r *analysis.Report) string {
	t.Helper()
	var packed bytes.Buffer
	z := Must[*zstd.Encoder](t)(zstd.NewWriter(&packed))
	if err := errors.Join(r.WriteJSON(z), z.Close()); err != nil {
		t.Fatal(err)
	}
	digest := Must[blob.Digest](t)(blob.PutContent(t.Context(), blobs, &packed))
	return blob.ContentKey(digest.SHA256)
}

// SaveNames ends the symbolise job of a run without names.
func SaveNames(t testing.TB, s *store.Store, run int64) {
	t.Helper()
	lease := Claim(t, s, store.JobSymbolise, run)
	naming := Must[store.SymbolSearch](t)(s.BeginSymbolSearch(t.Context(), run))
	if err := s.UpdateNames(t.Context(), lease, naming, "names"); err != nil {
		t.Fatal(err)
	}
}
