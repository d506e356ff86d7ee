package leaks

import (
	"encoding/binary"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// MaxPooledRuns is how many runs are judged together at most, unless the run's own build has more. Older runs may be of
// a rather different program.
const MaxPooledRuns = 8

// MaxRunsBefore is how many runs before those of a build are looked at: what a site does in them tells a leak that
// begins from growth that was always there.
const MaxRunsBefore = 20

// A PoolRun is a run of a scenario that may be judged together with others: its evidence lost nothing, and is enough to
// judge growth.
type PoolRun struct {
	RunID        int64
	Build        string
	Rank         BuildRank          // of the build, on the line that is judged
	PartLengths  score.PartLengths  // zero where unknown
	HoldingSites int                // how many sites of the run keep memory
	ExitWork     *analysis.ExitWork // of its lists of leaks at exit; nil where it has none, or nobody tells
	ExitTools    []string           // that printed them, ascending
}

// PoolRuns are runs of one scenario, those of the oldest build first and those of one build by name.
type PoolRuns []PoolRun

// LineRank is the rank of the build at an index of a line, by which pools order its runs.
func LineRank(at int) BuildRank { return binary.BigEndian.AppendUint64(nil, uint64(at)) }

// leastKept is how many blocks must have stayed in a run for a site to be one that may seem to begin to leak.
const leastKept = 3

// CountHoldingFindings counts the findings of a run that keep memory.
func CountHoldingFindings(findings []analysis.Finding) (n int) {
	for i := range findings {
		if findings[i].Stayed.Total() >= leastKept {
			n++
		}
	}
	return n
}

// build finds the runs of the build with a rank: [from, to). Without runs, the range is empty and lies where they would
// be.
func (p PoolRuns) build(rank BuildRank) (from, to int) {
	for from < len(p) && CompareRanks(p[from].Rank, rank) < 0 {
		from++
	}
	for to = from; to < len(p) && CompareRanks(p[to].Rank, rank) == 0; {
		to++
	}
	return from, to
}

// older is where the runs of the previous build begin, but not before the first run of a window.
func (p PoolRuns) older(first, before int) int {
	from := before - 1
	for from > first && p[from-1].Build == p[before-1].Build {
		from--
	}
	return from
}

// RangeJudgedTogether returns the runs [from, to) that the judgement on the runs of a build rests on: all of the build
// itself, and the newest before it, up to MaxRunsBefore.
func (p PoolRuns) RangeJudgedTogether(rank BuildRank) (from, to int) {
	from, to = p.build(rank)
	return max(0, from-MaxRunsBefore), to
}

// RangeToJudgeAnew returns the runs [from, to) to judge again when a result of a build comes, changes or goes: the
// build's own, and newer ones whose judgement may rest on it.
func (p PoolRuns) RangeToJudgeAnew(rank BuildRank) (from, to int) {
	from, to = p.build(rank)
	behind := to
	for to < len(p) {
		first, next := p.RangeJudgedTogether(p[to].Rank)
		if first > behind {
			break
		}
		to = next
	}
	return from, to
}
