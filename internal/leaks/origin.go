package leaks

import (
	"fmt"
	"slices"
)

// An Origin says since when a finding is there, on the line and in the scenario of its run. Builds are given by name.
type Origin struct {
	Found     bool   // it was there in the first build of the scenario, or where the branch left its parent line
	FirstList bool   // Found is true because the first list of leaks at exit of its tool in the scenario has it
	Fork      string // the build at which the branch left its parent line, where the finding was there; else ""
	After     string // the last build that was clean before; "" for none
	Since     string // the first build that was bad since; "" where it came in with the run's own build
	FailedIn  string // the newest build before this one, and since it came in, whose gate failed because of it; "" for none
	Owned     bool   // it has an owner
	Owner     string // "" where the owner has no name
	Regressed bool   // it was fixed before
	// Certain is the first build since in which it was a certain leak; "" for none before the run's own.
	Certain string
}

// Text says in which interval the finding came in.
func (o *Origin) Text() string {
	came := "appeared"
	if o.Regressed {
		came = "came back"
	}
	s := ""
	switch {
	case o.After != "":
		s = fmt.Sprintf("%s between builds %s and %s", came, o.After, o.Since)
	default:
		s = fmt.Sprintf("%s in build %s or before", came, o.Since)
	}
	if o.Certain != "" && o.Certain != o.Since {
		s += ", certain since " + o.Certain
	}
	if o.FailedIn != "" {
		s += "; build " + o.FailedIn + " failed for it; no owner"
	}
	return s
}

// ownedBy names the owner of the finding.
func (o *Origin) ownedBy() string {
	if !o.Owned {
		return ""
	}
	if o.Owner == "" {
		return " (with an owner)"
	}
	return " (owner: " + o.Owner + ")"
}

// A PastLine is the history of a leak on a line, up to the build of a run.
type PastLine struct {
	*BuildLine
	HeadIndex  int   // index of the run's build in the BuildOrder
	ScenarioID int64 // id
	Sightings  []Sighting
	Marks      MarkedBuilds
	FailedHere bool                  // an earlier run of the same build failed its gate because of the leak
	Owner      string                // of the leak; "" where the owner has no name
	Name       func(id int64) string // name of the build with this id
	AtExit     bool                  // only lists of leaks at exit show it
}

// Origin says since when the leak is there.
func (p *PastLine) Origin() Origin {
	var own []Sighting
	for _, s := range p.Sightings {
		if s.ScenarioID == p.ScenarioID && s.BuildIndex <= p.HeadIndex {
			own = append(own, s)
		}
	}
	o := Origin{Owned: p.Marks.Owned, Owner: p.Owner}
	name := func(at int) string {
		if at < 0 {
			return ""
		}
		return p.Name(p.BuildIDs[at])
	}
	c := Follow(own, p.Marks)
	if c.Since < 0 {
		o.Since = name(p.HeadIndex)
		return o
	}
	o.FirstList = c.Found && p.AtExit
	o.Found, o.Since, o.After, o.Regressed = c.Found, name(c.Since), name(c.After), c.RegressedIn >= 0
	if fork := p.ForkIndex(); c.Since <= fork {
		o.Found, o.Fork = true, name(fork)
	}
	for _, failed := range p.Marks.FailedIn {
		if failed >= c.Since && failed < p.HeadIndex {
			o.FailedIn = name(failed)
		}
	}
	failedSince := slices.ContainsFunc(p.Marks.FailedIn,
		func(failed int) bool { return failed >= c.Since && failed != p.HeadIndex })
	if o.Regressed && !failedSince && !p.FailedHere {
		o.Owned = false // it had an owner before it was fixed
	}
	for _, s := range own {
		if s.BuildIndex >= c.Since && s.Certain {
			o.Certain = name(s.BuildIndex)
			break
		}
	}
	return o
}

// foundText says why the gate does not ask since when the finding is there.
func (o *Origin) foundText() string {
	if o.Fork != "" {
		return "was already in build " + o.Fork + ", where the branch began"
	}
	if o.FirstList {
		return "was already in the tool's first list of leaks at exit"
	}
	return "was already in the first build of the scenario"
}

// An UndecidedFinding is a finding that could fail the gate but that the evidence does not decide.
type UndecidedFinding struct {
	Signature   string  `json:"signature"`
	Change      FailOn  `json:"change"`      // for which it would fail
	Probability float64 `json:"probability"` // that it leaks, 0 to 1
	Bytes       int64   `json:"bytes"`       // growth per Unit
	Unit        string  `json:"unit"`        // "hour", a unit of work, or "run" where the rate is unknown; "" where growth is unknown

	name string
}

func (u *UndecidedFinding) text() string {
	kind := "could be a leak"
	switch u.Change {
	case FailOnNew:
		kind = "could be a new leak"
	case FailOnRegressed:
		kind = "could have come back"
	case FailOnGrown:
		kind = "could be a leak that grows faster"
	}
	if u.Probability == 0 {
		return u.name + " " + kind
	}
	return fmt.Sprintf("%s %s (%s)", u.name, kind, percent(u.Probability))
}

// RepeatPolicy is what a gate does with a leak for which an earlier build of the line failed.
type RepeatPolicy string

// The policies for a leak that an earlier build failed for; "" is FailUntilOwned.
const (
	FailUntilOwned RepeatPolicy = "until-owned" // builds fail until it is accepted, assigned or fixed
	FailUntilFixed RepeatPolicy = "always"      // builds fail until it is fixed or accepted
	FailOnce       RepeatPolicy = "once"        // later builds pass, and list it
)

// repeatPolicies are all of them, in the order of lists.
var repeatPolicies = []RepeatPolicy{FailUntilOwned, FailUntilFixed, FailOnce}

// failsAgain reports whether the gate fails for a certain leak that came in.
func (p *Policy) failsAgain(o *Origin) bool {
	switch p.Repeat {
	case FailUntilFixed:
		return true
	case FailOnce:
		return o.FailedIn == "" && !o.Owned
	}
	return !o.Owned
}
