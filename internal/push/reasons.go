package push

import (
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
)

// reasons are what a gate goes by, leak by leak. The server alone knows that: budgets, quarantine and scores are of its
// policy.
type reasons struct {
	failing  []string            // signatures
	silenced map[string][]string // by signature, why it fails nothing
	// more are the kinds of leaks of which the server has counted some that it does not name.
	more []leaks.FailOn
}

func reasonsOf(v *RunVerdict) *reasons {
	why := &reasons{silenced: map[string][]string{}}
	for _, r := range v.Reasons {
		switch {
		case r.Effect == leaks.EffectFails && r.Signature != "":
			if !slices.Contains(why.failing, r.Signature) {
				why.failing = append(why.failing, r.Signature)
			}
		case r.Effect == leaks.EffectFails && r.Figure == nil:
			why.more = append(why.more, leaks.FailOn(r.Code))
		case r.Effect == leaks.EffectSilences && r.Signature != "":
			why.silenced[r.Signature] = append(why.silenced[r.Signature], "silenced: "+r.Sentence)
		}
	}
	return why
}

// apply says of a leak what decides about it, and what else is lost with it.
func (why *reasons) apply(l *outcome.Leak, causes []leaks.LostTogether) {
	l.Fails = slices.Contains(why.failing, l.Signature)
	l.Reasons = why.silenced[l.Signature]
	for _, cause := range causes {
		if slices.Contains(cause.Signatures, l.Signature) && l.Change != outcome.ChangeFixed {
			l.CauseGroup, l.Ratio = cause.Title, cause.Ratio
		}
	}
}

// countsMore reports whether a leak is one of those that the server has counted without naming them.
func (why *reasons) countsMore(l *outcome.Leak) bool {
	if !l.Certain || !analysis.Class(l.Class).IsLeak() || len(why.silenced[l.Signature]) > 0 ||
		l.Change == outcome.ChangeKnown || l.Change == outcome.ChangeFixed {
		return false
	}
	return slices.Contains(why.more, leaks.FailOnLeak) || slices.Contains(why.more, leaks.FailOn(l.Change))
}
