package leaks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An OpenLeakCounts counts the leaks of a project; several signatures that are lost together count once. A signature
// that a run found leaking is a leak until it is fixed; one that runs only found growing is none.
type OpenLeakCounts struct {
	Leaks       map[State]int    // leaks by their state
	Standings   map[Standing]int // open leaks by how they stand in the newest build
	Stacks      int              // signatures of the open leaks: as many as Standings has, or more where some are lost together
	OnlyGrowing int              // open signatures that grow, and that no run found leaking
}

// An OpenLeak is a signature in an open state that a run found leaking.
type OpenLeak struct {
	Signature string
	State     State
	Standing  Standing // in the newest build
}

// standingGravity orders how the parts of one leak may stand, the gravest first: one that the newest build shows is not
// fixed where another part is.
var standingGravity = []Standing{StandingNew, StandingOpen, Standing(StateRegressed), Standing(StateOngoing),
	Standing(StateFound), StandingNotRetested, StandingMayBeFixed}

// CountOpenLeaks counts open leaks. Signatures of one cause and one state are one leak, which stands as the gravest of
// them.
func CountOpenLeaks(list []OpenLeak, causes []LostTogether) OpenLeakCounts {
	s := OpenLeakCounts{Leaks: map[State]int{}, Standings: map[Standing]int{}, Stacks: len(list)}
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
	stands := map[leak]Standing{}
	single := len(causes)
	for i := range list {
		l := leak{group[list[i].Signature], list[i].State}
		if l.group == 0 {
			single++
			l.group = single
		}
		was, counted := stands[l]
		if now := list[i].Standing; !counted || slices.Index(standingGravity, now) < slices.Index(standingGravity, was) {
			stands[l] = now
		}
	}
	for l, standing := range stands {
		s.Leaks[l.state]++
		s.Standings[standing]++
	}
	return s
}

// standingWords say how many open leaks stand how, the gravest news first.
var standingWords = []struct {
	standing  Standing
	one, many string
}{
	{StandingNew, "leak is new", "leaks are new"},
	{Standing(StateRegressed), "leak came back", "leaks came back"},
	{StandingOpen, "leak is open since an older build", "leaks are open since older builds"},
	{Standing(StateOngoing), "leak is ongoing", "leaks are ongoing"},
	{Standing(StateFound), "leak is from the first build", "leaks are from the first build"},
	{StandingMayBeFixed, "leak may be fixed", "leaks may be fixed"},
	{StandingNotRetested, "leak was not retested", "leaks were not retested"},
}

// String says in a sentence what leaks in a project, by how it stands in the newest build, and what grows.
func (s OpenLeakCounts) String() string {
	var parts []string
	for _, w := range standingWords {
		n := s.Standings[w.standing]
		if n == 0 {
			continue
		}
		text := plural(n, w.one, w.many)
		if len(parts) > 0 { // "1 leak is new, 2 came back"
			_, verb, _ := strings.Cut(text[len(strconv.Itoa(n))+1:], " ")
			text = strconv.Itoa(n) + " " + verb
		}
		parts = append(parts, text)
	}
	switch {
	case len(parts) == 0:
		parts = append(parts, "No leak is open")
	case s.Standings[StandingNew] == 0:
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
	for _, of := range s.Standings {
		n += of
	}
	return n
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
