package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// effects are the effects of reasons in the order of lists.
var effects = []Effect{EffectFails, EffectDoubts, EffectSilences}

// conclude turns reasons into the decision.
func (d *decider) conclude() Decision {
	slices.SortStableFunc(d.reasons, func(a, b Reason) int {
		return cmp.Compare(slices.Index(effects, a.Effect), slices.Index(effects, b.Effect))
	})
	made := Decision{Policy: d.Version, FailOn: append([]FailOn{}, d.on...), Reasons: d.reasons, Canary: d.proof}
	made.Gate = d.gate()
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
	case d.Policy.Inconclusive == InconclusivePasses && d.proof != NotProven:
		return GatePassed
	}
	return GateInconclusive
}

// whyFailed counts the kinds of leaks, and names what else failed.
func (d *decider) whyFailed(made *Decision) string {
	kinds, parts := map[ReasonCode]int{}, []string(nil)
	for _, r := range made.by(EffectFails) {
		kinds[r.Code]++
	}
	for _, on := range failOns {
		if n := kinds[ReasonCode(on)]; n > 0 {
			parts = append(parts, reason(n, on))
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
		why += "; the policy fails what is inconclusive"
	case GatePassed:
		why += "; the policy passes what is inconclusive"
	}
	return why
}

// whyPassed says why nothing failed: which leaks there are nevertheless, and what silences them.
func (d *decider) whyPassed() string {
	leaks, silenced := d.leaks(), d.countSilenced()
	switch {
	case leaks > 0:
		return fmt.Sprintf("%s, and the gate is not set to fail on that", reason(leaks, FailOnLeak))
	case d.alone > 0:
		return fmt.Sprintf("other runs of the scenario do not confirm %s of this one", reason(d.alone, FailOnLeak))
	case len(silenced) == 1 && silenced[0].code != ReasonScore && silenced[0].code != ReasonQuarantined:
		return "every leak is known" + silenced[0].byRules()
	case len(silenced) > 0:
		var parts []string
		for _, s := range silenced {
			parts = append(parts, s.says())
		}
		return "every leak is silenced: " + strings.Join(parts, ", ")
	case d.proof == Proven:
		return "nothing leaks but the canary"
	}
	return "nothing leaks"
}

// A silenceCount is how many leaks are silenced by one kind of reason.
type silenceCount struct {
	code ReasonCode
	n    int
}

// silenceWords are the words for each reason that silences leaks.
var silenceWords = map[ReasonCode]string{
	ReasonRule: "known by a rule", ReasonKnown: "known by the team", ReasonQuarantined: "quarantined",
	ReasonScore: "below the score that counts",
}

func (s silenceCount) says() string { return fmt.Sprintf("%d %s", s.n, silenceWords[s.code]) }

// byRules is added where rules, and not people, call leaks known.
func (s silenceCount) byRules() string {
	if s.code != ReasonRule {
		return ""
	}
	return fmt.Sprintf(": rules silence %s", reason(s.n, FailOnLeak))
}

// countSilenced counts what is silenced by each kind of reason, in the order of the codes.
func (d *decider) countSilenced() []silenceCount {
	var list []silenceCount
	for _, code := range []ReasonCode{ReasonRule, ReasonKnown, ReasonQuarantined, ReasonScore} {
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
