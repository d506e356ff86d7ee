package leaks

import (
	"fmt"
	"strconv"
	"strings"
)

// An OpenLeakCounts counts the leaks of a project; several signatures that are lost together count once. A signature
// that a run found leaking is a leak until it is fixed; one that runs only found growing is none.
type OpenLeakCounts struct {
	Leaks       map[State]int // open leaks by their state
	Stacks      int           // signatures of the open leaks: as many as Leaks has, or more where some are lost together
	NotInNewest int           // new leaks that only older builds show
	OnlyGrowing int           // open signatures that grow, and that no run found leaking
}

// An OpenLeak is a signature in an open state that a run found leaking.
type OpenLeak struct {
	Signature   string
	State       State
	NotInNewest bool // the newest build does not show it
}

// CountOpenLeaks counts open leaks. Signatures of one cause and one state are one leak; it is NotInNewest where all of
// them are.
func CountOpenLeaks(list []OpenLeak, causes []LostTogether) OpenLeakCounts {
	s := OpenLeakCounts{Leaks: map[State]int{}, Stacks: len(list)}
	group := map[string]int{} // by signature, of those lost together; the causes of several runs may overlap
	for i, c := range causes {
		number := i + 1
		for _, signature := range c.Signatures {
			if known := group[signature]; known > 0 {
				number = known
				break
			}
		}
		for _, signature := range c.Signatures {
			group[signature] = number
		}
	}
	type leak struct {
		group int
		state State
	}
	older := map[leak]bool{}
	single := len(causes)
	for i := range list {
		l := leak{group[list[i].Signature], list[i].State}
		if l.group == 0 {
			single++
			l.group = single
		}
		was, counted := older[l]
		older[l] = list[i].NotInNewest && (was || !counted)
	}
	for l, isOlder := range older {
		s.Leaks[l.state]++
		if isOlder && l.state == StateNew {
			s.NotInNewest++
		}
	}
	return s
}

// standingWords say how many leaks are in the states that are open, the gravest news first.
var standingWords = []struct {
	state     State
	one, many string
}{
	{StateNew, "leak is new", "leaks are new"},
	{StateRegressed, "leak came back", "leaks came back"},
	{StateOngoing, "leak is ongoing", "leaks are ongoing"},
	{StateFound, "leak is from the first build", "leaks are from the first build"},
}

// String says in a sentence what leaks in a project, by state, and what grows.
func (s OpenLeakCounts) String() string {
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
	if s.Stacks > s.open() {
		text += fmt.Sprintf("; %d stacks in total", s.Stacks)
	}
	if s.OnlyGrowing > 0 {
		text += "; " + plural(s.OnlyGrowing, "site grows", "sites grow")
	}
	return text + "."
}

// open counts the leaks that are open.
func (s OpenLeakCounts) open() (n int) {
	for _, state := range OpenStates {
		n += s.Leaks[state]
	}
	return n
}

// older says of new leaks which of them are not of the newest build.
func (s OpenLeakCounts) older() string {
	builds := plural(s.NotInNewest, "in an older build", "in older builds")
	_, where, _ := strings.Cut(builds, " ")
	switch s.NotInNewest {
	case 0:
		return ""
	case s.Leaks[StateNew]:
		return " (" + where + ")"
	}
	return fmt.Sprintf(" (%d of them %s)", s.NotInNewest, where)
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
