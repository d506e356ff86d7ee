package task

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols"
)

// A piece is a file that is part of a recording.
type piece struct {
	ingest.Source
	digest  string
	content symbols.Content
}

// A recording is the files of a task that are one trace.
type recording struct {
	host    Host
	files   []File
	pieces  []piece
	covered []int                    // places of all files that are in it
	traces  []*ingest.UnpackedTraces // of pieces, where there are several
}

func (r *recording) close() {
	for _, t := range r.traces {
		_ = t.Close() // unpacked and read only
	}
	for _, p := range r.pieces {
		_ = p.content.Close() // read only
	}
}

// join takes a file where it is of the same recording as the first. Another file that cannot be read is not part of the
// recording; its own job says why.
func (r *recording) join(ctx context.Context, file int) error {
	for i := range r.pieces {
		if r.pieces[i].digest == r.files[file].SHA256 { // it was uploaded twice
			r.covered = append(r.covered, file)
			return nil
		}
	}
	first := len(r.pieces) == 0
	if len(r.pieces) == 1 && len(r.traces) == 0 {
		own, err := ingest.OpenTraces(ctx, []ingest.Source{r.pieces[0].Source}, nil)
		if err != nil {
			return err
		}
		r.traces = append(r.traces, own)
	}
	content, err := r.host.Open(ctx, file)
	next := piece{digest: r.files[file].SHA256, content: content}
	switch {
	case err != nil && first:
		return err
	case err != nil:
		return unlessRefused(err)
	}
	next.Source = source(r.files[file], content)
	if first {
		r.pieces, r.covered = []piece{next}, []int{file}
		return nil
	}
	t, relation, err := r.compare(ctx, next.Source)
	if err == nil && relation == ingest.SameRecording {
		r.pieces, r.traces = append(r.pieces, next), append(r.traces, t)
	} else {
		_, _ = t.Close(), content.Close() // unpacked and read only
	}
	if err == nil && relation != ingest.OtherRecording {
		r.covered = append(r.covered, file)
	}
	return unlessRefused(err)
}

// compare opens the traces in a source and reports how they stand to those that were joined before.
func (r *recording) compare(ctx context.Context, src ingest.Source) (*ingest.UnpackedTraces, ingest.Relation, error) {
	t, err := ingest.OpenTraces(ctx, []ingest.Source{src}, nil)
	if err != nil {
		return nil, ingest.OtherRecording, err
	}
	joined := &ingest.UnpackedTraces{}
	for _, have := range r.traces {
		joined.Files = append(joined.Files, have.Files...)
	}
	relation, err := joined.Compare(ctx, t)
	return t, relation, err
}

// read reads the files as the one trace that they are. In the order of their names, and not of arrival: the same files
// give the same captures, whichever came first.
func (r *recording) read(ctx context.Context, opt ingest.Options) (*ingest.Reading, error) {
	if len(r.pieces) == 1 {
		return ingest.Read(ctx, r.pieces[0].Source, opt)
	}
	slices.SortFunc(r.pieces, func(a, b piece) int {
		return cmp.Or(ingest.NaturalOrder(a.Name, b.Name), cmp.Compare(a.digest, b.digest))
	})
	sources := make([]ingest.Source, len(r.pieces))
	for i := range r.pieces {
		sources[i] = r.pieces[i].Source
	}
	return ingest.ReadTogether(ctx, sources, opt)
}

// unlessRefused is nil for the error of a file that cannot be read, whose own job says why.
func unlessRefused(err error) error {
	if evidence.IsRefusal(err) {
		return nil
	}
	return err
}
