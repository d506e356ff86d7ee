package export

import (
	"cmp"
	"fmt"
	"io"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
)

// gates are the outcomes of an analysis as a gate that fails on any leak.
var gates = map[analysis.VerdictStatus]string{
	analysis.StatusLeak: outcome.GateFailed, analysis.StatusNoLeak: outcome.GatePassed,
	analysis.StatusInconclusive: outcome.GateInconclusive,
}

// outcomeOf is a report as CI systems read it. A leak fails where the report counts it as one; what the rules know does
// not. Without a server the process stands for the project.
func outcomeOf(r *analysis.Report, opt Options) *outcome.Outcome {
	o := &outcome.Outcome{Project: cmp.Or(opt.Project, r.Process.Name), Build: opt.Build, Scenario: opt.Scenario,
		Gate: gates[r.Verdict.Status], Sentence: r.Verdict.Sentence, Matters: r.Verdict.MattersSentence}
	if r.Power != nil {
		o.Power = r.Power.Sentence
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !f.Verdict.IsSuspect() {
			continue
		}
		l := leakOf(f)
		possible := f.Verdict == analysis.ClassLeftAtExit && !f.Certain // which no report counts as a leak
		l.Fails = f.Verdict.IsLeak() && !possible && f.Known == "" && o.Gate == outcome.GateFailed
		if c := r.FindLostTogether(f); c != nil {
			l.CauseGroup, l.Ratio = c.Title, c.Ratio
		}
		o.Leaks = append(o.Leaks, l)
	}
	if r.Compared != nil {
		compareOutcome(o, r)
	}
	o.Sort()
	return o
}

// leakOf is a finding as CI systems read it.
func leakOf(f *analysis.Finding) outcome.Leak {
	l := outcome.Leak{
		Signature: f.Signature, Title: f.Title, Change: outcome.ChangeFound, Class: string(f.Verdict), Certain: f.Certain,
		Score: f.Score, Frames: f.Frames,
		Owner: f.Owner, Known: f.Known,
	}
	if f.Known != "" {
		l.Change = outcome.ChangeKnown
	}
	if growth := growthOf(&f.Amounts); growth != nil && growth.Bytes > 0 {
		l.Growth = fmt.Sprintf("+%s in %s", quantity.Bytes(growth.Bytes), quantity.Plural(growth.Count, "block"))
	}
	if left := f.LeftAtExit; left != nil && l.Growth == "" {
		lost := left.Lost()
		l.Growth = outcome.LeftText(lost.Bytes, lost.Count)
	}
	if b := f.Blame; b != nil {
		l.Module, l.Function, l.File, l.Line = b.Module, b.Function, b.File, int(b.Line)
	}
	for _, c := range f.Clauses {
		l.Reasons = append(l.Reasons, mark(c.Holds)+" "+c.Text)
	}
	return l
}

func junit(w io.Writer, r *analysis.Report, opt Options) error {
	return outcome.JUnit(w, outcomeOf(r, opt))
}
func sarif(w io.Writer, r *analysis.Report, opt Options) error {
	return outcome.SARIF(w, outcomeOf(r, opt))
}
