package evaluation

import (
	"fmt"
	"slices"

	"heapdrift/internal/analysis/score"
)

// Quality is how well a decision does.
type Quality struct{ Precision, Recall float64 }

// Quality counts what a decision flags. Caches that are not full yet count neither way.
func (c *Cases) Quality(flags func(*score.Result) bool) Quality {
	var right, wrong, leaks int
	for i := range c.List {
		k := &c.List[i]
		if k.NotFull {
			continue
		}
		if k.Leaks {
			leaks++
		}
		switch {
		case !flags(&k.Result):
		case k.Leaks:
			right++
		default:
			wrong++
		}
	}
	return Quality{ratio(right, right+wrong), ratio(right, leaks)}
}

// IsLeak flags what is classed a leak.
func IsLeak(r *score.Result) bool { return r.Class == score.Leak }

// ScoreAbove flags by score alone.
func ScoreAbove(least float64) func(*score.Result) bool {
	return func(r *score.Result) bool { return r.Score > least }
}

// IsCertain flags what may fail a gate.
func IsCertain(r *score.Result) bool { return r.Certain }

// AveragePrecision is the mean precision over all leaks, in the order of scores; equal scores share their precision.
func (c *Cases) AveragePrecision() float64 {
	list := make([]*Case, 0, len(c.List))
	leaks := 0
	for i := range c.List {
		if k := &c.List[i]; !k.NotFull {
			list = append(list, k)
			if k.Leaks {
				leaks++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Case) int {
		switch {
		case a.Result.Score > b.Result.Score:
			return -1
		case a.Result.Score < b.Result.Score:
			return 1
		}
		return 0
	})
	sum, right := 0.0, 0
	for from := 0; from < len(list); {
		to, found := from, 0
		for ; to < len(list) && list[to].Result.Score == list[from].Result.Score; to++ {
			if list[to].Leaks {
				found++
			}
		}
		right += found
		sum += float64(found) * ratio(right, to)
		from = to
	}
	return sum / max(1, float64(leaks))
}

// A Bin is one line of a calibration table.
type Bin struct {
	Low, High float64
	Cases     int
	Mean      float64 // score
	Real      float64 // share that are leaks
}

// Calibration sorts cases by score in ten bins.
func (c *Cases) Calibration() [10]Bin {
	var bins [10]Bin
	var leaks [10]int
	for i := range c.List {
		k := &c.List[i]
		if k.NotFull {
			continue
		}
		b := min(int(k.Result.Score*10), 9)
		bins[b].Cases++
		bins[b].Mean += k.Result.Score
		if k.Leaks {
			leaks[b]++
		}
	}
	for b := range bins {
		n := bins[b].Cases
		bins[b].Low, bins[b].High = float64(b)/10, float64(b+1)/10
		bins[b].Mean /= max(1, float64(n))
		bins[b].Real = ratio(leaks[b], n)
	}
	return bins
}

// A PatternCount is what became of one pattern.
type PatternCount struct {
	Pattern        string
	Leaks, NotFull bool
	Cases, Flagged int
	Classes        map[score.Class]int
}

// Patterns counts by pattern, in the order in which they are declared.
func (c *Cases) Patterns() []PatternCount {
	var list []PatternCount
	for _, group := range [][]pattern{leaks, innocents, undecidable} {
		for _, p := range group {
			list = append(list, PatternCount{Pattern: p.name, Leaks: p.truth == leaking, NotFull: p.truth == notFull, Classes: map[score.Class]int{}})
		}
	}
	for i := range c.List {
		k := &c.List[i]
		at := slices.IndexFunc(list, func(p PatternCount) bool { return p.Pattern == k.Pattern })
		list[at].Cases++
		list[at].Classes[k.Result.Class]++
		if IsLeak(&k.Result) {
			list[at].Flagged++
		}
	}
	return list
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func plural(n int) string { return fmt.Sprintf("%d snapshots", n) }
