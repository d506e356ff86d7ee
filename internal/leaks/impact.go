package leaks

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"heapdrift/ingest/sorting"
)

// An Impact is what a change of rules or policies would do to recent runs, computed before it is saved.
type Impact struct {
	Silenced    []KnownChange    // leaks that fail a gate now, and would not after the change
	Unsilenced  []KnownChange    // leaks that fail no gate now, and would after the change
	Runs        int              // how many recent runs were decided by both
	ChangedRuns []DecisionChange // those of them whose decision changes, the newest first
	Builds      []GateChange     // the gate of each build, before and after the change
}

// A GateChange is the gate of a build, over all its runs, before a change and after it.
type GateChange struct {
	Build          string
	From, To       Gate
	FromWhy, ToWhy string // the reason of the gravest run
}

// A KnownChange is a leak that a change silences, or makes count again.
type KnownChange struct {
	Signature, Title string
	From, To         ReasonCode // why it is silenced; "" for not
	Why              string     // the reason after the change, as a clause
	Changed          int        // how many stacks, or runs, this changes
	ChangedOf        int        // how many show it
}

// A DecisionChange is a run whose decision a change alters.
type DecisionChange struct {
	RunID                 int64 // id
	Build, Scenario, Name string
	From, To              Gate
	FromWhy, ToWhy        string // in one line each
}

// A PastCase is a run that has been decided, with its GateCase.
type PastCase struct {
	RunID                 int64
	Build, Scenario, Name string
	*GateCase
}

// decideTwice decides each case twice, as it is and as changed makes it, and returns all of them in their order.
func decideTwice(ctx context.Context, cases []PastCase, changed func(*PastCase) *GateCase) ([]DecisionChange, error) {
	decided := make([]DecisionChange, len(cases))
	for i := range cases {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("leaks: %w", context.Cause(ctx))
		}
		c := &cases[i]
		from, to := Decide(c.GateCase), Decide(changed(c))
		decided[i] = DecisionChange{c.RunID, c.Build, c.Scenario, c.Name, from.Gate, to.Gate, from.Why, to.Why}
	}
	return decided, nil
}

// turnsOf are those of cases decided twice that turn.
func turnsOf(decided []DecisionChange) []DecisionChange {
	var turns []DecisionChange
	for _, t := range decided {
		if t.From != t.To {
			turns = append(turns, t)
		}
	}
	return turns
}

// ImpactOf compares the decisions on cases with those on then: the same cases after a change of policies, or of what
// the team says of a leak.
func ImpactOf(ctx context.Context, cases, then []PastCase) (*Impact, error) {
	made := &Impact{Runs: len(cases)}
	after := make(map[int64]*GateCase, len(then))
	for i := range then {
		after[then[i].RunID] = then[i].GateCase
	}
	tally := map[string]*KnownChange{}
	var order []string
	for i := range cases {
		c := &cases[i]
		was, is := silencesOf(c.GateCase), silencesOf(after[c.RunID])
		for j := range c.Head.Findings {
			f := &c.Head.Findings[j]
			from, to := was[f.Signature], is[f.Signature]
			if from.Code == to.Code {
				continue
			}
			key := strings.Join([]string{f.Signature, string(from.Code), string(to.Code)}, "\x00")
			if tally[key] == nil {
				tally[key] = &KnownChange{Signature: f.Signature, Title: cmp.Or(f.Title, f.Signature), From: from.Code, To: to.Code,
					Why: to.Sentence, ChangedOf: len(cases)}
				order = append(order, key)
			}
			tally[key].Changed++
		}
	}
	for _, key := range order {
		switch s := tally[key]; {
		case s.To == "":
			made.Unsilenced = append(made.Unsilenced, *s)
		case s.From == "":
			made.Silenced = append(made.Silenced, *s)
		}
	}
	decided, err := decideTwice(ctx, cases, func(c *PastCase) *GateCase { return after[c.RunID] })
	made.ChangedRuns, made.Builds = turnsOf(decided), buildTurns(decided)
	return made, err
}

// buildTurns says what the gates of each build say together, in the order of the cases.
func buildTurns(decided []DecisionChange) []GateChange {
	var list []GateChange
	at := map[string]int{}
	for i := range decided {
		c := &decided[i]
		k, known := at[c.Build]
		if !known {
			k = len(list)
			at[c.Build] = k
			list = append(list, GateChange{Build: c.Build})
		}
		t := &list[k]
		if t.From == "" || GravestGate(t.From, c.From) != t.From {
			t.From, t.FromWhy = c.From, c.FromWhy
		}
		if t.To == "" || GravestGate(t.To, c.To) != t.To {
			t.To, t.ToWhy = c.To, c.ToWhy
		}
	}
	return list
}

// gateVerbs say what a gate does.
var gateVerbs = map[Gate]string{GatePassed: "passes", GateFailed: "fails", GateInconclusive: "is inconclusive"}

// Text says in a sentence what a change does to the gate of a build.
func (t *GateChange) Text() string {
	switch {
	case t.From != t.To:
		return fmt.Sprintf("With this change, the gate of build %s %s%s. It %s now%s.", t.Build, gateVerbs[t.To], colonWhy(t.ToWhy),
			gateVerbs[t.From], colonWhy(t.FromWhy))
	case t.ToWhy != t.FromWhy:
		return fmt.Sprintf("With this change, the gate of build %s still %s%s. The reason now: %s.", t.Build, gateVerbs[t.To],
			colonWhy(t.ToWhy), t.FromWhy)
	}
	return fmt.Sprintf("The gate of build %s %s as before%s.", t.Build, gateVerbs[t.To], colonWhy(t.ToWhy))
}

// colonWhy is the reason of a gate's answer, written behind the answer.
func colonWhy(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// silencesOf are the reasons by which leaks of a case are silenced, by signature.
func silencesOf(c *GateCase) map[string]Reason {
	by := map[string]Reason{}
	for _, r := range decided(c).reasons {
		if r.Effect == EffectSilences {
			by[r.Signature] = r
		}
	}
	return by
}

// Text counts the changes in a sentence. Runs that turn to passed come first, because nobody would notice those.
func (m *Impact) Text() string {
	passes := 0
	for _, t := range m.ChangedRuns {
		if t.To == GatePassed {
			passes++
		}
	}
	return fmt.Sprintf("%s known, %s again; the gate changes in %d of %d recent runs (%d to passed)",
		plural(len(m.Silenced), "leak becomes", "leaks become"), plural(len(m.Unsilenced), "leak counts", "leaks count"),
		len(m.ChangedRuns), m.Runs, passes)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Of several silencings the ones that most stacks or runs show come first.
func sortSilencings(list []KnownChange) {
	sorting.Stable(list, func(a, b KnownChange) int { return b.Changed - a.Changed })
}
