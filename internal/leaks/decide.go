package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A Case is what a gate decides on: a run that has a report, under a policy.
type Case struct {
	Policy   *Policy
	Version  int      // of the policy; 0 for none saved
	Asked    []FailOn // by the call; it may only tighten the policy
	Status   analysis.Status
	Process  string // that the run is about
	Head     *compare.Side
	Compared *RunComparison // with the baseline; nil without one
	// Release is the newest pinned build before the run's own, nil without one; it counts where the policy bounds drift.
	Release *compare.Side
	// Past tells, by signature, which of the last runs of the scenario that decide about it found it, the oldest first
	// and this run last.
	Past map[string][]bool
}

// A decider derives the decision on a case.
type decider struct {
	*Case
	on      []FailOn
	counted []*compare.Finding // that may fail the gate: not tolerated, quarantined, below the score nor the canary
	open    map[string]bool    // signatures of which the base does not tell whether they are new
	unrated int                // leaks of both sides of which the base, which decides nothing, does not tell whether they grow faster
	alone   int                // leaks of the run alone, that other runs of the scenario do not confirm
	proof   Proof
	reasons []Reason
}

// Decide says whether a run passes its gate, and for which reasons. The decision depends on nothing but the case.
func Decide(c *Case) Decision { return decided(c).conclude() }

// decided finds the reasons of a case.
func decided(c *Case) *decider {
	d := &decider{Case: c, on: c.Policy.Tightened(c.Version, c.Asked), open: map[string]bool{}}
	if c.Policy.Canary != "" {
		d.proof = NotProven
	}
	for i := range c.Head.Findings {
		d.sort(&c.Head.Findings[i])
	}
	d.kinds()
	d.budgets()
	d.drift()
	d.report()
	d.doubts()
	return d
}

// sort separates the leaks that may fail the gate from those that are silenced.
func (d *decider) sort(f *compare.Finding) {
	isLeak := f.Class.IsLeak()
	changes, flaps := d.Policy.Noise.Flaps(d.Past[f.Signature])
	switch {
	case d.Policy.isCanary(f):
		if isLeak && f.Certain {
			d.proof = Proven
			d.say(EffectSilences, ReasonCanary, f, nil, nil, "",
				"%s is the canary: that it is found proves that the gate can fail", nameOf(f))
		}
	case IsTolerated(f):
		switch {
		case !isLeak:
		case f.ByRule:
			d.say(EffectSilences, ReasonRule, f, nil, nil, "", "a rule of the project says that %s is known: %q",
				nameOf(f), f.Known)
		default:
			d.say(EffectSilences, ReasonKnown, f, nil, nil, "", "the team says that %s is known%s", nameOf(f), because(f.Known))
		}
	case isLeak && flaps:
		d.say(EffectSilences, ReasonQuarantined, f, new(float64(changes)), new(float64(d.Policy.Noise.Changes)), "changes",
			"%s is quarantined: over the last %d runs that decide about it, it changed %d times between found and not found",
			nameOf(f), min(d.Policy.Noise.Runs, len(d.Past[f.Signature])), changes)
	case flaps: // its growth counts no more than its leak does
	case d.Policy.isBelowScore(f):
		d.say(EffectSilences, ReasonScore, f, f.Score, &d.Policy.MinimumScore, "score",
			"%s leaks with a score of %s, below the %s that counts", nameOf(f), figures.Score(*f.Score),
			figures.Score(d.Policy.MinimumScore))
	default:
		d.counted = append(d.counted, f)
		if f.Unconfirmed {
			d.alone++
		}
	}
}

// isCanary reports whether a finding is the policy's canary: by its signature or by one of its functions.
func (p *Policy) isCanary(f *compare.Finding) bool {
	return p.Canary != "" && (f.Signature == p.Canary || slices.ContainsFunc(f.Frames, func(frame string) bool {
		_, function, _ := strings.Cut(frame, "!")
		return frame == p.Canary || function == p.Canary
	}))
}

// isBelowScore reports whether a leak's score is too low to count. A finding that only grows, or has no score, counts.
func (p *Policy) isBelowScore(f *compare.Finding) bool {
	return f.Class.IsLeak() && f.Score != nil && *f.Score < p.MinimumScore
}

// kinds finds the leaks that fail the gate by their kind: new, regressed, grown or any leak.
func (d *decider) kinds() {
	changes := map[string]*compare.Row{}
	if d.Compared != nil {
		for i := range d.Compared.Rows {
			if r := &d.Compared.Rows[i]; r.Head != nil {
				changes[r.Head.Signature] = r
			}
		}
	}
	for _, f := range d.counted {
		if !FailsGate(f) {
			continue
		}
		row := changes[f.Signature]
		d.kind(FailOnLeak, f, "%s leaks", nameOf(f))
		switch {
		case row == nil:
		case row.Change == compare.New && !provesNew(d.Compared.Base, row):
			d.open[f.Signature] = true
		case row.Change == compare.New:
			d.kind(FailOnNew, f, "%s leaks, and build %s, the baseline, was clean or did not have it",
				nameOf(f), d.Compared.Base.Build)
		case row.Change == compare.Grown:
			d.kind(FailOnGrown, f, "%s leaks faster than in build %s, the baseline", nameOf(f), d.Compared.Base.Build)
		case row.Change == compare.Persisting && !d.Compared.Base.Decides():
			d.unrated++
		}
		if f.Regressed {
			d.kind(FailOnRegressed, f, "%s was fixed, and leaks again", nameOf(f))
		}
	}
}

// kind notes a leak of a kind that the gate fails on.
func (d *decider) kind(on FailOn, f *compare.Finding, format string, args ...any) {
	if !slices.Contains(d.on, on) {
		return
	}
	var figure *float64
	unit := ""
	if f.RateUnit != "" {
		figure, unit = &f.RateBytes, string(InBytes)+"/"+f.RateUnit
	}
	d.say(EffectFails, ReasonCode(on), f, figure, nil, unit, format, args...)
}

// report fails a run whose report says that it leaks although no single finding is sure enough to fail it. Where a leak
// is silenced, or is the canary, the report may speak of that one.
func (d *decider) report() {
	sure := slices.ContainsFunc(d.counted, FailsGate)
	if d.Status == analysis.StatusLeak && slices.Contains(d.on, FailOnLeak) && !sure && d.alone == 0 &&
		!d.has(EffectSilences) && !d.has(EffectFails) {
		d.say(EffectFails, ReasonReport, nil, nil, nil, "", "the report says that it leaks")
	}
}

// doubts notes the facts about the evidence that leave the question open.
func (d *decider) doubts() {
	asksNew, needsBase := slices.Contains(d.on, FailOnNew), slices.Contains(d.on, FailOnNew) ||
		slices.Contains(d.on, FailOnGrown)
	switch {
	case d.Status == analysis.StatusInconclusive:
		d.say(EffectDoubts, ReasonEvidence, nil, nil, nil, "", "the evidence does not decide")
	case needsBase && !slices.Contains(d.on, FailOnLeak) && d.Compared == nil && d.leaks() > 0:
		d.say(EffectDoubts, ReasonNoBaseline, nil, nil, nil, "", "there is no baseline to tell which leaks are new")
	case asksNew && len(d.open) > 0:
		d.say(EffectDoubts, ReasonBaseline, nil, nil, nil, "",
			"the evidence of build %s, the baseline, does not decide whether %s new",
			d.Compared.Base.Build, countOpen(len(d.open)))
	}
	if slices.Contains(d.on, FailOnGrown) && d.unrated > 0 {
		d.say(EffectDoubts, ReasonBaseline, nil, nil, nil, "",
			"the evidence of build %s, the baseline, does not decide whether %s faster",
			d.Compared.Base.Build, countFaster(d.unrated))
	}
	if d.proof == NotProven {
		d.say(EffectDoubts, ReasonNotProven, nil, nil, nil, "", "the gate is not proven: the canary %s was not found",
			d.Policy.Canary)
	}
}

// leaks counts what may fail the gate.
func (d *decider) leaks() int {
	n := 0
	for _, f := range d.counted {
		if FailsGate(f) {
			n++
		}
	}
	return n
}

func (d *decider) has(effect Effect) bool {
	return slices.ContainsFunc(d.reasons, func(r Reason) bool { return r.Effect == effect })
}

// say adds a reason; f is the finding that the reason is about, nil for the whole run.
func (d *decider) say(effect Effect, code ReasonCode, f *compare.Finding, figure, limit *float64, unit,
	format string, args ...any) {
	r := Reason{Effect: effect, Code: code, Sentence: fmt.Sprintf(format, args...), Figure: figure,
		Limit: limit, Unit: unit}
	if f != nil {
		r.Signature = f.Signature
	}
	d.reasons = append(d.reasons, r)
}

// because is the reason that somebody gave for tolerating a leak.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(": %q", reason)
}

// nameOf names a finding: by its title where it has one.
func nameOf(f *compare.Finding) string { return cmp.Or(f.Title, f.Signature) }
