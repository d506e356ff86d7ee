package task

import (
	"context"
	"io"

	"heapdrift/ingest"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/jobs"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/symsrv"
)

// A Read is the task that turns evidence into captures.
type Read struct {
	// Files are the file to read and, for a trace, other files that may be of the same recording. The Host opens each
	// by its index here.
	Files []File `json:"files"`
	// Trace says that Files are .etl files; those of one recording are read together. Else there is one file.
	Trace bool `json:"trace"`
}

// A File is a file of a task.
type File struct {
	Name   string `json:"name"`   // as the user named it
	SHA256 string `json:"sha256"` // hex digits
}

// Do reads the files, hands the captures to the Host, and returns the indexes of the files that the captures cover.
func (t Read) Do(ctx context.Context, h Host) ([]int, error) {
	var reading *ingest.Reading
	var covered []int
	var err error
	way := jobs.SnapshotStages
	if t.Trace {
		way = jobs.TraceStages
		reading, covered, err = t.trace(ctx, h)
	} else {
		reading, err = t.snapshots(ctx, h)
	}
	defer func() { _ = reading.Close() }() // temporary disk
	if err != nil {
		return nil, err
	}
	return covered, keep(ctx, h, way, reading)
}

// keep hands the captures and the allocation table of a trace over.
func keep(ctx context.Context, h Host, way jobs.StageList, r *ingest.Reading) error {
	if r.Rows != nil {
		h.Progress(way.Begin(jobs.StoringAllocations))
		err := h.StoreTable(ctx, len(r.Meta.Sites),
			func(out io.Writer) error { return allocations.Write(ctx, out, r.Rows, r.Meta) })
		if err != nil {
			return err
		}
	}
	h.Progress(way.Begin(jobs.StoringCaptures))
	for _, c := range r.Captures {
		if err := h.StoreCapture(ctx, c, c.Write); err != nil {
			return err
		}
	}
	return nil
}

func (t Read) snapshots(ctx context.Context, h Host) (*ingest.Reading, error) {
	content, err := h.Open(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // read only
	types := symbols.HeapTypes{Library: h.Library()}
	defer types.Close()
	return ingest.Read(symsrv.WithRunLimit(ctx), source(t.Files[0], content),
		ingest.Options{Progress: portion(h, jobs.SnapshotStages, jobs.Reading), Types: ingest.TypesFrom(types.Find)})
}

func source(f File, content symbols.Content) ingest.Source {
	return ingest.Source{Name: f.Name, ReaderAt: content, Size: content.Size()}
}

// portion maps bytes that are done to a part of the task's percents.
func portion(h Host, way jobs.StageList, stage string) func(done, total int64) {
	return func(done, total int64) { h.Progress(way.At(stage, done, total)) }
}

// trace reads a trace together with those other files that are of the same recording, as the sessions of kernel and
// heap write them before a merge.
func (t Read) trace(ctx context.Context, h Host) (*ingest.Reading, []int, error) {
	h.Progress(jobs.TraceStages.Begin(jobs.OpeningTrace))
	r := &recording{host: h, files: t.Files}
	defer r.close()
	for i := range t.Files {
		if err := r.join(ctx, i); err != nil {
			return nil, nil, err
		}
	}
	reading, err := r.read(ctx, ingest.Options{Progress: portion(h, jobs.TraceStages, jobs.ReadingTrace)})
	return reading, r.covered, err
}
