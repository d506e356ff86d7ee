package worker_test

import (
	"context"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/symbols"
	"heapdrift/worker/workertest"
)

// A hookLibrary has no files and calls a function when it is first asked for one.
type hookLibrary struct {
	once sync.Once
	call func()
}

func (l *hookLibrary) Find(context.Context, symbols.Want) (*symbols.File, []capture.Attempt, error) {
	l.once.Do(l.call)
	return nil, nil, nil
}

func (l *hookLibrary) FindByName(context.Context, []string) ([]*symbols.File, []capture.Attempt, error) {
	return nil, nil, nil
}

// The worker that goes on from the read to the report analyses the captures that it has decoded already: it needs their
// artifacts no more.
func TestAnalysisTakesWhatWasRead(t *testing.T) {
	if !workertest.ReadsInChildProcess() {
		t.Skip("readers run in this process, and nothing is kept")
	}
	library := &hookLibrary{}
	p := &pipeline{t, workertest.StartWith(t, library)}
	library.call = func() {
		in, err := storetest.Now(t, p.Store).FindAnalysisInput(t.Context(), 1)
		if err != nil || len(in.Captures) != 1 {
			t.Errorf("%+v, %v", in, err)
			return
		}
		if err := p.Blobs.Delete(t.Context(), in.Captures[0].ArtifactKey); err != nil {
			t.Error(err)
		}
	}
	run := p.settled(p.upload("a.txt", identified(1)))
	if run.AnalysedAt == nil || len(p.report(run).Sites) != 1 {
		t.Errorf("%+v", run)
	}
}
