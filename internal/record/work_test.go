package record_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record"
)

// workOf is the work of each snapshot.
func workOf(rec *record.Recording) (work []float64) {
	for _, shot := range rec.Snapshots {
		if shot.Work != nil {
			work = append(work, *shot.Work)
		}
	}
	return work
}

// A mark is answered after its snapshot, so that the program stands still meanwhile.
func TestMarks(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		go func() {
			<-time.After(time.Second)
			for i, work := range []float64{100, 250, 0} {
				amount := &work
				if i == 2 {
					amount = nil // one more
				}
				s, err := record.Mark(t.Context(), f.folder(), amount)
				if err != nil || len(s.Snapshots) != i+1 {
					t.Errorf("mark %d: %+v, %v", i, s, err)
				}
			}
		}()
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 3, PerWork: true, Unit: "document"})
		if got := fmt.Sprint(workOf(rec)); err != nil || got != "[100 250 251]" || rec.WorkUnit != "document" {
			t.Errorf("work %s, %v", got, err)
		}
		<-time.After(time.Minute) // the last mark reads the sidecar of an ended recording
	})
	if _, err := record.Mark(t.Context(), f.folder(), nil); err == nil || !strings.Contains(err.Error(), "it is ended") {
		t.Errorf("a mark after the end: %v", err)
	}
}

// Each Enter is one more.
func TestEnter(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		r := f.recorder(record.Options{Target: app(), Snapshots: 3, PerWork: true})
		in, out := io.Pipe()
		r.In = in
		go func() {
			_, _ = io.WriteString(out, "\nany text\r\n\n")
			_ = out.Close()
		}()
		plan, err := r.Plan()
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Run(t.Context(), plan)
		if got := fmt.Sprint(workOf(rec)); err != nil || got != "[1 2 3]" || rec.Marks != 0 {
			t.Errorf("work %s, %v", got, err)
		}
	})
}

// An event that is set is one more, beside marks; a recording that cannot open it changes nothing.
func TestEvent(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		event := make(chan struct{}, 2)
		f.system.Events = map[string]chan struct{}{`Global\done`: event}
		go func() {
			event <- struct{}{}
			<-time.After(time.Second)
			work := 40.0
			if _, err := record.Mark(t.Context(), f.folder(), &work); err != nil {
				t.Error(err)
			}
			event <- struct{}{}
			close(event)
			<-time.After(time.Second)
			if _, err := record.Mark(t.Context(), f.folder(), nil); err != nil { // goes on without the event
				t.Error(err)
			}
		}()
		rec, err := f.record(ctx, record.Options{Target: app(), Snapshots: 4, PerWork: true, Event: `Global\done`})
		if got := fmt.Sprint(workOf(rec)); err != nil || got != "[1 40 41 42]" || rec.Marks != 2 {
			t.Errorf("work %s, %v", got, err)
		}
		<-time.After(time.Minute)
	})
	f = newFake(t)
	rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 1, PerWork: true, Event: "other"})
	if err == nil || !strings.Contains(err.Error(), "access is denied") || rec.State != record.StateFailed {
		t.Errorf("an event that cannot be opened: %v", err)
	}
	f.expect(t)
	f.untouched(t)
}

// Marks go to the recording that takes them.
func TestMarkRefused(t *testing.T) {
	t.Setenv(record.DirVariable, "")
	t.Setenv("TMPDIR", t.TempDir())
	if _, err := record.FindRecording(); err == nil || !strings.Contains(err.Error(), "no recording takes marks") {
		t.Errorf("no recording: %v", err)
	}
	if _, err := record.Mark(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no recording in") {
		t.Errorf("no recording: %v", err)
	}
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		go func() {
			<-time.After(time.Second)
			if _, err := record.Mark(t.Context(), f.folder(), nil); err == nil || !strings.Contains(err.Error(), "--per-work") {
				t.Errorf("a recording by time: %v", err)
			}
		}()
		if _, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 1}); err != nil {
			t.Error(err)
		}
	})
	for _, line := range []string{"-1", "x", "1e999", "NaN", "1 2"} {
		if n, err := record.ParseMark(line); err == nil {
			t.Errorf("ParseMark(%q) = %v", line, n)
		}
	}
}

// A recording by counter takes a snapshot at each step, wherever the counter is.
func TestCounter(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"requests": %d}`, 5*asked.Add(1))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "log.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, counter := range map[string]string{"url": server.URL, "log": "lines:" + file} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { // five lines at a time
				for ctx.Err() == nil {
					log, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
					if err != nil {
						return // the folder is gone with the test
					}
					_, _ = log.WriteString("1\n2\n3\n4\n5\n")
					_ = log.Close()
					<-time.After(20 * time.Millisecond)
				}
			}()
			rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 2, Counter: counter, Step: 10})
			work := workOf(rec)
			if err != nil || len(work) != 2 || work[0] < 10 || work[1] < work[0]+10 {
				t.Errorf("work %v, %v", work, err)
			}
		})
	}
}

func TestParseCounter(t *testing.T) {
	for text, want := range map[string]float64{"12": 12, "documents: 7.5 of 9": 7.5, "\xff\xfe1": 1} {
		if n, err := record.ParseCounter([]byte(text)); err != nil || n != want {
			t.Errorf("ParseCounter(%q) = %g, %v", text, n, err)
		}
	}
	if _, err := record.ParseCounter([]byte("none")); err == nil {
		t.Error("a text without a number is accepted")
	}
}

func FuzzParseCounter(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		if n, err := record.ParseCounter(text); err == nil && n < 0 {
			t.Errorf("%q: %g", text, n)
		}
	})
}

func FuzzParseSidecar(f *testing.F) {
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = record.ParseSidecar(text) // any error, no panic
	})
}
