package main

import (
	"context"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// presentReason is why leaks are known that were there when a scenario was run first.
const presentReason = "was there when the scenario was run first"

// acceptPresent marks the leaks that a run shows as known, and notes each.
func acceptPresent(ctx context.Context, client *push.Client, o *outcome.Outcome, note func(text string)) error {
	fields := map[string]any{"state": leaks.MarkKnown, "reason": presentReason}
	for i := range o.Leaks {
		l := &o.Leaks[i]
		if l.Known != "" || l.Change == outcome.ChangeFixed || !analysis.Class(l.Class).IsLeak() {
			continue
		}
		changed, err := client.ChangeLeak(ctx, o.Project, l.Signature, fields)
		if err != nil {
			return fmt.Errorf("accept %s: %w", l.Signature, err)
		}
		note(fmt.Sprintf("accepted  %s  %s", shortSignature(changed.Signature), changed.Title))
	}
	return nil
}
