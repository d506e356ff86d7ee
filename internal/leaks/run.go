package leaks

// A RunState says how far the evidence of a run is on its way to a report.
type RunState string

// The states of a run.
const (
	RunEmpty      RunState = "empty"      // it has no evidence
	RunProcessing RunState = "processing" // jobs are queued or running
	RunReady      RunState = "ready"      // it has a report
	RunFailed     RunState = "failed"     // nothing of its evidence could be read or analysed
)

// RunFacts are the facts that decide the state of a run.
type RunFacts struct {
	PendingJobs    int  // jobs queued or running
	UnreadEvidence int  // pieces of evidence that could not be read
	Analysed       bool // it has a report
	Failed         bool // its last analysis failed
}

// IsJudged reports whether the run has a report that covers all of its evidence: only then is there a GateCase.
func (f RunFacts) IsJudged() bool { return f.PendingJobs == 0 && !f.Failed && f.Analysed }

// State says how far the run is.
func (f RunFacts) State() RunState {
	switch {
	case f.PendingJobs > 0:
		return RunProcessing
	case f.Analysed:
		return RunReady
	case f.UnreadEvidence > 0 || f.Failed:
		return RunFailed
	}
	return RunEmpty
}
