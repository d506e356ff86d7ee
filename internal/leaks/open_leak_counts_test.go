package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

func TestStandingInWords(t *testing.T) {
	type standings map[leaks.Standing]int
	for _, test := range []struct {
		leaks standings
		grows int
		want  string
	}{
		{nil, 0, "No leak is open."},
		{nil, 3, "No leak is open; 3 sites grow."},
		{standings{"ongoing": 1}, 0, "1 leak is ongoing, none is new."},
		{standings{"ongoing": 4, "regressed": 2}, 1, "2 leaks came back, 4 are ongoing, none is new; 1 site grows."},
		{standings{"new": 1}, 0, "1 leak is new."},
		{standings{"new": 1, "open": 1}, 0, "1 leak is new, 1 is open since an older build."},
		{standings{"may be fixed": 1}, 3, "1 leak may be fixed, none is new; 3 sites grow."},
		{standings{"may be fixed": 2, "not retested": 2}, 0, "2 leaks may be fixed, 2 were not retested, none is new."},
		{standings{"new": 2, "regressed": 1, "ongoing": 3}, 0, "2 leaks are new, 1 came back, 3 are ongoing."},
	} {
		if got := (leaks.OpenLeakCounts{Standings: test.leaks, OnlyGrowing: test.grows}).String(); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Signatures that are lost together are one leak, where they have one state.
func TestStandingCountsCauses(t *testing.T) {
	found := func(signature string, state leaks.State, standing leaks.Standing) leaks.OpenLeak {
		return leaks.OpenLeak{Signature: signature, State: state, Standing: standing}
	}
	const isNew, ongoing = leaks.StandingNew, leaks.Standing("ongoing")
	of := func(signatures ...string) leaks.LostTogether { return leaks.LostTogether{Signatures: signatures} }
	for name, test := range map[string]struct {
		list   []leaks.OpenLeak
		causes []leaks.LostTogether
		want   string
	}{
		"none":       {nil, []leaks.LostTogether{of("A", "B")}, "No leak is open."},
		"apart":      {[]leaks.OpenLeak{found("A", leaks.StateNew, isNew), found("B", leaks.StateNew, isNew)}, nil, "2 leaks are new."},
		"one of two": {[]leaks.OpenLeak{found("A", leaks.StateNew, isNew)}, []leaks.LostTogether{of("A", "B")}, "1 leak is new."},
		"together": {[]leaks.OpenLeak{found("A", leaks.StateNew, isNew), found("B", leaks.StateNew, isNew),
			found("C", leaks.StateOngoing, ongoing)}, []leaks.LostTogether{of("A", "B")},
			"1 leak is new, 1 is ongoing; 3 stacks in total."},
		"two states": {[]leaks.OpenLeak{found("A", leaks.StateNew, isNew), found("B", leaks.StateOngoing, ongoing)},
			[]leaks.LostTogether{of("A", "B")}, "1 leak is new, 1 is ongoing."},
		"the newest build shows a part": {[]leaks.OpenLeak{found("A", leaks.StateNew, leaks.StandingMayBeFixed),
			found("B", leaks.StateNew, isNew), found("C", leaks.StateNew, leaks.StandingNotRetested)},
			[]leaks.LostTogether{of("A", "B", "C")}, "1 leak is new; 3 stacks in total."},
		"an older build shows all": {[]leaks.OpenLeak{found("A", leaks.StateNew, leaks.StandingMayBeFixed),
			found("B", leaks.StateNew, leaks.StandingMayBeFixed)}, []leaks.LostTogether{of("A", "B")},
			"1 leak may be fixed, none is new; 2 stacks in total."},
		"a part may not be fixed": {[]leaks.OpenLeak{found("A", leaks.StateNew, leaks.StandingMayBeFixed),
			found("B", leaks.StateNew, leaks.StandingNotRetested)}, []leaks.LostTogether{of("A", "B")},
			"1 leak was not retested, none is new; 2 stacks in total."},
		"causes of two runs": {[]leaks.OpenLeak{found("A", leaks.StateNew, isNew), found("B", leaks.StateNew, isNew),
			found("C", leaks.StateNew, isNew)}, []leaks.LostTogether{of("A", "B"), of("B", "C")},
			"1 leak is new; 3 stacks in total."},
	} {
		if got := leaks.CountOpenLeaks(test.list, test.causes).String(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestGravestGate(t *testing.T) {
	if got := leaks.GravestGate(); got != "" {
		t.Error(got)
	}
	if got := leaks.GravestGate(leaks.GatePassed, leaks.GateInconclusive,
		leaks.GatePassed); got != leaks.GateInconclusive {
		t.Error(got)
	}
	if got := leaks.GravestGate(leaks.GateFailed, leaks.GateError); got != leaks.GateFailed {
		t.Error(got)
	}
}

func TestCellTakesTheRunThatSpeaks(t *testing.T) {
	var c leaks.CoverageCell
	c.AddRun(leaks.CoverageCell{RunID: 1, Status: "inconclusive"})
	c.AddRun(leaks.CoverageCell{RunID: 2, Status: "leak"})
	c.AddRun(leaks.CoverageCell{RunID: 3, Status: "no-leak"})
	if c.RunID != 2 || c.Runs != 3 {
		t.Errorf("%+v", c)
	}
	c.AddRun(leaks.CoverageCell{RunID: 4, Status: "leak"})
	if c.RunID != 4 || c.Runs != 4 {
		t.Errorf("%+v", c)
	}
}

func TestCompareUrgency(t *testing.T) {
	surely, rather := 0.99, 0.98
	of := func(p *float64, certain bool, bytes float64, unit string) *leaks.Figure {
		return &leaks.Figure{Class: analysis.ClassLeak, Score: p, Certain: certain,
			Rate: &score.Rate{Unit: unit, Bytes: bytes}}
	}
	slow, fast := of(&surely, true, 10, "hour"), of(&rather, true, 1000, "hour")
	if leaks.CompareUrgency(fast, slow) >= 0 || leaks.CompareUrgency(slow, fast) <= 0 {
		t.Error("of two that are certain the faster one is not first")
	}
	if leaks.CompareUrgency(of(&surely, false, 1e9, "hour"), slow) <= 0 {
		t.Error("what is not certain is before what is")
	}
	if leaks.CompareUrgency(slow, of(&rather, true, 1000, "document")) >= 0 {
		t.Error("units that differ were compared")
	}
}
