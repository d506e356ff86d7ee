package leaks

import (
	"cmp"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A Verdict is the decision on a run. New, Grown, Fixed and Persisting are signatures that leak or grow, against the
// baseline; those that the team knows stand in Known alone.
type Verdict struct {
	State    RunState
	Status   string // of the report's verdict; the gate's word where there is no report to go by
	Gate     Gate
	FailOn   []FailOn       // what the policy and the call make it fail on
	Policy   int            // version; 0 where the project has saved none
	Why      string         // by what the gate was decided
	Decision *Decision      // with all its reasons; nil where the run is not judged
	Compared *RunComparison // with the baseline; nil where there is none
	New      []string
	Grown    []string
	// Fixed are signatures that leaked in the baseline, and are clean in the run. Clean are those of them that are not
	// fixed by their state: they are open in another scenario, or leak in a newer build.
	Fixed      []string
	Clean      []string
	Persisting []string
	Known      []string // of the run, that fail no gate
	Power      string   // what the evidence would have shown; "" where it could show nothing
	Sentence   string
}

// RunResult is what is known of a run before it is judged.
type RunResult struct {
	RunFacts
	Status   analysis.Status // of its report; "" before the first
	Sentence string          // of its report
	Error    string          // why the last analysis gave nothing; "" where it did
	// Unreadable says why the first piece of evidence that failed could not be read; it counts where there is no report.
	Unreadable string
}

// IsJudged reports whether the run has a report that covers all of its evidence: only then do head and comparison
// count.
func (r *RunResult) IsJudged() bool { return r.Pending == 0 && !r.Failed && r.Analysed }

// Judge says whether a run passes its gate. c is nil where the run is not judged.
func Judge(r *RunResult, c *Case) Verdict {
	v := Verdict{State: r.State(), Status: string(r.Status), Sentence: r.Sentence}
	switch {
	case r.Pending > 0:
		v.undecided(GatePending, "The evidence is still being analysed.")
	case r.Failed: // a report may be there, but of less evidence than the run has
		v.undecided(GateError, r.Error)
	case r.Analysed:
		v.decide(c)
	case r.Unread > 0:
		v.undecided(GateError, cmp.Or(r.Unreadable, "The evidence could not be read."))
	default:
		v.undecided(GateInconclusive, "The run holds no evidence yet.")
	}
	return v
}

// undecided answers without a report.
func (v *Verdict) undecided(gate Gate, sentence string) {
	v.Status, v.Gate, v.Sentence = string(gate), gate, sentence
}

func (v *Verdict) decide(c *Case) {
	v.Compared = c.Compared
	for i := range c.Head.Findings {
		if f := &c.Head.Findings[i]; IsTolerated(f) && f.Class.IsSuspect() {
			v.Known = append(v.Known, f.Signature)
		}
	}
	if c.Head.Power != nil {
		v.Power = c.Head.Power.Sentence
	}
	if v.Compared != nil {
		v.list(v.Compared.Comparison)
	}
	made := Decide(c)
	v.Decision, v.Gate, v.Why = &made, made.Gate, made.Why
}

// list sorts the rows of a comparison into the verdict.
func (v *Verdict) list(c *compare.Comparison) {
	lists := map[compare.Change]*[]string{
		compare.New: &v.New, compare.Grown: &v.Grown, compare.Fixed: &v.Fixed, compare.Clean: &v.Clean,
		compare.Persisting: &v.Persisting, compare.Shrunk: &v.Persisting,
	}
	for _, r := range c.Rows {
		if list := lists[r.Change]; list != nil && (r.Head == nil || !IsTolerated(r.Head)) {
			*list = append(*list, r.Either().Signature)
		}
	}
}
