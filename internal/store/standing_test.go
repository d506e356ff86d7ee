package store_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

func TestStanding(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for name, test := range map[string]struct {
		runs func(l *lab)
		want string
	}{
		"what grows is no leak": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows},
				finding{signature: "C", class: grows}, finding{signature: "D", class: cache}))
		}, "1 leak is there since the first build, none is new; 2 places grow."},
		"what leaked is a leak until it is fixed": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}))
			l.run("2/soak", leaksReport(finding{signature: "A", class: grows}, finding{signature: "B", class: stable}))
		}, "1 leak is there since the first build, none is new."},
		"an older build shows a new leak": {func(l *lab) {
			l.run("1/etl", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows}))
			l.run("2/soak", leaksReport(finding{signature: "C", class: leak}))
		}, "2 leaks are there since the first build, none is new; 1 place grows."},
		"what is lost together is one leak": {func(l *lab) {
			l.run("1/soak", withCause(leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}), "lost", "A", "B"))
			l.run("2/soak", withCause(leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak},
				finding{signature: "C", class: leak}), "lost", "A", "B"))
		}, "1 leak is new, 1 is there since the first build; 3 stacks in all."},
		"what is known is not open": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows}))
			l.change("A", leaks.Change{Known: &leaks.Toleration{Reason: "x"}})
			l.change("B", leaks.Change{Known: &leaks.Toleration{Reason: "x"}})
		}, "No leak is open."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			test.runs(l)
			standing, err := l.now().Standing(t.Context(), "demo")
			if err != nil || standing.String() != test.want {
				t.Errorf("%q, %v, want %q", standing, err, test.want)
			}
		})
	}
}
