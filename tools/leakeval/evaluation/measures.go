package evaluation

import (
	"cmp"
	"slices"

	"heapdrift/internal/analysis/score"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// Quality is how well a decision finds leaks.
type Quality struct {
	Precision, Recall float64 // 0 to 1
	Flagged           int     // how many cases the decision flags
}

// Quality counts what a decision flags. Undecidable cases count neither way.
func (c *Cases) Quality(flags func(*Case) bool) Quality {
	var right, wrong, leaks int
	for i := range c.List {
		k := &c.List[i]
		if !k.Counts() {
			continue
		}
		if k.Leaks() {
			leaks++
		}
		switch {
		case !flags(k):
		case k.Leaks():
			right++
		default:
			wrong++
		}
	}
	return Quality{ratio(right, right+wrong), ratio(right, leaks), right + wrong}
}

// IsLeak reports whether a case is judged a leak.
func IsLeak(c *Case) bool { return c.Class == score.ClassLeak || c.Class == score.ClassGrowingBlock }

// IsCertain reports whether a case is judged a certain leak, which may fail a gate.
func IsCertain(c *Case) bool { return c.Certain }

// AveragePrecision is the mean precision over all leaks, in the order of scores; equal scores share their precision.
func (c *Cases) AveragePrecision() float64 {
	var list []*Case
	leaks := 0
	for i := range c.List {
		if k := &c.List[i]; k.Counts() {
			list = append(list, k)
			if k.Leaks() {
				leaks++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Case) int { return cmp.Compare(b.Score, a.Score) })
	sum, right := 0.0, 0
	for from := 0; from < len(list); {
		to, found := from, 0
		for ; to < len(list) && list[to].Score == list[from].Score; to++ {
			if list[to].Leaks() {
				found++
			}
		}
		right += found
		sum += float64(found) * ratio(right, to)
		from = to
	}
	return sum / max(1, float64(leaks))
}

// A Bin is one bin of a calibration table.
type Bin struct {
	Cases int
	Mean  float64 // mean score of its cases
	Real  float64 // share of its cases that leak
}

// Calibration sorts cases into ten bins of equal width by their score.
func (c *Cases) Calibration() [10]Bin {
	var bins [10]Bin
	var leaks [10]int
	for i := range c.List {
		k := &c.List[i]
		if !k.Counts() {
			continue
		}
		b := min(int(k.Score*10), 9)
		bins[b].Cases++
		bins[b].Mean += k.Score
		if k.Leaks() {
			leaks[b]++
		}
	}
	for b := range bins {
		bins[b].Mean /= max(1, float64(bins[b].Cases))
		bins[b].Real = ratio(leaks[b], bins[b].Cases)
	}
	return bins
}

// A BehaviourCount counts the cases of one behaviour: all, those flagged as a leak, and those that are certain.
type BehaviourCount struct {
	*behaviour.Behaviour
	Cases, Flagged, Certain int
}

// Share is the part of the cases that was flagged, from 0 to 1.
func (b *BehaviourCount) Share() float64 { return ratio(b.Flagged, b.Cases) }

// Missed is the share of the cases that is judged wrongly: leaks that are not flagged, or other cases that are.
func (b *BehaviourCount) Missed() float64 {
	if b.Truth == behaviour.Leaks {
		return 1 - b.Share()
	}
	return b.Share()
}

// Behaviours counts by behaviour, in the order of names.
func (c *Cases) Behaviours() []BehaviourCount {
	at := map[*behaviour.Behaviour]*BehaviourCount{}
	for i := range c.List {
		k := &c.List[i]
		b := at[k.Behaviour]
		if b == nil {
			b = &BehaviourCount{Behaviour: k.Behaviour}
			at[k.Behaviour] = b
		}
		b.Cases++
		if IsLeak(k) {
			b.Flagged++
		}
		if IsCertain(k) {
			b.Certain++
		}
	}
	var list []BehaviourCount
	for _, b := range at {
		list = append(list, *b)
	}
	slices.SortFunc(list, func(a, b BehaviourCount) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
