package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

func open(t testing.TB) (*store.Store, *pgx.Conn) {
	t.Helper()
	return storetest.Open(t)
}

var target = leaks.UploadTarget{Project: "demo", Build: "100", Scenario: "soak", Run: "1"}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return storetest.Must[T](t)
}

func addEvidence(t testing.TB, s *store.Store, target leaks.UploadTarget, name string) store.Evidence {
	t.Helper()
	if err := target.Normalize(); err != nil {
		t.Fatal(err)
	}
	return must[store.Evidence](t)(s.CreateEvidence(t.Context(), target,
		store.Evidence{Name: name, SHA256: name + "-sha", Bytes: 9, Kind: "umdh"}))
}

// complaintOf is the field that an error is about; "" for none.
func complaintOf(err error) string {
	var wrong *leaks.FieldError
	if errors.As(err, &wrong) {
		return wrong.Field
	}
	return ""
}

// claim claims the only due job.
func claim(t testing.TB, s *store.Store) store.Lease {
	t.Helper()
	due := must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), time.Hour))
	if len(due) != 1 {
		t.Fatalf("%d jobs are due, want 1", len(due))
	}
	return must[store.Lease](t)(s.ClaimJob(t.Context(), due[0].ID, time.Minute))
}

// snapshot is a capture with n sites of growing size; some sites grow further with each step.
func snapshot(n int, step int64) *capture.Capture {
	c := &capture.Capture{
		Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 64},
		Snapshots: make([]capture.Snapshot, 1),
		Modules:   []capture.Module{{Path: `C:\app.exe`, Base: 1<<64 - 1<<40, Size: 1 << 39, Symbols: capture.SymbolsNone}},
		Heaps:     []capture.Heap{{Handle: 0x1000}},
	}
	for i := range n {
		frames := []capture.FrameID{
			c.Stacks.AddText(capture.FrameText{Module: "ntdll", Function: "RtlAllocateHeap", Offset: 4}, 0),
			c.Stacks.AddText(capture.FrameText{Module: "app", Function: fmt.Sprintf("Leak%03d", i), Offset: 8, File: `c:\src\app.cpp`,
				Line: uint32(i + 1)}, 0),
			c.Stacks.AddText(capture.FrameText{Module: "app", Function: "main_50%_done", Offset: uint64(i % 3)}, 0),
		}
		c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack(frames), Trace: uint64(0xA00 + i),
			Usage: []capture.Usage{{Count: int64(i + 1), Bytes: int64(i)*100 + step*int64(i%5)}}})
	}
	return c
}

func report(t testing.TB, captures ...*capture.Capture) *analysis.Report {
	t.Helper()
	var inputs []analysis.Input
	for i, c := range captures {
		inputs = append(inputs,
			analysis.Input{Files: []analysis.File{{Name: fmt.Sprintf("s%d.txt", i)}}, Captures: []*capture.Capture{c}})
	}
	return must[*analysis.Report](t)(analysis.Analyze(t.Context(), inputs, analysis.Options{}))
}

// analysed brings a run to its report and returns the run's id.
func analysed(t testing.TB, s *store.Store, r *analysis.Report) int64 {
	t.Helper()
	e := addEvidence(t, s, target, "a.txt")
	if err := s.CreateCaptures(t.Context(), claim(t, s),
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Bytes: 5}}); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "names")
	save(t, s, claim(t, s), r, "rep", input(t, s, e.RunID).Revision)
	return e.RunID
}

func input(t testing.TB, s *store.Store, run int64) store.AnalysisInput {
	t.Helper()
	return must[store.AnalysisInput](t)(store.Read(t.Context(), s,
		func(v store.View) (store.AnalysisInput, error) { return v.FindAnalysisInput(t.Context(), run) }))
}

// name runs a naming job.
func name(t testing.TB, s *store.Store, l store.Lease, key string) {
	t.Helper()
	naming := must[store.SymbolSearch](t)(s.BeginSymbolSearch(t.Context(), l.RunID))
	if err := s.UpdateNames(t.Context(), l, naming, key); err != nil {
		t.Fatal(err)
	}
}

// save ends an analysis.
func save(t testing.TB, s *store.Store, l store.Lease, r *analysis.Report, key string, revision int64) {
	t.Helper()
	if err := s.UpdateResult(t.Context(), l, store.Result{Report: r, ReportKey: key, Revision: revision}); err != nil {
		t.Fatal(err)
	}
}

func TestMigrateTogether(t *testing.T) {
	_, conn := open(t)
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() { errs[i] = store.Migrate(t.Context(), conn.Config().ConnString()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestEvidenceIsRecordedOnce(t *testing.T) {
	s, _ := open(t)
	first, again := addEvidence(t, s, target, "a.txt"), addEvidence(t, s, target, "a.txt")
	if first.ID != again.ID {
		t.Errorf("the same file became %d and %d", first.ID, again.ID)
	}
	lease := claim(t, s) // fails where there are two jobs
	if err := s.FailJob(t.Context(), lease,
		store.Failure{Code: "unknown-format", Message: "not evidence", Final: true}); err != nil {
		t.Fatal(err)
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), first.ID)); e.State != "failed" ||
		e.ErrorCode != "unknown-format" {
		t.Errorf("after a final failure: %+v", e)
	}
	if run := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), first.RunID)); run.State() != "failed" {
		t.Errorf("run is %s", run.State())
	}
	if e := addEvidence(t, s, target, "a.txt"); e.State != "stored" || e.ErrorCode != "" {
		t.Errorf("uploaded again: %+v", e)
	}
	claim(t, s)
}

func TestLeases(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	lease := claim(t, s)
	if _, err := s.ClaimJob(t.Context(), lease.ID, time.Minute); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a second delivery got %v", err)
	}
	// The worker is silent: its lease runs out, and another takes over.
	silence := func(l store.Lease) {
		t.Helper()
		if _, err := s.RenewLease(t.Context(), l, -time.Second); err != nil {
			t.Fatal(err)
		}
		if n := must[int](t)(s.ReapJobs(t.Context())); n != 1 {
			t.Fatalf("reaped %d", n)
		}
	}
	silence(lease)
	if passed, err := s.RenewLease(t.Context(), lease, time.Minute); passed || err != nil {
		t.Errorf("a lease that nobody has taken: %v, %v", passed, err)
	}
	if _, err := s.ClaimJob(t.Context(), lease.ID, time.Minute); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("its job is claimed: %v", err)
	}
	silence(lease)
	second := claim(t, s)
	if second.Attempt != 2 {
		t.Errorf("attempt %d, want 2", second.Attempt)
	}
	if passed, err := s.RenewLease(t.Context(), lease, time.Minute); !passed || err != nil {
		t.Errorf("a lease that has passed on: %v, %v", passed, err)
	}
	if err := s.FailJob(t.Context(), lease, store.Failure{Code: "x", Message: "x"}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("failing with a lost lease: %v", err)
	}
	// Both workers go on: the first result counts, and the second is refused.
	if err := s.CreateCaptures(t.Context(), lease,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "first"}}); err != nil {
		t.Fatal(err)
	}
	_, renewed := s.RenewLease(t.Context(), second, time.Minute)
	for what, err := range map[string]error{
		"renewing": renewed,
		"saving": s.CreateCaptures(t.Context(), second, []store.StoredCapture{{Capture: snapshot(1, 0),
			ArtifactKey: "second"}}),
		"failing": s.FailJob(t.Context(), second, store.Failure{Code: "x", Message: "x"}),
	} {
		if !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s when the job has ended: %v", what, err)
		}
	}
	if in := input(t, s, e.RunID); len(in.Captures) != 1 || in.Captures[0].ArtifactKey != "first" || in.Revision != 1 {
		t.Errorf("%+v", in)
	}
}

// A job fails when all of its workers seem lost; a result that one of them still brings is taken.
func TestResultAfterAllWorkersSeemedLost(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	var last store.Lease
	for range 5 {
		last = claim(t, s)
		if _, err := s.RenewLease(t.Context(), last, -time.Second); err != nil {
			t.Fatal(err)
		}
		must[int](t)(s.ReapJobs(t.Context()))
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), e.ID)); e.State != "failed" ||
		e.ErrorCode != "worker-lost" {
		t.Fatalf("%+v", e)
	}
	if err := s.CreateCaptures(t.Context(), last,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "late"}}); err != nil {
		t.Fatal(err)
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), e.ID)); e.State != "read" ||
		e.Error != "" {
		t.Errorf("%+v", e)
	}
}

func TestFailuresAreTriedAgainUntilTheyAreTooMany(t *testing.T) {
	s, conn := open(t)
	e := addEvidence(t, s, target, "a.txt")
	for attempt := 1; ; attempt++ {
		lease := claim(t, s)
		if err := s.FailJob(t.Context(), lease, store.Failure{Code: "internal", Message: "database away"}); err != nil {
			t.Fatal(err)
		}
		job := must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), e.RunID))[0]
		if job.State == "failed" {
			if attempt != 5 {
				t.Errorf("gave up after %d attempts, want 5", attempt)
			}
			break
		}
		if due := must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), time.Hour)); len(due) != 0 {
			t.Fatal("tried again without a pause")
		}
		if _, err := conn.Exec(t.Context(), `update jobs set run_at = now()`); err != nil {
			t.Fatal(err)
		}
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), e.ID)); e.State != "failed" ||
		e.Error != "database away" {
		t.Errorf("%+v", e)
	}
}

func TestReleaseDoesNotCountAsAnAttempt(t *testing.T) {
	s, _ := open(t)
	addEvidence(t, s, target, "a.txt")
	for range 8 {
		lease := claim(t, s)
		if lease.Attempt != 1 {
			t.Fatalf("attempt %d", lease.Attempt)
		}
		if err := s.ReleaseJob(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
}

// The database may hear of a renewal after its worker has given the job back: a statement that is cancelled on its way
// may still run. The job stays with whom it was given to.
func TestLateRenewalTakesNothingBack(t *testing.T) {
	for name, giveBack := range map[string]func(s *store.Store, l store.Lease) error{
		"released": func(s *store.Store, l store.Lease) error { return s.ReleaseJob(t.Context(), l) },
		"failed": func(s *store.Store, l store.Lease) error {
			return s.FailJob(t.Context(), l, store.Failure{Code: "internal", Message: "database away"})
		},
	} {
		s, _ := open(t)
		addEvidence(t, s, target, "a.txt")
		lease := claim(t, s)
		if err := giveBack(s, lease); err != nil {
			t.Fatal(err)
		}
		passed, err := s.RenewLease(t.Context(), lease, time.Hour)
		jobs := must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), lease.RunID))
		if !passed || err != nil || len(jobs) != 1 || jobs[0].State != "queued" {
			t.Errorf("%s: passed on %v, %v, %+v", name, passed, err, jobs)
		}
	}
}

func TestOlderResultDoesNotReplaceNewer(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	if err := s.CreateCaptures(t.Context(), claim(t, s),
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "one"}}); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "names")
	slow, oldRevision := claim(t, s), input(t, s, e.RunID).Revision // analyses what is there now
	addEvidence(t, s, target, "b.txt")
	if err := s.CreateCaptures(t.Context(), claim(t, s),
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "two"}}); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "more names")
	fast, newRevision := claim(t, s), input(t, s, e.RunID).Revision
	save(t, s, fast, report(t, snapshot(3, 0)), "new", newRevision)
	save(t, s, slow, report(t, snapshot(2, 0)), "old", oldRevision)
	run := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), e.RunID))
	if run.ReportKey != "new" || run.SiteCount != 3 || run.State() != "ready" {
		t.Errorf("%+v", run)
	}
}

func TestSites(t *testing.T) {
	s, _ := open(t)
	r := report(t, snapshot(120, 0), snapshot(120, 7))
	run := analysed(t, s, r)
	ofClass := int64(0)
	for i := range r.Sites {
		if r.Sites[i].Verdict == r.Sites[0].Verdict {
			ofClass++
		}
	}
	for _, test := range []struct {
		query store.SiteQuery
		total int64
		first string
	}{
		{store.SiteQuery{Limit: 50}, 120, r.Stack(r.Sites[0].Stack)[1].Name()},
		{store.SiteQuery{Limit: 50, Offset: 50}, 120, r.Stack(r.Sites[50].Stack)[1].Name()},
		{store.SiteQuery{Limit: 50, Order: "bytes"}, 120, "app!Leak119"},
		{store.SiteQuery{Limit: 50, Order: "blocks"}, 120, "app!Leak119"},
		{store.SiteQuery{Limit: 50, Order: "name"}, 120, "app!Leak000"},
		{store.SiteQuery{Limit: 50, Order: "count"}, 120, r.Stack(r.Sites[0].Stack)[1].Name()},
		{store.SiteQuery{Limit: 50, Filter: "leak07"}, 10, ""},
		{store.SiteQuery{Limit: 50, Filter: "MAIN_50%_DONE"}, 120, ""}, // in an outer frame
		{store.SiteQuery{Limit: 50, Filter: "main_50x"}, 0, ""},        // % and _ are text
		{store.SiteQuery{Limit: 50, Filter: "BackTraceA05"}, 1, "app!Leak005"},
		{store.SiteQuery{Limit: 50, Filter: "app.cpp:12"}, 2, ""}, // lines 12 and 120
		{store.SiteQuery{Limit: 50, Filter: r.Sites[3].Signature}, 1, r.Stack(r.Sites[3].Stack)[1].Name()},
		{store.SiteQuery{Limit: 50, Class: string(r.Sites[0].Verdict)}, ofClass, ""},
		{store.SiteQuery{Limit: 50, Heap: "0x1000"}, 120, ""},
		{store.SiteQuery{Limit: 50, Heap: "0x2000"}, 0, ""},
	} {
		test.query.RunID = run
		page, total, err := storetest.Now(t, s).ListSites(t.Context(), test.query)
		if err != nil || total != test.total || len(page) != min(int(max(test.total-int64(test.query.Offset), 0)), 50) {
			t.Errorf("%+v: %d rows of %d, %v; want of %d", test.query, len(page), total, err, test.total)
			continue
		}
		if test.first != "" && page[0].Blame != test.first {
			t.Errorf("%+v: first is %s, want %s", test.query, page[0].Blame, test.first)
		}
	}
	if _, _, err := storetest.Now(t, s).ListSites(t.Context(),
		store.SiteQuery{RunID: run, Order: "1; drop table sites"}); err == nil {
		t.Error("an unknown order was taken")
	}
	site := must[store.SiteRow](t)(storetest.Now(t, s).FindSite(t.Context(), run, 7))
	stacks := must[map[int64][]*analysis.Frame](t)(storetest.Now(t, s).ListStackFrames(t.Context(),
		[]int64{*site.StackID}))
	want := r.Stack(r.Sites[7].Stack)
	for i, f := range stacks[*site.StackID] {
		if *f != *want[i] {
			t.Errorf("frame %d: stored %+v, report %+v", i, f, want[i])
		}
	}
	if len(site.Series) != 2 || site.Series[1] != r.Sites[7].Outstanding.Bytes {
		t.Errorf("series %v", site.Series)
	}
	if _, err := storetest.Now(t, s).FindSite(t.Context(), run, 120); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such site: %v", err)
	}
	summary := must[*analysis.Report](t)(storetest.Now(t, s).FindSummary(t.Context(), run))
	if len(summary.Sites) != 0 || summary.Totals.Heap.Growth.Bytes != r.Totals.Heap.Growth.Bytes {
		t.Errorf("summary %+v", summary.Totals)
	}
}

// Two workers that store the same stacks at the same time must not block each other.
func TestStacksAreInternedConcurrently(t *testing.T) {
	s, conn := open(t)
	var wait sync.WaitGroup
	for i := range 4 {
		to := target
		to.Run = fmt.Sprint(i)
		addEvidence(t, s, to, "a.txt")
		lease := claim(t, s)
		if err := s.CreateCaptures(t.Context(), lease, nil); err != nil {
			t.Fatal(err)
		}
		job := claim(t, s)
		r := report(t, snapshot(300, int64(i)))
		wait.Go(func() {
			if err := s.UpdateResult(t.Context(), job, store.Result{Report: r, ReportKey: "k", Revision: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	var stacks, frames int
	if err := conn.QueryRow(t.Context(),
		`select (select count(*) from stacks), (select count(*) from frames)`).Scan(&stacks, &frames); err != nil ||
		stacks != 300 || frames != 304 {
		t.Errorf("%d stacks, %d frames, %v; want 300 and 304", stacks, frames, err)
	}
}

func TestListenHearsOfJobs(t *testing.T) {
	s, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan int64, 100), make(chan error, 1)
	go func() { ended <- s.Subscribe(ctx, func(run int64) { heard <- run }) }()
	e := addEvidence(t, s, target, "a.txt")
	lease := claim(t, s)
	deadline := time.After(20 * time.Second)
	for percent := 0; ; percent++ { // Listen may come up later than the first changes
		if err := s.UpdateProgress(t.Context(), lease, percent, "reading"); err != nil {
			t.Fatal(err)
		}
		select {
		case run := <-heard:
			if run != e.RunID {
				t.Errorf("heard of run %d, want %d", run, e.RunID)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			return
		case <-deadline:
			t.Fatal("heard nothing")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
