package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/leaks"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/symsrv"
)

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// analyzeFlags are the flags of the analyze command.
type analyzeFlags struct {
	symbols      list
	baseline     list
	suppressions list
	format       string
	process      string
	window       string
	base         string
	rules        string
	work         string
	unit         string
	matters      string
	settle       time.Duration
	top          int
	output       string
}

func (f *analyzeFlags) set() *flag.FlagSet {
	set := flag.NewFlagSet("analyze", flag.ContinueOnError)
	set.Var(&f.symbols, "symbols", "symbol `path`, _NT_SYMBOL_PATH syntax; folders are searched with all folders below them; repeatable; $_NT_SYMBOL_PATH when not given")
	set.Var(&f.baseline, "baseline",
		"compare with an earlier run: a `path` of a report (--format json) or of evidence, a folder or a quoted pattern; repeatable. Exit code 1 then means new or faster leaks")
	set.StringVar(&f.format, "format", "text",
		"text, json, markdown, folded, umdh-text, csv, pprof, speedscope, sarif or junit; of a trace also parquet, its allocation table")
	set.StringVar(&f.process, "process", "",
		"`pid or image name`, if the evidence has several processes; pid#2 is the second process of a pid")
	set.StringVar(&f.window, "window", "",
		"trace window `A,B` in seconds from the trace's start (default: the whole trace)")
	set.StringVar(&f.base, "base", "auto", "number base of UMDH differences: dec, hex or auto")
	set.StringVar(&f.rules, "rules", "", "`file` with the project's rules, as on the rules page")
	set.Var(&f.suppressions, "suppressions",
		"`file` of suppressions of LSan, Valgrind or Dr. Memory: their leaks count as known; repeatable")
	set.StringVar(&f.work, "work", "",
		"work done by the process at each snapshot: `N,N,…` in the order of the files")
	set.StringVar(&f.unit, "work-unit", "", "unit of --work, for example document")
	set.DurationVar(&f.settle, "settle", 0,
		"`time` at the start of a series of snapshots in which growth is ignored, for example 10m")
	set.StringVar(&f.matters, "matters", "",
		"smallest `growth` that counts as a leak: 10MB/day (the default), 500KB/hour, 64KB/run, 200B/document, 5%/day or 2GB in 30 days")
	set.IntVar(&f.top, "top", 20, "sites in text and markdown; 0 for all")
	set.StringVar(&f.output, "o", "", "output `file` instead of the standard output")
	return set
}

// analyze reads evidence files and prints the report; its exit code is the verdict.
func analyze(ctx context.Context, args []string, s streams) (int, error) {
	var f analyzeFlags
	files, err := parse(f.set(), args, s)
	if err != nil {
		return exitUsage, err
	}
	base, err := umdh.ParseBase(f.base)
	if err != nil {
		return exitUsage, &usageError{"--base: " + err.Error()}
	}
	format, err := f.check(files)
	if err != nil {
		return exitUsage, err
	}
	if files, err = expand(files); err != nil {
		return exitInput, err
	}
	var window *capture.Window
	if f.window != "" {
		w, err := capture.ParseWindow(f.window)
		if err != nil {
			return exitUsage, &usageError{"--window: " + err.Error()}
		}
		window = &w
	}
	opt, err := f.options(s.err)
	if err != nil {
		return exitUsage, err
	}
	library, err := symbolLibrary(f.symbols)
	if err != nil {
		return exitUsage, err
	}
	ctx = symsrv.WithRunLimit(ctx) // the heaps of dumps and the names of frames ask the same servers
	types := symbols.HeapTypes{Library: library}
	defer types.Close()
	reading := ingest.Options{Base: base, Types: ingest.TypesFrom(types.Find)}
	evidence, err := readEvidence(ctx, files, reading, s)
	defer evidence.close()
	if err != nil {
		return exitInput, err
	}
	if window != nil {
		if err := evidence.in(ctx, *window); err != nil {
			return exitInput, err
		}
	}
	if err := evidence.workOf(f.work); err != nil {
		return exitUsage, err
	}
	if opt.Names, err = resolve(ctx, library, evidence.inputs, s); err != nil {
		return exitInput, err
	}
	if len(f.baseline) == 0 { // a comparison looks at all findings
		opt.ShownRows = format.ShownRows(export.Options{Top: f.top})
	}
	report, err := analysis.Analyze(ctx, evidence.inputs, opt)
	if err != nil {
		return exitInput, err
	}
	if len(f.baseline) > 0 {
		b := baselineReader{report, opt, window, library, reading, s}
		baseline, err := b.readAll(ctx, f.baseline)
		if err != nil {
			return exitInput, err
		}
		leaks.CompareReports(report, baseline)
	}
	write := func(w io.Writer) error { return format.Write(w, report, export.Options{Top: f.top}) }
	if f.format == formatParquet {
		if write, err = evidence.table(ctx); err != nil {
			return exitUsage, err
		}
	}
	if err := writeOutput(f.output, s.out, write); err != nil {
		return exitInput, err
	}
	return exitOf(report.Verdict.Status), nil
}

// check finds the format of the report, and refuses flags and files that do not go together.
func (f *analyzeFlags) check(files []string) (format export.Format, err error) {
	if f.format != formatParquet {
		if format, err = export.FindFormat(f.format); err != nil {
			return format, &usageError{"--format: " + err.Error()}
		}
	}
	if f.format == formatParquet && errParquet != nil {
		return format, errParquet
	}
	if len(files) == 0 {
		return format, &usageError{"no files given; - reads the standard input"}
	}
	if err := checkInputs(slices.Concat(files, f.baseline)); err != nil {
		return format, err
	}
	if len(f.baseline) > 0 && f.format == formatParquet {
		return format, &usageError{"--baseline compares reports; --format parquet is the allocation table of a trace"}
	}
	if f.top < 0 {
		return format, &usageError{"--top must not be negative"}
	}
	return format, nil
}

// options are what the flags say of the analysis. What a file of suppressions has and rules cannot say goes to w.
func (f *analyzeFlags) options(w io.Writer) (analysis.Options, error) {
	opt := analysis.Options{Process: f.process, WorkUnit: f.unit, Settle: f.settle}
	if f.settle < 0 {
		return opt, &usageError{"--settle: must not be negative"}
	}
	if f.matters != "" {
		matters, err := analysis.ParseThreshold(f.matters)
		if err != nil {
			return opt, &usageError{"--matters: " + err.Error()}
		}
		opt.Matters = &analysis.RequestedThreshold{Threshold: matters, Source: analysis.ThresholdOfCall, By: "--matters"}
	}
	var text []byte
	if f.rules != "" {
		var err error
		if text, err = os.ReadFile(f.rules); err != nil {
			return opt, &usageError{"--rules: " + err.Error()}
		}
		if opt.Rules, err = blame.ParseRules(string(text)); err != nil {
			return opt, &usageError{fmt.Sprintf("--rules: %s: %v", f.rules, err)}
		}
	}
	if len(f.suppressions) == 0 {
		return opt, nil
	}
	var lines []string
	for _, file := range f.suppressions {
		text, err := readSuppressions(file)
		if err != nil {
			return opt, &usageError{"--suppressions: " + err.Error()}
		}
		made := blame.ImportSuppressions(text)
		lines = append(lines, made.Rules...)
		for _, line := range made.Rejected {
			printRejected(w, file, line.Line, line.Text+": "+line.Reason)
		}
	}
	var err error
	if opt.Rules, err = blame.ParseRules(leaks.AppendRules(string(text), lines)); err != nil {
		return opt, &usageError{"--suppressions: " + err.Error()}
	}
	return opt, nil
}

// resolve names the return addresses of all captures; nil without a symbol path.
func resolve(ctx context.Context, library symbols.Library, inputs []analysis.Input, s streams) (*capture.Names, error) {
	if library == nil {
		return nil, nil
	}
	var captures []*capture.Capture
	for _, in := range inputs {
		captures = append(captures, in.Captures...)
	}
	bar := newProgressBar(s.err, "symbols")
	defer bar.clear()
	resolver := symbols.Resolver{Library: library}
	return resolver.Resolve(ctx, captures, func(done, modules int) { bar.set(int64(done), int64(modules)) })
}

func exitOf(status analysis.VerdictStatus) int {
	switch status {
	case analysis.StatusLeak:
		return exitLeak
	case analysis.StatusNoLeak:
		return exitOK
	}
	return exitInconclusive
}

// writeOutput writes to the output file, which appears whole or not at all, or to out.
func writeOutput(path string, out io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return write(out)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe or /dev/null must not be replaced by a file
		return writeThrough(path, write)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".heapdrift-*")
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already after the rename
	err = write(temp)
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// writeThrough writes to the device or pipe that a name stands for.
func writeThrough(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
