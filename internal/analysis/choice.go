package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/sorting"
)

// A choice is the evidence that a report is made from.
type choice struct {
	parts      []part   // of one kind of evidence and one shape
	otherKinds [][]part // of other kinds, each of one kind: they show the same signatures
	facts      []part   // without sites
	left       []part   // not used: differences
	warnings   []Warning
}

// all lists all parts that the report uses.
func (c *choice) all() []part { return slices.Concat(c.parts, slices.Concat(c.otherKinds...), c.facts) }

// otherProcesses warns of other evidence whose process id differs from that of the report's parts. A run is the
// evidence of one process: two processes together allow no verdict. The parts themselves are compared as a series.
func (c *choice) otherProcesses() (list []Warning) {
	known := map[uint32]bool{}
	var first part // with a process id
	for _, p := range c.parts {
		known[p.Process.PID] = true
		if first.Capture == nil && p.Process.PID != 0 {
			first = p
		}
	}
	for _, p := range slices.Concat(slices.Concat(c.otherKinds...), c.facts, c.left) {
		switch pid := p.Process.PID; {
		case p.isList(): // of another process than the one that was recorded, mostly
		case pid == 0 || known[pid]:
		case first.Capture == nil:
			first, known[pid] = p, true
		default:
			known[pid] = true
			list = append(list, Warning{Code: capture.PIDChanged, File: p.file, Count: 1, Message: fmt.Sprintf(
				"Choose one process by its PID, or give evidence of one: %s shows process %d, %s process %d. Two processes in one run allow no verdict.",
				first.file, first.Process.PID, p.file, pid)})
		}
	}
	return list
}

// withFacts adds facts that name no program to the evidence on one program, except for facts with another process id.
func withFacts(parts, nameless []part, warnings []Warning) *choice {
	for _, f := range nameless {
		other := f.Process.PID != 0 &&
			!slices.ContainsFunc(parts, func(p part) bool { return p.Process.PID == f.Process.PID || p.Process.PID == 0 })
		if !other {
			parts = append(parts, f)
			continue
		}
		warnings = append(warnings, Warning{Code: capture.SeveralProcesses, File: f.file, Count: 1, Message: fmt.Sprintf(
			"%s is left out: it shows process %d, this report is about %s (PID %d).", f.file, f.Process.PID,
			named(parts[0].Process), parts[0].Process.PID)})
	}
	return ofKind(parts, warnings)
}

// ofKind divides the evidence on one program. The report is about one trace if there is any. Without a trace it is
// about the kind of snapshots with most instants, kinds with stacks first. Without snapshots it is about the lists of
// what was left at exit by the tool with the deepest stacks, and without those about the last difference. A difference
// lists only changed rows: differences can be neither chained nor mixed with snapshots. Kinds list different things, so
// a series never mixes them; the other kinds are compared with it.
func ofKind(parts []part, warnings []Warning) *choice {
	c := &choice{warnings: warnings}
	var snapshots, lists [][]part
	var differences, traces []part
	for _, p := range parts {
		switch p.Shape {
		case capture.ShapeTrace:
			traces = append(traces, p)
		case capture.ShapeSnapshot:
			snapshots = addKind(snapshots, p)
		case capture.ShapeExit:
			lists = addKind(lists, p)
		case capture.ShapeFacts:
			c.facts = append(c.facts, p)
		default:
			differences = append(differences, p)
		}
	}
	sorting.Stable(snapshots, func(a, b []part) int {
		return cmp.Or(compareBool(haveStacks(b), haveStacks(a)), cmp.Compare(len(b), len(a)), cmp.Compare(held(b), held(a)))
	})
	sorting.Stable(lists, func(a, b []part) int { return cmp.Compare(depth(b), depth(a)) })
	snapshots = append(snapshots, lists...)
	series, left, reason := snapshots, differences, "the other evidence shows more."
	if len(snapshots) == 0 && len(differences) > 0 {
		series, left = [][]part{differences[len(differences)-1:]}, differences[:len(differences)-1]
		reason = "differences list only changed stacks and cannot be chained. Give the snapshots instead."
	}
	switch {
	case len(traces) > 0:
		chosen, more := oneTrace(traces)
		c.parts, c.otherKinds, c.warnings = []part{chosen}, series, append(c.warnings, more...)
	case len(series) > 0:
		c.parts, c.otherKinds = series[0], series[1:]
	default: // the last facts, which have no sites
		c.parts, c.facts = c.facts[len(c.facts)-1:], c.facts[:len(c.facts)-1]
	}
	c.left = left
	for _, p := range left {
		c.warnings = append(c.warnings,
			Warning{Code: capture.Unsupported, File: p.file, Count: 1, Message: p.file + " is left out: " + reason})
	}
	return c
}

// addKind puts a snapshot with those of its kind.
func addKind(kinds [][]part, p part) [][]part {
	for i := range kinds {
		if kinds[i][0].Kind == p.Kind {
			kinds[i] = append(kinds[i], p)
			return kinds
		}
	}
	return append(kinds, []part{p})
}

// haveStacks reports whether any of the snapshots has a call stack.
func haveStacks(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return slices.ContainsFunc(p.Sites, func(s capture.Site) bool { return s.Stack != capture.NoStack })
	})
}

// depth is how many frames the deepest stack of lists has: of some tools it is a file and a line.
func depth(parts []part) (most int) {
	for _, p := range parts {
		for id := range p.Stacks.Count() {
			most = max(most, len(p.Stacks.Stack(capture.StackID(id))))
		}
	}
	return most
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// oneTrace chooses the process that holds most. It belongs to the last input that lists modules, or to the last input
// if none does. A process id that the system has reused is another process.
func oneTrace(traces []part) (part, []Warning) {
	chosen := traces[len(traces)-1]
	for _, p := range traces {
		if len(p.Modules) > 0 {
			chosen = p
		}
	}
	last := chosen.input
	var warnings []Warning
	others := 0
	for _, p := range traces {
		switch {
		case p.input != last:
			warnings = append(warnings, Warning{Code: capture.Unsupported, File: p.file, Count: 1, Message: p.file +
				" is left out: this report is about one trace, and this is another."})
		default:
			others++
			if p.Held() > chosen.Held() {
				chosen = p
			}
		}
	}
	if others > 1 {
		warnings = append(warnings, Warning{Code: capture.SeveralProcesses, Count: int64(others), Message: fmt.Sprintf(
			"The trace holds %d processes of %s. This report is about %s, which holds the most. %s",
			others, named(chosen.Process), life(chosen), chooseAnother)})
	}
	return chosen, warnings
}

// life names one process of a trace by its PID and its time.
func life(p part) string {
	s := fmt.Sprintf("PID %d", p.Process.PID)
	if at := p.Trace.Began; at != allocations.BeforeTrace {
		s += fmt.Sprintf(", started at %s", time.Duration(at).Round(time.Millisecond))
	}
	if at := p.Trace.Exited; at != allocations.Never {
		s += fmt.Sprintf(", ended at %s", time.Duration(at).Round(time.Millisecond))
	}
	return s
}
