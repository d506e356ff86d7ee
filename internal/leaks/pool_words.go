package leaks

import (
	"fmt"
	"strconv"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// rulePooled names the clauses that say what other runs add.
const rulePooled = "pooled"

// Clauses say what other runs add to the judgement of one run, own: one line on the runs that are judged together, one
// on those before them.
func (p *PooledRating) Clauses(own Rating) []score.Clause {
	var list []score.Clause
	if p.Runs > 1 {
		list = append(list, score.Clause{Rule: rulePooled, Holds: new(p.Leaks), Text: p.text(own)})
	}
	if p.Work != nil {
		list = append(list, p.Work.clause())
	}
	if p.Onset != nil {
		list = append(list, p.onsetClause())
	}
	return list
}

// text gives the judgement on the runs together.
func (p *PooledRating) text(own Rating) string {
	if own.Class == analysis.ClassLeak && !p.Leaks {
		if p.Runs == 2 {
			return "Leaks in this run; the other run of the scenario does not confirm it."
		}
		return fmt.Sprintf("Leaks in this run; %d other runs of the scenario do not confirm it.", p.Runs-1)
	}
	tail := ""
	switch {
	case !p.Leaks:
		tail = " (not decided)"
	case own.Certain && !p.Certain:
		tail = " (too uncertain to fail a gate)"
	}
	return fmt.Sprintf("Pooled over %d runs of %s: %s%s. In tests on generated programs, %s of such sites were leaks.",
		p.Runs, p.where(), p.each(), tail, percent(p.Score))
}

// namedBuilds is how many builds a line names one by one.
const namedBuilds = 3

// where names the builds.
func (p *PooledRating) where() string {
	switch n := len(p.Builds); {
	case n == 1:
		return buildNamed(p.Builds[0])
	case n <= namedBuilds:
		return "builds " + joinedWords(p.Builds)
	default:
		return fmt.Sprintf("%d builds, %s to %s", n, p.Builds[0], p.Builds[n-1])
	}
}

// buildNamed is how sentences call a build, or the run that has none because there is no server.
func buildNamed(name string) string {
	if name == headLabel {
		return name
	}
	return "build " + name
}

// each counts the runs by their own ratings.
func (p *PooledRating) each() string {
	var words []string
	for _, c := range []struct {
		runs int
		word string
	}{{p.Leaking, "leak"}, {p.Growing, "growing"}, {p.Clean, "clean"}} {
		switch {
		case c.runs == p.Runs:
			return c.word + " in each"
		case c.runs > 0:
			words = append(words, fmt.Sprintf("%s in %d", c.word, c.runs))
		}
	}
	return strings.Join(words, ", ")
}

// ruleOnset names the clause that says whether a leak began.
const ruleOnset = "onset"

// onsetClause compares what stays with what stayed before.
func (p *PooledRating) onsetClause() score.Clause {
	o := p.Onset
	before := fmt.Sprintf("any of the %d runs before", o.Before)
	if o.Before == 1 {
		before = "the run before"
	}
	c := score.Clause{Rule: ruleOnset}
	since := ""
	if len(p.Builds) > 0 {
		since = " since " + buildNamed(p.Builds[0])
		if p.Builds[0] == headLabel {
			since = " in " + headLabel
		}
	}
	times := strconv.FormatFloat(o.Factor, 'f', 1, 64)
	if o.Factor >= 10 {
		times = strconv.FormatFloat(o.Factor, 'f', 0, 64)
	}
	switch {
	case o.Certain:
		c.Holds, c.Text = new(true), fmt.Sprintf("Began to leak%s: %s times as many blocks stay as in %s.", since, times, before)
	case o.Rises:
		c.Text = fmt.Sprintf("May have begun to leak%s: %s times as many blocks stay as in %s.", since, times, before)
	default:
		c.Holds = new(false)
		c.Text = fmt.Sprintf("About as many blocks stayed in %s, without a leak.", strings.Replace(before, "any", "one", 1))
	}
	return c
}

// percent prints a share, as far as it is not clear.
func percent(share float64) string {
	switch v := 100 * share; {
	case v < 0.5:
		return "less than 1 %"
	case v > 99:
		return "more than 99 %"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	}
}
