package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/jobs"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
	"heapdrift/internal/tempfile"
)

// A loopback is a parent that answers in this process what a task asks, by JSON as the real one does.
type loopback struct {
	answers map[string]sandbox.Answer
	asked   map[string]bool
}

func (l *loopback) Ask(ctx context.Context, q sandbox.Question) (*os.File, error) {
	answer := l.answers[q.Name]
	if answer == nil {
		return nil, fmt.Errorf("nobody answers %q", q.Name)
	}
	l.asked[q.Name] = true
	input, err := json.Marshal(q.Input)
	if err != nil {
		return nil, err
	}
	output, give, err := answer(ctx, input, q.File)
	if err != nil {
		return nil, err
	}
	if q.Output != nil {
		text, err := json.Marshal(output)
		if err := errors.Join(err, json.Unmarshal(text, q.Output)); err != nil {
			return nil, err
		}
	}
	if give == nil {
		return nil, nil
	}
	return give.File, nil
}

func (l *loopback) Progress(int, string) {}

// A fileHost has three files, a library of one PDB, and keeps what it is given.
type fileHost struct {
	dir  string
	kept map[string]string
}

func (h fileHost) Open(_ context.Context, file int) (symbols.Content, error) {
	return h.file(fmt.Sprintf("file %d", file))
}

func (h fileHost) file(content string) (symbols.Content, error) {
	f, err := os.CreateTemp(h.dir, "")
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(content); err != nil {
		return nil, err
	}
	return sandbox.Opened(f)
}

func (h fileHost) Library() symbols.Library    { return h }
func (h fileHost) Indexes() symbols.IndexCache { return hostIndexes{h} }

func (h fileHost) Find(_ context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	return &symbols.File{Place: "team", Open: func(context.Context) (symbols.Content, error) { return h.file(want.Name) }},
		[]capture.Attempt{{Place: "team"}}, nil
}

func (h fileHost) FindByName(ctx context.Context, names []string) ([]*symbols.File, []capture.Attempt, error) {
	f, tried, err := h.Find(ctx, symbols.Want{Name: names[0]})
	return []*symbols.File{f}, tried, err
}

func (h fileHost) keep(name string, write func(io.Writer) error) error {
	var content bytes.Buffer
	err := write(&content)
	h.kept[name] = content.String()
	return err
}

func (h fileHost) StoreCapture(_ context.Context, c *capture.Capture, _ func(io.Writer) error) error {
	h.kept["capture"] = c.Process.Name
	return nil
}

func (h fileHost) StoreTable(_ context.Context, sites int, write func(io.Writer) error) error {
	return h.keep(fmt.Sprintf("table of %d", sites), write)
}

func (h fileHost) StoreNames(_ context.Context, write func(io.Writer) error) error {
	return h.keep("names", write)
}

func (h fileHost) StoreReport(_ context.Context, r *analysis.Report, write func(io.Writer) error) error {
	h.kept["report"] = fmt.Sprintf("%s, %d held", r.Process.Name, r.Findings[0].MostHeld)
	return h.keep("report as written", write)
}
func (h fileHost) Progress(int, string) {}

// hostIndexes has one index.
type hostIndexes struct{ host fileHost }

func (i hostIndexes) Open(_ context.Context, key string) (symbols.Content, error) {
	if key != "known" {
		return nil, nil
	}
	return i.host.file("index")
}

func (i hostIndexes) Put(_ context.Context, key string, write func(io.Writer) error) error {
	return i.host.keep("index "+key, write)
}

// child is a task's side of the table, and its parent.
func child(t *testing.T, task string) (*remote, *loopback, fileHost) {
	t.Helper()
	h := fileHost{t.TempDir(), map[string]string{}}
	l := &loopback{answers(task, h), map[string]bool{}}
	return &remote{parent: l}, l, h
}

func text(t *testing.T, content symbols.Content, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func hand(content string) func(io.Writer) error {
	return func(out io.Writer) error {
		_, err := io.WriteString(out, content)
		return err
	}
}

// Each task gets an answer to every question that it may ask, through the parent as without one.
func TestQuestions(t *testing.T) {
	ctx := t.Context()
	reader, asked, h := child(t, taskRead)
	content, err := reader.Open(ctx, 2)
	if got := text(t, content, err); got != "file 2" {
		t.Errorf("open: %q", got)
	}
	found, tried, err := reader.Find(ctx, symbols.Want{Name: "a.pdb"})
	if err != nil || found.Place != "team" || len(tried) != 1 {
		t.Fatalf("find: %+v, %+v, %v", found, tried, err)
	}
	content, err = found.Open(ctx)
	if got := text(t, content, err); got != "a.pdb" {
		t.Errorf("symbols: %q", got)
	}
	c := &capture.Capture{Process: capture.Process{Name: "app.exe"}, Snapshots: make([]capture.Snapshot, 1)}
	if err := errors.Join(reader.StoreCapture(ctx, c, c.Write), reader.StoreTable(ctx, 7, hand("rows"))); err != nil {
		t.Fatal(err)
	}
	if h.kept["capture"] != "app.exe" || h.kept["table of 7"] != "rows" {
		t.Errorf("kept %q", h.kept)
	}
	all := maps.Clone(asked.asked)

	namer, asked, h := child(t, taskName)
	files, _, err := namer.FindByName(ctx, []string{"b.pdb"})
	if err != nil || len(files) != 1 {
		t.Fatalf("named: %+v, %v", files, err)
	}
	content, err = files[0].Open(ctx)
	if got := text(t, content, err); got != "b.pdb" {
		t.Errorf("symbols: %q", got)
	}
	content, err = namer.Indexes().Open(ctx, "known")
	if got := text(t, content, err); got != "index" {
		t.Errorf("index: %q", got)
	}
	if content, err := namer.Indexes().Open(ctx, "other"); content != nil || err != nil {
		t.Errorf("an index that is not there: %v, %v", content, err)
	}
	if err := errors.Join(namer.Indexes().Put(ctx, "k", hand("x")), namer.StoreNames(ctx, hand("n"))); err != nil {
		t.Fatal(err)
	}
	if h.kept["index k"] != "x" || h.kept["names"] != "n" {
		t.Errorf("kept %q", h.kept)
	}
	maps.Copy(all, asked.asked)

	reporter, asked, h := child(t, taskReport)
	content, err = reporter.Open(ctx, 1)
	if got := text(t, content, err); got != "file 1" {
		t.Errorf("open: %q", got)
	}
	r := &analysis.Report{Process: analysis.Process{Name: "app.exe"}, Findings: []analysis.Finding{{MostHeld: 7}}}
	if err := reporter.StoreReport(ctx, r, func(out io.Writer) error { return compress(out, r) }); err != nil {
		t.Fatal(err)
	}
	if h.kept["report"] != "app.exe, 7 held" || h.kept["report as written"] == "" {
		t.Errorf("kept %q", h.kept)
	}
	maps.Copy(all, asked.asked)
	if want := slices.Sorted(maps.Keys(rows)); !slices.Equal(slices.Sorted(maps.Keys(all)), want) {
		t.Errorf("asked %v of %v", slices.Sorted(maps.Keys(all)), want)
	}
}

// A process that reads evidence does not reach the indexes that all runs share, one that names frames writes no
// captures, and one that makes a report finds no symbols and stores nothing else.
func TestQuestionsByTask(t *testing.T) {
	reader, _, _ := child(t, taskRead)
	namer, _, _ := child(t, taskName)
	ctx := t.Context()
	reporter, _, _ := child(t, taskReport)
	_, indexErr := reader.Indexes().Open(ctx, "known")
	_, _, findErr := reporter.Find(ctx, symbols.Want{Name: "a.pdb"})
	_, symbolsErr := askSymbols.ask(ctx, reporter.parent, 0)
	_, _, namedErr := reader.FindByName(ctx, []string{"a.pdb"})
	for name, err := range map[string]error{
		"index of a reader":     indexErr,
		"put index of a reader": reader.Indexes().Put(ctx, "k", hand("x")),
		"named of a reader":     namedErr,
		"names of a reader":     reader.StoreNames(ctx, hand("x")),
		"capture of a namer":    namer.StoreCapture(ctx, nil, hand("x")),
		"table of a namer":      namer.StoreTable(ctx, 1, hand("x")),
		"report of a reader":    reader.StoreReport(ctx, &analysis.Report{}, hand("x")),
		"report of a namer":     namer.StoreReport(ctx, &analysis.Report{}, hand("x")),
		"find of a reporter":    findErr,
		"symbols of a reporter": symbolsErr,
		"capture of a reporter": reporter.StoreCapture(ctx, nil, hand("x")),
		"table of a reporter":   reporter.StoreTable(ctx, 1, hand("x")),
		"names of a reporter":   reporter.StoreNames(ctx, hand("x")),
	} {
		if err == nil || !strings.Contains(err.Error(), "nobody answers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Both sides refuse what is not as the row says.
func TestQuestionsChecked(t *testing.T) {
	h := fileHost{t.TempDir(), map[string]string{}}
	f, err := tempfile.New("heapdrift-task-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	read, name, report := answers(taskRead, h), answers(taskName, h), answers(taskReport, h)
	for _, test := range []struct {
		answer sandbox.Answer
		input  string
		file   *os.File
	}{
		{read["open"], `"a"`, nil},
		{read["open"], ``, nil},
		{read["open"], `1`, f},
		{read["find"], `{"Name": "a", "More": 1}`, nil},
		{read["symbols"], `0`, nil}, // nothing was found yet
		{read["table"], `3`, nil},
		{read["table"], `{}`, f},
		{read["capture"], `{}`, nil},
		{read["capture"], `{}`, f}, // no capture
		{name["put index"], `1`, f},
		{report["report"], `{"findings": [], "stack_keys": ""}`, f}, // no report
		{report["report"], `{"more": 1}`, f},
		{report["report"], `{}`, nil},
	} {
		if _, _, err := test.answer(t.Context(), json.RawMessage(test.input), test.file); err == nil {
			t.Errorf("%q with a file %t was answered", test.input, test.file != nil)
		}
	}
	none := func(context.Context, json.RawMessage, *os.File) (any, *sandbox.File, error) { return nil, nil, nil }
	gives := func(context.Context, json.RawMessage, *os.File) (any, *sandbox.File, error) {
		more, err := tempfile.New("heapdrift-task-")
		return nil, &sandbox.File{File: more}, err
	}
	wrong := map[string]sandbox.Answer{"open": none, "find": gives, "names": gives}
	r := &remote{parent: &loopback{wrong, map[string]bool{}}}
	if _, err := r.Open(t.Context(), 0); err == nil {
		t.Error("an answer without its file was taken")
	}
	if _, _, err := r.Find(t.Context(), symbols.Want{}); err == nil {
		t.Error("an answer with a file too many was taken")
	}
	if err := r.StoreNames(t.Context(), hand("")); err == nil {
		t.Error("an answer with a file too many was taken")
	}
}

// Users see of a child's progress only stages that its job has, and percents that there are.
func TestProgressChecked(t *testing.T) {
	h := &progressHost{}
	heard := progress(jobs.KindRead, h)
	heard(40, jobs.Reading)
	heard(50, "buy my product")
	heard(50, jobs.NamingFrames) // of another kind of job
	heard(700, jobs.StoringCaptures)
	heard(-1, jobs.OpeningTrace)
	want := []string{"40 reading", "100 storing captures", "0 opening the trace"}
	if !slices.Equal(h.heard, want) {
		t.Errorf("%q, want %q", h.heard, want)
	}
}

// A child tells its parent a percent or a stage that is new, and nothing twice.
func TestProgressThatIsNew(t *testing.T) {
	h := &progressParent{}
	r := &remote{parent: h}
	for _, p := range []struct {
		percent int
		stage   string
	}{{0, ""}, {1, "a"}, {1, "a"}, {2, "a"}, {2, "b"}, {2, "b"}, {1, "b"}, {0, ""}} {
		r.Progress(p.percent, p.stage)
	}
	if want := []string{"1 a", "2 a", "2 b", "1 b", "0 "}; !slices.Equal(h.heard, want) {
		t.Errorf("%q, want %q", h.heard, want)
	}
}

type progressParent struct{ progressHost }

func (*progressParent) Ask(context.Context, sandbox.Question) (*os.File, error) { return nil, nil }

// A progressHost hears progress.
type progressHost struct {
	Host
	heard []string
}

func (h *progressHost) Progress(percent int, stage string) {
	h.heard = append(h.heard, fmt.Sprintf("%d %s", percent, stage))
}
