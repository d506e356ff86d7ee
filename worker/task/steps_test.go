package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/jobs"
	"heapdrift/internal/symbols"
)

// A toldHost notes what a task tells and hands over, in order, and has no symbols.
type toldHost struct {
	*storedHost
	events    []string // stages, once each, and what is handed over
	percents  []int
	artifacts [][]byte
	table     []byte
	refuse    string // the event that fails
}

func (h *toldHost) Library() symbols.Library    { return h }
func (h *toldHost) Indexes() symbols.IndexCache { return nil }

func (h *toldHost) Find(context.Context, symbols.Want) (*symbols.File, []capture.Attempt, error) {
	return nil, []capture.Attempt{{Place: "nowhere"}}, nil
}

func (h *toldHost) FindByName(context.Context, []string) ([]*symbols.File, []capture.Attempt, error) {
	return nil, nil, nil
}

func (h *toldHost) event(what string) error {
	h.events = append(h.events, what)
	if what == h.refuse {
		return errStorage
	}
	return nil
}

func (h *toldHost) Progress(percent int, stage string) {
	h.percents = append(h.percents, percent)
	if n := len(h.events); n == 0 || h.events[n-1] != stage {
		h.events = append(h.events, stage)
	}
}

func (h *toldHost) write(what string, to *[]byte, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	*to = b.Bytes()
	return errors.Join(err, h.event(what))
}

func (h *toldHost) StoreCapture(_ context.Context, _ *capture.Capture, write func(io.Writer) error) error {
	h.artifacts = append(h.artifacts, nil)
	return h.write("capture", &h.artifacts[len(h.artifacts)-1], write)
}

func (h *toldHost) StoreTable(_ context.Context, sites int, write func(io.Writer) error) error {
	if sites == 0 {
		return errors.New("a table without sites")
	}
	return h.write("table", &h.table, write)
}

func (h *toldHost) StoreNames(_ context.Context, write func(io.Writer) error) error {
	var names []byte
	return h.write("names", &names, write)
}

// raw is a raw log with one block.
const raw = `// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:00 - Machine=LAB - PID=42
// Loaded modules:
//     Base Size Module
//                  400000    10000 C:\app.exe
// Process modules enumerated.
*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -
*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -
20 bytes + 10 at 3F0880 by BackTraceA1
	401000
	402000

*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -
`

// A task goes through its stages in order, tells each, and hands the table of a trace over before its captures. Every
// file that it opened is closed, and the first thing that cannot be stored ends it.
func TestStepsOfTasks(t *testing.T) {
	newHost := func(names ...string) (*toldHost, []File) {
		h := &toldHost{storedHost: newStoredHost(t)}
		h.files["raw.txt"] = []byte(raw)
		h.names = names
		var files []File
		for _, name := range names {
			files = append(files, File{Name: name})
		}
		return h, files
	}
	trace, files := newHost("kernel.etl", "heap.etl")
	covered, err := RunRead(t.Context(), nil, Read{Files: files, Trace: true}, trace)
	if err != nil || !slices.Equal(covered, []int{0, 1}) {
		t.Fatal(covered, err)
	}
	captures := slices.Repeat([]string{"capture"}, len(trace.artifacts))
	check(t, trace, slices.Concat([]string{jobs.OpeningTrace, jobs.ReadingTrace, jobs.StoringAllocations, "table", jobs.StoringCaptures}, captures))
	if table, err := allocations.Open(bytes.NewReader(trace.table), int64(len(trace.table))); err != nil || table.Len() == 0 {
		t.Errorf("the table: %v", err)
	}

	snapshot, files := newHost("raw.txt")
	if covered, err = RunRead(t.Context(), nil, Read{Files: files}, snapshot); err != nil || len(covered) != 0 {
		t.Fatal(covered, err)
	}
	check(t, snapshot, []string{jobs.Reading, jobs.StoringCaptures, "capture"})

	naming, _ := newHost("raw.cap")
	naming.files["raw.cap"] = snapshot.artifacts[0]
	if err := RunName(t.Context(), nil, Name{Captures: 1}, naming); err != nil {
		t.Fatal(err)
	}
	check(t, naming, []string{jobs.LoadingCaptures, jobs.NamingFrames, jobs.StoringNames, "names"})
	for _, bad := range [][]byte{nil, []byte("no capture")} {
		naming.files["raw.cap"] = bad
		if err := RunName(t.Context(), nil, Name{Captures: 1}, naming); err == nil || bad == nil != errors.Is(err, errStorage) {
			t.Errorf("%q: %v", bad, err)
		}
	}

	for _, refuse := range []string{"table", "capture"} {
		h, files := newHost("kernel.etl", "heap.etl")
		h.refuse = refuse
		if _, err := RunRead(t.Context(), nil, Read{Files: files, Trace: true}, h); !errors.Is(err, errStorage) || h.open != 0 {
			t.Errorf("%s: %v, %d files are open", refuse, err, h.open)
		}
		if h.events[len(h.events)-1] != refuse {
			t.Errorf("%s: it goes on: %q", refuse, h.events)
		}
	}
	missing, files := newHost("gone.etl")
	for _, trace := range []bool{false, true} {
		if _, err := RunRead(t.Context(), nil, Read{Files: files, Trace: trace}, missing); !errors.Is(err, errStorage) {
			t.Errorf("%v", err)
		}
	}
}

func check(t *testing.T, h *toldHost, want []string) {
	t.Helper()
	if !slices.Equal(h.events, want) {
		t.Errorf("it goes %s\nwant %s", strings.Join(h.events, ", "), strings.Join(want, ", "))
	}
	if !slices.IsSorted(h.percents) || h.percents[0] < 0 || h.percents[len(h.percents)-1] > 100 {
		t.Errorf("the percents go %v", h.percents)
	}
	if h.open != 0 {
		t.Errorf("%d files are open", h.open)
	}
}

// A file that a search has found is opened by its number, and by no other.
func TestFoundFiles(t *testing.T) {
	d := &desk{}
	file := func(name string) *symbols.File {
		return &symbols.File{Place: name, Group: "g", Build: "7", Own: true,
			Open: func(context.Context) (symbols.Content, error) { return nil, fmt.Errorf("opened %s", name) }}
	}
	tried := []capture.Attempt{{Place: "team"}}
	first, second := d.found([]*symbols.File{file("a")}, tried), d.found([]*symbols.File{file("b"), file("c")}, nil)
	if len(first.Tried) != 1 || len(second.Tried) != 0 || len(first.Files) != 1 || len(second.Files) != 2 {
		t.Fatal(first, second)
	}
	for i, f := range slices.Concat(first.Files, second.Files) {
		_, err := d.open(t.Context(), f.Number)
		if want := "opened " + string(rune('a'+i)); err == nil || err.Error() != want || f.Group != "g" || f.Build != "7" || !f.Own ||
			f.Place != string(rune('a'+i)) {
			t.Errorf("%+v: %v, want %s", f, err, want)
		}
	}
	for _, number := range []int{-1, 3} {
		if _, err := d.open(t.Context(), number); err == nil || strings.HasPrefix(err.Error(), "opened") {
			t.Errorf("%d: %v", number, err)
		}
	}
}

// A keptCaptureHost keeps the capture that it was given last.
type keptCaptureHost struct {
	Host
	got *capture.Capture
}

func (h *keptCaptureHost) StoreCapture(_ context.Context, c *capture.Capture, write func(io.Writer) error) error {
	h.got = c
	return write(io.Discard)
}

// Without a child process, a host gets what its stored artifact holds too: later stages read nothing else.
func TestCaptureIsDecodedInThisProcess(t *testing.T) {
	to, c := &keptCaptureHost{}, &capture.Capture{Kind: "umdh", Snapshots: make([]capture.Snapshot, 1)}
	if err := Host(decodingHost{to}).StoreCapture(t.Context(), nil, c.Write); err != nil || to.got == nil || to.got.Kind != "umdh" {
		t.Errorf("%+v, %v", to.got, err)
	}
}
