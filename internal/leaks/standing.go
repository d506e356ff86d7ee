package leaks

import (
	"fmt"
	"strconv"
	"strings"
)

// A Standing counts the signatures of a project that are open. One that a run found leaking is a leak until it is
// fixed; one that runs only found growing is none.
type Standing struct {
	Leaks map[State]int
	Older int // new leaks that the newest build does not show: an older one does
	Grows int // open signatures that are no leaks
}

// standingWords say how many leaks are in the states that are open, the gravest news first.
var standingWords = []struct {
	state     State
	one, many string
}{
	{StateNew, "leak is new", "leaks are new"},
	{StateRegressed, "leak came back", "leaks came back"},
	{StateOngoing, "leak goes on", "leaks go on"},
	{StateFound, "leak is there since the first build", "leaks are there since the first build"},
}

// String counts what leaks in a project, by state, and what grows, in a sentence.
func (s Standing) String() string {
	var parts []string
	for _, w := range standingWords {
		n := s.Leaks[w.state]
		if n == 0 {
			continue
		}
		text := plural(n, w.one, w.many)
		if len(parts) > 0 { // "1 leak is new, 2 came back"
			_, verb, _ := strings.Cut(text[len(strconv.Itoa(n))+1:], " ")
			text = strconv.Itoa(n) + " " + verb
		}
		if w.state == StateNew {
			text += s.older()
		}
		parts = append(parts, text)
	}
	switch {
	case len(parts) == 0:
		parts = append(parts, "No leak is open")
	case s.Leaks[StateNew] == 0:
		parts = append(parts, "none is new")
	}
	text := strings.Join(parts, ", ")
	if s.Grows > 0 {
		text += "; " + plural(s.Grows, "place grows", "places grow")
	}
	return text + "."
}

// older says of new leaks which of them are not of the newest build.
func (s Standing) older() string {
	builds := plural(s.Older, "in an older build", "in older builds")
	_, where, _ := strings.Cut(builds, " ")
	switch s.Older {
	case 0:
		return ""
	case s.Leaks[StateNew]:
		return " (" + where + ")"
	}
	return fmt.Sprintf(" (%d of them %s)", s.Older, where)
}

// gateGravity orders gates, the gravest last.
var gateGravity = map[Gate]int{GatePassed: 1, GatePending: 2, GateInconclusive: 3, GateError: 4, GateFailed: 5}

// GravestGate is the gravest of several gates; "" for none.
func GravestGate(list ...Gate) Gate {
	var gravest Gate
	for _, g := range list {
		if gateGravity[g] > gateGravity[gravest] {
			gravest = g
		}
	}
	return gravest
}
