package record

import (
	"context"
	"testing"
	"time"

	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/target"
)

// A plan says when each snapshot is due, and how long the recording takes where that is known.
func TestWhenSnapshotsAreDue(t *testing.T) {
	heap := &collect.Collector{Take: func(context.Context, target.Info, string, *float64) (collect.Cost, error) { return collect.Cost{}, nil }}
	for want, test := range map[string]struct {
		by *collect.Collector
		o  Options
	}{
		"15 min in one trace":                                     {&collect.Collector{}, Options{Snapshots: 3, Every: 5 * time.Minute}},
		"3 snapshots, every 5 min: 15 min":                        {heap, Options{Snapshots: 3, Every: 5 * time.Minute}},
		"1 snapshot, every 5 min: 5 min":                          {heap, Options{Snapshots: 1, Every: 5 * time.Minute}},
		"snapshots without an end, every 5 min":                   {heap, Options{Every: 5 * time.Minute}},
		"3 snapshots, each at Enter or heapdrift mark":            {heap, Options{Snapshots: 3, PerWork: true}},
		"3 snapshots, each after 100 more in \\Shop\\Orders":      {heap, Options{Snapshots: 3, Counter: `\Shop\Orders`, Step: 100}},
		"snapshots without an end, each after 1 more in \\Orders": {heap, Options{Counter: `\Orders`, Step: 1}},
	} {
		if got := (&Plan{Collector: test.by, options: &test.o}).when(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
