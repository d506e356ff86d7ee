package leaks

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A growth stands above the run that it was measured in: the rate that a fixed leak once had is not that of the newest
// build, which shows it clean and perhaps in another scenario.
func TestGrowthIsOfItsRun(t *testing.T) {
	figure := func(class analysis.Class, bytes float64) leaks.Figure {
		f := leaks.Figure{Class: class, Outstanding: analysis.Amount{Count: 3, Bytes: 6912}}
		if bytes > 0 {
			f.Rate = &score.Rate{Bytes: bytes, Unit: "hour"}
		}
		return f
	}
	slow, fast := figure(analysis.ClassGrowing, 50_000), figure(analysis.ClassLeak, 2_000_000)
	once := []leaks.ScenarioState{
		{Scenario: "idle", LastBad: "4809", Bad: &slow},
		{Scenario: "soak", LastBad: "4810", Bad: &fast},
		{Scenario: "trace"},
	}
	for name, test := range map[string]struct {
		state    leaks.State
		latest   leaks.Figure
		measured string
		states   []leaks.ScenarioState
		want     string
	}{
		"open":          {leaks.StateOngoing, fast, "trace", once, "up ▲ +1.91 MB/hour measured in trace, build 4812"},
		"tolerated":     {leaks.StateKnown, fast, "trace", once, "flat ▲ +1.91 MB/hour measured in trace, build 4812"},
		"fixed":         {leaks.StateFixed, figure(analysis.ClassStable, 0), "trace", once, "flat was ▲ +1.91 MB/hour measured in soak, build 4810"},
		"fixed by word": {leaks.StateFixed, fast, "soak", once[:1], "flat was ▲ +48.8 KB/hour measured in idle, build 4809"},
		"runs are gone": {leaks.StateFixed, fast, "", nil, "flat ▲ +1.91 MB/hour its runs were deleted"},
	} {
		s := &store.SignatureRow{Signature: store.Signature{
			Triage: leaks.Triage{State: test.state}, SeenBuilds: store.SeenBuilds{LastSeen: "4812"},
			Latest: test.latest, Measured: test.measured, States: test.states,
		}}
		growth := growthOf(s)
		if got := growth.Class + " " + growth.Text + " " + growth.Measured; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// One row tells one story: a leak of b101 that newer traces show clean is neither new nor fixed in b103.
func TestStandingOfRow(t *testing.T) {
	builds := []store.BuildRef{{Name: "b100"}, {Name: "b101"}, {Name: "b102"}, {Name: "b103"}}
	bad := leaks.Outcome{Exercised: true, Judgement: leaks.JudgedLeaking, Figure: leaks.Figure{Class: analysis.ClassLeak}}
	clean := leaks.Outcome{Exercised: true, Judgement: leaks.JudgedClean, Figure: leaks.Figure{Class: analysis.ClassOneTime}}
	seen := leaks.Outcome{Exercised: true, Figure: leaks.Figure{Class: analysis.ClassUnknown}}
	none := leaks.Outcome{}
	soak := leaks.NewScenarioState(leaks.ScenarioState{Scenario: "soak", FirstBad: "b101", LastBad: "b101"}, leaks.StateNew, true)
	for name, test := range map[string]struct {
		state    leaks.State
		lastBad  string
		latest   analysis.Class
		strip    []leaks.Outcome
		standing leaks.Standing
		says     string
	}{
		"clean in traces since": {leaks.StateNew, "b101", analysis.ClassOneTime, []leaks.Outcome{clean, bad, clean, clean},
			leaks.StandingMayBeFixed, "trace: clean in build b103; soak: not retested since build b101, where it leaked"},
		"seen since, undecided": {leaks.StateNew, "b101", analysis.ClassUnknown, []leaks.Outcome{clean, bad, none, seen},
			leaks.StandingNotRetested, "soak: not retested since build b101, where it leaked"},
		"clean before only": {leaks.StateNew, "b101", analysis.ClassUnknown, []leaks.Outcome{clean, bad, none, none},
			leaks.StandingNotRetested, "soak: not retested since build b101, where it leaked"},
		"still there": {leaks.StateNew, "b103", analysis.ClassLeak, []leaks.Outcome{clean, bad, bad, bad},
			leaks.StandingOpen, "soak: not retested since build b101, where it leaked"},
	} {
		s := &store.SignatureRow{Strip: test.strip, Signature: store.Signature{
			Triage: leaks.Triage{State: test.state}, SeenBuilds: store.SeenBuilds{FirstBad: "b101", LastBad: test.lastBad, LastSeen: "b103"},
			Latest: leaks.Figure{Class: test.latest}, Measured: "trace", States: []leaks.ScenarioState{soak},
		}}
		table := Table{SignaturePage: &store.SignaturePage{Builds: builds}}
		if got := table.standing(s); got != test.standing {
			t.Errorf("%s: %q, want %q", name, got, test.standing)
		}
		if got := standsIn(&s.Signature, "b103"); got != test.says {
			t.Errorf("%s: %q, want %q", name, got, test.says)
		}
	}
}
