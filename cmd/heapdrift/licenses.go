package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"heapdrift/internal/licenses"
)

// printLicenses prints the licences of the parts of this program, not those of parts that only other platforms have.
func printLicenses(_ context.Context, args []string, s streams) (int, error) {
	if len(args) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("takes no %q", args[0])}
	}
	texts, err := licenses.Collected()
	if err != nil {
		return exitInput, err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return exitInput, fmt.Errorf("licenses: this program does not say which modules it was built with")
	}
	return exitOK, writeLicenses(s.out, texts, info.Deps)
}

// writeLicenses writes what there is, and then fails where a module has no text.
func writeLicenses(w io.Writer, texts []licenses.Text, modules []*debug.Module) error {
	used, missing := licenses.Of(texts, modules)
	var parts []string
	for _, t := range used {
		for _, u := range t.Uses {
			if u.Name != licenses.Own && !slices.Contains(parts, u.Key()) {
				parts = append(parts, u.Key())
			}
		}
	}
	slices.Sort(parts)
	out := bufio.NewWriter(w)
	// Where sources are is what the Mozilla licence wants said.
	fmt.Fprintf(out, "heapdrift %s is licensed under the Apache License 2.0. It contains these parts, each under its own\n"+
		"licence; all texts follow. The source of a Go module is at https://proxy.golang.org/NAME/@v/VERSION.zip.\n\n",
		buildVersion())
	for _, p := range parts {
		fmt.Fprintf(out, "  %s\n", p)
	}
	fmt.Fprintln(out)
	if err := licenses.Write(out, used); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("licenses: this program has no licence text of %s: it was built without `make generate`",
			strings.Join(missing, ", "))
	}
	return nil
}
