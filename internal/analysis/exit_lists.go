package analysis

import (
	"slices"
	"strings"
)

// ExitLists names the complete lists of leaks at exit that one tool printed. A leak that the tool listed in an earlier
// run, for one of these tests or programs, is gone if they do not have it.
type ExitLists struct {
	Tool string `json:"tool"` // kind of the evidence
	// Tests are the tests whose lists were printed, and those that passed without one under a tool that prints nothing
	// for a clean test; ascending.
	Tests []string `json:"tests,omitempty"`
	// Programs are the programs whose lists were printed outside of tests, in lower case and ascending; "" is one
	// without a name.
	Programs []string `json:"programs,omitempty"`
}

// A ListedLeak says in which lists a leak was.
type ListedLeak struct {
	Tools    []string `json:"tools,omitempty"`    // kinds of evidence, ascending
	Tests    []string `json:"tests,omitempty"`    // ascending
	Programs []string `json:"programs,omitempty"` // as in ExitLists
	// MoreTests counts the tests beside those of Tests, which are at most MaxTests.
	MoreTests int `json:"more_tests,omitempty"`
	// Lost are the blocks that were lost; zero where a version without this field has written it.
	Lost Amount `json:"lost,omitzero"`
}

// Alone returns a slice with l only; nil if l is nil. Those of several findings are never merged: if one tool listed a
// leak in a test and another in a program, the first did not list it for the program.
func (l *ListedLeak) Alone() []ListedLeak {
	if l == nil {
		return nil
	}
	return []ListedLeak{*l}
}

// union are the names of two lists, ascending.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// program is the name of a part's program as lists go by it.
func (p *part) program() string { return strings.ToLower(p.Process.Name) }

// exitLists are the lists of all parts, by tool; nil where there is none, or where one lost something: what is not in
// it may have been lost. A sample is no whole list: it has few of the blocks that were left.
func exitLists(parts []part) (lists []ExitLists) {
	at := map[string]int{}
	for i := range parts {
		p := &parts[i]
		if !p.isList() || p.Sampling > 0 {
			continue
		}
		if p.Snapshots[0].LowerBound || firstLossy(readerWarnings(parts[i:i+1])) != nil {
			return nil
		}
		tool := string(p.Kind)
		k, ok := at[tool]
		if !ok {
			k = len(lists)
			at[tool], lists = k, append(lists, ExitLists{Tool: tool})
		}
		l := &lists[k]
		if l.Tests = append(l.Tests, p.Ran...); p.Test != "" {
			l.Tests = append(l.Tests, p.Test)
		} else {
			l.Programs = append(l.Programs, p.program())
		}
	}
	for i := range lists {
		lists[i].Tests, lists[i].Programs = union(lists[i].Tests, nil), union(lists[i].Programs, nil)
	}
	return lists
}

// listExits notes the lists of leaks at exit of all evidence of the run.
func (d *draft) listExits() {
	d.report.ExitLists = exitLists(d.chosen.all())
	d.report.ListsExit = d.report.ExitLists != nil
	d.report.ExitWork = exitWork(d.chosen.all(), d.opt.WorkUnit)
}

// nameLists notes in which lists the blocks are.
func (l *LeftAtExit) nameLists(s *series, lists []int32) {
	l.nameTests(s, lists)
	for _, i := range lists {
		p := &s.parts[i]
		l.Tools = append(l.Tools, string(p.Kind))
		if p.Test == "" {
			l.Programs = append(l.Programs, p.program())
		}
	}
	l.Tools, l.Programs = union(l.Tools, nil), union(l.Programs, nil)
}

// Listed says in which lists the blocks are; nil for none.
func (l *LeftAtExit) Listed() *ListedLeak {
	if l == nil {
		return nil
	}
	return &ListedLeak{l.Tools, l.Tests, l.Programs, l.MoreTests, l.Lost()}
}

// IsHeld reports whether evidence other than lists of leaks at exit shows the finding.
func (f *Finding) IsHeld() bool {
	return f.LeftAtExit == nil ||
		slices.ContainsFunc(f.ByKind, func(k KindResult) bool { return !slices.Contains(f.LeftAtExit.Tools, k.Kind) })
}
