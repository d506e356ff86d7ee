package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestCoverage(t *testing.T) {
	l := newLab(t)
	l.run("1/soak", leaksReport(finding{signature: "A", class: leak, bytes: 10},
		finding{signature: "S", class: stable, bytes: 5}))
	l.run("2/soak", leaksReport(finding{signature: "A", class: leak, bytes: 30},
		finding{signature: "B", class: grows, bytes: 7, unbounded: true}))
	l.run("2/smoke", leaksReport(finding{signature: "S", class: stable}))
	undecided := leaksReport()
	undecided.Verdict.Status = analysis.StatusInconclusive
	l.run("3/soak/a", undecided)
	l.run("3/soak/b", leaksReport(finding{signature: "C", class: leak, bytes: 3},
		finding{signature: "A", class: leak, bytes: 40}))
	for _, waiting := range []leaks.UploadTarget{{Project: "demo", Build: "3", Scenario: "smoke", Run: "a"},
		{Project: "demo", Build: "3", Scenario: "soak", Run: "c"}, {Project: "demo", Build: "4", Scenario: "soak", Run: "a"}} {
		addEvidence(t, l.Store, waiting, "waits.txt") // runs without a result are no cells
	}
	says := func(c *store.Coverage) string {
		var lines []string
		for _, cell := range c.Cells {
			line := fmt.Sprintf("%s/%s %s of %d", cell.Build, cell.Scenario, cell.Status, cell.Runs)
			for _, total := range cell.Totals {
				line += fmt.Sprintf(" %g/%s in %d", total.Bytes, total.Unit, total.Signatures)
				if total.Unbounded {
					line += " without an interval"
				}
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "; ")
	}
	read := func(limit int) *store.Coverage {
		c, err := l.now().FindCoverage(t.Context(), "demo", limit)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := read(0)
	want := "1/soak leak of 1 10/hour in 1; 2/smoke no-leak of 1; 2/soak leak of 1 37/hour in 2 without an interval; 3/soak leak of 2 43/hour in 2"
	if got := says(all); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if fmt.Sprint(all.Scenarios) != "[smoke soak]" || all.At("1", "smoke") != nil || all.Newest("smoke").Build != "2" ||
		all.Newest("soak").RunID != l.runs["3/soak/b"] {
		t.Errorf("%+v", all)
	}
	// A tolerated leak does not count, neither here nor against a budget of the run.
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "by design"}})
	if got := says(read(2)); got != "2/smoke no-leak of 1; 2/soak leak of 1 7/hour in 1 without an interval; 3/soak leak of 2 3/hour in 1" {
		t.Error(got)
	}
	worst, err := l.now().ListWorstFindings(t.Context(), []int64{l.runs["2/soak"], l.runs["2/smoke"], l.runs["3/soak/b"]})
	if err != nil || len(worst) != 2 || worst[l.runs["2/soak"]].Signature != "B" ||
		worst[l.runs["3/soak/b"]].Signature != "C" {
		t.Errorf("%+v %v", worst, err)
	}
	told, err := l.now().ListLastDecisions(t.Context(), []int64{l.runs["1/soak"], l.runs["2/smoke"]})
	if err != nil || told[l.runs["1/soak"]].Gate != leaks.GateFailed || told[l.runs["2/smoke"]].Gate == leaks.GateFailed {
		t.Errorf("%+v %v", told, err)
	}
	if _, err := l.now().FindCoverage(t.Context(), "nobody", 5); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
