package score

// A Kind of evidence has conditions of its own.
type Kind string

// The kinds of evidence.
const (
	KindFollowed Kind = "followed" // snapshots that list every block with its address
	KindCounted  Kind = "counted"  // snapshots that count blocks
	KindTraced   Kind = "traced"   // a trace of every allocation and free
)

// A Condition is a property that every leak has, measured as a number: the lower, the less it is met. A condition that
// is not met lowers the score, and no other condition makes up for it.
type Condition string

// The conditions, named after the behaviour of a leak.
const (
	ConditionSteady     Condition = "steady"     // its count rises with the work or the time, not in bursts and not ever slower
	ConditionEverywhere Condition = "everywhere" // every part of the run left blocks behind
	ConditionEarly      Condition = "early"      // so did the earliest three quarters of it, whose blocks had time to be freed
	ConditionOutlives   Condition = "outlives"   // its blocks live far beyond any that was freed
	ConditionKept       Condition = "kept"       // old blocks are no longer freed
	ConditionGoesOn     Condition = "goes-on"    // it has not stopped
	ConditionGapless    Condition = "gapless"    // no interval left nothing behind whose work lets expect a block
	ConditionFalls      Condition = "falls"      // its count falls next to never
	ConditionOlder      Condition = "older"      // few blocks of its heap that are older than the trace are freed
)

// conditionsOf are the conditions of a kind, in the order in which Evidence lists them.
var conditionsOf = map[Kind][]Condition{
	KindFollowed: {
		ConditionSteady, ConditionEverywhere, ConditionEarly, ConditionOutlives,
		ConditionKept, ConditionGoesOn, ConditionGapless,
	},
	KindCounted: {ConditionSteady, ConditionGoesOn, ConditionFalls},
	KindTraced:  {ConditionEverywhere, ConditionOutlives, ConditionKept, ConditionGoesOn, ConditionOlder},
}

// Conditions returns the conditions of a kind, in the order of Evidence.Conditions.
func (k Kind) Conditions() []Condition { return conditionsOf[k] }

// Evidence is what a judgement rests on. It is kept so that several runs can be judged together.
type Evidence struct {
	Kind       Kind      `json:"kind"`
	Snapshots  int       `json:"snapshots,omitempty"` // how many; 0 for a trace
	Conditions []float64 `json:"conditions"`          // measured values, in the order of Kind.Conditions
	LogOdds    float64   `json:"log_odds"`            // log odds (natural) that it leaks, by the model; −8 at least
}
