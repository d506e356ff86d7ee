package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// formatParquet is the format that is not the report but the allocation table of the trace.
const formatParquet = "parquet"

// evidenceFiles are what was read from the files given.
type evidenceFiles struct {
	inputs   []analysis.Input
	readings []*ingest.Reading // by input
	files    []*evidenceFile
}

// evidenceFile is a file given, with its digest.
type evidenceFile struct {
	analysis.File
	content *os.File
}

func (f *evidenceFile) source() ingest.Source {
	return ingest.Source{Name: f.Name, ReaderAt: f.content, Size: f.Bytes}
}

// readEvidence reads the files in the order given; those that are traces are one trace. What it returns must be closed,
// beside an error too.
func readEvidence(ctx context.Context, paths []string, opt ingest.Options, s streams) (e *evidenceFiles, err error) {
	e = &evidenceFiles{}
	var traces []*evidenceFile
	for _, path := range paths {
		f, err := openEvidence(path)
		if err != nil {
			return e, err
		}
		e.files = append(e.files, f)
		if len(paths) > 1 {
			if kind, err := ingest.Inspect(ctx, f.source()); err == nil && ingest.Formats().Of(kind).Together {
				traces = append(traces, f)
				continue
			}
		}
		if err := e.read(s, []*evidenceFile{f}, func(progress func(done, total int64)) (*ingest.Reading, error) {
			opt.Progress = progress
			return ingest.Read(ctx, f.source(), opt)
		}); err != nil {
			return e, err
		}
	}
	if len(traces) == 0 {
		return e, nil
	}
	sources := make([]ingest.Source, len(traces))
	for i, f := range traces {
		sources[i] = f.source()
	}
	return e, e.read(s, traces, func(progress func(done, total int64)) (*ingest.Reading, error) {
		return ingest.ReadTogether(ctx, sources, ingest.Options{Progress: progress})
	})
}

// openEvidence opens a file and computes its digest.
func openEvidence(path string) (*evidenceFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	digest := sha256.New()
	size, err := io.Copy(digest, file)
	if err != nil {
		_ = file.Close() // read only
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &evidenceFile{analysis.File{Name: filepath.Base(path), SHA256: hex.EncodeToString(digest.Sum(nil)), Bytes: size}, file}, nil
}

// read adds an input that read gives for some files.
func (e *evidenceFiles) read(s streams, files []*evidenceFile, read func(progress func(done, total int64)) (*ingest.Reading, error)) error {
	bar := newProgressBar(s.err, files[0].Name)
	defer bar.clear()
	r, err := read(bar.set)
	in := analysis.Input{Captures: r.Captures}
	for _, f := range files {
		in.Files = append(in.Files, f.File)
	}
	e.inputs, e.readings = append(e.inputs, in), append(e.readings, r)
	return err
}

// in replaces the captures of traces by those of a window.
func (e *evidenceFiles) in(ctx context.Context, w capture.Window) (err error) {
	found := false
	for i, r := range e.readings {
		if r.Rows == nil {
			continue
		}
		found = true
		if e.inputs[i].Captures, err = capture.InWindow(ctx, r.Captures, r.Rows, w); err != nil {
			return err
		}
	}
	if !found {
		return &usageError{"--window is for traces; UMDH logs are instants"}
	}
	return nil
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
			return func(w io.Writer) error { return allocations.Write(ctx, w, r.Rows, r.Meta) }, nil
		}
	}
	return nil, &usageError{"--format parquet is the allocation table of a trace; this is none"}
}

// close gives temporary disk back.
func (e *evidenceFiles) close() {
	for _, f := range e.files {
		_ = f.content.Close() // read only
	}
	for _, r := range e.readings {
		_ = r.Close() // the file is gone with the process at the latest
	}
}
