package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"heapdrift/ingest"
	"heapdrift/ingest/etl"
)

// etlCensus counts what is in the files of one trace, for bug reports.
func etlCensus(ctx context.Context, args []string, s streams) (int, error) {
	set := flag.NewFlagSet("etl census", flag.ContinueOnError)
	format := set.String("format", "text", "text or json")
	paths, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	var write func(io.Writer, *census) error
	switch *format {
	case "text":
		write = writeCensusText
	case "json":
		write = writeCensusJSON
	default:
		return exitUsage, &usageError{fmt.Sprintf("--format: %q is none of text, json", *format)}
	}
	if len(paths) == 0 {
		return exitUsage, &usageError{"no files given"}
	}
	if paths, err = expand(paths); err != nil {
		return exitInput, err
	}
	c, err := takeCensus(ctx, paths, s)
	if err != nil {
		return exitInput, err
	}
	return exitOK, write(s.out, c)
}

func takeCensus(ctx context.Context, paths []string, s streams) (*census, error) {
	sources := make([]ingest.Source, len(paths))
	files := make([]*os.File, len(paths))
	defer func() {
		for _, file := range files {
			_ = file.Close() // read only; nil does no harm
		}
	}()
	for i, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		files[i] = file
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		sources[i] = ingest.Source{Name: filepath.Base(path), ReaderAt: file, Size: info.Size()}
	}
	bar := newProgressBar(s.err, sources[0].Name)
	defer bar.clear()
	traces, err := ingest.OpenTraces(ctx, sources, bar.set)
	if err != nil {
		return nil, err
	}
	defer func() { _ = traces.Close() }() // temporary files that were read to the end
	trace, err := etl.Open(ctx, traces.Files, etl.Options{})
	if err != nil {
		return nil, err
	}
	counts, err := trace.Census(ctx)
	if err != nil {
		return nil, err
	}
	return newCensus(trace, traces, counts), nil
}

func writeCensusJSON(w io.Writer, c *census) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}
