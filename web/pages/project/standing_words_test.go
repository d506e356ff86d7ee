package project

import (
	"slices"
	"testing"
	"time"

	domain "heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Of stored answers the oldest dates the verdict of the page, in whatever order they come.
func TestStoredAnswersOfGates(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	told := map[int64]store.StoredDecision{}
	for run, hour := range []int{2, 0, 1, 5} {
		d := store.StoredDecision{At: noon.Add(time.Duration(hour) * time.Hour)}
		d.Gate, d.Why = domain.GatePassed, string(rune('a'+run))
		told[int64(run)] = d
	}
	for _, runs := range [][]int64{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}} { // 4 never answered
		s := &standing{gates: map[int64]domain.Gate{}, why: map[int64]string{}}
		s.take(runs, nil)
		if s.decidedAt != nil {
			t.Fatal("no answer has a time")
		}
		s.take(runs, told)
		if s.decidedAt == nil || !s.decidedAt.Equal(noon) || len(s.gates) != 4 || s.gates[3] != domain.GatePassed || s.why[1] != "b" {
			t.Fatalf("%v, %v, %v", s.decidedAt, s.gates, s.why)
		}
	}
}

// The reasons are those of the gravest gates of the newest build, each once, with its scenarios where there are several.
func TestReasonsOfGates(t *testing.T) {
	cell := func(scenario, build string, run int64) *domain.CoverageCell {
		c := &domain.CoverageCell{Scenario: scenario, RunID: run}
		c.Build = build
		return c
	}
	s := &standing{coverage: &store.Coverage{}, gates: map[int64]domain.Gate{}, why: map[int64]string{}}
	if s.build() != "" || len(s.cells()) != 0 || s.gate() != domain.GravestGate() || len(s.reasons()) != 0 {
		t.Error("a project without builds has a verdict")
	}
	s.coverage.Builds = make([]store.BuildRef, 2)
	s.coverage.Builds[0].Name, s.coverage.Builds[1].Name = "1", "2"
	s.newest = []*domain.CoverageCell{cell("a", "2", 1), cell("old", "1", 2), cell("b", "2", 3), cell("c", "2", 4), cell("d", "2", 5)}
	for run, gate := range map[int64]domain.Gate{1: domain.GateFailed, 3: domain.GatePassed, 4: domain.GateFailed, 5: domain.GateFailed} {
		s.gates[run] = gate
	}
	s.why = map[int64]string{1: "2 leaks", 3: "nothing", 4: "2 leaks", 5: ""}
	if got, want := s.reasons(), []string{"gate of a, c: 2 leaks"}; s.gate() != domain.GateFailed || !slices.Equal(got, want) {
		t.Errorf("%s, %q", s.gate(), got)
	}
	s.newest = s.newest[:2]
	if got, want := s.reasons(), []string{"gate: 2 leaks"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
