package main

import (
	"context"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// acceptPresent marks the leaks that a run shows as known, and notes each.
func acceptPresent(ctx context.Context, client *push.Client, o *outcome.Outcome, note func(text string)) error {
	fields := map[string]any{"state": leaks.MarkKnown, "reason": leaks.PresentReason}
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
