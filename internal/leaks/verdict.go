package leaks

import (
	"cmp"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A RunVerdict is the decision on a run. New, Grown, Fixed, Clean, Persisting and Known are signatures of leaks: what
// became of them since the baseline. Those that the team knows are in Known only.
type RunVerdict struct {
	State    RunState
	Status   string // an analysis.Status of the report; the gate's word where there is no report
	Gate     Gate
	FailOn   []FailOn       // what the policy and the call make the gate fail on
	Policy   int            // version of the policy; 0 where the project has saved none
	Why      string         // what decided the gate
	Decision *Decision      // with all its reasons; nil where the run is not judged
	Compared *RunComparison // with the baseline; nil where there is none
	New      []string
	Grown    []string
	// Fixed are leaks of the baseline that are clean in the run and fixed in the project. CleanButOpen are those that are
	// clean in the run, but open in another scenario or in a newer build.
	Fixed        []string
	CleanButOpen []string
	Persisting   []string
	Known        []string // those of the run that fail no gate because they are known
	// Arrivals say between which builds new leaks came in, and regressed ones came back.
	Arrivals []UntriagedLeak
	// Renamed are leaks whose signature changed with the build of the run.
	Renamed []RenamedLeak
	Causes  []LostTogether // the causes that several of the run's leaking or growing findings share
	Power   string         // which leak the evidence would have shown, in a sentence; "" where it could show none
	// Next is the evidence that would decide the run; nil where it is decided, and where nothing known would.
	Next     *analysis.Next
	Sentence string // the verdict, for people
}

// RunResult is what is stored about a run before its gate is decided.
type RunResult struct {
	RunFacts
	Status   analysis.VerdictStatus // of its report; "" before the first report
	Sentence string                 // of its report
	Next     *analysis.Next         // of its report; nil where that is decided
	Error    string                 // why the last analysis failed; "" where it did not
	// Unreadable says why the first file that failed could not be read; it is used where there is no report.
	Unreadable string
}

// Judge decides whether a run passes its gate. c is nil where the run is not judged.
func Judge(r *RunResult, c *GateCase) RunVerdict {
	v := RunVerdict{State: r.State(), Status: string(r.Status), Sentence: r.Sentence, Next: r.Next}
	switch {
	case r.PendingJobs > 0:
		v.undecided(GatePending, "The evidence is still being analysed.")
	case r.Failed: // a report may be there, but of less evidence than the run has
		v.undecided(GateError, r.Error)
	case r.Analysed:
		v.decide(c)
	case r.UnreadEvidence > 0:
		v.undecided(GateError, cmp.Or(r.Unreadable, "The evidence could not be read."))
	default:
		v.undecided(GateInconclusive, "The run holds no evidence yet.")
	}
	return v
}

// undecided answers without a report.
func (v *RunVerdict) undecided(gate Gate, sentence string) {
	v.Status, v.Gate, v.Sentence = string(gate), gate, sentence
}

func (v *RunVerdict) decide(c *GateCase) {
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
		v.list(v.Compared.Comparison, c)
	}
	v.arrive(c)
	v.Renamed = RenamedLeaks(c)
	v.Causes = among(c.Causes, func(signature string) bool {
		return slices.ContainsFunc(c.Head.Findings, func(f compare.Finding) bool {
			return f.Signature == signature && f.Class.IsSuspect()
		})
	})
	made := Decide(c)
	v.Decision, v.Gate, v.Why = &made, made.Gate, made.Why
}

// An UntriagedLeak is a new or regressed leak of a run that nobody has triaged.
type UntriagedLeak struct {
	Signature string  `json:"signature"`
	Change    FailOn  `json:"change"` // new or regressed
	After     string  `json:"after"`  // the last clean build before it; "" where none is known
	Since     string  `json:"since"`  // the first bad build since
	FailedIn  *string `json:"told"`   // the newest build before this one whose gate failed because of it; nil for none. The API calls it told
}

// arrive lists the leaks that came in.
func (v *RunVerdict) arrive(c *GateCase) {
	for i := range c.Head.Findings {
		f := &c.Head.Findings[i]
		o, known := c.Origins[f.Signature]
		if !known || !f.Class.IsLeak() || IsTolerated(f) || !o.isNew() {
			continue
		}
		a := UntriagedLeak{Signature: f.Signature, Change: FailOnNew, After: o.After, Since: o.Since}
		if o.Regressed {
			a.Change = FailOnRegressed
		}
		if o.FailedIn != "" {
			a.FailedIn = &o.FailedIn
		}
		v.Arrivals = append(v.Arrivals, a)
	}
}

// isNew reports whether the finding came in, and nobody has accepted, assigned or tolerated it.
func (o *Origin) isNew() bool { return !o.Found && !o.Owned }

// list sorts the rows of a comparison into the verdict. What the history of the line says of a leak goes before what
// one baseline says.
func (v *RunVerdict) list(c *compare.Comparison, of *GateCase) {
	lists := map[compare.Change]*[]string{
		compare.ChangeNew: &v.New, compare.ChangeGrown: &v.Grown, compare.ChangeFixed: &v.Fixed,
		compare.ChangeClean:      &v.CleanButOpen,
		compare.ChangePersisting: &v.Persisting, compare.ChangeShrunk: &v.Persisting,
	}
	for _, r := range c.Rows {
		change := r.Change
		if r.Head != nil && !of.BaselineNamed {
			o, known := of.Origins[r.Head.Signature]
			switch {
			case !known:
			case change == compare.ChangeNew && !o.isNew():
				change = compare.ChangePersisting
			case (change == compare.ChangePersisting || change == compare.ChangeShrunk) && r.Head.Class.IsLeak() && o.isNew() &&
				o.FailedIn == "":
				change = compare.ChangeNew
			}
		}
		if list := lists[change]; list != nil && (r.Head == nil || !IsTolerated(r.Head)) {
			*list = append(*list, r.HeadOrBase().Signature)
		}
	}
}
