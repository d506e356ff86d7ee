package leaks

import (
	"slices"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/compare"
)

// A ruleStanding tells how rules and the team treat a leak, before and after a change of the rules.
type ruleStanding struct {
	title         string
	told          bool   // the team tolerates it, whatever rules say
	before, after string // why rules tolerate the first of its stacks, which are the gravest of the newest run; "" where they do not
	joins         bool   // the first of its stacks gets a signature that the team tolerates
	silent, heard int    // stacks that rules tolerate only after, and only before
	stacks        int
}

// ruleStandings are those of leaks, by signature.
type ruleStandings struct {
	by    map[string]*ruleStanding
	order []string
}

// standings computes how leaks stand before and after the change, from what rules decide about their stacks.
func (t *RuleTrial) standings(was, then []blame.RuleResult) *ruleStandings {
	all := &ruleStandings{by: map[string]*ruleStanding{}}
	for i := range t.Stacks {
		s, joins := &t.Stacks[i], was[i].Signature.ID != then[i].Signature.ID && t.Tolerated[then[i].Signature.ID]
		known := all.by[s.Signature]
		if known == nil {
			known = &ruleStanding{title: s.Title, told: s.Tolerated, before: was[i].Known, after: then[i].Known, joins: joins}
			all.by[s.Signature] = known
			all.order = append(all.order, s.Signature)
		}
		known.stacks++
		switch silentBefore, silentAfter := was[i].Known != "", then[i].Known != "" || joins; {
		case silentAfter && !silentBefore:
			known.silent++
		case silentBefore && !silentAfter:
			known.heard++
		}
	}
	return all
}

// changes lists the leaks that fall silent, and those that count again.
func (all *ruleStandings) changes() (silenced, heard []KnownChange) {
	for _, signature := range all.order {
		s := all.by[signature]
		if s.told {
			continue
		}
		if s.silent > 0 {
			to, why := ReasonRule, s.after
			if s.joins {
				to, why = ReasonKnown, "it becomes part of a known leak"
			}
			silenced = append(silenced,
				KnownChange{Signature: signature, Title: s.title, To: to, Why: why, Changed: s.silent, ChangedOf: s.stacks})
		}
		if s.heard > 0 {
			heard = append(heard, KnownChange{Signature: signature, Title: s.title, From: ReasonRule,
				Why: "no rule marks it known any more", Changed: s.heard, ChangedOf: s.stacks})
		}
	}
	sortSilencings(silenced)
	sortSilencings(heard)
	return silenced, heard
}

// apply is the case of a run as it would be under the rules after the change.
func (all *ruleStandings) apply(c *PastCase) *GateCase {
	changed := *c.GateCase
	changed.Head = all.result(c.Head)
	if c.Release != nil {
		changed.Release = all.result(c.Release)
	}
	if c.Compared != nil {
		compared, comparison := *c.Compared, *c.Compared.Comparison
		compared.Base, compared.Head = all.result(compared.Base), changed.Head
		comparison.Rows = slices.Clone(comparison.Rows)
		for i := range comparison.Rows {
			r := &comparison.Rows[i]
			if r.Head != nil {
				r.Head = new(all.finding(r.Head))
			}
		}
		compared.Comparison = &comparison
		changed.Compared = &compared
	}
	return &changed
}

func (all *ruleStandings) result(s *compare.BuildResult) *compare.BuildResult {
	changed := *s
	changed.Findings = make([]compare.Finding, len(s.Findings))
	for i := range s.Findings {
		changed.Findings[i] = all.finding(&s.Findings[i])
	}
	return &changed
}

// finding is a finding as it would stand after the change. Findings that the team tolerates stay tolerated, and
// findings that no stack of the trial shows stay as they are.
func (all *ruleStandings) finding(f *compare.Finding) compare.Finding {
	changed := *f
	s := all.by[f.Signature]
	if s == nil || s.told || IsTolerated(f) && !f.ByRule {
		return changed
	}
	switch {
	case s.joins:
		changed.Known, changed.ByRule = "it becomes part of a known leak", false
	default:
		changed.Known, changed.ByRule = s.after, s.after != ""
	}
	if changed.Known == "" && changed.State == string(StateKnown) {
		changed.State = string(StateOngoing)
	}
	return changed
}
