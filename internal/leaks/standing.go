package leaks

import "heapdrift/internal/analysis"

// A Standing is how a leak stands in a build, in the words of pages: its state, and what the builds since then show of
// it. The state alone answers what the team has to do; a leak that nobody has taken stays StateNew although newer
// builds may be clean.
type Standing string

// The standings of leaks in open states. A leak in another state, or whose builds are unknown, has its state as its
// standing.
const (
	StandingNew         Standing = "new"          // StateNew, and bad in this build first
	StandingOpen        Standing = "open"         // StateNew, bad in this build, and in an older one first
	StandingMayBeFixed  Standing = "may be fixed" // bad in older builds only; some newer evidence is clean, other does not decide
	StandingNotRetested Standing = "not retested" // bad in older builds only; no newer evidence tells
	StandingGrowsAgain  Standing = "grows again"  // StateFixed in an older build; this one grows, and does not decide
)

// standingNotes say what the standings mean that are no states.
var standingNotes = map[Standing]string{
	StandingNew:         "appeared in this build",
	StandingOpen:        "appeared in an older build and leaks in this one; no build has failed for it",
	StandingMayBeFixed:  "clean in some evidence since; a scenario that it leaked in has not decided",
	StandingGrowsAgain:  "fixed in an older build; grows in this one, which does not decide whether it leaks",
	StandingNotRetested: "leaked in an older build; no build since tells whether it still does",
}

// Note explains a standing in a few words.
func (s Standing) Note() string {
	if note := standingNotes[s]; note != "" {
		return note
	}
	return State(s).Note()
}

// A BuildView is what is known of a leak when it is shown with a build: names of builds, "" where unknown.
type BuildView struct {
	Build    string // the build that the page is about
	FirstBad string // the first build in which the leak leaked or grew
	LastBad  string // the newest one
	FixedIn  string // the build that the fix is in
	// CleanSince says that evidence since LastBad is clean.
	CleanSince bool
}

// StandingIn is how a leak with the state s stands in a build.
func (s State) StandingIn(v BuildView) Standing {
	isOpen := s == StateNew || s == StateFound || s == StateOngoing || s == StateRegressed
	switch {
	case s == StateFixed && v.Build != "" && v.LastBad == v.Build && v.FixedIn != v.Build:
		return StandingGrowsAgain
	case !isOpen || v.Build == "" || v.LastBad == "":
		return Standing(s)
	case v.LastBad != v.Build && v.CleanSince:
		return StandingMayBeFixed
	case v.LastBad != v.Build:
		return StandingNotRetested
	case s == StateNew && v.FirstBad != v.Build:
		return StandingOpen
	}
	return Standing(s)
}

// StandingInRun is how a leak with the state s stands in a run of a build that gives it a class. A run that does not
// find it leaking says nothing of other runs, so an open state is left to those; a run of an older build may find what
// is fixed now.
func (s State) StandingInRun(v BuildView, class analysis.Class) Standing {
	isBad := class.IsSuspect()
	switch {
	case isBad && s == StateFixed && v.FixedIn != "":
		return Standing("fixed in " + v.FixedIn)
	case !isBad && s != StateKnown && s != StateFixed:
		return Standing(StateNone)
	}
	if !isBad {
		return Standing(s)
	}
	v.LastBad = v.Build
	return s.StandingIn(v)
}
