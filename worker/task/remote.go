package task

import (
	"context"
	"io"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/symbols"
)

// A remote is the Host of a task in a process of its own: it asks the parent.
type remote struct {
	parent parent

	mu      sync.Mutex
	percent int
	stage   string
}

// Open implements Host.
func (r *remote) Open(ctx context.Context, file int) (symbols.Content, error) {
	return askOpen.ask(ctx, r.parent, file)
}

// Library implements Host.
func (r *remote) Library() symbols.Library { return r }

// Indexes implements Host.
func (r *remote) Indexes() symbols.IndexCache { return remoteIndexes{r} }

// files are the symbol files of an answer.
func (r *remote) files(answer findings) []*symbols.File {
	files := make([]*symbols.File, len(answer.Files))
	for i, f := range answer.Files {
		files[i] = &symbols.File{Identity: f.Identity, Place: f.Place, Own: f.Own, Group: f.Group, Build: f.Build,
			Open: func(ctx context.Context) (symbols.Content, error) {
				return askSymbols.ask(ctx, r.parent, f.Number)
			}}
	}
	return files
}

// Find implements symbols.Library.
func (r *remote) Find(ctx context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	answer, err := askFind.ask(ctx, r.parent, want)
	if err != nil || len(answer.Files) == 0 {
		return nil, answer.Tried, err
	}
	return r.files(answer)[0], answer.Tried, nil
}

// FindByName implements symbols.Library.
func (r *remote) FindByName(ctx context.Context, names []string) ([]*symbols.File, []capture.Attempt, error) {
	answer, err := askNamed.ask(ctx, r.parent, names)
	if err != nil {
		return nil, nil, err
	}
	return r.files(answer), answer.Tried, nil
}

// StoreCapture implements Host.
func (r *remote) StoreCapture(ctx context.Context, _ *capture.Capture, write func(io.Writer) error) error {
	return askCapture.hand(ctx, r.parent, none{}, write)
}

// StoreTable implements Host.
func (r *remote) StoreTable(ctx context.Context, sites int, write func(io.Writer) error) error {
	return askTable.hand(ctx, r.parent, sites, write)
}

// StoreNames implements Host.
func (r *remote) StoreNames(ctx context.Context, write func(io.Writer) error) error {
	return askNames.hand(ctx, r.parent, none{}, write)
}

// Report implements Host.
func (r *remote) StoreReport(ctx context.Context, made *analysis.Report, write func(io.Writer) error) error {
	return askReport.hand(ctx, r.parent, *made.Unwritten(), write)
}

// Progress implements Host; only what is new is sent.
func (r *remote) Progress(percent int, stage string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if percent != r.percent || stage != r.stage {
		r.percent, r.stage = percent, stage
		r.parent.Progress(percent, stage)
	}
}

// remoteIndexes are the indexes that the parent keeps.
type remoteIndexes struct{ *remote }

// Open implements symbols.IndexCache.
func (r remoteIndexes) Open(ctx context.Context, key string) (symbols.Content, error) {
	return askIndex.ask(ctx, r.parent, key)
}

// Put implements symbols.IndexCache.
func (r remoteIndexes) Put(ctx context.Context, key string, write func(io.Writer) error) error {
	return askPutIndex.hand(ctx, r.parent, key, write)
}
