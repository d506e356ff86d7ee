package leaks

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A SignatureFinding is one finding of a signature in a run of a build.
type SignatureFinding struct {
	RunID       int64
	SignatureID int64 // id of the finding's own signature: parts of one leak have different ones
	Status      analysis.VerdictStatus
	Figure
}

// An Outcome is what the runs of one build, in one scenario or over several, say of a signature.
type Outcome struct {
	Build       string
	Scenario    string // of the run RunID, if the outcome is over several scenarios
	Runs        int    // how many have a result
	RunsShowing int    // how many of Runs show the signature
	RunID       int64  // the run with the gravest finding; without one, the newest run
	// Exercised says that a run shows the signature, leaking or not. If it is false nothing is known, which is not the
	// same as clean.
	Exercised bool
	// Absent is the frame that proves that the callers of a leak ran in a build after one that it was bad in, although
	// no run shows the leak: such a build is clean. It is nil otherwise.
	Absent    *compare.RanFrame
	Judgement Judgement
	Figure    // of the run RunID

	lastRun int64 // whose finding was taken last
}

// IsClean reports whether a run shows the signature and could tell a leak from other growth, and no run says that it
// leaks or grows; or whether no run shows it although its callers ran. Where no run shows it, the judgement is
// JudgedUndecided.
func (o *Outcome) IsClean() bool { return o.Judgement == JudgedClean || o.IsAbsent() }

// IsAbsent reports whether no run shows the signature though its callers ran.
func (o *Outcome) IsAbsent() bool { return !o.Exercised && o.Absent != nil }

// IsBad reports whether the signature leaked or grew.
func (o *Outcome) IsBad() bool { return o.Exercised && o.Class.IsSuspect() }

// Take adds a finding to the outcome, which shows the gravest finding, among equals that of the newest run. Findings of
// one run, which parts of one leak are, follow one another. Take reports whether the outcome now shows this finding.
func (o *Outcome) Take(s *SignatureFinding) bool {
	if s.RunID != o.lastRun {
		o.RunsShowing++
		o.lastRun = s.RunID
	}
	o.Judgement = max(o.Judgement, JudgementOf(s.Class, s.Status))
	if o.Exercised && !graver(&s.Figure, s.RunID, &o.Figure, o.RunID) {
		return false
	}
	o.Exercised, o.RunID, o.Figure = true, s.RunID, s.Figure
	return true
}

func graver(a *Figure, run int64, b *Figure, other int64) bool {
	if order := CompareGravity(a, b); order != 0 {
		return order < 0
	}
	return run > other
}
