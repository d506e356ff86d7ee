package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/analysis"
	"heapdrift/internal/await"
	"heapdrift/internal/blob"
	"heapdrift/internal/embedded"
	"heapdrift/internal/leaks"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/task"
)

// A window touches its trace and ends after it begins; times before the recording belong to it as far as the trace
// knows them.
func TestWindowsOfATrace(t *testing.T) {
	for _, test := range []struct {
		from, to   int64 // of the trace
		window     capture.Window
		ok, entire bool
	}{
		{0, 10, capture.Window{From: 0, To: 10}, true, true}, {0, 10, capture.Window{From: -5, To: 15}, true, true},
		{0, 10, capture.Window{From: 1, To: 10}, true, false}, {0, 10, capture.Window{From: 0, To: 9}, true, false},
		{0, 10, capture.Window{From: 5, To: 5}, true, false}, {0, 10, capture.Window{From: 6, To: 5}, false, false},
		{0, 10, capture.Window{From: 10, To: 10}, true, false}, {0, 10, capture.Window{From: 11, To: 12}, false, false},
		{0, 10, capture.Window{From: -3, To: 0}, true, false}, {0, 10, capture.Window{From: -3, To: -1}, false, false},
		{-4, 10, capture.Window{From: -6, To: -4}, true, false}, {-4, 10, capture.Window{From: -6, To: -5}, false, false},
		{-4, 10, capture.Window{From: -4, To: 10}, true, true}, {-4, 10, capture.Window{From: -3, To: 10}, true, false},
		{4, 10, capture.Window{From: 0, To: 10}, true, true}, {4, 10, capture.Window{From: 1, To: 10}, true, false},
		{4, 0, capture.Window{From: 4, To: 4}, true, false}, {4, 0, capture.Window{From: 5, To: 5}, false, false}, // its end is not known
	} {
		trace := &analysis.Trace{FromNS: test.from, ToNS: test.to}
		err := checkWindow(test.window, trace)
		var refused *analysis.Error
		if (err == nil) != test.ok || err != nil && (!errors.As(err, &refused) || refused.Code != analysis.CodeBadWindow) {
			t.Errorf("%+v of %+v: %v", test.window, test, err)
		}
		if test.ok && test.to >= test.from && task.IsWhole(test.window, trace) != test.entire {
			t.Errorf("%+v of %d to %d: whole %t", test.window, test.from, test.to, !test.entire)
		}
	}
	if got := seconds(1_234_567_890); got != "1.235 s" {
		t.Error(got)
	}
}

// Peaks are the report's where both it and the window have one.
func TestPeaksOfTheReport(t *testing.T) {
	amounts := func(peak int64) analysis.Amounts {
		if peak == 0 {
			return analysis.Amounts{}
		}
		return analysis.Amounts{Lifetimes: &analysis.Lifetimes{Peak: &analysis.Peak{Amount: analysis.Amount{Bytes: peak}}}}
	}
	peak := func(a *analysis.Amounts) int64 {
		if a == nil || a.Lifetimes == nil {
			return 0
		}
		return a.Peak.Bytes
	}
	for _, test := range []struct{ window, report, want int64 }{{1, 9, 9}, {1, 0, 1}, {0, 9, 0}, {0, 0, 0}} {
		w, r := &analysis.WindowNumbers{}, &analysis.Report{}
		w.Totals.Heap, r.Totals.Heap = amounts(test.window), amounts(test.report)
		w.Totals.Virtual, r.Totals.Virtual = amounts(test.window), amounts(test.report)
		inWindow, inReport := amounts(test.window), amounts(test.report)
		w.Totals.HeapVirtual, r.Totals.HeapVirtual = &inWindow, &inReport
		w.Heaps, r.Heaps = []analysis.Heap{{Amounts: amounts(test.window)}}, []analysis.Heap{{Amounts: amounts(test.report)}, {}}
		takePeaks(w, r)
		for what, got := range map[string]int64{"heap": peak(&w.Totals.Heap), "virtual": peak(&w.Totals.Virtual),
			"memory of heaps": peak(w.Totals.HeapVirtual), "one heap": peak(&w.Heaps[0].Amounts)} {
			if got != test.want {
				t.Errorf("%+v: the peak of %s is %d", test, what, got)
			}
		}
		w.Totals.HeapVirtual = nil
		takePeaks(w, r)
		w.Totals.HeapVirtual, r.Totals.HeapVirtual = &inWindow, nil
		w.Heaps, r.Heaps = append(w.Heaps, analysis.Heap{}), r.Heaps[:1]
		takePeaks(w, r)
	}
}

// What another attempt would not read either is final; what a busy machine or a lost process met is tried again.
func TestRefusalOfATask(t *testing.T) {
	own := errors.New("no database")
	for _, test := range []struct {
		err   error
		code  string // "" for the error itself
		final bool
	}{
		{own, "", false},
		{fmt.Errorf("read: %w", &evidence.Error{Code: "not-umdh"}), "not-umdh", true},
		{fmt.Errorf("read: %w", &sandbox.ProcessError{Code: "reader-crashed"}), "reader-crashed", true},
		{&sandbox.ProcessError{Code: "memory-exceeded", Again: true}, "memory-exceeded", false},
	} {
		got := refusal(test.err)
		var known *queue.Error
		if errors.As(got, &known) != (test.code != "") || known != nil && (known.Code != test.code || known.Final != test.final) ||
			known == nil && !errors.Is(got, own) {
			t.Errorf("%v: %#v", test.err, got)
		}
	}
}

// With a file others are read that were not refused: a kernel's half without memory may be the other half of it.
func TestFilesThatAreReadTogether(t *testing.T) {
	files := []store.Evidence{{ID: 1, State: "failed", ErrorCode: "not-etl"}, {ID: 2, State: "stored"}, {ID: 3, State: "failed", ErrorCode: "not-etl"},
		{ID: 4, State: "failed", ErrorCode: tracecapture.CodeNoMemory}, {ID: 5, State: "read"}}
	if got := idsOf(readable(files)); !slices.Equal(got, []int64{1, 2, 4, 5}) {
		t.Errorf("%v", got)
	}
}

// Each attempt counts for the server that was asked; folders of this machine are one place.
func TestPlacesOfAttempts(t *testing.T) {
	var heard []string
	l := &teamLibrary{searched: func(place, result string) { heard = append(heard, place+" "+result) }}
	tried := []capture.Attempt{{Place: "https://symbols.example/a.pdb", Result: "found"}, {Place: "/srv/symbols/a.pdb", Result: "not-found"},
		{Place: teamStore + ": a.pdb/1", Result: "found"}, {Place: "http://%zz", Result: "error"}, {Place: `C:\symbols`, Result: "not-found"}}
	l.note(tried)
	if want := []string{"symbols.example found", "symbol path not-found", teamStore + " found", "symbol path error", "symbol path not-found"}; !slices.Equal(heard, want) {
		t.Errorf("%q", heard)
	}
	(&teamLibrary{}).note(tried) // nobody listens
}

// A part of a round logs what it deleted, and why it deleted nothing unless the server ends.
func TestRoundsAreLogged(t *testing.T) {
	s, _ := storetest.Open(t)
	for _, test := range []struct {
		files int64
		err   error
		ended bool
		want  string // levels of the lines
	}{{0, nil, false, ""}, {1, nil, false, "INFO"}, {0, errors.New("no disk"), false, "ERROR"}, {2, errors.New("no disk"), false, "INFO ERROR"},
		{0, errors.New("no disk"), true, ""}} {
		var log strings.Builder
		k := &Retention{Store: s, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.LevelKey {
				return a
			}
			return slog.Attr{}
		}}))}
		ctx, end := context.WithCancel(t.Context())
		if test.ended {
			end()
		}
		k.runPart(ctx, keeperPart{"x", func(context.Context) (store.Removal, error) {
			return store.Removal{Files: test.files}, test.err
		}})
		end()
		if got := strings.Join(strings.Fields(strings.ReplaceAll(log.String(), "level=", "")), " "); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// A table that was used stays open longer than one that was not.
func TestLastUsedTablesStay(t *testing.T) {
	w := &WindowAnswers{}
	blobs := map[int64]*countedBlob{}
	use := func(run int64) *openTable {
		table, err := w.tables.enter(t.Context(), tableKey{run: run}, func() (*openTable, error) {
			blobs[run] = &countedBlob{t: t}
			return &openTable{key: tableKey{run: run}, blob: blobs[run]}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	closed := func() (runs []int64) {
		for run := range int64(9) {
			if b := blobs[run]; b != nil && b.closed.Load() > 0 {
				runs = append(runs, run)
			}
		}
		return runs
	}
	w.tables.keep(1) // of none
	for run := range int64(maxOpenTables) {
		w.tables.leave(use(run))
	}
	first := use(0)
	w.tables.leave(use(5)) // 1 was not used for longest
	if got := closed(); !slices.Equal(got, []int64{1}) {
		t.Errorf("closed %v", got)
	}
	for _, run := range []int64{6, 7, 8, 2} { // 0 goes, but is in use
		w.tables.leave(use(run))
	}
	if blobs[0].closed.Load() != 0 {
		t.Error("a table in use is closed")
	}
	w.tables.leave(first)
	if blobs[0].closed.Load() != 1 {
		t.Error("a table that nobody uses stays open")
	}
	last := use(8)
	if err := w.Close(); err != nil || blobs[8].closed.Load() != 0 {
		t.Errorf("closed in use, %v", err)
	}
	if w.tables.leave(last); blobs[8].closed.Load() != 1 {
		t.Error("the last user leaves it open")
	}
	for run, b := range blobs {
		if b.closed.Load() != 1 {
			t.Errorf("the table of run %d was closed %d times", run, b.closed.Load())
		}
	}
}

// A task's capture of a trace is stored with the trace's table, another without.
func TestCaptureOfATask(t *testing.T) {
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &host{worker: &Worker{Blobs: blobs}}
	write := func(text string) func(io.Writer) error {
		return func(out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		}
	}
	if err := errors.Join(h.StoreTable(t.Context(), 3, write("table")), h.StoreCapture(t.Context(), &capture.Capture{}, write("snapshot")),
		h.StoreCapture(t.Context(), &capture.Capture{Trace: &capture.Trace{}}, write("trace")), h.StoreNames(t.Context(), write("names"))); err != nil {
		t.Fatal(err)
	}
	if len(h.captures) != 2 || h.captures[0].Table.Key != "" || h.captures[0].Bytes != 8 || h.captures[1].Table.Sites != 3 ||
		h.captures[1].Table.Bytes != 5 || h.captures[1].ArtifactKey == h.captures[0].ArtifactKey {
		t.Errorf("%+v", h.captures)
	}
	for _, key := range []string{h.captures[0].ArtifactKey, h.captures[1].ArtifactKey, h.captures[1].Table.Key, h.names} {
		if _, err := blobs.Stat(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	broken := errors.New("no disk")
	if err := h.StoreNames(t.Context(), func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// What a task says of its progress is the job's: the row has it.
func TestProgressOfATask(t *testing.T) {
	s, conn := storetest.Open(t)
	e, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"},
		store.Evidence{Name: "a.txt", SHA256: "a", Bytes: 1, Kind: "umdh"})
	if err != nil {
		t.Fatal(err)
	}
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	told := make(chan bool, 1)
	node, err := queue.New(s, map[string]queue.Handler{store.JobRead: func(ctx context.Context, job *queue.Job) error {
		(&host{job: job}).Progress(40, "reading")
		waiting, end := context.WithTimeout(ctx, 20*time.Second)
		defer end()
		told <- await.Poll(waiting, func() bool {
			var at string
			err := conn.QueryRow(ctx, `select percent || ' ' || stage from jobs where run_id = $1`, e.RunID).Scan(&at)
			return err == nil && at == "40 reading"
		})
		return &queue.Error{Code: "not-umdh", Final: true}
	}}, queue.Options{RedisURL: "redis://" + broker.Addr(), Poll: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	if !<-told {
		t.Error("nobody hears of it")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Everything that is old goes in one call, however much more than one batch it is.
func TestKeeperTakesAllBatches(t *testing.T) {
	s, conn := storetest.Open(t)
	if _, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"},
		store.Evidence{Name: "a.txt", SHA256: "a", Bytes: 1, Kind: "umdh"}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`insert into evidence (run_id, name, sha256, bytes, kind, state) select run_id, name, 'a' || n, bytes, kind, state from evidence, generate_series(1, 500) n`,
		`update evidence set state = 'read', uploaded_at = now() - interval '25 hours'`,
		`update runs set completed_at = now(), analysed_at = now()`, `delete from jobs`,
		`delete from unwanted_blobs`,
		`insert into unwanted_blobs (key) select 'content/sha256/b' || n from generate_series(1, 501) n`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k := &Retention{Store: s, Blobs: blobs, Defaults: store.RetentionDefaults{EvidenceDays: 1}, Log: slog.New(slog.DiscardHandler)}
	for round, want := range []int64{501, 0} {
		if gone, err := k.Expire(t.Context()); err != nil || gone.Files != want {
			t.Errorf("round %d: %d files, want %d; %v", round, gone.Files, want, err)
		}
	}
	if _, err := k.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	var left int
	if err := conn.QueryRow(t.Context(), `select count(*) from unwanted_blobs`).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d blobs are left to sweep; %v", left, err)
	}
}
