package worker_test

import (
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store/storetest"
)

// choose asks for the report on a process and waits for it.
func (p *pipeline) choose(run int64, process string) *analysis.Report {
	p.Helper()
	if err := p.Store.UpdateProcess(p.Context(), run, process); err != nil {
		p.Fatal(err)
	}
	return p.report(p.settled(run))
}

func hasWarning(r *analysis.Report, code capture.Code) bool {
	return slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool { return w.Code == code })
}

// Each process of a trace that is offered can be chosen, and gives the report on it.
func TestChosenProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	run := p.upload("a.etl", string(etltest.Invent(5, etltest.ScenarioSize{}).File(etltest.Format{})))
	most := p.report(p.settled(run))
	choices, all, err := storetest.Now(t, p.Store).ListProcesses(t.Context(), run, 50)
	if err != nil || len(choices) < 2 || len(choices) != all || all != p.captures(run) {
		t.Fatalf("%+v of %d, %v", choices, all, err)
	}
	if !choices[0].IsOf(most) || !hasWarning(most, capture.SeveralProcesses) {
		t.Errorf("the report is about %+v, and %+v holds the most", most.Process, choices[0])
	}
	for _, c := range choices[1:] {
		r := p.choose(run, c.Choose)
		if !c.IsOf(r) || choices[0].IsOf(r) || hasWarning(r, capture.SeveralProcesses) || hasWarning(r, capture.ProcessGone) {
			t.Errorf("%s: a report on %+v, %+v", c.Choose, r.Process, r.Warnings)
		}
	}
	if r := p.choose(run, ""); figures(r) != figures(most) {
		t.Error("without a choice: " + difference(figures(r), figures(most)))
	}
}
