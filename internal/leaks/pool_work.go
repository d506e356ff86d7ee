package leaks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// When runs of different work tell whether a leak at exit grows.
const (
	// leastWorkRuns is how many runs it takes: two points lie on some line always.
	leastWorkRuns = 3
	// leastWorkRatio is how many times the smallest amount of work the largest must be.
	leastWorkRatio = 2
	// proportionError is by which share of what is proportional a count may differ from it. A difference of one block is
	// allowed always: the last piece of work may not have been done.
	proportionError = 0.1
	// mostWorkChance is how probable the counts of the runs with more work may be by chance: as many blocks or more if the
	// work did not matter, for growth; as few or fewer if they came with the work, for blocks that came once.
	mostWorkChance = 0.01
)

// A WorkComparison is what a leak at exit left in runs of one build with different amounts of work.
type WorkComparison struct {
	Unit string      `json:"unit"`
	Runs []WorkCount `json:"runs"` // least work first
	// Grows says that the blocks are in proportion to the work, and Stays that they are as many whatever work is done.
	Grows bool `json:"grows"`
	Stays bool `json:"stays"`
}

// A WorkCount is how many blocks were lost in a run, and after how much work.
type WorkCount struct {
	Work   float64 `json:"work"`
	Blocks int64   `json:"blocks"`
}

// compareWork compares what the run at an index lists of a leak with other runs of its build that print as many lists
// of the same tools after other amounts of work. It is nil where that tells nothing. A run of them that does not list
// the leak has no block of it.
func (p *Pool) compareWork(at int, own *RunRating) *WorkComparison {
	here := &p.Runs[at]
	if own.Class != analysis.ClassLeftAtExit || here.ExitWork == nil || own.Lost <= 0 {
		return nil
	}
	c := &WorkComparison{Unit: here.ExitWork.Unit}
	from, to := p.Runs.build(here.Rank)
	for i := from; i < to; i++ {
		if !p.Runs[i].isComparable(here) {
			continue
		}
		count := WorkCount{Work: p.Runs[i].ExitWork.Count}
		if s := p.RatingByRun[i]; s != nil {
			if s.Class != analysis.ClassLeftAtExit || s.Lost <= 0 { // other evidence of that run says something else
				return nil
			}
			count.Blocks = s.Lost
		}
		c.Runs = append(c.Runs, count)
	}
	sorting.Stable(c.Runs, func(a, b WorkCount) int {
		return cmp.Or(cmp.Compare(a.Work, b.Work), cmp.Compare(a.Blocks, b.Blocks))
	})
	if !c.tells() {
		return nil
	}
	c.Grows, c.Stays = c.isInProportion(), c.isAsBefore()
	if !c.Grows && !c.Stays {
		return nil
	}
	return c
}

// isComparable reports whether both runs print as many lists of the same tools, and count their work alike: a program
// that runs more often leaves more of everything.
func (r *PoolRun) isComparable(other *PoolRun) bool {
	return r.ExitWork != nil && r.ExitWork.Unit == other.ExitWork.Unit && r.ExitWork.Lists == other.ExitWork.Lists &&
		slices.Equal(r.ExitTools, other.ExitTools)
}

func (c *WorkComparison) least() *WorkCount { return &c.Runs[0] }
func (c *WorkComparison) most() *WorkCount  { return &c.Runs[len(c.Runs)-1] }

// tells reports whether the runs are enough, and their work differs enough. Beside a run without work, all are among
// those with more work, so that nothing is improbable.
func (c *WorkComparison) tells() bool {
	return len(c.Runs) >= leastWorkRuns && c.most().Work >= leastWorkRatio*c.least().Work
}

// sums are the work and the blocks of all runs.
func (c *WorkComparison) sums() (work float64, blocks int64) {
	for _, r := range c.Runs {
		work, blocks = work+r.Work, blocks+r.Blocks
	}
	return work, blocks
}

// more sums the runs whose work is a multiple of the least, and counts them.
func (c *WorkComparison) more() (runs int, work float64, blocks int64) {
	for _, r := range c.Runs {
		if r.Work >= leastWorkRatio*c.least().Work {
			runs, work, blocks = runs+1, work+r.Work, blocks+r.Blocks
		}
	}
	return runs, work, blocks
}

// isInProportion reports whether each run lost as many blocks as its share of the work says, and whether that is
// improbable if the work did not matter: numbers of blocks that vary by themselves may rise by chance.
func (c *WorkComparison) isInProportion() bool {
	work, blocks := c.sums()
	runs, _, there := c.more()
	if binomialUpTo(blocks, blocks-there, 1-float64(runs)/float64(len(c.Runs))) > mostWorkChance {
		return false
	}
	return !slices.ContainsFunc(c.Runs, func(r WorkCount) bool {
		expected := float64(blocks) * r.Work / work
		return math.Abs(float64(r.Blocks)-expected) > max(1, proportionError*expected)
	})
}

// isAsBefore reports whether all runs lost as many blocks, and whether that is improbable if blocks came with the work:
// then the runs with most work would have most of them.
func (c *WorkComparison) isAsBefore() bool {
	if slices.ContainsFunc(c.Runs, func(r WorkCount) bool { return r.Blocks != c.Runs[0].Blocks }) {
		return false
	}
	work, blocks := c.sums()
	_, most, there := c.more()
	return binomialUpTo(blocks, there, most/work) <= mostWorkChance
}

// binomialUpTo is the probability of at most k of n, each with a probability.
func binomialUpTo(n, k int64, p float64) float64 {
	if k >= n || p <= 0 {
		return 1
	}
	if p >= 1 {
		return 0
	}
	const manyBlocks = 10_000 // of which the sum below would take long; their scatter is normal
	if n > manyBlocks {
		mean := float64(n) * p
		return math.Erfc((mean-float64(k)-0.5)/math.Sqrt(2*mean*(1-p))) / 2
	}
	sum := 0.0
	total, _ := math.Lgamma(float64(n) + 1)
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(i) + 1)
		b, _ := math.Lgamma(float64(n-i) + 1)
		sum += math.Exp(total - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(1, sum)
}

// rating is the judgement by the work: what grows with it is a leak, as certain as it is that the blocks were never
// freed. What stays as it was is left at exit as before; its clause says that it came once.
func (c *WorkComparison) rating(own *RunRating) Rating {
	if c.Grows {
		return Rating{analysis.ClassLeak, own.Score, own.Certain}
	}
	return own.Rating
}

// ruleWork names the clause that compares runs of different work.
const ruleWork = "work"

// clause says what runs of different work show.
func (c *WorkComparison) clause() score.Clause {
	var counts []string
	for i, r := range c.Runs {
		if i > 0 && r == c.Runs[i-1] {
			continue
		}
		counts = append(counts, fmt.Sprintf("%s after %s", quantity.Plural(r.Blocks, "block"), workText(r.Work, c.Unit)))
	}
	text := strings.Join(counts, ", ")
	runs := quantity.Plural(len(c.Runs), "run")
	if c.Grows {
		return score.Clause{Rule: ruleWork, Holds: new(true),
			Text: fmt.Sprintf("Grows in proportion to the work, in %s of this build: %s.", runs, text)}
	}
	return score.Clause{Rule: ruleWork, Holds: new(false),
		Text: fmt.Sprintf("One-time: as many blocks whatever the work, in %s of this build: %s.", runs, text)}
}

func workText(work float64, unit string) string {
	if work == math.Trunc(work) && work < 1<<53 {
		return quantity.Plural(int64(work), unit)
	}
	return fmt.Sprintf("%g %ss", work, unit)
}
