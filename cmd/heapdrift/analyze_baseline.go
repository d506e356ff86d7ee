package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
	"heapdrift/internal/symbols"
)

// The codes of baselines that cannot be compared with. They are stable.
const (
	codeBaselineKind      = "baseline-kind"      // neither a report nor evidence, or both under one name
	codeBaselineProcess   = "baseline-process"   // of another program
	codeBaselineSignature = "baseline-signature" // its leaks are named by another version
	codeBaselineEmpty     = "baseline-empty"     // a folder without files
	codeBaselineUnread    = "baseline-unreadable"
)

// A baselineError says why a run cannot be compared with a baseline.
type baselineError struct {
	name    string // as it was given
	code    string
	message string
	err     error // cause, or nil
}

func (e *baselineError) Error() string {
	message := e.message
	if e.err != nil {
		message = e.err.Error()
	}
	return fmt.Sprintf("--baseline %s: %s [%s]", e.name, message, e.code)
}

func (e *baselineError) Unwrap() error { return e.err }

// A baselineReader reads what the flags --baseline name, as the run that is compared was read.
type baselineReader struct {
	head    *analysis.Report
	opt     analysis.Options
	window  *capture.Window
	library symbols.Library
	ingest  ingest.Options
	streams
}

// readAll reads the runs of the baseline, in their order.
func (b *baselineReader) readAll(ctx context.Context, names []string) ([]leaks.BaselineReport, error) {
	var list []leaks.BaselineReport
	for _, name := range names {
		found, err := b.read(ctx, name)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if err := b.check(&found[i]); err != nil {
				return nil, err
			}
			found[i].Sites, found[i].Stacks = nil, nil // the comparison goes by findings, and sites take the memory
		}
		list = append(list, found...)
	}
	return list, nil
}

// read reads what one name stands for: reports, each of a run, or the evidence of one run.
func (b *baselineReader) read(ctx context.Context, name string) ([]leaks.BaselineReport, error) {
	paths, err := baselineFiles(name)
	if err != nil {
		return nil, err
	}
	var reports []leaks.BaselineReport
	var evidence []string
	for _, path := range paths {
		report, err := b.report(ctx, name, path)
		switch {
		case err != nil:
			return nil, err
		case report == nil:
			evidence = append(evidence, path)
		default:
			reports = append(reports, leaks.BaselineReport{Name: path, Kind: analysis.BaselineReport, Report: report})
		}
	}
	switch {
	case evidence == nil:
		return reports, nil
	case reports != nil:
		return nil, &baselineError{name, codeBaselineKind, fmt.Sprintf(
			"%s is a report and %s is evidence; pass each with its own --baseline", reports[0].Name, evidence[0]), nil}
	}
	report, err := b.analyze(ctx, evidence)
	var missing *analysis.Error
	switch {
	case errors.As(err, &missing) && missing.Code == analysis.CodeNoSuchProcess:
		return nil, &baselineError{name, codeBaselineProcess, "", err}
	case err != nil:
		return nil, &baselineError{name, codeBaselineUnread, "", err}
	}
	return []leaks.BaselineReport{{Name: name, Kind: analysis.BaselineEvidence, Report: report}}, nil
}

// baselineFiles are the files that a name stands for: a file, the files of a folder, or those of a pattern.
func baselineFiles(name string) ([]string, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, &baselineError{name, codeBaselineUnread, "", err}
		}
		var files []string
		for _, e := range entries {
			path := filepath.Join(name, e.Name())
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				files = append(files, path)
			}
		}
		if files == nil {
			return nil, &baselineError{name, codeBaselineEmpty, "the folder holds no files", nil}
		}
		return files, nil
	}
	files, err := push.Expand([]string{name})
	if err != nil {
		return nil, &baselineError{name, codeBaselineUnread, "", err}
	}
	return files, nil
}

// glimpse is how many bytes of a file tell a report from evidence.
const glimpse = 512

// report reads a file that is a report; nil for one that is not JSON.
func (b *baselineReader) report(ctx context.Context, name, path string) (*analysis.Report, error) {
	if path == standardInput { // it can be read once, and evidence is read by its name
		return nil, nil
	}
	file, err := openFile(ctx, path, b.in)
	if err != nil {
		return nil, &baselineError{name, codeBaselineUnread, "", err}
	}
	defer func() { _ = file.Close() }() // read only
	first := make([]byte, glimpse)
	n, err := file.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &baselineError{name, codeBaselineUnread, "", err}
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(first[:n], []byte("\uFEFF")))
	if len(text) == 0 || text[0] != '{' {
		return nil, nil
	}
	report, err := analysis.ReadJSON(io.NewSectionReader(file, 0, 1<<62))
	if err != nil {
		return nil, &baselineError{name, codeBaselineKind,
			fmt.Sprintf("%s is not a report of analyze --format json: %v", path, err), nil}
	}
	return report, nil
}

// analyze makes the report on evidence, about the program of the run that is compared.
func (b *baselineReader) analyze(ctx context.Context, paths []string) (*analysis.Report, error) {
	files, err := readEvidence(ctx, paths, b.ingest, b.streams)
	defer files.close()
	if err != nil {
		return nil, err
	}
	if b.window != nil && files.hasTrace() {
		if err := files.in(ctx, *b.window); err != nil {
			return nil, err
		}
	}
	opt := b.opt
	opt.Process = cmp.Or(b.wanted(files.inputs), opt.Process)
	if opt.Names, err = resolve(ctx, b.library, files.inputs, b.streams); err != nil {
		return nil, err
	}
	return analysis.Analyze(ctx, files.inputs, opt)
}

// wanted is the program of the run, where the evidence shows it and may show others; "" leaves the choice to the
// analysis.
func (b *baselineReader) wanted(inputs []analysis.Input) string {
	for _, in := range inputs {
		for _, c := range in.Captures {
			if b.head.Process.Name != "" && leaks.IsSameProgram(c.Process.Name, b.head.Process.Name) {
				return b.head.Process.Name
			}
		}
	}
	return ""
}

// check refuses a report of another program, and one whose leaks cannot be those of this version.
func (b *baselineReader) check(r *leaks.BaselineReport) error {
	was, is := r.Process.Name, b.head.Process.Name
	if was != "" && is != "" && !leaks.IsSameProgram(was, is) {
		return &baselineError{r.Name, codeBaselineProcess,
			fmt.Sprintf("it is a run of %s, and the evidence is of %s; pass a run of the same program", was, is), nil}
	}
	for i := range r.Findings {
		if s := r.Findings[i].Signature; !strings.HasPrefix(s, blame.SignatureVersion+":") {
			version, _, _ := strings.Cut(s, ":")
			return &baselineError{r.Name, codeBaselineSignature, fmt.Sprintf(
				"analyse that run's evidence again: its signatures have version %s, this heapdrift writes %s",
				version, blame.SignatureVersion), nil}
		}
	}
	return nil
}
