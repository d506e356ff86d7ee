package run

import (
	"context"
	"fmt"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/kit"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
)

// A gateView is what the gate of a run says, and what it said before.
type gateView struct {
	*leaks.Decision // nil while nothing is decided
	earlier         []store.StoredDecision
	first           *leaks.Review // of the first build of a scenario, what may be accepted; nil of others
	// later says that the page asks for it when it is there: a run of many signatures takes long to decide.
	later bool
	// record is the line of heapdrift record that would decide the run, and kit the page with scripts that do the same;
	// "" where the run is decided.
	record string
	kit    templ.SafeURL
}

// gate decides about a run by the policy alone. server is the address under which the reader reaches it.
func (r *reader) gate(ctx context.Context, run *store.Run, summary *analysis.Report, server string) (gateView, error) {
	verdict, err := r.FindVerdict(ctx, run, store.GateQuestion{})
	if err != nil || verdict.Decision == nil {
		return gateView{}, err
	}
	view := gateView{Decision: verdict.Decision}
	view.decideBy(run, summary, &verdict, server)
	if view.earlier, err = r.ListDecisions(ctx, run.ID); err != nil {
		return gateView{}, err
	}
	view.first, err = r.firstReview(ctx, run.ID, &view)
	return view, err
}

// decideBy fills in the recording that would decide the run.
func (g *gateView) decideBy(run *store.Run, summary *analysis.Report, v *leaks.RunVerdict, server string) {
	order, ok := kit.Decide(&kit.Run{Project: run.Project, Scenario: run.Scenario, Build: run.Build, Report: summary}, v)
	if !ok {
		return
	}
	order.Server = server
	g.record, g.kit = order.RecordLine(), templ.SafeURL(address.Kit(order.Project, order.Query()))
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
