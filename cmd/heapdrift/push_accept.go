package main

import (
	"context"
	"errors"
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// mostNoted is how many files, and how many tests, are named one by one: the first log of a program has hundreds.
const mostNoted = 20

// acceptPresent marks the leaks that a run shows as known, except those that patterns name, and notes them by file and
// by test.
func acceptPresent(ctx context.Context, client *push.Client, run int64, except []string, note func(text string)) error {
	a, err := client.Accept(ctx, run, except)
	var refused *push.Refusal
	if errors.As(err, &refused) && refused.Code == "invalid-except" {
		return &wrongExcept{refused}
	}
	if err != nil {
		return fmt.Errorf("accept the leaks of run %d: %w", run, err)
	}
	if a.Accepted.Leaks > 0 {
		note("accepted  " + figuresText(&a.Accepted.GroupFigures))
	}
	noteGroups(note, "file", len(a.Accepted.Places), func(i int) (string, *push.GroupFigures) {
		g := &a.Accepted.Places[i]
		return leaks.PlaceGroupName(g.Module, g.File), &g.GroupFigures
	})
	noteGroups(note, "test", len(a.Accepted.Tests), func(i int) (string, *push.GroupFigures) {
		g := &a.Accepted.Tests[i]
		return leaks.TestGroupName(g.Test, g.Several), &g.GroupFigures
	})
	if a.Left.Leaks > 0 {
		note("left out  " + figuresText(&a.Left.GroupFigures))
	}
	if a.Sentence != "" {
		note(a.Sentence)
	}
	return nil
}

// A wrongExcept is the server's refusal of names that --except gives: the command line is wrong.
type wrongExcept struct{ refused *push.Refusal }

func (e *wrongExcept) Error() string { return "--" + e.refused.Detail }

func (e *wrongExcept) Unwrap() []error { return []error{&usageError{e.Error()}, e.refused} }

// noteGroups notes groups of accepted leaks, of many the first.
func noteGroups(note func(string), kind string, n int, at func(i int) (string, *push.GroupFigures)) {
	for i := range min(n, mostNoted) {
		name, figures := at(i)
		note(fmt.Sprintf("  %s  %s: %s", kind, name, figuresText(figures)))
	}
	if n > mostNoted {
		note(fmt.Sprintf("  %s  %s", kind, quantity.Plural(n-mostNoted, "more "+kind)))
	}
}

// figuresText is "12 leaks, 40 blocks, 3.1 KB (2 possible)".
func figuresText(g *push.GroupFigures) string {
	text := fmt.Sprintf("%s, %s, %s", quantity.Plural(g.Leaks, "leak"), quantity.Plural(g.Held.Count, "block"), quantity.Bytes(g.Held.Bytes))
	if g.Possible > 0 {
		text += fmt.Sprintf(" (%d possible)", g.Possible)
	}
	return text
}
