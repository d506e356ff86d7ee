package task

import (
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
)

// none is the request of a question that needs no data beside its name.
type none = struct{}

// The tasks that may ask a question. Indexes of PDBs serve the runs of all projects, so a process that reads evidence
// neither reads nor writes them. A process that makes a report gets only what belongs to its run, and no symbols.
var (
	all       = []string{taskRead, taskName, taskReport}
	both      = []string{taskRead, taskName}
	reading   = []string{taskRead}
	naming    = []string{taskName}
	reporting = []string{taskReport}
)

// The questions of a child process to its parent. A row has the name, the tasks that may ask, and the answer of the
// parent. The type of a row has the types of the request and of the answer. The child asks through the same row.
var (
	askOpen = opens("open", all, required,
		func(ctx context.Context, d *desk, file int) (symbols.Content, error) { return d.host.Open(ctx, file) })
	askFind = tells("find", both,
		func(ctx context.Context, d *desk, want symbols.Want) (findings, error) { return d.find(ctx, want) })
	askNamed = tells("named", naming,
		func(ctx context.Context, d *desk, names []string) (findings, error) { return d.named(ctx, names) })
	askSymbols = opens("symbols", both, required,
		func(ctx context.Context, d *desk, number int) (symbols.Content, error) { return d.open(ctx, number) })
	askIndex = opens("index", naming, optional,
		func(ctx context.Context, d *desk, key string) (symbols.Content, error) { return d.index(ctx, key) })
	askPutIndex = takes("put index", naming,
		func(ctx context.Context, d *desk, key string, a artifact) error { return d.putIndex(ctx, key, a) })
	askCapture = takes("capture", reading,
		func(ctx context.Context, d *desk, _ none, a artifact) error {
			c, err := capture.Read(a.reader())
			if err != nil {
				return fmt.Errorf("task: capture: %w", err)
			}
			return d.host.StoreCapture(ctx, c, a.write)
		})
	askTable = takes("table", reading,
		func(ctx context.Context, d *desk, sites int, a artifact) error {
			return d.host.StoreTable(ctx, sites, a.write)
		})
	askNames = takes("names", naming,
		func(ctx context.Context, d *desk, _ none, a artifact) error { return d.host.StoreNames(ctx, a.write) })
	askReport = takes("report", reporting,
		func(ctx context.Context, d *desk, rest analysis.Unwritten, a artifact) error {
			r, err := uncompress(ctx, a.reader(), &rest)
			if err != nil {
				return err
			}
			return d.host.StoreReport(ctx, r, a.write)
		})
)

// rows are the questions by their names, as the parent looks them up.
var rows = map[string]row{}

// A row is the parent's side of a question.
type row struct {
	tasks  []string
	answer func(*desk) sandbox.Answer
}

// answers are the answers to those questions that a task may ask, out of a Host.
func answers(task string, h Host) map[string]sandbox.Answer {
	d := &desk{host: h}
	list := map[string]sandbox.Answer{}
	for name, r := range rows {
		if slices.Contains(r.tasks, task) {
			list[name] = r.answer(d)
		}
	}
	return list
}
