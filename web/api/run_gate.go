package api

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// What a gate says.
const (
	gatePassed       = "passed"
	gateFailed       = "failed"
	gateInconclusive = "inconclusive"
	gatePending      = "pending" // jobs are still under way: ask again
	gateError        = "error"   // processing failed, so nothing can be said
)

// What a gate may fail on: a leak at all, or one that the baseline does not have, or not so badly.
const (
	failOnLeak  = "leak"
	failOnNew   = "new"
	failOnGrown = "grown"
)

// failOn reads what a gate is to fail on: "new,grown"; a leak at all where nothing is said.
func failOn(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return []string{failOnLeak}, nil
	}
	var list []string
	for word := range strings.SplitSeq(text, ",") {
		switch word = strings.TrimSpace(word); word {
		case failOnLeak, failOnNew, failOnGrown:
			list = append(list, word)
		default:
			return nil, invalid("fail_on", "fail_on: %q is none of %s, %s and %s", word, failOnLeak, failOnNew, failOnGrown)
		}
	}
	return list, nil
}

// tolerated reports whether the team, or a rule of its project, has said that a finding fails no gate.
func tolerated(f *compare.Finding) bool { return f.State == "known" || f.Known != "" }

// failsGate reports whether a finding is sure enough to fail a gate.
func failsGate(f *compare.Finding) bool {
	return f != nil && f.Class == analysis.ClassLeak && f.Certain && !tolerated(f)
}

// provesNew reports whether the base of a row of a new leak tells that it was not there before: evidence that does not
// decide tells nothing.
func provesNew(base *compare.Side, r *compare.Row) bool {
	return base.Decides() && (r.Base == nil || r.Base.Class != analysis.ClassUnknown)
}

// gateOf turns an outcome into what a CI job acts on, and says by what it was decided. compared is nil without a baseline.
func gateOf(status analysis.Status, on []string, head *compare.Side, compared *Compared) (gate, why string) {
	counts, known, open := map[string]int{}, 0, 0
	for i := range head.Findings {
		switch f := &head.Findings[i]; {
		case failsGate(f):
			counts[failOnLeak]++
		case f.Class == analysis.ClassLeak && tolerated(f):
			known++
		}
	}
	if compared != nil {
		for i := range compared.Rows {
			switch r := &compared.Rows[i]; {
			case !failsGate(r.Head):
			case r.Change == compare.New && !provesNew(compared.Base, r):
				open++
			case r.Change == compare.New:
				counts[failOnNew]++
			case r.Change == compare.Grown:
				counts[failOnGrown]++
			}
		}
	}
	var reasons []string
	for _, word := range []string{failOnLeak, failOnNew, failOnGrown} {
		if n := counts[word]; n > 0 && slices.Contains(on, word) {
			reasons = append(reasons, reason(n, word))
		}
	}
	leaks := counts[failOnLeak]
	needsBase := !slices.Contains(on, failOnLeak)
	switch {
	case len(reasons) > 0:
		return gateFailed, strings.Join(reasons, ", ")
	case status == analysis.StatusInconclusive:
		return gateInconclusive, "the evidence does not decide"
	case needsBase && compared == nil && leaks > 0:
		return gateInconclusive, "there is no baseline to tell which leaks are new"
	case slices.Contains(on, failOnNew) && open > 0:
		return gateInconclusive, fmt.Sprintf("the evidence of build %s, the baseline, does not decide whether %s new", compared.Base.Build, countOpen(open))
	case leaks > 0:
		return gatePassed, fmt.Sprintf("%s, and the gate is not set to fail on that", reason(leaks, failOnLeak))
	case known > 0:
		return gatePassed, "every leak is known"
	case status == analysis.StatusLeak && slices.Contains(on, failOnLeak):
		return gateFailed, "the report says that it leaks"
	}
	return gatePassed, "nothing leaks"
}

// countOpen counts leaks of which it is asked whether they are new.
func countOpen(n int) string {
	if n == 1 {
		return "1 leak is"
	}
	return fmt.Sprintf("%d leaks are", n)
}

// reason counts what a gate failed on: "2 new leaks".
func reason(n int, word string) string {
	kind := ""
	if word != failOnLeak {
		kind = word + " "
	}
	if n == 1 {
		return "1 " + kind + "leak"
	}
	return fmt.Sprintf("%d %sleaks", n, kind)
}
