package worker_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

func TestMain(m *testing.M) { workertest.Main(m, breakReports) }

// pipeline is everything after the intake.
type pipeline struct {
	*testing.T
	*workertest.Pipeline
}

func start(t *testing.T) *pipeline {
	t.Helper()
	return &pipeline{t, workertest.Start(t)}
}

// log is a raw log with one block of the given size, taken at the given minute.
func log(minute, size int) string {
	return fmt.Sprintf(`// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:%02d - Machine=LAB - PID=42
// Loaded modules:
//     Base Size Module
//                  400000    10000 C:\app.exe
// Process modules enumerated.
*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -
*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -
%X bytes + 10 at 3F0880 by BackTraceA1
	401000
	402000

*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -
`, minute, size)
}

func (p *pipeline) upload(name, content string) int64 {
	p.Helper()
	e, err := p.Intake.Accept(p.Context(), leaks.UploadTarget{Project: "p", Build: "1"}, name, strings.NewReader(content))
	if err != nil {
		p.Fatal(err)
	}
	return e.RunID
}

func (p *pipeline) settled(id int64) store.Run {
	p.Helper()
	return p.AwaitSettled(p.T, id)
}

// report reads the run's report from the blob store.
func (p *pipeline) report(run store.Run) *analysis.Report {
	p.Helper()
	r, err := p.Blobs.Open(p.Context(), run.ReportKey)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	z, err := zstd.NewReader(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		p.Fatal(err)
	}
	defer z.Close()
	report, err := analysis.ReadJSON(z)
	if err != nil {
		p.Fatal(err)
	}
	return report
}

func files(r *analysis.Report) []string {
	var names []string
	for _, s := range r.Snapshots {
		names = append(names, fmt.Sprintf("%s=%d", s.File, s.Bytes))
	}
	return names
}

// Files arrive in any order; the clock in them decides the order, or the number in their name where the clock is too
// coarse.
func TestSnapshotsAreOrderedByTimeThenName(t *testing.T) {
	p := start(t)
	p.upload("snap10.txt", log(7, 100))
	p.upload("snap9.txt", log(7, 90))
	run := p.settled(p.upload("a-later-one.txt", log(8, 200)))
	r := p.report(run)
	if got, want := files(r), []string{"snap9.txt=90", "snap10.txt=100", "a-later-one.txt=200"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if g := r.Totals.Heap.Growth; g.Bytes != 110 || run.SiteCount != 1 || run.State() != "ready" {
		t.Errorf("growth %+v, run %+v", g, run)
	}
}

// Evidence that comes after the report changes it.
func TestMoreEvidenceRenewsTheReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	first := p.report(p.settled(p.upload("1.txt", log(1, 50))))
	second := p.report(p.settled(p.upload("2.txt", log(2, 80))))
	if first.Totals.Heap.Growth != nil || second.Totals.Heap.Growth.Bytes != 30 {
		t.Errorf("first %+v, second %+v", first.Totals, second.Totals)
	}
}

// A damaged log is read as far as it goes, and the report says so.
func TestDamageIsSaid(t *testing.T) {
	p := start(t)
	cut, _, _ := strings.Cut(log(1, 50), "*- - - - - - - - - - End")
	r := p.report(p.settled(p.upload("cut.txt", cut)))
	if !slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool {
		return w.Code == "truncated" ||
			w.Code == "partial-heap"
	}) || r.Totals.Heap.Outstanding.Bytes != 50 {
		t.Errorf("%+v %+v", r.Warnings, r.Totals)
	}
}

// A blob that is gone fails the evidence for good, with a reason, and leaves the rest of the run alone.
func TestLostBlob(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	run := p.upload("kept.txt", log(1, 50))
	p.settled(run)
	lost := log(2, 60)
	e, err := p.Store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "default", Run: "1"},
		store.Evidence{Name: "lost.txt", SHA256: strings.Repeat("ab", 32), Bytes: int64(len(lost)), Kind: "umdh"})
	if err != nil {
		t.Fatal(err)
	}
	after := p.settled(run)
	if e, err = storetest.Now(t, p.Store).FindEvidence(t.Context(), e.ID); err != nil || e.State != "failed" ||
		e.ErrorCode != "blob-missing" {
		t.Errorf("%+v, %v", e, err)
	}
	if after.State() != "ready" || after.FailedFiles != 1 {
		t.Errorf("%+v", after)
	}
}

// The same log under another name shows the same instant.
func TestTheSameLogTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	p.upload("1.txt", log(1, 50))
	p.upload("2.txt", log(2, 80))
	r := p.report(p.settled(p.upload("copy of 2.txt", log(2, 80))))
	if got, want := files(r), []string{"1.txt=50", "2.txt=80"}; !slices.Equal(got, want) {
		t.Errorf("instants %v, want %v", got, want)
	}
	if !slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool {
		return strings.Contains(w.Message, "copy of 2.txt is the same file as 2.txt")
	}) {
		t.Errorf("%+v", r.Warnings)
	}
}
