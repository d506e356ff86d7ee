package score

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// clauses are the evidence lines of a series: each condition of the rule, then what the score is made of.
func (v *snapshotView) clauses(r *Result) []Clause {
	list := []Clause{v.snapshotsClause()}
	if v.warmUp > 0 {
		list = append(list, clause("warm-up", true, "%s left out as warm-up", number(v.warmUp, "snapshot")))
	}
	if v.rule.n < 2 || v.span <= 0 {
		return list
	}
	if v.all.n > v.rule.n {
		list = append(list, clause("grouping", true, "the rule looks at medians of %d groups of snapshots", v.rule.n))
	}
	m := v.rule.n - 1
	first, last := v.all.c[0], v.all.c[v.all.n-1]
	list = append(list,
		clause("slope", v.line.slope > 0, "from %s to %s blocks; it rises with a probability of %s", decimal(first), decimal(last), percent(v.rising)),
		clause("fit", v.line.fit > ruleFit, "a straight line explains %s of the variation; a leak has more than %s", percent(v.line.fit), percent(ruleFit)))
	switch {
	case v.first > 0:
		list = append(list, clause("trailing", v.last > ruleTrailing*v.first, "the second half grew at %s of the first half's rate; a leak has more than %s", percent(v.last/v.first), percent(ruleTrailing)))
	case v.last > 0:
		list = append(list, clause("trailing", true, "only the second half grew"))
	default:
		list = append(list, clause("trailing", false, "neither half grew"))
	}
	list = append(list, clause("rises", float64(v.rises) >= ruleRises*float64(m), "grew in %d of %s", v.rises, number(m, "interval")))
	switch {
	case v.survivors < 0:
		list = append(list, Clause{Rule: "survival", Text: "the snapshots have no addresses, so whether blocks survive is not known"})
	case v.grown <= 0:
		list = append(list, Clause{Rule: "survival", Text: "it grew in the last interval at most, so whether blocks survive is not known"})
	default:
		list = append(list, clause("survival", v.survivalHolds(), "%s since the second snapshot were never freed: %s of the growth; a leak has %s or more",
			number(int(min(v.survivors, math.MaxInt32)), "block"), percent(float64(v.survivors)/v.grown), percent(ruleSurvival)))
	}
	if last <= first && v.all.y[v.all.n-1] > v.all.y[0] {
		list = append(list, clause("blocks", false, "the number of blocks did not grow, only their size: a buffer that is resized"))
	}
	return append(list, conclusion(v.shape, r)...)
}

func (v *snapshotView) snapshotsClause() Clause {
	if v.snapshots >= SnapshotsToJudge {
		return clause("snapshots", true, "%s", number(v.snapshots, "snapshot"))
	}
	return clause("snapshots", false, "%s; it takes %d before growth may be called a leak", number(v.snapshots, "snapshot"), SnapshotsToJudge)
}

// clauses are the evidence lines of a trace.
func (t *traceView) clauses(r *Result) []Clause {
	list := []Clause{
		clause("settle", true, "blocks are judged that were allocated %s or more before the end, in %s of the window", seconds(t.settle), percent(t.span/t.window)),
		clause("survivors", t.survivors >= leastBlocks, "%s of %s allocated there were not freed; a leak has %d or more", decimal(float64(t.survivors)), decimal(float64(t.births)), leastBlocks),
		clause("spread", t.bins >= leastBins, "they come from %d of %d stretches; a leak has %d or more", t.bins, traceBins, leastBins),
	}
	if t.idle > 0 {
		list = append(list, Clause{Rule: "idle", Text: fmt.Sprintf("%d of %d stretches are left out in which the process did next to nothing", t.idle, t.judged)})
	}
	if t.survivors < leastBlocks || t.bins < leastBins {
		return list
	}
	p := &t.plateau
	list = append(list,
		clause("survival", t.veto >= leastFactor, "the survival curve ends at %s of all blocks never freed (%s to %s)", percent(p.forever), percent(p.low), percent(p.high)),
		clause("turnover", t.turnover >= leastFactor, "old blocks are freed at a rate of %s in a window as long as this", percent(1-math.Exp(-p.hazard))))
	if t.lateFrees > 0 {
		list = append(list, clause("older-blocks", t.late >= leastFactor, "%s in the second half freed older blocks of the same heap, perhaps some of this stack: weight %s", number(int(min(t.lateFrees, math.MaxInt32)), "free"), percent(t.late)))
	}
	return append(list, conclusion(t.shape, r)...)
}

// conclusion says how the model reads the shape, and what no shape tells.
func conclusion(s shape, r *Result) []Clause {
	if s == (shape{}) { // it did not grow
		return nil
	}
	list := []Clause{clause("shape", r.Score >= leakScore, "steady growth %s, growth that falls off %s, a few bursts %s, only recent growth %s; score %.2f",
		percent(s.leak), percent(s.fill), percent(s.once), percent(s.recent), r.Score)}
	if r.Class == Leak || r.Class == Growing {
		list = append(list, Clause{Rule: "full", Text: "a cache that is not full yet looks the same: run longer, or mark it as known"})
	}
	return list
}

func clause(rule string, holds bool, format string, args ...any) Clause {
	return Clause{Rule: rule, Holds: &holds, Text: fmt.Sprintf(format, args...)}
}

func number(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return decimal(float64(n)) + " " + word + "s"
}

// decimal prints a count with commas; averages have a decimal.
func decimal(v float64) string {
	digits := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	whole, rest, _ := strings.Cut(digits, ".")
	sign := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if sign {
		whole = "−" + whole
	}
	return whole
}

// percent prints a share, as far as it is not clear.
func percent(p float64) string {
	switch v := 100 * p; {
	case v > 0 && v < 0.5:
		return "below 1 %"
	case v < 100 && v > 99:
		return "above 99 %"
	case v > 999:
		return "over 999 %"
	default:
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64) + " %"
	}
}

// seconds prints a time in ns with a unit that suits it.
func seconds(ns float64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"h", 3600e9}, {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}} {
		if ns >= unit.ns {
			return strconv.FormatFloat(ns/unit.ns, 'g', 3, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(ns/1e3, 'g', 3, 64) + " µs"
}
