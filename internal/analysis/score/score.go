// Package score estimates how probable it is that growing memory is a leak. In come numbers only: how much of one
// signature was outstanding at instants, or when the allocations of a trace began and ended. Out go a class, a score
// and the reasons for it. docs/method.md publishes the method and its measured quality.
package score

import (
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// A Class is what growth looks like.
type Class string

// The classes.
const (
	ClassLeak Class = "leak"
	// ClassGrowingBlock is one block, or a few, that is resized to ever more bytes.
	ClassGrowingBlock Class = "growing-block"
	// ClassUnreferenced is memory that no pointer reaches, by a dump: nothing that a judgement of growth says.
	ClassUnreferenced Class = "unreferenced"
	// ClassLeftAtExit is memory that a tool lists as not freed when the process ended: certain never to be freed, not
	// certain to grow.
	ClassLeftAtExit Class = "left-at-exit"
	ClassGrowing    Class = "growing"   // grows, and the evidence does not decide
	ClassCache      Class = "cache"     // fills up: growth that ends, or falls off
	ClassOneTime    Class = "one-time"  // grew in one burst or a few
	ClassTransient  Class = "transient" // what is allocated does not stay
	ClassStable     Class = "stable"    // does not grow
	ClassUnknown    Class = "unknown"   // the evidence shows one instant, or no order of instants
)

// Classes are the classes by how much they ask for a look, the gravest last.
var Classes = []Class{
	ClassStable, ClassUnknown, ClassTransient, ClassOneTime, ClassCache, ClassGrowing, ClassLeftAtExit, ClassUnreferenced,
	ClassGrowingBlock, ClassLeak,
}

// Gravity is higher the more a class asks for a look; −1 of what is no class.
func (c Class) Gravity() int { return slices.Index(Classes, c) }

// IsSuspect reports whether memory leaks, is reached by no pointer, was left at exit, or grows while the evidence does
// not decide.
func (c Class) IsSuspect() bool { return c.Gravity() >= ClassGrowing.Gravity() }

// IsLeak reports whether memory leaks: it grows without an end, no pointer reaches it, or it was never freed.
func (c Class) IsLeak() bool { return c == ClassLeak || c == ClassUnreferenced || c == ClassLeftAtExit }

// Text are what a class is called for people.
func (c Class) Text() string {
	if c == ClassLeftAtExit {
		return "left at exit"
	}
	return string(c)
}

// A Clause is a line of evidence that users read: a condition, or what else the judgement rests on.
type Clause struct {
	Rule string `json:"rule"` // its stable id: a Condition, "snapshots", "growth", "survivors", "spread", "growing-block", "score", "next", …
	// Holds is whether it is met; nil where the evidence cannot tell.
	Holds *bool  `json:"holds"`
	Text  string `json:"text"` // with the numbers, as in "grew in 5 of 5 intervals"
	// Longer is how many times as long a run would tell, of the clause RuleNext; 0 where nothing tells that.
	Longer float64 `json:"-"`
}

// A Rate is growth per unit of the axis, with its interval of 95 %.
type Rate struct {
	Unit      string  `json:"unit"` // "hour", or the name of the work counter: "document"
	Count     float64 `json:"count"`
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	Bytes     float64 `json:"bytes"`
	BytesLow  float64 `json:"bytes_low"`
	BytesHigh float64 `json:"bytes_high"`
	// Unbounded says that there is no such interval, because the snapshots are fewer than SnapshotsToJudge. Low and
	// high are then the least and the greatest growth between any two of them.
	Unbounded bool `json:"unbounded,omitempty"`
	// Over is for how many units it was watched. Dispersion is the variance of what came in stretches of that over its
	// mean, 1 at least: how much it comes in bursts.
	Over       float64 `json:"over"`
	Dispersion float64 `json:"dispersion"`
}

// A Result is the judgement on one signature.
type Result struct {
	Score    float64 // 0 to 1: of what looked like this in generated programs, so much leaked
	Unscored bool    // the evidence is too little for a score, which is 0
	Class    Class
	Certain  bool      // a leak that may fail a gate
	Clauses  []Clause  // of the Explain functions only
	Rate     *Rate     // nil where there is no growth to speak of
	Evidence *Evidence // nil of what is excluded without a look at its shape
}

// Scored reports whether Score says anything.
func (r *Result) Scored() bool { return r.Class != ClassUnknown && !r.Unscored }

// An Axis is the coordinate of the instants.
type Axis struct {
	Unit  string    // "hour", or the name of the work counter
	At    []float64 // ascending, in that unit
	Hours []float64 // ascending; nil where clocks do not tell
}

// Select is the axis of some of the instants.
func (a *Axis) Select(places []int) Axis {
	pick := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(places))
		for i, p := range places {
			out[i] = v[p]
		}
		return out
	}
	return Axis{a.Unit, pick(a.At), pick(a.Hours)}
}

// A Series is one signature over snapshots.
type Series struct {
	Count, Bytes []int64
	// Each is how many blocks a counted one stands for, where the evidence is a sample and Count counts what was recorded;
	// 0 where all blocks are. Bytes are those of all blocks.
	Each float64
	// Spans are when its blocks came and went, by place of the snapshot; Followed says that they are known.
	Spans    []capture.Span
	Followed bool
}

// ProfileOfSeries is when a signature allocated, by the intervals between snapshots: the blocks that are seen for the
// first time, or where they are not followed what the counts rose by.
func ProfileOfSeries(s *Series) AllocationProfile {
	n := len(s.Count)
	if n < 2 {
		return AllocationProfile{}
	}
	came := make([]float64, n-1)
	if s.Followed {
		for _, p := range s.Spans {
			if p.First > 0 && int(p.First) < n {
				came[p.First-1] += float64(p.Count)
			}
		}
		return ProfileOf(came)
	}
	for i := range came {
		came[i] = max(0, float64(s.Count[i+1])-float64(s.Count[i]))
	}
	return ProfileOf(came)
}

// ProfileOfSurvival is when a site of a trace allocated, by the bins of its window.
func ProfileOfSurvival(v *allocations.Survival) AllocationProfile {
	came := make([]float64, len(v.Born))
	for i, n := range v.Born {
		came[i] = float64(bounded(n))
	}
	return ProfileOf(came)
}
