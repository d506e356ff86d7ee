package score

import (
	"fmt"

	"heapdrift/ingest/quantity"
)

// LeastDoubt is the probability from which a finding that is not certain may be a leak: below it, users are not asked
// about it.
const LeastDoubt = 0.1

// An ambiguity holds the facts about some growth that tell which patterns one run cannot distinguish from a leak.
type ambiguity struct {
	shape  *shape
	bursts int
	grown  bool
	// died is the greatest age at which a block was freed, as a share of the time that was watched, and in words; deaths
	// and risk are those of blocks older than a quarter of it.
	died         float64
	diedWords    string
	deaths, risk float64
}

const (
	// decidingBursts is how many bursts it takes to tell an outage that leaks from phases of work.
	decidingBursts = 8
	// decidingExpiries is how many times the longest life a run must last to tell what expires from what never does.
	decidingExpiries = 4
)

// RuleNext is the Rule of the last clause, which says what one run cannot tell from a leak, and what to record.
const RuleNext = "next"

// StillFilling is the text of that clause where no condition speaks against a leak.
const StillFilling = "Record longer, or mark it known: a cache that is still filling looks the same."

// A pattern is growth that one run cannot tell from a leak, and what to record next.
type pattern struct {
	looks func(*ambiguity) bool
	words func(*ambiguity) string
	// longer is how many times as long a run would tell; nil where nothing tells how long.
	longer func(*ambiguity) float64
}

// patterns in the order in which they are looked for: the first that fits is said.
var patterns = []pattern{
	{
		looks: func(r *ambiguity) bool { return r.shape.inFew(r.bursts) },
		words: func(r *ambiguity) string {
			return fmt.Sprintf("Record longer, or a second run: %s may be an outage that leaks, or phases of the program (%d bursts decide).",
				quantity.Plural(r.bursts, "burst"), decidingBursts)
		},
		longer: func(r *ambiguity) float64 { return decidingBursts / float64(r.bursts) },
	},
	{
		looks: func(r *ambiguity) bool { return !r.grown && r.deaths > fewDeaths*r.risk },
		words: func(*ambiguity) string {
			return "Record until the cache was replaced several times: a leak beside a busy cache looks like the cache alone."
		},
	},
	{
		looks: func(r *ambiguity) bool { return r.died*decidingExpiries > 1 },
		words: func(r *ambiguity) string {
			return fmt.Sprintf("Record %d times %s or more: blocks are freed at that age, and sessions that expire look the same.",
				decidingExpiries, r.diedWords)
		},
		longer: func(r *ambiguity) float64 { return decidingExpiries * r.died },
	},
	{
		looks: func(r *ambiguity) bool { return r.shape.recent > r.shape.leak+tie },
		words: func(*ambiguity) string {
			return "Record until the load has fallen again: a queue not drained yet, or work in flight, looks the same."
		},
	},
	{
		looks: func(*ambiguity) bool { return true },
		words: func(*ambiguity) string { return StillFilling },
	},
}

// inFew reports whether growth came in too few bursts to tell an outage that leaks from phases of work.
func (s *shape) inFew(bursts int) bool {
	return s.once > max(s.leak, s.recent)+tie && bursts > 0 && bursts < decidingBursts
}

// conclusion says what the score is, what one run cannot tell, and what to record next.
func (v *snapshotView) conclusion(r *Result) []Clause {
	of := &ambiguity{&v.shape, v.bursts(), v.grown > 0, v.cohorts.died, v.age(v.cohorts.died),
		v.cohorts.deaths, v.cohorts.risk}
	if v.model == nil {
		return next(r, of)
	}
	return conclude(r, of)
}

func (t *traceView) conclusion(r *Result) []Clause {
	return conclude(r, &ambiguity{&t.shape, t.bins, true, t.ages.died, seconds(t.ages.died * t.window),
		t.ages.deaths, t.ages.risk})
}

func conclude(r *Result, of *ambiguity) []Clause {
	return append([]Clause{{Rule: "score",
		Text: fmt.Sprintf("In tests on generated programs, %s of such sites were leaks.", percent(r.Score))}}, next(r, of)...)
}

// next says of what leaks or grows which pattern it may be instead, and what to record.
func next(r *Result, of *ambiguity) []Clause {
	if !r.Class.IsSuspect() {
		return nil
	}
	for _, p := range patterns {
		if p.looks(of) {
			c := Clause{Rule: RuleNext, Text: p.words(of)}
			if p.longer != nil {
				c.LengthFactor = p.longer(of)
			}
			return []Clause{c}
		}
	}
	return nil
}

// bursts is in how many intervals the count rose by more than a twentieth of all its rises.
func (v *snapshotView) bursts() (n int) {
	for _, d := range v.rises {
		if d > v.rose/20 {
			n++
		}
	}
	return n
}
