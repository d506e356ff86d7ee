package main

import (
	"context"
	"fmt"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// mostNoted is how many accepted leaks are named one by one: the first log of a program has hundreds.
const mostNoted = 20

// acceptPresent marks the leaks that a run shows as known, and notes them. The outcome has the facts of the first leaks
// only; of the others, the report of the run says whether they leak.
func acceptPresent(ctx context.Context, client *push.Client, run int64, o *outcome.Outcome,
	note func(text string)) error {
	var present []string
	if slices.ContainsFunc(o.Leaks, func(l outcome.Leak) bool { return l.Class == "" }) {
		var err error
		if present, err = client.Present(ctx, run); err != nil {
			return err
		}
	}
	accepted := 0
	fields := map[string]any{"state": leaks.MarkKnown, "reason": leaks.FirstRunReason}
	for i := range o.Leaks {
		l := &o.Leaks[i]
		isPresent := analysis.Class(l.Class).IsLeak() || l.Class == "" && slices.Contains(present, l.Signature)
		if l.Known != "" || l.Change == outcome.ChangeKnown || l.Change == outcome.ChangeFixed || !isPresent {
			continue
		}
		changed, err := client.ChangeLeak(ctx, o.Project, l.Signature, fields)
		if err != nil {
			return fmt.Errorf("accept %s: %w", l.Signature, err)
		}
		if accepted++; accepted <= mostNoted {
			note(fmt.Sprintf("accepted  %s  %s", shortSignature(changed.Signature), changed.Title))
		}
	}
	if accepted > mostNoted {
		note(fmt.Sprintf("accepted  %d more", accepted-mostNoted))
	}
	return nil
}
