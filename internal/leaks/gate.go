package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A Gate is what a CI job acts on.
type Gate string

// The outcomes of a gate.
const (
	GatePassed       Gate = "passed"
	GateFailed       Gate = "failed"
	GateInconclusive Gate = "inconclusive"
	GatePending      Gate = "pending" // jobs are still under way: ask again
	GateError        Gate = "error"   // processing failed, so nothing can be said
)

// A FailOn is a kind of leak that a gate may fail on: any leak, one that the baseline does not have, or one that is
// worse than in the baseline.
type FailOn string

// What a gate may fail on.
const (
	FailOnLeak      FailOn = "leak"
	FailOnNew       FailOn = "new"
	FailOnRegressed FailOn = "regressed" // it was fixed before
	FailOnGrown     FailOn = "grown"
)

// failOns are all kinds, in the order of lists.
var failOns = []FailOn{FailOnLeak, FailOnNew, FailOnRegressed, FailOnGrown}

// failOnWords lists them for people: "leak, new, regressed and grown".
func failOnWords() string {
	words := make([]string, len(failOns))
	for i, on := range failOns {
		words[i] = string(on)
	}
	return joinedWords(words)
}

// ParseFailOn reads what a call wants its gate to fail on: "new,grown"; nil where it says nothing. The same kinds give
// the same list however a call spells them, because answers of gates are stored by that list. Its error is a
// *FieldError.
func ParseFailOn(text string) ([]FailOn, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var list []FailOn
	for word := range strings.SplitSeq(text, ",") {
		on := FailOn(strings.TrimSpace(word))
		if !slices.Contains(failOns, on) {
			return nil, wrongField("fail_on", "%q is none of %s", string(on), failOnWords())
		}
		list = append(list, on)
	}
	slices.SortFunc(list, func(a, b FailOn) int { return slices.Index(failOns, a) - slices.Index(failOns, b) })
	return slices.Compact(list), nil
}

// IsTolerated reports whether the team, or a rule of its project, has said that a finding fails no gate.
func IsTolerated(f *compare.Finding) bool { return f.State == string(StateKnown) || f.Known != "" }

// FirstRunReason is the reason stored when a team accepts the leaks of a scenario's first run.
const FirstRunReason = "was there when the scenario was run first"

// FailsGate reports whether a finding is certain enough to fail a gate; false for nil.
func FailsGate(f *compare.Finding) bool {
	return f != nil && f.Class.IsLeak() && f.Certain && !IsTolerated(f)
}

// provesNew reports whether the base build shows that a leak of the head was absent there. Evidence that does not
// decide proves nothing, and neither does a site that grew there, nor evidence without the symbols to tell.
func provesNew(base *compare.BuildResult, r *compare.Row) bool {
	wasClean := r.Base == nil || r.Base.Class != analysis.ClassUnknown && !r.Base.Class.IsSuspect()
	return base.Decides() && !r.Unknown && wasClean
}

// leaksAre begins a sentence: "2 leaks are".
func leaksAre(n int) string {
	if n == 1 {
		return "1 leak is"
	}
	return fmt.Sprintf("%d leaks are", n)
}

// leaksGrow begins a sentence: "2 leaks grow".
func leaksGrow(n int) string {
	if n == 1 {
		return "1 leak grows"
	}
	return fmt.Sprintf("%d leaks grow", n)
}

// reason counts what a gate failed on: "2 new leaks".
func reason(n int, word FailOn) string {
	kind := ""
	if word != FailOnLeak {
		kind = string(word) + " "
	}
	return quantity.Plural(n, kind+"leak")
}
