package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/compare"
)

// effects are the effects of reasons in the order of lists.
var effects = []GateEffect{EffectFails, EffectDoubts, EffectSilences}

// conclude turns reasons into the decision.
func (d *decider) conclude() Decision {
	sorting.Stable(d.reasons, func(a, b Reason) int {
		return cmp.Compare(slices.Index(effects, a.Effect), slices.Index(effects, b.Effect))
	})
	made := Decision{Policy: d.Version, FailOn: append([]FailOn{}, d.on...), Reasons: d.reasons, Canary: d.proof,
		Matters: d.matters, Undecided: append([]UndecidedFinding{}, d.undecided...)}
	for _, f := range d.unnamed {
		made.Undecided = append(made.Undecided, undecided(f, FailOnNew, scoreOf(f.Score)))
	}
	sorting.Stable(made.Undecided, func(a, b UndecidedFinding) int {
		return cmp.Compare(b.Probability, a.Probability)
	})
	made.Gate = d.gate()
	made.Rerun = made.Gate == GateInconclusive && d.Suffices && len(d.undecided) > 0
	switch {
	case d.has(EffectFails):
		made.Why = d.whyFailed(&made)
	case d.has(EffectDoubts):
		made.Why = d.whyDoubted(&made)
	default:
		made.Why = d.whyPassed()
	}
	made.Exit = made.Gate.ExitCode()
	made.Reasons = shortened(made.Reasons)
	return made
}

// gate derives the gate from the reasons. An unproven gate is always reported: a policy with a canary asks for the
// proof.
func (d *decider) gate() Gate {
	switch {
	case d.has(EffectFails):
		return GateFailed
	case !d.has(EffectDoubts):
		return GatePassed
	case d.Policy.Inconclusive == InconclusiveFails:
		return GateFailed
	case d.Policy.Inconclusive == InconclusivePasses && d.proof != CanaryNotProven:
		return GatePassed
	}
	return GateInconclusive
}

// whyFailed counts the kinds of leaks, those of one cause as one, and names what else failed.
func (d *decider) whyFailed(made *Decision) string {
	kinds, parts := map[ReasonCode][]string{}, []string(nil)
	for _, r := range made.by(EffectFails) {
		kinds[r.Code] = append(kinds[r.Code], r.Signature)
	}
	for _, on := range failOns {
		if list := kinds[ReasonCode(on)]; len(list) > 0 {
			parts = append(parts, reasonOf(d.Causes, list, on))
		}
	}
	for _, r := range made.by(EffectFails) {
		if !slices.Contains(failOns, FailOn(r.Code)) && len(parts) < namedReasons {
			parts = append(parts, r.Sentence)
		}
	}
	return strings.Join(parts, ", ")
}

// whyDoubted names the doubts, and what the policy does about them unless it warns.
func (d *decider) whyDoubted(made *Decision) string {
	var parts []string
	for _, r := range made.by(EffectDoubts) {
		if !slices.Contains(parts, r.Sentence) && len(parts) < namedReasons {
			parts = append(parts, r.Sentence)
		}
	}
	why := strings.Join(parts, "; ")
	switch made.Gate {
	case GateFailed:
		why += "; the policy fails inconclusive runs"
	case GatePassed:
		why += "; the policy passes inconclusive runs"
	}
	return why
}

// whyPassed says why nothing failed: which leaks there are nevertheless, what silences them, and what grows and is too
// improbable to fail a gate.
func (d *decider) whyPassed() string {
	var parts []string
	silenced, certain := d.countSilenced(), d.leaks()
	for _, s := range silenced {
		parts = append(parts, s.text())
	}
	if only := len(silenced) == 1 && certain == d.countReported(); only && d.improbable+d.immaterial == 0 &&
		(silenced[0].code == ReasonRule || silenced[0].code == ReasonKnown) {
		return "every leak is known" + silenced[0].byRules()
	}
	if rest := certain - d.countReported(); rest > 0 {
		parts = append([]string{d.restText(rest)}, parts...)
	}
	if d.asks(FailOnNew) && !d.asks(FailOnLeak) && (len(parts) > 0 || d.improbable > 0) {
		parts = append([]string{"no leak is new"}, parts...)
	}
	if d.improbable > 0 {
		parts = append(parts, fmt.Sprintf("%s, as in earlier runs or too small to judge", quantity.Plural(d.improbable, "growing site")))
	}
	if d.immaterial > 0 {
		parts = append(parts, fmt.Sprintf("%s, too small to matter", quantity.Plural(d.immaterial, "growing site")))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "; ")
	case d.proof == CanaryProven:
		return "only the canary leaks"
	case d.grows():
		return "no leak is certain or probable"
	}
	return "no site leaks"
}

// restText says of certain leaks, of which no other reason tells why they do not fail the gate, why they do not.
func (d *decider) restText(n int) string {
	if d.BaselineNamed && d.asks(FailOnNew) && d.asks(FailOnGrown) {
		return fmt.Sprintf("%s also in %s, not certainly faster now", leaksAre(n), d.Compared.baseline(","))
	}
	return fmt.Sprintf("%s, which this gate does not fail on", reason(n, FailOnLeak))
}

// countReported counts certain leaks of which a reason says why they do not fail the gate.
func (d *decider) countReported() (n int) {
	for _, r := range d.reasons {
		if r.Code == ReasonReported || r.Code == ReasonOwned || r.Code == ReasonFound {
			n++
		}
	}
	return n
}

// grows reports whether anything that counts leaks or grows.
func (d *decider) grows() bool {
	return slices.ContainsFunc(d.counted, func(f *compare.Finding) bool { return f.Class.IsSuspect() })
}

// A silenceCount is how many leaks are silenced by one kind of reason.
type silenceCount struct {
	code ReasonCode
	n    int
}

// silenceWords are the words for each reason that silences leaks.
var silenceWords = map[ReasonCode]string{
	ReasonRule: "known by a rule", ReasonKnown: "known by the team", ReasonQuarantined: "quarantined",
	ReasonScore: "with too low a score", ReasonFound: "from the first build",
	ReasonReported: "reported before", ReasonOwned: "with an owner", ReasonNoIdentity: "without an identity",
}

func (s silenceCount) text() string { return fmt.Sprintf("%d %s", s.n, silenceWords[s.code]) }

// byRules is added where rules, and not people, call leaks known.
func (s silenceCount) byRules() string {
	if s.code != ReasonRule {
		return ""
	}
	return fmt.Sprintf(": %s by a rule", reason(s.n, FailOnLeak))
}

// silencing are the codes of what silences leaks, in the order in which a sentence counts them.
var silencing = []ReasonCode{ReasonRule, ReasonKnown, ReasonQuarantined, ReasonScore, ReasonNoIdentity, ReasonFound,
	ReasonReported, ReasonOwned}

// countSilenced counts what is silenced by each kind of reason, in the order of the codes.
func (d *decider) countSilenced() []silenceCount {
	var list []silenceCount
	for _, code := range silencing {
		n := 0
		for _, r := range d.reasons {
			if r.Code == code {
				n++
			}
		}
		if n > 0 {
			list = append(list, silenceCount{code, n})
		}
	}
	return list
}

// shortened names so many reasons of each code, and counts the others.
func shortened(list []Reason) []Reason {
	kept, counts := []Reason{}, map[ReasonCode]int{}
	for _, r := range list {
		if counts[r.Code]++; counts[r.Code] <= namedReasons {
			kept = append(kept, r)
		}
	}
	for i := len(kept) - 1; i >= 0; i-- {
		r := kept[i]
		if over := counts[r.Code] - namedReasons; over > 0 {
			counts[r.Code] = 0
			kept = slices.Insert(kept, i+1,
				Reason{Effect: r.Effect, Code: r.Code, Sentence: fmt.Sprintf("and %d more like these", over)})
		}
	}
	return kept
}
