package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
)

// A GateCase is what a gate decides on: a run that has a report, under a policy.
type GateCase struct {
	Policy  *Policy
	Version int      // of the policy; 0 for none saved
	Asked   []FailOn // what the call wants the gate to fail on; it may only add to the policy
	// Matters is the growth from which a leak matters by the policy, nil for the default. AskedMatters is what the call
	// asks for, nil for nothing; it may only be lower.
	Matters      *analysis.RequestedThreshold
	AskedMatters *analysis.Threshold
	// Observation is the time, work and memory that the run covers; nil where an older version analysed it. OtherRisks
	// are the risks of findings that Head does not have.
	Observation *analysis.Observation
	OtherRisks  []analysis.Risk
	// Suffices says that the evidence lost nothing and is enough to judge growth: a leak that it does not show is not
	// there.
	Suffices bool
	Process  string               // that the run is about
	Head     *compare.BuildResult // result of the run's build
	Compared *RunComparison       // with the baseline; nil without one
	// BaselineNamed says that the call chose the baseline: it decides what is new, and not the history of the line.
	BaselineNamed bool
	// Origins say, by signature, since when the findings are there on the line of the run.
	Origins map[string]Origin
	// FirstBuild says that no build before the run's own on its line has a result in the scenario.
	FirstBuild bool
	// Gone are leaks that no build of the line shows since a leak with the same callers came in, which may be the same
	// leak; each as several runs showed it.
	Gone []compare.Finding
	// Release is the newest pinned build before the run's own, nil without one; it is used where the policy limits
	// drift.
	Release *compare.BuildResult
	// FoundInPastRuns says, by signature, which of the last runs of the scenario that decide about it found it: the
	// oldest first, this run last.
	FoundInPastRuns map[string][]bool
	// Causes are the leaks of the run that are lost together, by the signatures of Head.
	Causes []LostTogether
}

// A decider derives the decision on a case.
type decider struct {
	*GateCase
	on      []FailOn
	counted []*compare.Finding // that may fail the gate: not tolerated, quarantined, below the score, without an identity nor the canary
	rows    map[string]*compare.Row
	like    []likeGone      // what came in beside leaks that are gone
	open    map[string]bool // signatures of which the base does not tell whether they are new
	unrated int             // leaks of both builds whose growth cannot be compared, because the base does not decide
	proof   CanaryProof
	reasons []Reason
	// undecided are counted findings that could fail the gate, and of which the evidence does not decide.
	undecided []UndecidedFinding
	// unnamed are leaks that could be new, and whose signatures no older build can have: they hold for this build alone.
	unnamed    []*compare.Finding
	improbable int // counted findings that grow, and are too improbable to be doubts
	immaterial int // counted findings that would be doubts if what they could leak mattered
	// immaterialOf says, by signature, which counted findings need not be decided; matters is why, nil where nothing was
	// weighed.
	immaterialOf map[string]bool
	matters      *DecisionThreshold
	found        int // leaks that are there since the first build of the scenario
}

// Decide says whether a run passes its gate, and for which reasons. The decision depends on nothing but the case.
func Decide(c *GateCase) Decision { return decided(c).conclude() }

// decided finds the reasons of a case.
func decided(c *GateCase) *decider {
	d := &decider{GateCase: c, on: c.Policy.TightenedFailOn(c.Version, c.Asked), open: map[string]bool{},
		rows: map[string]*compare.Row{}, like: c.likeGone()}
	if c.Policy.Canary != "" {
		d.proof = CanaryNotProven
	}
	for i := range c.Head.Findings {
		d.sort(&c.Head.Findings[i])
	}
	d.weigh()
	d.kinds()
	d.budgets()
	d.drift()
	d.doubts()
	return d
}

// sort separates the leaks that may fail the gate from those that are silenced.
func (d *decider) sort(f *compare.Finding) {
	isLeak := f.Class.IsLeak()
	changes, flaps := d.Policy.Noise.Flaps(d.FoundInPastRuns[f.Signature])
	switch {
	case d.Policy.isCanary(f):
		if isLeak && f.Certain {
			d.proof = CanaryProven
			d.add(Reason{Effect: EffectSilences, Code: ReasonCanary, Signature: f.Signature,
				Sentence: fmt.Sprintf("%s is the canary, and was found: the gate can fail", nameOf(f))})
		}
	case IsTolerated(f):
		switch {
		case !isLeak:
		case f.ByRule:
			d.add(Reason{Effect: EffectSilences, Code: ReasonRule, Signature: f.Signature,
				Sentence: fmt.Sprintf("%s is known by a rule of the project: %q",
					nameOf(f), f.Known)})
		default:
			d.add(Reason{Effect: EffectSilences, Code: ReasonKnown, Signature: f.Signature,
				Sentence: fmt.Sprintf("%s is known%s", nameOf(f), because(f.Known))})
		}
	case !f.HasIdentity():
		if isLeak {
			d.add(Reason{Effect: EffectSilences, Code: ReasonNoIdentity, Signature: f.Signature,
				Sentence: fmt.Sprintf("record the modules to count %s: an address in no listed module changes at each start",
					nameOf(f))})
		}
	case isLeak && flaps:
		d.add(Reason{Effect: EffectSilences, Code: ReasonQuarantined, Signature: f.Signature,
			Figure: new(float64(changes)), Limit: new(float64(d.Policy.Noise.Changes)), Unit: "changes",
			Sentence: fmt.Sprintf("%s is quarantined: it appeared or disappeared %d times in the last %d deciding runs",
				nameOf(f),
				changes, min(d.Policy.Noise.Runs, len(d.FoundInPastRuns[f.Signature])))})
	case flaps: // its growth counts no more than its leak does
	case d.Policy.isBelowScore(f):
		d.add(Reason{Effect: EffectSilences, Code: ReasonScore, Signature: f.Signature,
			Figure: f.Score, Limit: &d.Policy.MinimumScore, Unit: "score",
			Sentence: fmt.Sprintf("%s leaks with a score of %s (%s counts)", nameOf(f), quantity.Score(*f.Score),
				quantity.Score(d.Policy.MinimumScore))})
	default:
		d.counted = append(d.counted, f)
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

// kinds finds the leaks that fail the gate by their kind, and those that would if the evidence decided.
func (d *decider) kinds() {
	if d.Compared != nil {
		for i := range d.Compared.Rows {
			if r := &d.Compared.Rows[i]; r.Head != nil {
				d.rows[r.Head.Signature] = r
			}
		}
	}
	for _, f := range d.counted {
		if !f.Class.IsSuspect() {
			continue
		}
		o := d.Origins[f.Signature]
		if !FailsGate(f) {
			d.doubtful(f, &o)
			continue
		}
		d.kind(FailOnLeak, f, "%s leaks", nameOf(f))
		d.newcomer(f, &o)
		row := d.rows[f.Signature]
		switch {
		case row == nil:
		case row.Change == compare.ChangeGrown:
			d.kind(FailOnGrown, f, "%s leaks faster than in %s", nameOf(f), d.Compared.baseline(""))
		case row.Change == compare.ChangePersisting && (row.Unrated || !d.Compared.Base.Decides()):
			d.unrated++
		}
	}
}

// asks reports whether the gate fails on a kind of leaks.
func (d *decider) asks(on FailOn) bool { return slices.Contains(d.on, on) }

// newcomer finds out whether a certain leak came in, and whether the gate still fails for it.
func (d *decider) newcomer(f *compare.Finding, o *Origin) {
	if d.BaselineNamed || d.Origins == nil {
		d.newcomerByBaseline(f)
		return
	}
	asksRegressed := d.asksOf(FailOnRegressed, f) && o.Regressed
	switch {
	case !d.asksOf(FailOnNew, f) && !asksRegressed:
	case o.Found:
		d.found++
		if !d.FirstBuild {
			d.add(Reason{Effect: EffectSilences, Code: ReasonFound, Signature: f.Signature,
				Sentence: fmt.Sprintf("%s %s", nameOf(f), o.foundText())})
		}
	case d.Policy.failsAgain(o) && d.isUnnamed(f, o):
		d.unnamed = append(d.unnamed, f)
	case d.Policy.failsAgain(o):
		on := FailOnNew
		if asksRegressed {
			on = FailOnRegressed
		}
		d.kind(on, f, "%s leaks: %s%s", nameOf(f), o.Text(), d.formerly(f))
	case o.FailedIn != "":
		d.add(Reason{Effect: EffectSilences, Code: ReasonReported, Signature: f.Signature,
			Sentence: fmt.Sprintf("%s still leaks; build %s failed for it%s", nameOf(f), o.FailedIn, o.ownedBy())})
	default:
		d.add(Reason{Effect: EffectSilences, Code: ReasonOwned, Signature: f.Signature,
			Sentence: fmt.Sprintf("%s leaks%s", nameOf(f), o.ownedBy())})
	}
}

// isUnnamed reports whether a finding has no name that older builds could have: a frame of it is an address in a module
// without symbols, which is another one in each build. Such a leak is new by its name alone.
func (d *decider) isUnnamed(f *compare.Finding, o *Origin) bool {
	return f.Unnamed() != "" && o.Since == d.Head.Build
}

// newcomerByBaseline compares with the baseline that the call names.
func (d *decider) newcomerByBaseline(f *compare.Finding) {
	row := d.rows[f.Signature]
	switch {
	case row == nil || row.Change != compare.ChangeNew:
	case !provesNew(d.Compared.Base, row):
		d.open[f.Signature] = true
	default:
		d.kind(FailOnNew, f, "%s leaks, and was clean or absent in %s", nameOf(f), d.Compared.baseline(""))
	}
	if f.Regressed {
		d.kind(FailOnRegressed, f, "%s was fixed, and leaks again", nameOf(f))
	}
}

// doubtful notes a finding that could fail the gate if the evidence decided.
func (d *decider) doubtful(f *compare.Finding, o *Origin) {
	p := 0.0
	if f.Score != nil {
		p = *f.Score
	}
	probable := f.Class.IsLeak() || p >= score.LeastDoubt
	if d.asksOf(FailOnLeak, f) && probable && !d.immaterialOf[f.Signature] {
		d.doubt(f, FailOnLeak, p)
		return
	}
	asks := d.asksOf(FailOnNew, f) || d.asksOf(FailOnRegressed, f) && o.Regressed
	switch {
	case !asks && d.asksOf(FailOnLeak, f) && probable:
		d.immaterial++
	case d.BaselineNamed || d.Origins == nil:
		d.doubtfulByBaseline(f, p)
	case !asks:
	case o.Found || o.FailedIn != "" || o.Owned:
	case d.mayBeNew(f):
		d.doubtfulOnset(f, o, p)
	case probable:
		d.improbable++
	}
}

// mayBeNew reports whether the runs before leave open when the finding began to leak.
func (d *decider) mayBeNew(f *compare.Finding) bool {
	return f.Onset != nil && f.Onset.Doubtful ||
		f.Class.IsLeak() && !d.immaterialOf[f.Signature] && (f.Onset == nil || f.Onset.Before < settledRuns)
}

// doubtfulOnset notes a finding that may have begun to leak in this build.
func (d *decider) doubtfulOnset(f *compare.Finding, o *Origin, p float64) {
	if d.isUnnamed(f, o) {
		d.unnamed = append(d.unnamed, f)
		return
	}
	on := FailOnNew
	if o.Regressed && d.asksOf(FailOnRegressed, f) {
		on = FailOnRegressed
	}
	if f.Onset != nil {
		p = max(p, f.Onset.Probability)
	}
	d.doubt(f, on, p)
}

// doubtfulByBaseline notes a finding that the evidence does not decide, and that would fail the gate by comparison with
// the baseline if it did. Several runs before tell by themselves whether it may have begun to leak.
func (d *decider) doubtfulByBaseline(f *compare.Finding, p float64) {
	row := d.rows[f.Signature]
	switch {
	case row == nil || d.immaterialOf[f.Signature] || !f.Class.IsLeak() && p < score.LeastDoubt:
	case row.Change == compare.ChangeNew && d.asksOf(FailOnNew, f):
		if f.Onset != nil && f.Onset.Before >= settledRuns && !f.Onset.Doubtful {
			d.improbable++
			return
		}
		d.doubt(f, FailOnNew, p)
	case row.Change == compare.ChangeGrown && d.asksOf(FailOnGrown, f):
		d.doubt(f, FailOnGrown, p)
	}
}

// settledRuns is how many runs before tell what a site does: with fewer, whatever looks like a leak is a doubt.
const settledRuns = 2

func (d *decider) doubt(f *compare.Finding, on FailOn, p float64) {
	d.undecided = append(d.undecided, undecided(f, on, p))
}

func undecided(f *compare.Finding, on FailOn, p float64) UndecidedFinding {
	u := UndecidedFinding{Signature: f.Signature, Change: on, Probability: p, name: nameOf(f)}
	switch {
	case f.RateUnit != "":
		u.Bytes, u.Unit = int64(f.RateBytes), f.RateUnit
	case f.Growth != nil:
		u.Bytes, u.Unit = f.Growth.Bytes, "run"
	}
	return u
}

// kind notes a leak of a kind that the gate fails on.
func (d *decider) kind(on FailOn, f *compare.Finding, format string, args ...any) {
	if !d.asksOf(on, f) {
		return
	}
	var figure *float64
	unit := ""
	if f.RateUnit != "" {
		figure, unit = &f.RateBytes, string(MeasureBytes)+"/"+f.RateUnit
	}
	d.add(Reason{Effect: EffectFails, Code: ReasonCode(on), Signature: f.Signature, Figure: figure, Unit: unit,
		Sentence: fmt.Sprintf(format, args...)})
}

// doubts notes what leaves the question open: findings that are not decided, and facts about the evidence.
func (d *decider) doubts() {
	d.sayUndecided()
	if len(d.unnamed) > 0 {
		d.add(Reason{Effect: EffectDoubts, Code: ReasonNoSymbols,
			Sentence: fmt.Sprintf("no symbols for %s, so it is unknown whether %s; push the symbols of build %s",
				strings.Join(d.unnamedModules(), ", "), countUnnamed(len(d.unnamed)), d.Head.Build)})
	}
	asksNew, needsBase := d.asks(FailOnNew), d.asks(FailOnNew) || d.asks(FailOnGrown)
	byAge := d.byAge()
	switch {
	case !d.Suffices:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonEvidence, Sentence: "the evidence does not decide"})
	case byAge > 0 && d.FirstBuild && !d.BaselineNamed:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonFirst,
			Sentence: fmt.Sprintf("this is the first build of the scenario, so %s of unknown age; accept the leaks, or "+
				"push the next build",
				leaksAre(byAge))})
	case byAge > 0 && d.Compared == nil && d.Origins == nil,
		needsBase && !d.asks(FailOnLeak) && d.Compared == nil && d.leaks() > 0 && (d.Origins == nil || !asksNew):
		d.add(Reason{Effect: EffectDoubts, Code: ReasonNoBaseline,
			Sentence: "no baseline shows which leaks are new"})
	case asksNew && len(d.open) > 0:
		d.add(Reason{Effect: EffectDoubts, Code: ReasonBaseline,
			Sentence: fmt.Sprintf("the evidence of %s does not decide whether %s new",
				d.Compared.baseline(","), leaksAre(len(d.open)))})
	}
	if d.asks(FailOnGrown) && d.unrated > 0 {
		d.add(Reason{Effect: EffectDoubts, Code: ReasonBaseline,
			Sentence: fmt.Sprintf("the evidence of %s does not decide whether %s faster",
				d.Compared.baseline(","), leaksGrow(d.unrated))})
	}
	if d.proof == CanaryNotProven {
		d.add(Reason{Effect: EffectDoubts, Code: ReasonNotProven,
			Sentence: fmt.Sprintf("the gate is not proven: the canary %s was not found",
				d.Policy.Canary)})
	}
}

// sayUndecided notes the findings that are not decided.
func (d *decider) sayUndecided() {
	for i := range d.undecided {
		u := &d.undecided[i]
		d.reasons = append(d.reasons, Reason{Effect: EffectDoubts, Code: ReasonUndecided, Signature: u.Signature,
			Sentence: u.text(), Figure: &u.Probability, Unit: "probability"})
	}
}

// unnamedModules are the modules whose symbols are missing, at most namedReasons.
func (d *decider) unnamedModules() (list []string) {
	for _, f := range d.unnamed {
		if m := f.Unnamed(); !slices.Contains(list, m) && len(list) < namedReasons {
			list = append(list, m)
		}
	}
	return list
}

func countUnnamed(n int) string {
	if n == 1 {
		return "1 leak is new"
	}
	return fmt.Sprintf("%d leaks are new", n)
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

func (d *decider) has(effect GateEffect) bool {
	return slices.ContainsFunc(d.reasons, func(r Reason) bool { return r.Effect == effect })
}

func (d *decider) add(r Reason) { d.reasons = append(d.reasons, r) }

// signatureOf is the signature of what a reason is about; "" for the whole run.
func signatureOf(f *compare.Finding) string {
	if f == nil {
		return ""
	}
	return f.Signature
}

// because is the reason that somebody gave for tolerating a leak.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(": %q", reason)
}

// nameOf names a finding as lists of leaks do: by its blamed frame where it has a title, without the callees before it.
func nameOf(f *compare.Finding) string {
	name := cmp.Or(f.Title, f.Signature)
	if at := strings.LastIndex(name, " | "); at >= 0 {
		return name[at+len(" | "):]
	}
	return name
}
