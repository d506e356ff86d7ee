package run

import (
	"context"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// findingsShown are the findings of a run that its page lists at first.
	findingsShown = 12
	// maxFindings are those that it lists at most.
	maxFindings = 500
)

// A findingTable is the leaks of a run, the gravest first.
type findingTable struct {
	listing
	project string
	rows    []store.Finding
	total   int  // that leak or grow
	single  bool // one instant is all that there is
}

// findings reads what of a run leaks or grows, and the one that the address opens.
func (r *reader) findings(ctx context.Context, run store.Run, l listing) (t findingTable, err error) {
	t.listing, t.project = l, run.Project
	limit := findingsShown
	if l.allFindings {
		limit = maxFindings
	}
	t.rows, t.total, err = r.Findings(ctx, store.FindingQuery{Run: run.ID, Limit: limit})
	return t, err
}

// extent says how much of the run leaks or grows.
func (t findingTable) extent() string {
	switch {
	case t.total == 0 && t.single:
		return "one instant does not show what grows"
	case t.total == 0:
		return "nothing leaks or grows"
	case t.total == 1:
		return "1 signature that leaks or grows"
	}
	return ui.Counted(t.total, "signature") + " that leak or grow, the gravest first"
}

// heldOf is what a finding holds, or what it held before the process ended: its own evidence is the first of its witnesses.
func heldOf(f *store.Finding) (held analysis.Amount, ended bool) {
	if f.Sites > 0 && len(f.Witnesses) > 0 {
		if held, ended = f.Witnesses[0].HeldBeforeExit(); ended {
			return held, true
		}
	}
	return f.Outstanding, false
}

// whyURL opens or closes the evidence of a finding.
func (t findingTable) whyURL(signature string) templ.SafeURL {
	to := t.listing
	if to.why == signature {
		to.why = ""
	} else {
		to.why = signature
	}
	return to.url() + "#findings"
}

// allURL lists every finding.
func (t findingTable) allURL() templ.SafeURL {
	to := t.listing
	to.allFindings = true
	return to.url() + "#findings"
}

// sitesURL are the sites of a finding in the table below.
func (t findingTable) sitesURL(f *store.Finding) templ.SafeURL {
	return t.matching(f.Own).url() + "#sites-card"
}

// ruleURL proposes a rule that says whose a finding is.
func (t findingTable) ruleURL(f *store.Finding) templ.SafeURL {
	if f.Blame == nil || f.Blame.Function == "" {
		return ui.RulesURL(t.project)
	}
	return ui.RuleProposalURL(t.project, ui.OwnerRule(f.Blame))
}
