package leaks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heapdrift/internal/analysis/compare"
)

// A growth is what findings grow by in one unit.
type growth struct {
	sure, all float64 // of certain leaks whose rate has an interval, of all that leak or grow
	other     string  // a unit that some of them are counted by instead; "" for none
	unrated   bool    // one of them leaks, and nothing says how fast
}

// growthPer adds up how fast findings that leak or grow do so, per hour or unit of work.
func growthPer(list []*compare.Finding, in Measure, per string) (g growth) {
	for _, f := range list {
		rate := f.RateBytes
		if in == MeasureBlocks {
			rate = f.RateCount
		}
		switch {
		case !f.Class.IsSuspect():
		case f.RateUnit == "":
			g.unrated = g.unrated || f.Class.IsLeak()
		case f.RateUnit != per:
			g.other = f.RateUnit
		default:
			g.all += max(0, rate)
			if FailsGate(f) && !f.Unbounded {
				g.sure += max(0, rate)
			}
		}
	}
	return g
}

// budgets compares growth with its budgets.
func (d *decider) budgets() {
	for i := range d.Policy.Budgets {
		b := &d.Policy.Budgets[i]
		switch {
		case b.Scope == BudgetSignature:
			for _, f := range d.counted {
				if b.Name == "" || b.Name == f.Signature {
					d.budget(b, f, nameOf(f), []*compare.Finding{f})
				}
			}
		case b.Scope == BudgetTotal:
			d.budget(b, nil, "the run", d.counted)
		case strings.EqualFold(b.Name, d.Process):
			d.budget(b, nil, b.Name, d.counted)
		case d.Process == "" && slices.ContainsFunc(d.counted, func(f *compare.Finding) bool { return f.Class.IsSuspect() }):
			d.add(Reason{Effect: EffectDoubts, Code: ReasonBudgetUnmeasured, Limit: &b.Limit,
				Unit:     string(b.Measure) + "/" + b.Per,
				Sentence: fmt.Sprintf("the budget of %s was not checked: the evidence names no process", b.Name)})
		}
	}
}

// budget compares the growth of findings with one budget. subject is the finding that the budget is for, nil for the
// whole run.
func (d *decider) budget(b *Budget, subject *compare.Finding, name string, list []*compare.Finding) {
	g, unit := growthPer(list, b.Measure, b.Per), string(b.Measure)+"/"+b.Per
	switch {
	case g.sure > b.Limit:
		d.add(Reason{Effect: EffectFails, Code: ReasonBudget, Signature: signatureOf(subject),
			Figure: &g.sure, Limit: &b.Limit, Unit: unit,
			Sentence: fmt.Sprintf("%s grows by %s, over the budget of %s", name,
				amountOf(g.sure, b.Measure, b.Per), amountOf(b.Limit, b.Measure, b.Per))})
	case g.all > b.Limit:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonBudgetUncertain, Signature: signatureOf(subject),
			Figure: &g.all, Limit: &b.Limit, Unit: unit,
			Sentence: fmt.Sprintf("%s grows by %s, over the budget of %s, but %s of it is uncertain",
				name, amountOf(g.all, b.Measure, b.Per), amountOf(b.Limit, b.Measure, b.Per),
				amountOf(g.all-g.sure, b.Measure, b.Per))})
	case g.other != "":
		d.add(Reason{Effect: EffectDoubts, Code: ReasonBudgetUnmeasured, Signature: signatureOf(subject),
			Limit: &b.Limit, Unit: unit,
			Sentence: fmt.Sprintf("record %[1]s per %[3]s: it grows per %[2]s, and its budget is per %[3]s",
				name, g.other, b.Per)})
	case g.unrated:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonBudgetUnmeasured, Signature: signatureOf(subject),
			Limit: &b.Limit, Unit: unit,
			Sentence: fmt.Sprintf("record snapshots with times or work: %s leaks at an unknown rate", name)})
	}
}

// drift compares growth with that of the release.
func (d *decider) drift() {
	bound := d.Policy.Drift
	switch {
	case bound == nil:
		return
	case d.Release == nil:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonNoRelease,
			Sentence: "pin an earlier build of the scenario as a release: drift is measured against it"})
		return
	}
	silent := map[string]bool{}
	for i := range d.Head.Findings {
		silent[d.Head.Findings[i].Signature] = true
	}
	for _, f := range d.counted {
		delete(silent, f.Signature)
	}
	var base []*compare.Finding
	for i := range d.Release.Findings {
		if f := &d.Release.Findings[i]; !silent[f.Signature] && !IsTolerated(f) && !d.Policy.isCanary(f) &&
			!d.Policy.isBelowScore(f) {
			base = append(base, f)
		}
	}
	for _, per := range unitsOf(d.counted) {
		d.driftPer(bound, per, base)
	}
	if growthPer(d.counted, bound.Measure, "").unrated {
		d.add(Reason{Effect: EffectDoubts, Code: ReasonDriftUnmeasured,
			Sentence: "record snapshots with times or work: the run leaks at an unknown rate, so drift was not checked"})
	}
}

// driftPer compares growth in one unit with that of the release.
func (d *decider) driftPer(bound *DriftLimit, per string, base []*compare.Finding) {
	now, then := growthPer(d.counted, bound.Measure, per), growthPer(base, bound.Measure, per)
	unit := string(bound.Measure) + "/" + per
	limit := then.all * (1 + bound.Percent/100)
	was := "build " + d.Release.Build + ", the release, by " + amountOf(then.all, bound.Measure, per)
	switch {
	case now.all <= limit:
	case !d.Release.Decides():
		d.add(Reason{Effect: EffectDoubts, Code: ReasonDriftUnmeasured, Figure: &now.all, Unit: unit,
			Sentence: fmt.Sprintf("drift was not checked: the evidence of build %s, the release, does not decide",
				d.Release.Build)})
	case then.other != "" || then.unrated:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonDriftUnmeasured, Figure: &now.all, Unit: unit,
			Sentence: fmt.Sprintf("drift was not checked: build %s, the release, was not measured per %s",
				d.Release.Build, per)})
	case now.sure > limit:
		d.add(Reason{Effect: EffectFails, Code: ReasonDrift, Figure: &now.sure, Limit: &limit, Unit: unit,
			Sentence: fmt.Sprintf("the run grows by %s, and %s: more than %s %% faster",
				amountOf(now.sure, bound.Measure, per), was, plain(bound.Percent))})
	default:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonDriftUncertain, Figure: &now.all, Limit: &limit, Unit: unit,
			Sentence: fmt.Sprintf("the run grows by %s, which is uncertain, and %s", amountOf(now.all, bound.Measure, per), was)})
	}
}

// unitsOf are the units by which findings grow, in their order.
func unitsOf(list []*compare.Finding) []string {
	var units []string
	seen := map[string]bool{}
	for _, f := range list {
		if f.Class.IsSuspect() && f.RateUnit != "" && !seen[f.RateUnit] {
			seen[f.RateUnit] = true
			units = append(units, f.RateUnit)
		}
	}
	return units
}

// amountOf is a growth in words: "1200 bytes per hour".
func amountOf(rate float64, in Measure, per string) string {
	return plain(rate) + " " + string(in) + " per " + per
}

// plain is a number without an exponent, to two decimals.
func plain(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
