package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker"
	"heapdrift/worker/workertest"
)

// inWindow asks for a window of a run: it prepares first, and then opens a View.
func inWindow(t testing.TB, windows *worker.WindowAnswers, s *store.Store, run int64,
	w capture.Window) (*analysis.WindowNumbers, error) {
	t.Helper()
	done, err := windows.Prepare(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	return store.Read(t.Context(), s,
		func(v store.View) (*analysis.WindowNumbers, error) { return windows.Window(t.Context(), v, run, w) })
}

// reportOn asks for the report on a window of a run.
func reportOn(t testing.TB, windows *worker.WindowAnswers, s *store.Store, run int64,
	w capture.Window) (*analysis.Report, error) {
	t.Helper()
	var head *analysis.Report
	var in store.AnalysisInput
	err := s.View(t.Context(), func(v store.View) (err error) {
		if head, err = v.FindSummary(t.Context(), run); err == nil {
			in, err = v.FindAnalysisInput(t.Context(), run)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return windows.Report(t.Context(), head, in, w)
}

// A window over everything has the numbers of the run's report, and every window has those of the report on that
// window.
func TestWindowsAndReportsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	scenario := etltest.Invent(3, etltest.ScenarioSize{Steps: 600})
	run := p.settled(p.upload("whole.etl", string(scenario.File(etltest.Format{}))))
	r := p.report(run)
	windows := &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, Sandbox: workertest.Runner()}
	defer func() { _ = windows.Close() }()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		w := capture.Window{From: min(0, r.Trace.FromNS), To: r.Trace.ToNS}
		if i > 0 {
			w.From = rng.Int64N(scenario.End)
			w.To = w.From + rng.Int64N(scenario.End-w.From)
		}
		got, err := inWindow(t, windows, p.Store, run.ID, w)
		if err != nil {
			t.Fatal(err)
		}
		want, err := reportOn(t, windows, p.Store, run.ID, w)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := asJSON(got.Totals), asJSON(want.Totals); a != b {
			t.Errorf("window %v: totals\n%s, the report on it has\n%s", w, a, b)
		}
		if a, b := figures(want), figures(r); i == 0 && a != b {
			t.Error("the report on the whole trace differs from the run's: " + difference(a, b))
		}
		byKey := map[string]string{}
		for i := range want.Sites {
			s := &want.Sites[i]
			s.Peak = nil
			byKey[s.Signature+s.Heap+s.Kind] = asJSON(s.Amounts, s.Verdict)
		}
		for i := range got.Sites {
			s := &got.Sites[i]
			key := r.Sites[s.Ordinal].Signature + s.Heap + s.Kind
			if text, ok := byKey[key]; ok && text != asJSON(s.Amounts, s.Verdict) {
				t.Errorf("window %v: site %d has %s, in the report on it %s", w, s.Ordinal, asJSON(s.Amounts, s.Verdict), text)
			}
		}
	}
}

// Two windows are computed at once. A third request waits until one of them ends, or gives up.
func TestTurnsForWindows(t *testing.T) {
	p := start(t)
	windows := &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, Sandbox: workertest.Runner()}
	var done func()
	for range 2 {
		var err error
		if done, err = windows.Prepare(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if _, err := windows.Prepare(ended, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third one at once: %v", err)
	}
	third := make(chan error)
	go func() {
		_, err := windows.Prepare(t.Context(), 1)
		third <- err
	}()
	done()
	if err := <-third; err != nil {
		t.Errorf("behind one that was given back: %v", err)
	}
}

func TestWindowsThatThereAreNot(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	scenario := etltest.Invent(4, etltest.ScenarioSize{Steps: 50})
	trace := p.settled(p.upload("whole.etl", string(scenario.File(etltest.Format{}))))
	e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "2"}, "log.txt",
		strings.NewReader(log(1, 50)))
	if err != nil {
		t.Fatal(err)
	}
	p.settled(e.RunID)
	windows := &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, Sandbox: workertest.Runner()}
	ask := func(run int64, w capture.Window) string {
		_, err := inWindow(t, windows, p.Store, run, w)
		_, err2 := reportOn(t, windows, p.Store, run, w)
		var code, code2 *analysis.Error
		if errors.As(err, &code) != errors.As(err2, &code2) || code != nil && *code != *code2 {
			t.Errorf("the window says %v, the report on it %v", err, err2)
		}
		if code == nil {
			return fmt.Sprint(err)
		}
		return code.Code
	}
	whole := capture.Window{To: scenario.End}
	for _, test := range []struct {
		run  int64
		w    capture.Window
		want string
	}{
		{trace.ID, whole, "<nil>"},
		{trace.ID, capture.Window{From: 5, To: 4}, analysis.CodeBadWindow},
		{trace.ID, capture.Window{From: scenario.End * 2, To: scenario.End * 3}, analysis.CodeBadWindow},
		{trace.ID, capture.Window{From: -2 * scenario.End, To: -scenario.End}, analysis.CodeBadWindow},
		{e.RunID, whole, analysis.CodeNotATrace},
		{12345, whole, store.ErrNotFound.Error()},
	} {
		if got := ask(test.run, test.w); got != test.want {
			t.Errorf("window %v of run %d: %s, want %s", test.w, test.run, got, test.want)
		}
	}
	_, table, err := storetest.Now(t, p.Store).FindTraceReport(t.Context(), trace.ID)
	if err != nil || table.Key == "" || table.Bytes == 0 {
		t.Fatal(table, err)
	}
	if err := p.Blobs.Delete(t.Context(), table.Key); err != nil {
		t.Fatal(err)
	}
	if err := windows.Close(); err != nil { // it has read the table already
		t.Fatal(err)
	}
	if got := ask(trace.ID, whole); got != analysis.CodeTableMissing {
		t.Errorf("without the table: %s", got)
	}
}

// The exercise of Microsoft's documentation gives its numbers: VirtualAlloc of 126 MB in all with nothing left at the
// end, and in the middle ten seconds 10 MB that stay, four buffers of 10 MB that do not, and 319 blocks of 40 bytes.
func TestWindowsOfTheMicrosoftExercise(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	content, err := os.ReadFile(corpus.Path(t, "lab", "B", "memory.etl"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t)
	run := p.settled(p.upload("memory.etl", string(content)))
	windows := &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, Sandbox: workertest.Runner()}
	defer func() { _ = windows.Close() }()
	const mb = 1 << 20
	for w, want := range map[capture.Window][3]analysis.Amount{ // allocated and transient virtual memory, growth of heaps
		{From: 0, To: 31e9}:    {{Count: 21, Bytes: 126 * mb}, {Count: 21, Bytes: 126 * mb}, {}},
		{From: 10e9, To: 20e9}: {{Count: 5, Bytes: 50 * mb}, {Count: 4, Bytes: 40 * mb}, {Count: 319, Bytes: 319 * 40}},
	} {
		got, err := inWindow(t, windows, p.Store, run.ID, w)
		if err != nil {
			t.Fatal(err)
		}
		virtual, heap := got.Totals.Virtual, got.Totals.Heap
		if a := [3]analysis.Amount{virtual.Allocated, virtual.AIFI, *heap.Growth}; a != want {
			t.Errorf("window %v: %v, want %v", w, a, want)
		}
	}
}
