package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
)

// removeOutputs removes what the output files hold from before. What is no file, such as a device, stays.
func (f *pushFlags) removeOutputs() error {
	for _, format := range slices.Sorted(maps.Keys(f.outputs)) {
		path := *f.outputs[format]
		if path == "" {
			continue
		}
		info, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", format, err)
		}
	}
	return nil
}

// writeOutputs writes the files that are asked for.
func (f *pushFlags) writeOutputs(o *outcome.Outcome, v *push.RunVerdict) error {
	writers := map[string]func(io.Writer) error{verdictFormat: func(w io.Writer) error { return writeVerdict(w, o, v) }}
	for _, format := range outcome.Formats {
		writers[format.Name] = func(w io.Writer) error { return format.Write(w, o) }
	}
	for _, format := range slices.Sorted(maps.Keys(f.outputs)) {
		if path := *f.outputs[format]; path != "" {
			if err := writeOutput(path, nil, writers[format]); err != nil {
				return fmt.Errorf("--%s: %w", format, err)
			}
		}
	}
	return nil
}

// withoutVerdict are the fields of a verdict where there is none.
func withoutVerdict() map[string]any {
	fields := map[string]any{"run": nil, "baseline": nil, "matters": nil, "record": nil, "policy": 0, "pending": 0,
		"failed_evidence": 0, "silenced": 0, "rerun": false}
	for _, name := range []string{"state", "status", "power"} {
		fields[name] = ""
	}
	for _, name := range []string{"fail_on", "reasons", "new", "grown", "fixed", "clean", "persisting", "known",
		"undecided"} {
		fields[name] = []string{}
	}
	return fields
}

// writeVerdict writes the server's answer with all its fields, those of newer servers included, and beside them full
// addresses, the leaks, and what could not be read. v is nil where the server gave none.
func writeVerdict(w io.Writer, o *outcome.Outcome, v *push.RunVerdict) error {
	fields := withoutVerdict()
	if v != nil {
		if err := json.Unmarshal(v.Text, &fields); err != nil {
			return fmt.Errorf("write the verdict: %w", err)
		}
	}
	if v != nil && v.Record != nil {
		fields["record"] = v.Record
	}
	all := o.Leaks
	if all == nil {
		all = []outcome.Leak{}
	}
	maps.Copy(fields, map[string]any{
		"schema": "heapdrift.verdict/v1", "gate": o.Gate, "exit": exitOfOutcome(o), "code": o.Code, "url": o.URL,
		"sentence": o.Sentence, "why": o.Why, "project": o.Project,
		"build": o.Build, "scenario": o.Scenario,
		"commit": o.Commit, "job_url": o.JobURL, "problems": append([]string{}, o.Problems...), "leaks": all,
	})
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(fields)
}
