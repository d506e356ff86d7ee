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

// Classes are all classes, the gravest last.
var Classes = []Class{
	ClassStable, ClassUnknown, ClassTransient, ClassOneTime, ClassCache, ClassGrowing, ClassLeftAtExit, ClassUnreferenced,
	ClassGrowingBlock, ClassLeak,
}

// Gravity is the rank of a class in Classes: higher is graver. It is −1 for an unknown class.
func (c Class) Gravity() int { return slices.Index(Classes, c) }

// IsSuspect reports whether memory leaks, is reached by no pointer, was left at exit, or grows while the evidence does
// not decide.
func (c Class) IsSuspect() bool { return c.Gravity() >= ClassGrowing.Gravity() }

// IsLeak reports whether memory leaks: it grows without an end, no pointer reaches it, or it was never freed.
func (c Class) IsLeak() bool { return c == ClassLeak || c == ClassUnreferenced || c == ClassLeftAtExit }

// Text is the name of a class for people.
func (c Class) Text() string {
	if c == ClassLeftAtExit {
		return "left at exit"
	}
	return string(c)
}

// A Clause is a line of evidence that users read: one condition, or another fact that the judgement rests on.
type Clause struct {
	Rule string `json:"rule"` // its stable id: a Condition, "snapshots", "growth", "survivors", "spread", "growing-block", "score", "next", …
	// Holds is whether it is met; nil where the evidence cannot tell.
	Holds *bool  `json:"holds"`
	Text  string `json:"text"` // with the numbers, as in "grew in 5 of 5 intervals"
	// LengthFactor is, in the clause RuleNext, how many times as long a run would decide; 0 where that is unknown.
	LengthFactor float64 `json:"-"`
}

// A Rate is growth per Unit of the axis, with its confidence interval of 95 %.
type Rate struct {
	Unit      string  `json:"unit"`  // "hour", or the name of the work counter: "document"
	Count     float64 `json:"count"` // blocks per Unit
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	Bytes     float64 `json:"bytes"` // bytes per Unit
	BytesLow  float64 `json:"bytes_low"`
	BytesHigh float64 `json:"bytes_high"`
	// Unbounded says that there is no such interval, because the snapshots are fewer than SnapshotsToJudge. Low and
	// High are then the least and the greatest growth between any two of them.
	Unbounded bool `json:"unbounded,omitempty"`
	// Over is how many Units it was watched. Dispersion is how much growth comes in bursts: the variance of the blocks
	// that came in parts of that time, over their mean; 1 at least.
	Over       float64 `json:"over"`
	Dispersion float64 `json:"dispersion"`
	// Span is how many hours the run lasted, of a rate per hour that leaves out blocks too young to be judged; 0 where
	// Over says the same.
	Span float64 `json:"span,omitempty"`
}

// A Result is the judgement on one signature.
type Result struct {
	Score    float64 // 0 to 1: the share of such signatures that leaked in generated programs
	Unscored bool    // the evidence is too little for a score; Score is 0
	Class    Class
	Certain  bool      // it is a leak that may fail a gate
	Clauses  []Clause  // nil except from the Explain functions
	Rate     *Rate     // nil where it hardly grows
	Evidence *Evidence // nil where it is excluded whatever its growth is like
}

// Scored reports whether there is a Score.
func (r *Result) Scored() bool { return r.Class != ClassUnknown && !r.Unscored }

// An Axis has the position of each instant in work or time.
type Axis struct {
	Unit  string    // "hour", or the name of the work counter
	At    []float64 // ascending, in Unit
	Hours []float64 // hours since the first instant, ascending; nil where the clocks do not tell
}

// Select is the axis of the instants with the given indexes.
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
	Count, Bytes []int64 // blocks and bytes held, by snapshot
	// Weight is how many blocks a counted one stands for, where the evidence is a sample and Count counts the recorded
	// blocks; 0 where all blocks are recorded. Bytes are estimates for all blocks.
	Weight float64
	// Spans say in which snapshots its blocks were first and last seen, as indexes of Count. Followed says that they
	// are known.
	Spans    []capture.Span
	Followed bool
}

// ProfileOfSeries is when a signature allocated, by the intervals between snapshots: by the blocks that are seen for
// the first time or, where blocks are not followed, by the rises of Count.
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
