package leaks

// A State is what a leak's history asks of its team.
type State string

// The states. A signature that never leaked nor grew has none.
const (
	StateNone State = ""
	// StateNew means that the leak came in with a build, that no gate has failed for it since, and that nobody has taken
	// it. It stays new in later builds until one of the two happens, which makes it StateOngoing; a leak that was fixed
	// before is StateRegressed instead.
	StateNew       State = "new"
	StateFound     State = "found"     // it was there in the first build of its scenario: nobody knows since when
	StateOngoing   State = "ongoing"   // a build has failed for it, somebody has taken it, or it is known no longer
	StateKnown     State = "known"     // the team tolerates it
	StateFixed     State = "fixed"     // clean since a build, by the team's word or by a run that exercised it
	StateRegressed State = "regressed" // leaked in a newer build than the one it was fixed in
)

// States are the states that lists can be filtered by, in the order of tabs.
var States = []State{StateNew, StateFound, StateOngoing, StateRegressed, StateKnown, StateFixed}

// OpenStates are the states of leaks that the team has something to do about.
var OpenStates = []State{StateNew, StateFound, StateOngoing, StateRegressed}

// stateNotes say what the states mean.
var stateNotes = map[State]string{
	StateNew:       "appeared, and no build has failed for it",
	StateFound:     "was there in the first build of its scenario",
	StateOngoing:   "leaks or grows; a build has failed for it, or it has an owner",
	StateRegressed: "was fixed, and leaks again in a newer build",
	StateKnown:     "known, with a reason: it fails no gate",
	StateFixed:     "a build that exercised it, or ran its callers, did not leak",
}

// Note explains a state in a few words.
func (s State) Note() string { return stateNotes[s] }
