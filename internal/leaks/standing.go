package leaks

import (
	"strconv"
	"strings"
)

// standingWords say how many signatures are in the states that are open, the gravest news first.
var standingWords = []struct {
	state     State
	one, many string
}{
	{StateNew, "leak is new", "leaks are new"},
	{StateRegressed, "leak came back", "leaks came back"},
	{StateOngoing, "leak goes on", "leaks go on"},
}

// SayStanding counts what leaks or grows in a project, by state, in a sentence.
func SayStanding(counts map[State]int) string {
	var parts []string
	for _, w := range standingWords {
		n := counts[w.state]
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
		return "No leak is open."
	case counts[StateNew] == 0:
		return strings.Join(parts, ", ") + "; none is new."
	}
	return strings.Join(parts, ", ") + "."
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
