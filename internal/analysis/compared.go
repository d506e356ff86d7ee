package analysis

// Compared is what became of the findings of a run since its baseline, and what a gate makes of that. The verdict of a
// report that has it counts what is new or faster; Alone is what the evidence of the run says by itself.
type Compared struct {
	Runs     []BaselineRun   `json:"runs"`     // of the baseline, in the order given
	Gate     string          `json:"gate"`     // "passed", "failed" or "inconclusive"
	Exit     int             `json:"exit"`     // exit code of a CI job
	FailOn   []string        `json:"fail_on"`  // what the gate fails on: "new", "leak" and so on
	Why      string          `json:"why"`      // what decided the gate, in one line
	Sentence string          `json:"sentence"` // counts the changes
	Reasons  []GateReason    `json:"reasons"`  // those that fail first, then doubts, then what is silenced
	Changes  []FindingChange `json:"changes"`  // of all that leaks or grows in the run or in the baseline
	// Standing are the leaks that fail no gate because the baseline has them as well, and that may be caches: no run
	// tells whether they would go on filling.
	Standing   []StandingLeak    `json:"standing"`
	Warnings   []BaselineWarning `json:"warnings"`
	OwnVerdict OwnVerdict        `json:"alone"`
}

// A BaselineRun is one earlier run that the report was compared with.
type BaselineRun struct {
	Name     string        `json:"name"`     // as the command line names it
	Kind     string        `json:"kind"`     // BaselineReport, or BaselineEvidence that was analysed for the comparison
	Process  string        `json:"process"`  // the process that it is about
	Status   VerdictStatus `json:"status"`   // of the run by itself
	Suffices bool          `json:"suffices"` // its evidence lost nothing and is enough to judge growth
	Sentence string        `json:"sentence"` // its verdict, for people
}

// The kinds of a BaselineRun.
const (
	BaselineReport   = "report"
	BaselineEvidence = "evidence"
)

// A GateReason is one fact that decided the gate.
type GateReason struct {
	Effect    string `json:"effect"`    // "fails", "doubts" or "silences"
	Code      string `json:"code"`      // a leaks.ReasonCode
	Signature string `json:"signature"` // of the leak that it is about; "" for the whole run
	Sentence  string `json:"sentence"`
}

// A FindingChange is what became of a finding since the baseline.
type FindingChange struct {
	Signature string `json:"signature"`
	Title     string `json:"title"`
	Change    string `json:"change"`            // new, grown, persisting, shrunk, clean, fixed or not-exercised
	Why       string `json:"why"`               // the fact that decided it
	History   string `json:"history,omitempty"` // since when it is there, for people
	// Class, Score and Certain are the judgement on the run together with those of the baseline; Class is "" where the run
	// does not show the finding. Was is the class in the baseline, "" where that does not show it.
	Class    Class    `json:"class"`
	Score    *float64 `json:"score,omitempty"`
	Certain  bool     `json:"certain"`
	Was      Class    `json:"was"`
	Fails    bool     `json:"fails"`    // the gate fails for it
	Doubtful bool     `json:"doubtful"` // it could fail the gate, but the evidence does not decide
}

// StandingLeak is a leak of the run and of the baseline.
type StandingLeak struct {
	Signature string `json:"signature"`
	// Sentence says that it is a leak unless it is a cache that is still filling, and which run would show which.
	Sentence string `json:"sentence"`
}

// A BaselineWarning limits what the comparison may conclude. Codes are stable.
type BaselineWarning struct {
	Code    string `json:"code"`
	Run     string `json:"run"` // Name of the BaselineRun; "" for all
	Message string `json:"message"`
}

// OwnVerdict is the verdict by the evidence of a run alone, without its baseline.
type OwnVerdict struct {
	Status   VerdictStatus `json:"status"`
	Leaks    int           `json:"leaks"` // how many findings leak
	Sentence string        `json:"sentence"`
}

// OwnVerdict is the verdict by the evidence of the report alone, without its baseline.
func (r *Report) OwnVerdict() OwnVerdict {
	if r.Compared != nil {
		return r.Compared.OwnVerdict
	}
	return OwnVerdict{r.Verdict.Status, r.Verdict.Leaks, r.Verdict.Sentence}
}
