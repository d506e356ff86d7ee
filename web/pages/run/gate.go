package run

import (
	"context"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A gateView is what the gate of a run says, and what it said before.
type gateView struct {
	*leaks.Decision // nil while nothing is decided
	earlier         []store.StoredDecision
	unanswered      []string // leaks of the first build of a scenario that may be accepted
	// later says that the page asks for it when it is there: a run of many signatures takes long to decide.
	later bool
}

// gate decides about a run by the policy alone.
func (r *reader) gate(ctx context.Context, run *store.Run) (gateView, error) {
	verdict, err := r.FindVerdict(ctx, run, store.GateQuestion{})
	if err != nil || verdict.Decision == nil {
		return gateView{}, err
	}
	view := gateView{Decision: verdict.Decision}
	if view.earlier, err = r.ListDecisions(ctx, run.ID); err != nil {
		return gateView{}, err
	}
	view.unanswered, err = r.unanswered(ctx, run.ID, &view)
	return view, err
}

// differingDecisions are the last answers to each question that differ from what holds now.
func (v runView) differingDecisions() []store.StoredDecision {
	type question struct{ failOn, baseline, matters string }
	var list []store.StoredDecision
	seen := map[question]bool{}
	for _, t := range v.gate.earlier { // the newest first
		if q := (question{t.FailOn, t.Baseline, t.Asked}); !seen[q] {
			seen[q] = true
			if t.Gate != v.gate.Gate {
				list = append(list, t)
			}
		}
	}
	return list
}

// questionText says what was answered to which question.
func questionText(t *store.StoredDecision) string {
	text := fmt.Sprintf("by policy %d", t.Policy)
	if t.FailOn != "" {
		text += ", asked to fail on " + t.FailOn
	}
	if t.Baseline != "" {
		text += ", against build " + t.Baseline
	}
	if threshold, err := analysis.ParseThreshold(t.Asked); err == nil {
		text += ", ignoring leaks up to " + threshold.String()
	}
	return text + ": " + t.Why
}
