package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"heapdrift/ingest/plaintext"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push/ci"
	"heapdrift/internal/suppressions"
)

// suppressionsImport adds the suppressions of another tool to the rules of a project.
func suppressionsImport(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("suppressions import", flag.ContinueOnError)
	r.flags(set)
	dry := set.Bool("dry-run", false, "print the rules and save nothing; no server is needed")
	files, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(files) != 1 {
		return exitUsage, &usageError{"name one file of suppressions, of LSan, Valgrind or Dr. Memory"}
	}
	text, err := readSuppressions(files[0])
	if err != nil {
		return exitInput, err
	}
	if *dry {
		made := blame.ImportSuppressions(text)
		for _, line := range made.Rules {
			if _, err := fmt.Fprintln(s.out, ci.Plain(line)); err != nil {
				return exitInput, fmt.Errorf("suppressions import: %w", err)
			}
		}
		for _, line := range made.Rejected {
			printRejected(s.err, files[0], line.Line, line.Text+": "+line.Reason)
		}
		return exitOK, nil
	}
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	made, err := client.ImportSuppressions(ctx, r.project, text, true)
	if err != nil {
		return r.failed(err)
	}
	for _, line := range made.Rejected {
		printRejected(s.err, files[0], line.Line, line.Message)
	}
	result := fmt.Sprintf("%s imported into the rules of project %s", quantity.Plural(len(made.Lines), "suppression"), r.project)
	if made.Saved != nil {
		result += fmt.Sprintf(" (version %d); %s analysed again", made.Saved.Version, quantity.Plural(made.Saved.Runs, "run"))
	}
	if len(made.Rejected) > 0 {
		result += fmt.Sprintf(", %d not imported", len(made.Rejected))
	}
	_, err = fmt.Fprintln(s.out, ci.Plain(result))
	return exitOK, err
}

// readSuppressions reads a file of suppressions as text that rules may have.
func readSuppressions(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(plaintext.NewDecoder(f), leaks.MaxRuleFileBytes+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > leaks.MaxRuleFileBytes:
		return "", fmt.Errorf("%s: a file of suppressions has at most 1 MB", file)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// printRejected says which line was not taken, and why.
func printRejected(w io.Writer, file string, line int, why string) {
	fmt.Fprintf(w, "%s:%d: not imported: %s\n", ci.Plain(file), line, ci.Plain(why))
}

// suppressionsExport writes the known leaks of a project as suppressions.
func suppressionsExport(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("suppressions export", flag.ContinueOnError)
	r.flags(set)
	form := set.String("form", "", "`lsan`, valgrind or drmemory")
	output := set.String("o", "", "`file` to write (default: standard output)")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	switch {
	case len(rest) > 0:
		return exitUsage, &usageError{fmt.Sprintf("unexpected argument %q", rest[0])}
	case !slices.Contains(suppressions.Forms, suppressions.Form(*form)):
		return exitUsage, &usageError{"--form: name lsan, valgrind or drmemory"}
	}
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	text, err := client.Suppressions(ctx, r.project, *form)
	if err != nil {
		return r.failed(err)
	}
	if *output != "" {
		err = os.WriteFile(*output, text, 0o644)
	} else {
		_, err = s.out.Write(text)
	}
	if err != nil {
		return exitInput, fmt.Errorf("suppressions export: %w", err)
	}
	return exitOK, nil
}
