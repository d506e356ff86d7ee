package worker

import (
	"context"
	"errors"
	"io"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// A piece is an uploaded file that is part of a trace.
type piece struct {
	ingest.Source
	id     int64
	digest string
	blob   io.Closer
}

// pieces are the files of a run that are one recording.
type pieces struct {
	worker  *Worker
	sources []piece
	ids     []int64          // of all files that are covered
	traces  []*ingest.Traces // of sources
}

func (p *pieces) close() {
	for _, t := range p.traces {
		_ = t.Close() // unpacked and read only
	}
	for _, s := range p.sources {
		_ = s.blob.Close() // read only
	}
}

// begin takes the file that the job is for.
func (p *pieces) begin(ctx context.Context, e store.Evidence) error {
	own, err := p.take(ctx, e)
	if err != nil {
		return err
	}
	p.sources, p.ids = []piece{own}, []int64{e.ID}
	return nil
}

// join takes another file where it is of the same recording. One that cannot be read is not: its own job says why.
func (p *pieces) join(ctx context.Context, e store.Evidence) error {
	for i := range p.sources {
		if p.sources[i].digest == e.SHA256 { // it was uploaded twice
			p.ids = append(p.ids, e.ID)
			return nil
		}
	}
	if len(p.traces) == 0 {
		own, err := ingest.OpenTraces(ctx, []ingest.Source{p.sources[0].Source}, nil)
		if err != nil {
			return err
		}
		p.traces = append(p.traces, own)
	}
	next, err := p.take(ctx, e)
	if err != nil {
		return unlessRefused(err)
	}
	t, relation, err := p.compare(ctx, next.Source)
	if err == nil && relation == ingest.SameRecording {
		p.sources, p.traces = append(p.sources, next), append(p.traces, t)
	} else {
		_, _ = t.Close(), next.blob.Close() // unpacked and read only
	}
	if err == nil && relation != ingest.OtherRecording {
		p.ids = append(p.ids, e.ID)
	}
	return unlessRefused(err)
}

// compare opens the traces in a source and reports how they stand to those that were joined before.
func (p *pieces) compare(ctx context.Context, src ingest.Source) (*ingest.Traces, ingest.Relation, error) {
	t, err := ingest.OpenTraces(ctx, []ingest.Source{src}, nil)
	if err != nil {
		return nil, ingest.OtherRecording, err
	}
	joined := &ingest.Traces{}
	for _, have := range p.traces {
		joined.Files = append(joined.Files, have.Files...)
	}
	relation, err := joined.Compare(ctx, t)
	return t, relation, err
}

// take opens a file of evidence so that it can be read at random, until close.
func (p *pieces) take(ctx context.Context, e store.Evidence) (piece, error) {
	r, err := p.worker.openEvidence(ctx, e)
	if err != nil {
		return piece{}, err
	}
	if r, err = local(ctx, r, p.worker.Remote); err != nil {
		return piece{}, err
	}
	return piece{sourceOf(e, r), e.ID, e.SHA256, r}, nil
}

// unlessRefused is nil for the error of a file that cannot be read, whose own job says why.
func unlessRefused(err error) error {
	var failed *queue.Error
	if evidence.IsRefusal(err) || errors.As(err, &failed) {
		return nil
	}
	return err
}
