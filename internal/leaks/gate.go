package leaks

import (
	"fmt"
	"slices"
	"strings"

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

// A FailOn is what a gate may fail on: a leak at all, or one that the baseline does not have, or not so badly.
type FailOn string

// What a gate may fail on.
const (
	FailOnLeak  FailOn = "leak"
	FailOnNew   FailOn = "new"
	FailOnGrown FailOn = "grown"
)

// ParseFailOn reads what a gate is to fail on: "new,grown"; a leak at all where nothing is said. Its error is a *FieldError.
func ParseFailOn(text string) ([]FailOn, error) {
	if strings.TrimSpace(text) == "" {
		return []FailOn{FailOnLeak}, nil
	}
	var list []FailOn
	for word := range strings.SplitSeq(text, ",") {
		switch on := FailOn(strings.TrimSpace(word)); on {
		case FailOnLeak, FailOnNew, FailOnGrown:
			list = append(list, on)
		default:
			return nil, wrongField("fail_on", "%q is none of %s, %s and %s", string(on), FailOnLeak, FailOnNew, FailOnGrown)
		}
	}
	return list, nil
}

// IsTolerated reports whether the team, or a rule of its project, has said that a finding fails no gate.
func IsTolerated(f *compare.Finding) bool { return f.State == string(StateKnown) || f.Known != "" }

// FailsGate reports whether a finding is sure enough to fail a gate; nil is none.
func FailsGate(f *compare.Finding) bool {
	return f != nil && (f.Class == analysis.ClassLeak || f.Class == analysis.ClassUnreferenced) && f.Certain && !IsTolerated(f)
}

// provesNew reports whether the base of a row of a new leak tells that it was not there before: evidence that does not
// decide tells nothing.
func provesNew(base *compare.Side, r *compare.Row) bool {
	return base.Decides() && (r.Base == nil || r.Base.Class != analysis.ClassUnknown)
}

// A gateCount is how many leaks of a run speak for and against a gate.
type gateCount struct {
	failing map[FailOn]int
	known   int // leaks that are tolerated
	open    int // leaks of which the base does not tell whether they are new
	alone   int // leaks of the run alone, that other runs of the scenario do not bear out
}

func countForGate(head *compare.Side, compared *Compared) gateCount {
	n := gateCount{failing: map[FailOn]int{}}
	for i := range head.Findings {
		switch f := &head.Findings[i]; {
		case FailsGate(f):
			n.failing[FailOnLeak]++
		case f.Class == analysis.ClassLeak && IsTolerated(f):
			n.known++
		case f.Unconfirmed && !IsTolerated(f):
			n.alone++
		}
	}
	if compared == nil {
		return n
	}
	for i := range compared.Rows {
		switch r := &compared.Rows[i]; {
		case !FailsGate(r.Head):
		case r.Change == compare.New && !provesNew(compared.Base, r):
			n.open++
		case r.Change == compare.New:
			n.failing[FailOnNew]++
		case r.Change == compare.Grown:
			n.failing[FailOnGrown]++
		}
	}
	return n
}

// DecideGate turns the outcome of a run into what a CI job acts on, and says by what it was decided. compared is nil without a
// baseline.
func DecideGate(status analysis.Status, on []FailOn, head *compare.Side, compared *Compared) (gate Gate, why string) {
	n := countForGate(head, compared)
	var reasons []string
	for _, word := range []FailOn{FailOnLeak, FailOnNew, FailOnGrown} {
		if count := n.failing[word]; count > 0 && slices.Contains(on, word) {
			reasons = append(reasons, reason(count, word))
		}
	}
	leaks := n.failing[FailOnLeak]
	needsBase := !slices.Contains(on, FailOnLeak)
	switch {
	case len(reasons) > 0:
		return GateFailed, strings.Join(reasons, ", ")
	case status == analysis.StatusInconclusive:
		return GateInconclusive, "the evidence does not decide"
	case needsBase && compared == nil && leaks > 0:
		return GateInconclusive, "there is no baseline to tell which leaks are new"
	case slices.Contains(on, FailOnNew) && n.open > 0:
		return GateInconclusive, fmt.Sprintf("the evidence of build %s, the baseline, does not decide whether %s new", compared.Base.Build, countOpen(n.open))
	case leaks > 0:
		return GatePassed, fmt.Sprintf("%s, and the gate is not set to fail on that", reason(leaks, FailOnLeak))
	case n.alone > 0:
		return GatePassed, fmt.Sprintf("other runs of the scenario do not bear out %s of this one", reason(n.alone, FailOnLeak))
	case n.known > 0:
		return GatePassed, "every leak is known"
	case status == analysis.StatusLeak && slices.Contains(on, FailOnLeak):
		return GateFailed, "the report says that it leaks"
	}
	return GatePassed, "nothing leaks"
}

// countOpen counts leaks of which it is asked whether they are new.
func countOpen(n int) string {
	if n == 1 {
		return "1 leak is"
	}
	return fmt.Sprintf("%d leaks are", n)
}

// reason counts what a gate failed on: "2 new leaks".
func reason(n int, word FailOn) string {
	kind := ""
	if word != FailOnLeak {
		kind = string(word) + " "
	}
	if n == 1 {
		return "1 " + kind + "leak"
	}
	return fmt.Sprintf("%d %sleaks", n, kind)
}
