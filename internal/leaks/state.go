package leaks

// A State is what a team has to do about a signature.
type State string

// The states. A signature that never leaked nor grew has none.
const (
	StateNone      State = ""
	StateNew       State = "new"       // bad in one build
	StateOngoing   State = "ongoing"   // bad in a later build as well, or known no longer
	StateKnown     State = "known"     // the team tolerates it
	StateFixed     State = "fixed"     // clean since a build, by the team's word or by a run that exercised it
	StateRegressed State = "regressed" // leaked in a newer build than the one it was fixed in
)

// States lists the states that signatures can be listed by, in the order of tabs.
var States = []State{StateNew, StateOngoing, StateRegressed, StateKnown, StateFixed}

// OpenStates are those of leaks that the team has something to do about.
var OpenStates = []State{StateNew, StateOngoing, StateRegressed}

// stateNotes say what the states mean.
var stateNotes = map[State]string{
	StateNew:       "leaks or grows in one build only",
	StateOngoing:   "leaks or grows since an earlier build",
	StateRegressed: "was fixed, and leaks again in a newer build",
	StateKnown:     "tolerated for a reason: it fails no gate",
	StateFixed:     "a build that exercised it, or ran its callers, did not leak",
}

// Note says in a few words what a state means.
func (s State) Note() string { return stateNotes[s] }
