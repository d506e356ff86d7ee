package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
)

// Standing is the code as lists show it; "shown" for "", of a leak that no reason silences.
func (c ReasonCode) Standing() string {
	if c == "" {
		return "shown"
	}
	return string(c)
}

// failOnSentences say what each FailOn means.
var failOnSentences = map[FailOn]string{
	FailOnLeak:      "any leak fails",
	FailOnNew:       "a new leak fails",
	FailOnRegressed: "a fixed leak that came back fails",
	FailOnGrown:     "a leak that grows faster than in the baseline fails",
}

// inconclusiveSentences say what a gate does where the evidence does not decide.
var inconclusiveSentences = map[InconclusivePolicy]string{
	InconclusiveFails:  "Evidence that does not decide fails the gate (exit 1).",
	InconclusiveWarns:  "Evidence that does not decide warns (exit 4).",
	InconclusivePasses: "Evidence that does not decide passes (exit 0), so the gate can miss leaks.",
}

// againSentences say what becomes of a new leak that an earlier build failed for.
var againSentences = map[RepeatPolicy]string{
	FailUntilOwned: "Builds fail for a new leak until it is accepted, assigned or fixed.",
	FailUntilFixed: "Builds fail for a new leak until it is fixed or accepted.",
	FailOnce:       "One build fails for a new leak; later builds pass and list it.",
}

// atExitSentences say which leaks at exit fail a gate that fails on leaks.
var atExitSentences = map[AtExitPolicy]string{
	AtExitNew:  "Of leaks at exit, only new ones fail.",
	AtExitAny:  "Leaks at exit fail as other leaks do.",
	AtExitNone: "No leak at exit fails, unless a call asks for it.",
}

// Sentences explain the policy. version is its version; 0 where none is saved.
func (p *Policy) Sentences(version int) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	var kinds []string
	for _, on := range p.TightenedFailOn(version, nil) {
		kinds = append(kinds, failOnSentences[on])
	}
	switch {
	case len(kinds) > 0:
		text := strings.Join(kinds, "; ")
		text = strings.ToUpper(text[:1]) + text[1:]
		if version == 0 {
			say("%s, unless a call says what fails instead: no policy is saved yet.", text)
		} else {
			say("%s. A call may ask for more, never for less.", text)
		}
	case len(p.Budgets) == 0 && p.Drift == nil:
		say("No leak fails this gate, unless a call asks for it.")
	default:
		say("Only budgets and drift fail this gate, unless a call asks for more.")
	}
	if slices.Contains(p.TightenedFailOn(version, nil), FailOnLeak) || len(kinds) > 0 && p.AtExit == AtExitNone {
		say("%s", atExitSentences[p.filled().AtExit])
	}
	if on := p.TightenedFailOn(version, nil); slices.Contains(on, FailOnNew) || slices.Contains(on, FailOnRegressed) {
		say("%s", againSentences[p.filled().Repeat])
	}
	for i := range p.Budgets {
		say("%s", p.Budgets[i].sentence())
	}
	if d := p.Drift; d != nil {
		say("All leaks together may grow at most %s %% faster, in %s, than in the newest pinned release before.",
			plain(d.Percent), d.Measure)
	}
	if p.MinimumScore > 0 {
		say("Leaks with a score below %s are shown and fail no gate.", plain(p.MinimumScore))
	}
	if n := p.Noise; n != nil {
		say("A leak that appeared or disappeared %d times or more in the last %d deciding runs is quarantined: it is shown, and fails no gate.", n.Changes, n.Runs)
	}
	say("%s", p.mattersSentence())
	if d := p.settle(); d > 0 {
		say("Growth in the settle time, the first %s of a series of snapshots, is ignored.", quantity.LongDuration(d))
	}
	if p.Canary != "" {
		say("The canary %s must be found in each run, otherwise the gate is not proven. The canary fails no gate.", p.Canary)
	}
	say("%s", inconclusiveSentences[p.filled().Inconclusive])
	return list
}

func (b *Budget) sentence() string {
	limit := amountOf(b.Limit, b.Measure, b.Per)
	switch {
	case b.Scope == BudgetTotal:
		return fmt.Sprintf("All leaks of a run together may grow by %s.", limit)
	case b.Scope == BudgetProcess:
		return fmt.Sprintf("All leaks of %s together may grow by %s.", b.Name, limit)
	case b.Name != "":
		return fmt.Sprintf("%s may grow by %s.", b.Name, limit)
	}
	return fmt.Sprintf("Each leak may grow by %s.", limit)
}
