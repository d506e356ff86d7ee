package task

import (
	"context"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/jobs"
	"heapdrift/internal/symbols"
)

// A Name is the task that names the frames in the captures of a run.
type Name struct {
	// Captures is how many captures there are: the Host opens the artifact of each by its index.
	Captures int `json:"captures"`
}

// Do names the frames and hands the names to the Host.
func (t Name) Do(ctx context.Context, h Host) error {
	captures := make([]*capture.Capture, t.Captures)
	for i := range captures {
		h.Progress(jobs.NameStages.At(jobs.LoadingCaptures, int64(i), int64(len(captures))))
		var err error
		if captures[i], err = openCapture(ctx, h, i); err != nil {
			return err
		}
	}
	h.Progress(jobs.NameStages.Begin(jobs.NamingFrames))
	resolver := symbols.Resolver{Library: h.Library(), Indexes: h.Indexes()}
	names, err := resolver.Resolve(ctx, captures, func(done, modules int) {
		h.Progress(jobs.NameStages.At(jobs.NamingFrames, int64(done), int64(modules)))
	})
	if err != nil {
		return err
	}
	h.Progress(jobs.NameStages.Begin(jobs.StoringNames))
	return h.StoreNames(ctx, func(out io.Writer) error { return names.Write(out) })
}

func openCapture(ctx context.Context, h Host, file int) (*capture.Capture, error) {
	content, err := h.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // read only
	c, err := capture.Read(io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		return nil, fmt.Errorf("task: capture %d: %w", file, err)
	}
	return c, nil
}
