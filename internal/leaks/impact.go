package leaks

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// An Impact is what a change of rules or policies would do, before it is saved.
type Impact struct {
	Silenced []Silencing // leaks that fail a gate now, and then would not
	Heard    []Silencing // leaks that fail no gate now, and then would
	Runs     int         // recent runs that were decided twice
	Turned   []Turn      // those of them that are decided otherwise, the newest first
}

// A Silencing is a leak that stands otherwise after a change.
type Silencing struct {
	Signature, Title string
	From, To         ReasonCode // "" for shown: it counts
	Why              string     // it stands so then
	Count, Of        int        // stacks, or runs, in which it does, of so many that show it
}

// A Turn is a run that is decided otherwise after a change.
type Turn struct {
	Run                   int64
	Build, Scenario, Name string
	From, To              Gate
	FromWhy, ToWhy        string
}

// A PastCase is a run that has been decided.
type PastCase struct {
	Run                   int64
	Build, Scenario, Name string
	*Case
}

// turnsOf decides cases as they are and as changed makes them, and returns those that turn.
func turnsOf(ctx context.Context, cases []PastCase, changed func(*PastCase) *Case) ([]Turn, error) {
	var turns []Turn
	for i := range cases {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("leaks: %w", context.Cause(ctx))
		}
		c := &cases[i]
		if from, to := Decide(c.Case), Decide(changed(c)); from.Gate != to.Gate {
			turns = append(turns, Turn{c.Run, c.Build, c.Scenario, c.Name, from.Gate, to.Gate, from.Why, to.Why})
		}
	}
	return turns, nil
}

// ImpactOfPolicy says what other policies would do to cases. then are the same runs under those.
func ImpactOfPolicy(ctx context.Context, cases, then []PastCase) (*Impact, error) {
	made := &Impact{Runs: len(cases)}
	after := make(map[int64]*Case, len(then))
	for i := range then {
		after[then[i].Run] = then[i].Case
	}
	tally := map[string]*Silencing{}
	var order []string
	for i := range cases {
		c := &cases[i]
		was, is := silencesOf(c.Case), silencesOf(after[c.Run])
		for j := range c.Head.Findings {
			f := &c.Head.Findings[j]
			from, to := was[f.Signature], is[f.Signature]
			if from.Code == to.Code {
				continue
			}
			key := strings.Join([]string{f.Signature, string(from.Code), string(to.Code)}, "\x00")
			if tally[key] == nil {
				tally[key] = &Silencing{Signature: f.Signature, Title: nameOf(f), From: from.Code, To: to.Code, Why: to.Sentence, Of: len(cases)}
				order = append(order, key)
			}
			tally[key].Count++
		}
	}
	for _, key := range order {
		switch s := tally[key]; {
		case s.To == "":
			made.Heard = append(made.Heard, *s)
		case s.From == "":
			made.Silenced = append(made.Silenced, *s)
		}
	}
	var err error
	made.Turned, err = turnsOf(ctx, cases, func(c *PastCase) *Case { return after[c.Run] })
	return made, err
}

// silencesOf are the reasons by which leaks of a case are silenced, by signature.
func silencesOf(c *Case) map[string]Reason {
	by := map[string]Reason{}
	for _, r := range decided(c).reasons {
		if r.Effect == EffectSilences {
			by[r.Signature] = r
		}
	}
	return by
}

// Says counts what changes, in a sentence; what turns to passing comes first, as that is what nobody would notice.
func (m *Impact) Says() string {
	passes := 0
	for _, t := range m.Turned {
		if t.To == GatePassed {
			passes++
		}
	}
	return fmt.Sprintf("%s silenced, %d heard again; of %d recent runs %d turn, %d of them to passed", plural(len(m.Silenced), "leak is", "leaks are"), len(m.Heard), m.Runs, len(m.Turned), passes)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Of several silencings the ones that most stacks or runs show come first.
func sortSilencings(list []Silencing) {
	slices.SortStableFunc(list, func(a, b Silencing) int { return b.Count - a.Count })
}
