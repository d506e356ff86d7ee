package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/worker/analysis"
	"heapdrift/worker/analysis/export"
	"heapdrift/worker/symbols"
)

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// analyzeFlags are the flags of the analyze command.
type analyzeFlags struct {
	symbols list
	format  string
	process string
	window  string
	base    string
	top     int
	output  string
}

func (f *analyzeFlags) set() *flag.FlagSet {
	set := flag.NewFlagSet("analyze", flag.ContinueOnError)
	set.Var(&f.symbols, "symbols", "symbol `path`, _NT_SYMBOL_PATH syntax; repeatable; $_NT_SYMBOL_PATH when not given")
	set.StringVar(&f.format, "format", "text", "text, json, markdown, folded or csv")
	set.StringVar(&f.process, "process", "", "`pid or image name`, where the evidence holds several")
	set.StringVar(&f.window, "window", "", "trace window `A,B` in seconds; for traces, which this version does not read")
	set.StringVar(&f.base, "base", "auto", "number base of UMDH differences: dec, hex or auto")
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
	format, err := export.Find(f.format)
	switch {
	case err != nil:
		return exitUsage, &usageError{"--format: " + err.Error()}
	case len(files) == 0:
		return exitUsage, &usageError{"no files given"}
	case f.window != "":
		return exitUsage, &usageError{"--window is for traces; UMDH logs are instants"}
	case f.top < 0:
		return exitUsage, &usageError{"--top must not be negative"}
	}
	library, err := symbolLibrary(f.symbols)
	if err != nil {
		return exitUsage, err
	}
	inputs := make([]analysis.Input, len(files))
	for i, file := range files {
		if inputs[i], err = readEvidence(ctx, file, base, s); err != nil {
			return exitInput, err
		}
	}
	names, err := resolve(ctx, library, inputs, s)
	if err != nil {
		return exitInput, err
	}
	report, err := analysis.Analyze(ctx, inputs, analysis.Options{Process: f.process, Names: names})
	if err != nil {
		return exitInput, err
	}
	if err := writeReport(report, format, f, s.out); err != nil {
		return exitInput, err
	}
	return exitOf(report.Verdict.Status), nil
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
	return resolver.Resolve(ctx, captures, func(percent int, _ string) { bar.set(int64(percent), 100) })
}

func exitOf(status analysis.Status) int {
	switch status {
	case analysis.StatusLeak:
		return exitLeak
	case analysis.StatusNoLeak:
		return exitOK
	}
	return exitInconclusive
}

// writeReport writes to the output file, which appears whole or not at all, or to out.
func writeReport(r *analysis.Report, format export.Format, f analyzeFlags, out io.Writer) error {
	opt := export.Options{Top: f.top}
	if f.output == "" {
		return format.Write(out, r, opt)
	}
	temp, err := os.CreateTemp(filepath.Dir(f.output), ".heapdrift-*")
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already after the rename
	err = format.Write(temp, r, opt)
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.output)
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// readEvidence reads one file into captures.
func readEvidence(ctx context.Context, path string, base umdh.Base, s streams) (analysis.Input, error) {
	in := analysis.Input{File: filepath.Base(path)}
	file, err := os.Open(path)
	if err != nil {
		return in, err
	}
	defer func() { _ = file.Close() }()
	digest := sha256.New()
	if in.Bytes, err = io.Copy(digest, file); err != nil {
		return in, fmt.Errorf("read %s: %w", path, err)
	}
	in.SHA256 = hex.EncodeToString(digest.Sum(nil))
	bar := newProgressBar(s.err, in.File)
	in.Captures, err = ingest.Read(ctx, ingest.Source{Name: in.File, ReaderAt: file, Size: in.Bytes}, ingest.Options{Base: base, Progress: bar.set})
	bar.clear()
	return in, err
}

// A progressBar draws one line that it rewrites; on anything but a terminal it draws nothing.
type progressBar struct {
	w    io.Writer
	name string
	next time.Time
	on   bool
	used bool
}

func newProgressBar(w io.Writer, name string) *progressBar {
	return &progressBar{w: w, name: name, on: isTerminal(w), next: time.Now().Add(300 * time.Millisecond)}
}

func (b *progressBar) set(done, total int64) {
	if now := time.Now(); b.on && now.After(b.next) {
		b.next, b.used = now.Add(100*time.Millisecond), true
		fmt.Fprintf(b.w, "\r\x1b[Kreading %s %d %%", b.name, 100*done/max(total, 1))
	}
}

func (b *progressBar) clear() {
	if b.used {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
