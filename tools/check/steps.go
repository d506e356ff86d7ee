package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A step is a command, or a comparison that is made here.
type step struct {
	args []string
	dir  string // relative to the root
	// same is a file that must hold what the command writes, in place of being shown.
	same string
}

func (s step) String() string {
	text := strings.Join(s.args, " ")
	if s.dir != "" {
		text = "cd " + s.dir + " && " + text
	}
	return text
}

// lint is the linter of the repository; its version is that of tools/lint.
const lint = "-modfile=tools/lint/go.mod"

// steps are quick ones first: what is wrong in them often breaks the others.
func (t *touched) steps(short bool) (list []step) {
	for _, file := range t.templs {
		if _, err := os.Stat(file); err == nil { // deleted ones have no code
			list = append(list, step{args: []string{"go", "tool", "templ", "fmt", "-fail", file}},
				step{args: []string{"go", "tool", "templ", "generate", "-f", file, "-stdout"},
					same: strings.TrimSuffix(file, ".templ") + "_templ.go"})
		}
	}
	// What does not compile is told before the first test runs, and of packages without tests, too.
	if both := slices.Concat(t.changed, t.importers); len(both) > 0 {
		list = append(list, step{args: append([]string{"go", "vet"}, packages(both)...)})
	}
	if len(t.changed) > 0 {
		args := []string{"go", "test", "-vet=off"}
		if short {
			args = append(args, "-short")
		}
		list = append(list, step{args: append(args, packages(t.changed)...)})
	}
	if len(t.importers) > 0 {
		list = append(list, step{args: append([]string{"go", "test", "-vet=off", "-short"}, packages(t.importers)...)})
	}
	// An editor may be linting: wait for its end.
	switch linter := []string{"go", "tool", lint, "golangci-lint", "run", "--allow-serial-runners"}; {
	case t.lintAll:
		list = append(list, step{args: linter})
	case len(t.changed) > 0:
		list = append(list, step{args: append(linter, packages(t.changed)...)})
	}
	for _, dir := range t.modules {
		list = append(list, step{args: []string{"go", "test", "./..."}, dir: dir})
	}
	return list
}

func packages(dirs []string) (patterns []string) {
	for _, dir := range dirs {
		patterns = append(patterns, "./"+dir)
	}
	return patterns
}

// run shows what the command says, but for packages without tests.
func (s step) run(ctx context.Context, root string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, s.args[0], s.args[1:]...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(s.dir))
	if s.same != "" {
		cmd.Stderr = out
		made, err := cmd.Output()
		if err != nil {
			return err
		}
		kept, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.same)))
		if err != nil {
			return err
		}
		if !bytes.Equal(made, kept) {
			return fmt.Errorf("%s is not what its .templ file gives: run make generate", s.same)
		}
		return nil
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if !strings.Contains(line, "[no test files]") {
			fmt.Fprint(out, line)
		}
		if err != nil { // the end, or a pipe that broke: Wait says which
			return errors.Join(ignoreEnd(err), cmd.Wait())
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
