package run

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A menu names a snapshot by its number, and its time where it has one.
func TestNameOfASnapshot(t *testing.T) {
	c := &snapshotChoice{snapshots: make([]analysis.Snapshot, 2)}
	const at = "2026-03-01T12:30:00"
	c.snapshots[1].TakenAt = at
	if got := c.name(1); got != "1" {
		t.Error(got)
	}
	if got, want := c.name(2), "2, "+localTime(at); got != want || localTime(at) == "" {
		t.Errorf("%s, want %s", got, want)
	}
}

// The page offers a half from five snapshots on, and the last step from four on. Two are no choice, nor is a trace.
func TestPresetsOfSnapshots(t *testing.T) {
	for n, want := range map[int]string{2: "", 3: "1-3 2-3", 4: "1-4 2-4 3-4", 5: "1-5 2-5 3-5 4-5", 6: "1-6 2-6 4-6 5-6"} {
		r := &analysis.Report{Snapshots: make([]analysis.Snapshot, n)}
		c := chooseSnapshots(listing{}, r, make([]mark, n))
		var got []string
		if c != nil {
			for _, p := range c.presets() {
				got = append(got, fmt.Sprintf("%d-%d", p.from, p.to))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d snapshots: %v, want %s", n, got, want)
		}
		if chooseSnapshots(listing{}, r, make([]mark, n+1)) != nil {
			t.Errorf("%d snapshots: a chart of others is a choice", n)
		}
		if r.Trace = (&analysis.Trace{}); chooseSnapshots(listing{}, r, make([]mark, n)) != nil {
			t.Errorf("%d snapshots: a trace is a choice", n)
		}
	}
}

// Of the earlier answers to a question the newest counts, and is shown where it differs from what holds now.
func TestDecisionsThatDiffer(t *testing.T) {
	decision := func(id int64, failOn, baseline, asked string, gate leaks.Gate) store.StoredDecision {
		d := store.StoredDecision{ID: id, FailOn: failOn, Baseline: baseline, Asked: asked}
		d.Gate = gate
		return d
	}
	v := runView{gate: gateView{Decision: &leaks.Decision{Gate: leaks.GatePassed}, earlier: []store.StoredDecision{
		decision(1, "new", "", "", leaks.GateFailed), decision(2, "new", "", "", leaks.GateInconclusive), decision(3, "", "", "", leaks.GatePassed),
		decision(4, "", "", "", leaks.GateFailed), decision(5, "", "4711", "", leaks.GateFailed), decision(6, "", "", "1 MB", leaks.GateFailed),
	}}}
	var got []string
	for _, d := range v.differingDecisions() {
		got = append(got, fmt.Sprint(d.ID))
	}
	if strings.Join(got, " ") != "1 5 6" {
		t.Errorf("%v", got)
	}
}

// A site whose evidence has no ids of stacks reads as UMDH prints it, too.
func TestSiteWithoutTraces(t *testing.T) {
	var v siteView
	v.Count, v.Bytes = 3, 24
	bare := v.umdhText()
	v.Traces = []string{"BackTrace7"}
	if named := v.umdhText(); bare == "" || named == bare || !strings.Contains(named, "BackTrace7") {
		t.Errorf("%q, %q", bare, named)
	}
	v.GrowthBytes = new(int64)
	if v.umdhText() != func() string { v.GrowthBytes = nil; return v.umdhText() }() {
		t.Error("growth of bytes alone counts")
	}
}
