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
