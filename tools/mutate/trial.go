package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A trial runs the tests with mutations.
type trial struct {
	dir, scratch string
	limit        time.Duration
	atOnce       int
}

// A verdict is what became of a mutation: a test found it, or it survived, or it could not be tried.
type verdict struct {
	line   int
	killer string
	took   time.Duration
	err    error
}

// unchanged runs all tests that the rows name without a mutation: of tests that fail anyway, or that are none, nothing
// follows.
func (t *trial) unchanged(ctx context.Context, rows []row) error {
	known := map[string]bool{}
	for i := range rows {
		r := &rows[i]
		if known[r.tests()] {
			continue
		}
		known[r.tests()] = true
		switch o, err := goTest(ctx, t.dir, t.limit, r, "-count=1"); {
		case err != nil:
			return err
		case o.unread != "":
			return fmt.Errorf("the code does not compile without a mutation:\n%s", o.unread)
		case o.failed != "":
			return fmt.Errorf("%s fails without a mutation (go test %s): make it pass first\n%s", o.failed, r.tests(), o.output)
		case o.passed == 0:
			return fmt.Errorf("%s: the list is out of date: go test %s runs no test", r.at, r.tests())
		}
	}
	return nil
}

// all tries every row, several at a time, and prints what became of each in the order of the list.
func (t *trial) all(ctx context.Context, rows []row, out io.Writer) (status int, err error) {
	verdicts := make([]chan verdict, len(rows))
	for i := range verdicts {
		verdicts[i] = make(chan verdict, 1)
	}
	free := make(chan struct{}, t.atOnce)
	go func() {
		for i := range rows {
			free <- struct{}{}
			go func() {
				verdicts[i] <- t.one(ctx, &rows[i], i)
				<-free
			}()
		}
	}()
	begun := time.Now()
	var killed, survived, wrong int
	for i := range rows {
		r, v := &rows[i], <-verdicts[i]
		place := fmt.Sprintf("%s:%d", r.file, v.line)
		switch {
		case errors.Is(v.err, context.Canceled):
			// The rest is not tried, and says so at the end.
		case v.err != nil:
			wrong++
			fmt.Fprintf(out, "ERROR     %s\n", v.err)
		case v.killer == "":
			survived++
			fmt.Fprintf(out, "SURVIVED  %s  %s\n%s", place, r.what, change(r))
		default:
			killed++
			fmt.Fprintf(out, "killed    %s  %s  (%s, %.1f s)\n", place, r.what, v.killer, v.took.Seconds())
		}
	}
	fmt.Fprintf(out, "%d mutations: %d killed, %d survived, %d errors of the list, in %s\n", len(rows), killed, survived,
		wrong, time.Since(begun).Round(time.Second))
	switch {
	case ctx.Err() != nil:
		return 1, fmt.Errorf("stopped: %d of %d mutations were not tried", len(rows)-killed-survived-wrong, len(rows))
	case survived > 0 || wrong > 0:
		return 1, nil
	}
	return 0, nil
}

// change prints a mutation as a difference.
func change(r *row) string {
	var s strings.Builder
	for _, side := range []struct{ sign, text string }{{"-", r.old}, {"+", r.new}} {
		if side.text != "" {
			s.WriteString("    " + side.sign + " " + strings.ReplaceAll(side.text, "\n", "\n    "+side.sign+" ") + "\n")
		}
	}
	return s.String()
}

// one tries a mutation.
func (t *trial) one(ctx context.Context, r *row, number int) (v verdict) {
	if ctx.Err() != nil {
		return verdict{err: context.Canceled}
	}
	begun := time.Now()
	overlay, line, err := t.write(r, number)
	if err != nil {
		return verdict{err: err}
	}
	o, err := goTest(ctx, t.dir, t.limit, r, "-count=1", "-overlay", overlay)
	switch {
	case ctx.Err() != nil:
		err = context.Canceled
	case err != nil:
		err = fmt.Errorf("%s: %w", r.at, err)
	case o.unread != "":
		err = fmt.Errorf("%s: the mutation does not compile, so it says nothing about the tests:\n%s", r.at, o.unread)
	}
	return verdict{line: line, killer: o.failed, took: time.Since(begun), err: err}
}

// write writes the mutated file and the overlay that puts it in the place of the one in the work tree.
func (t *trial) write(r *row, number int) (overlay string, line int, err error) {
	original, err := filepath.Abs(filepath.Join(t.dir, filepath.FromSlash(r.file)))
	if err != nil {
		return "", 0, err
	}
	code, err := os.ReadFile(original)
	if err != nil {
		return "", 0, fmt.Errorf("%s: the list is out of date: %w", r.at, err)
	}
	mutated, line, err := r.apply(string(code))
	if err != nil {
		return "", 0, err
	}
	replacement := filepath.Join(t.scratch, fmt.Sprint(number)+path.Ext(r.file))
	overlay = filepath.Join(t.scratch, fmt.Sprintf("%d.json", number))
	paths, err := json.Marshal(map[string]map[string]string{"Replace": {original: replacement}})
	if err != nil {
		return "", 0, err
	}
	return overlay, line,
		errors.Join(os.WriteFile(replacement, []byte(mutated), 0o600), os.WriteFile(overlay, paths, 0o600))
}
