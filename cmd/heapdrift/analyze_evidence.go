package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/memory"
)

// formatParquet is the format that is not the report but the allocation table of the trace.
const formatParquet = "parquet"

// evidenceFiles are what was read from the files given.
type evidenceFiles struct {
	inputs   []analysis.Input
	readings []*ingest.Reading // by input
	given    [][]*evidenceFile // by input: the files that it was read from
	files    []*evidenceFile
}

// readEvidence reads the files in the order given; those that are traces are one trace. What it returns must be closed,
// beside an error too. The order of a shell is nobody's choice (ingest.InOrder).
func readEvidence(ctx context.Context, paths []string, opt ingest.Options, s streams) (e *evidenceFiles, err error) {
	e = &evidenceFiles{}
	paths = ingest.InOrder(paths)
	s.budget.LargePages(roomFor(paths))
	if err := e.readAll(ctx, paths, opt, s); err != nil {
		return e, err
	}
	return e, e.finish()
}

// largeEvidence is from how many bytes on it pays to ask for large pages, and room how many bytes of memory a byte of
// evidence takes at most as a rule.
const largeEvidence, room = 16 << 20, 4

// roomFor is the order of magnitude of the memory that the evidence takes; 0 where that is little. A missing file is
// reported where it is opened.
func roomFor(paths []string) memory.Size {
	total := int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	if total < largeEvidence {
		return 0
	}
	return memory.Size(min(total, math.MaxInt64/room) * room)
}

// filesAtOnce is how many files of a series are read at once: the next file need not wait for the work that follows the
// last byte of the previous one.
const filesAtOnce = 2

// readAll reads the files; their digests may not be there yet.
func (e *evidenceFiles) readAll(ctx context.Context, paths []string, opt ingest.Options, s streams) error {
	var traces []*evidenceFile
	var alone []*evidenceFile // each of which is an input
	for _, path := range paths {
		f, err := openEvidence(ctx, path, s.in)
		if err != nil {
			return err
		}
		e.files = append(e.files, f)
		if len(paths) > 1 {
			if kind, err := ingest.Inspect(ctx, f.source()); err == nil && ingest.Formats().Of(kind).Together {
				traces = append(traces, f)
				continue
			}
		}
		alone = append(alone, f)
	}
	if err := e.readAlone(ctx, alone, opt, s); err != nil {
		return err
	}
	if len(traces) == 0 {
		return nil
	}
	sources := make([]ingest.Source, len(traces))
	for i, f := range traces {
		sources[i] = f.source()
	}
	bar := newProgressBar(s.err, traces[0].Name)
	defer bar.clear()
	r, err := ingest.ReadTogether(ctx, sources, ingest.Options{Progress: bar.set})
	e.add(r, traces)
	return err
}

// readAlone reads files of which each is an input, in their order. It returns the error of the first that cannot be
// read.
func (e *evidenceFiles) readAlone(ctx context.Context, files []*evidenceFile, opt ingest.Options, s streams) error {
	bar := newSharedBar(s.err, files)
	defer bar.clear()
	readings, errs := make([]*ingest.Reading, len(files)), make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(filesAtOnce)
	var failed atomic.Bool
	for i, f := range files {
		if failed.Load() { // nobody asks for what comes behind it
			break
		}
		group.Go(func() error {
			opt := opt
			opt.Progress = bar.part()
			readings[i], errs[i] = ingest.Read(ctx, f.source(), opt)
			if errs[i] != nil {
				failed.Store(true)
			}
			f.wait() // before another file is begun, whose digest is computed beside as well
			return nil
		})
	}
	_ = group.Wait() // the errors are in their order
	var first error
	for i, r := range readings {
		if r != nil { // beside an error, too: it is to be closed
			e.add(r, files[i:i+1])
		}
		first = cmp.Or(first, errs[i])
	}
	return first
}

// openEvidence opens a file.
func openEvidence(ctx context.Context, path string, in io.Reader) (*evidenceFile, error) {
	file, err := openFile(ctx, path, in)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // read only
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	name := filepath.Base(path)
	if path == standardInput {
		name = "standard input"
	}
	return newEvidenceFile(ctx, analysis.File{Name: name, Bytes: info.Size()}, file), nil
}

// finish waits for all digests.
func (e *evidenceFiles) finish() error {
	for i, files := range e.given {
		for _, f := range files {
			if err := f.finish(); err != nil {
				return err
			}
			e.inputs[i].Files = append(e.inputs[i].Files, f.File)
		}
	}
	return nil
}

// add adds an input that was read from some files.
func (e *evidenceFiles) add(r *ingest.Reading, files []*evidenceFile) {
	e.inputs, e.readings, e.given = append(e.inputs, analysis.Input{Captures: r.Captures}),
		append(e.readings, r), append(e.given, files)
}

// in replaces the captures of traces by those of a window.
func (e *evidenceFiles) in(ctx context.Context, w capture.Window) (err error) {
	found := false
	for i, r := range e.readings {
		if r.Rows == nil {
			continue
		}
		found = true
		if e.inputs[i].Captures, err = capture.CutToWindow(ctx, r.Captures, r.Rows, w); err != nil {
			return err
		}
	}
	if !found {
		return &usageError{"--window needs a trace; UMDH logs are snapshots"}
	}
	return nil
}

// hasTrace reports whether a file is a trace.
func (e *evidenceFiles) hasTrace() bool {
	return slices.ContainsFunc(e.readings, func(r *ingest.Reading) bool { return r.Rows != nil })
}

// workOf gives each input its number of the list.
func (e *evidenceFiles) workOf(list string) error {
	if list == "" {
		return nil
	}
	numbers := strings.Split(list, ",")
	if len(numbers) != len(e.inputs) {
		return &usageError{fmt.Sprintf("--work: %d numbers for %d files", len(numbers), len(e.inputs))}
	}
	for i, text := range numbers {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return &usageError{fmt.Sprintf("--work: %q is not a number", text)}
		}
		e.inputs[i].Work = &n
	}
	return nil
}

// table returns what writes the allocation table of the last trace.
func (e *evidenceFiles) table(ctx context.Context) (func(io.Writer) error, error) {
	for i := len(e.readings) - 1; i >= 0; i-- {
		if r := e.readings[i]; r.Rows != nil {
			return openTable(ctx, r)
		}
	}
	return nil, &usageError{"--format parquet needs a trace"}
}

// close frees temporary disk space.
func (e *evidenceFiles) close() {
	for _, f := range e.files {
		_ = f.content.Close() // read only
	}
	for _, r := range e.readings {
		_ = r.Close() // the file is gone with the process at the latest
	}
}
