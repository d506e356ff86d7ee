package leaks

import "slices"

// A Decision is the result of a gate for a run, with the reasons.
type Decision struct {
	Gate    Gate     `json:"gate"`
	Exit    int      `json:"exit"`    // exit code of a CI job
	Policy  int      `json:"policy"`  // version of the policy; 0 where the project has saved none
	FailOn  []FailOn `json:"fail_on"` // the kinds of leaks that it could have failed on
	Why     string   `json:"why"`     // the first reason, in one line
	Reasons []Reason `json:"reasons"` // those that fail first, then doubts, then what is silenced
	// Canary is what the policy's canary proves: that the gate can fail.
	Canary CanaryProof `json:"canary"`
	// Matters is the growth from which a leak matters; nil where the evidence cannot be weighed.
	Matters *DecisionThreshold `json:"matters"`
	// Undecided are the findings that could fail the gate but are not decided, the most probable first.
	Undecided []UndecidedFinding `json:"undecided"`
	// Rerun says that one more run of the same kind would probably decide.
	Rerun bool `json:"rerun"`
}

// A Reason is one fact that a decision rests on.
type Reason struct {
	Effect   GateEffect `json:"effect"`
	Code     ReasonCode `json:"code"`
	Sentence string     `json:"sentence"`
	// Signature is that of the leak that the reason is about; "" for the whole run.
	Signature string   `json:"signature"`
	Figure    *float64 `json:"figure"` // measured value in Unit; nil where nothing is measured
	Limit     *float64 `json:"limit"`  // in Unit; nil where there is none
	Unit      string   `json:"unit"`   // "bytes/hour", "score", "changes"
}

// A GateEffect is what a reason does to a gate.
type GateEffect string

// The effects of reasons, the strongest first.
const (
	EffectFails    GateEffect = "fails"
	EffectDoubts   GateEffect = "doubts"   // the policy says what becomes of it
	EffectSilences GateEffect = "silences" // without it the gate would fail
)

// A ReasonCode names a kind of reason. Codes are stable.
type ReasonCode string

// The codes of reasons.
const (
	ReasonLeak      ReasonCode = "leak"
	ReasonNew       ReasonCode = "new"
	ReasonRegressed ReasonCode = "regressed"
	ReasonGrown     ReasonCode = "grown"
	ReasonBudget    ReasonCode = "budget"
	ReasonDrift     ReasonCode = "drift"

	ReasonEvidence         ReasonCode = "evidence-inconclusive"
	ReasonUndecided        ReasonCode = "undecided" // a finding that could fail the gate
	ReasonFirst            ReasonCode = "first-build"
	ReasonNoSymbols        ReasonCode = "no-symbols" // without names nobody can tell whether a leak is new
	ReasonNoBaseline       ReasonCode = "no-baseline"
	ReasonBaseline         ReasonCode = "baseline-inconclusive"
	ReasonBudgetUnmeasured ReasonCode = "budget-unmeasured"
	ReasonBudgetUncertain  ReasonCode = "budget-uncertain"
	ReasonNoRelease        ReasonCode = "no-release"
	ReasonDriftUnmeasured  ReasonCode = "drift-unmeasured"
	ReasonDriftUncertain   ReasonCode = "drift-uncertain"
	ReasonNotProven        ReasonCode = "not-proven"

	ReasonRule        ReasonCode = "known-by-rule"
	ReasonKnown       ReasonCode = "known"
	ReasonQuarantined ReasonCode = "quarantined"
	ReasonScore       ReasonCode = "below-score"
	ReasonNoIdentity  ReasonCode = "no-identity" // its name will be another in the next run
	ReasonCanary      ReasonCode = "canary"
	ReasonFound       ReasonCode = "found" // it was there in the first build of the scenario
	ReasonReported    ReasonCode = "told"  // an earlier build failed for it
	ReasonOwned       ReasonCode = "owned" // somebody took it before a build failed
)

// A CanaryProof says whether a canary proves that a gate can fail.
type CanaryProof string

// What a canary proves; "" where the policy has none.
const (
	CanaryProven    CanaryProof = "proven"
	CanaryNotProven CanaryProof = "not-proven"
)

// exits are the exit codes of CI jobs; they are part of the contract.
var exits = map[Gate]int{GatePassed: 0, GateFailed: 1, GateInconclusive: 4, GateError: 3, GatePending: 4}

// ExitCode is the exit code of a CI job with this gate.
func (g Gate) ExitCode() int { return exits[g] }

// SilencedReasons are the reasons by which leaks fail no gate.
func (d *Decision) SilencedReasons() []Reason { return d.by(EffectSilences) }

// FailedSignatures are the signatures that the gate failed for because they leak.
func (d *Decision) FailedSignatures() []string {
	var list []string
	for _, r := range d.by(EffectFails) {
		if r.Signature != "" && slices.Contains(failOns, FailOn(r.Code)) && !slices.Contains(list, r.Signature) {
			list = append(list, r.Signature)
		}
	}
	return list
}

// by returns the reasons that have an effect.
func (d *Decision) by(effect GateEffect) []Reason {
	var list []Reason
	for _, r := range d.Reasons {
		if r.Effect == effect {
			list = append(list, r)
		}
	}
	return list
}

// namedReasons is how many reasons of one code a decision names; the others are only counted.
const namedReasons = 100
