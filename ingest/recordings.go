package ingest

import (
	"context"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
)

// readApart reads the only one of several recordings in an archive that holds memory events.
func (t *UnpackedTraces) readApart(ctx context.Context) (found *tracecapture.Result, err error) {
	recordings, err := t.recordings(ctx)
	if err != nil {
		return nil, err
	}
	var holder, without []string
	var none error
	for _, files := range recordings {
		names := make([]string, len(files))
		for i := range files {
			names[i] = files[i].Name
		}
		result, err := tracecapture.Read(ctx, files, tracecapture.Options{})
		switch {
		case isRefused(err, tracecapture.CodeNoMemory):
			without, none = append(without, names...), err
			continue
		case err == nil && found != nil:
			_ = result.Close() // the error says more
			err = &evidence.Error{Code: etl.CodeOtherBoot, File: names[0],
				Message: fmt.Sprintf("this trace and %s were recorded in different boots of Windows, or on different clocks, and both hold memory events", holder[0]), Do: "analyse them one by one"}
		}
		if err != nil {
			if found != nil {
				_ = found.Close() // the error says more
			}
			return nil, err
		}
		found, holder = result, names
	}
	if found == nil {
		return nil, none
	}
	t.Warnings = append(t.Warnings, capture.Warning{Code: capture.Unsupported, Count: int64(len(without)),
		Message: "of another boot or clock than " + holder[0] + ", without memory events, and left out: " +
			strings.Join(without, ", ")})
	return found, nil
}

// recordings groups the files that can be one trace, as etl.Open does, which compares all with the first.
func (t *UnpackedTraces) recordings(ctx context.Context) (groups [][]etl.Source, err error) {
next:
	for _, f := range t.Files {
		for i, g := range groups {
			_, err := etl.Open(ctx, []etl.Source{g[0], f}, etl.Options{})
			if err == nil {
				groups[i] = append(g, f)
				continue next
			}
			if !isRefused(err, etl.CodeOtherBoot) {
				return nil, err
			}
		}
		groups = append(groups, []etl.Source{f})
	}
	return groups, nil
}

// isRefused reports whether evidence was refused with this code.
func isRefused(err error, code string) bool {
	refused := evidence.Refusal(err)
	return refused != nil && refused.Code == code
}
