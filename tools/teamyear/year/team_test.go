package year

import (
	"testing"

	"heapdrift/tools/leakeval/evaluation"
)

// Seeds draw teams and builds of all kinds, and the first build of each is as any other.
func TestTeams(t *testing.T) {
	seen := map[string]int{}
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for seed := range uint64(12) {
		s := newScript(seed, 24, evaluation.Tuning())
		note("counted", s.Team.Counted)
		note("not counted", !s.Team.Counted)
		note("lengths", s.Team.Lengths)
		note("one length", !s.Team.Lengths)
		note("late symbols", s.Team.LateSymbols)
		for i, b := range s.Builds {
			if first := (Recording{Snapshots: snapshots}); i == 0 && (b.Recording != first || b.Late || b.Runs != 1) {
				t.Errorf("the first build of team %d is %+v", seed, b)
			}
			note("lost", b.Runs == 0)
			note("two runs", b.Runs == 2)
			note("a build later", b.Late && b.After == 1)
			note("three builds later", b.Late && b.After == 3)
			note("twice", b.Twice)
			note("cut", b.Cut > 0)
			note("an hour", b.Seconds == shortRun)
			note("8 snapshots", b.Snapshots == 8)
			note("20 snapshots", b.Snapshots == 20)
			note("symbols after the verdict", b.Symbols == AfterVerdict)
			note("symbols after the next", b.Symbols == AfterNext)
			if b.Cut >= b.Snapshots || b.Cut == 1 || b.Seconds > 0 && !s.Team.Lengths || b.Symbols != InTime && !s.Team.LateSymbols ||
				b.Late && b.After >= mostAfter {
				t.Errorf("%+v of %+v", b, s.Team)
			}
		}
	}
	const kinds = 16
	if len(seen) != kinds {
		t.Errorf("%d kinds: %v", len(seen), seen)
	}
}
