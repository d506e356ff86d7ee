package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// A choice is the evidence that a report is made of.
type choice struct {
	parts      []part   // of one kind of evidence and one shape
	otherKinds [][]part // of others, each of one: they say something of the same signatures
	facts      []part   // what says nothing of sites
	left       []part   // what is left out: differences
	warnings   []Warning
}

// all is everything that the report rests on.
func (c *choice) all() []part { return slices.Concat(c.parts, slices.Concat(c.otherKinds...), c.facts) }

// otherProcesses names the evidence beside the report's parts whose process id differs from theirs: a run is the evidence of
// one process, and evidence of two processes proves nothing together. The parts themselves are compared as a series.
func (c *choice) otherProcesses() (list []Warning) {
	known := map[uint32]bool{}
	var first part // that tells its process id
	for _, p := range c.parts {
		known[p.Process.PID] = true
		if first.Capture == nil && p.Process.PID != 0 {
			first = p
		}
	}
	for _, p := range slices.Concat(slices.Concat(c.otherKinds...), c.facts, c.left) {
		switch pid := p.Process.PID; {
		case pid == 0 || known[pid]:
		case first.Capture == nil:
			first, known[pid] = p, true
		default:
			known[pid] = true
			list = append(list, Warning{Code: capture.PIDChanged, File: p.file, Count: 1, Message: fmt.Sprintf(
				"%s shows process %d, %s shows process %d of the same program: evidence of one run should be of one process, so nothing is concluded; give the evidence of one of them, or choose that by its pid",
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
			"%s is of process %d, and the report is about %s, pid %d; it is left out", f.file, f.Process.PID,
			named(parts[0].Process), parts[0].Process.PID)})
	}
	return ofKind(parts, warnings)
}

// ofKind divides the evidence on one program. The report is on one trace where there is any; else on the kind of
// snapshots that shows most instants, of those that have stacks; else on the last difference: the rows of a difference
// are only those that changed, so differences can neither be chained nor mixed with snapshots. Different kinds list
// different things, so a series never mixes them; the other kinds are compared with it.
func ofKind(parts []part, warnings []Warning) *choice {
	c := &choice{warnings: warnings}
	var snapshots [][]part
	var differences, traces []part
	for _, p := range parts {
		switch p.Shape {
		case capture.ShapeTrace:
			traces = append(traces, p)
		case capture.ShapeSnapshot:
			snapshots = addKind(snapshots, p)
		case capture.ShapeFacts:
			c.facts = append(c.facts, p)
		default:
			differences = append(differences, p)
		}
	}
	slices.SortStableFunc(snapshots, func(a, b []part) int {
		return cmp.Or(compareBool(haveStacks(b), haveStacks(a)), cmp.Compare(len(b), len(a)), cmp.Compare(held(b), held(a)))
	})
	series, left, reason := snapshots, differences, "the snapshots say more"
	if len(snapshots) == 0 && len(differences) > 0 {
		series, left = [][]part{differences[len(differences)-1:]}, differences[:len(differences)-1]
		reason = "a difference lists changed stacks only, so differences cannot be chained; give the snapshots instead"
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

// haveStacks reports whether any of the snapshots tells who allocated.
func haveStacks(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return slices.ContainsFunc(p.Sites, func(s capture.Site) bool { return s.Stack != capture.NoStack })
	})
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

// oneTrace chooses the process that holds most: of the last input that knows what its processes had loaded, or else of
// the last. A process id that the system has reused is another process.
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
				" is left out: it is another trace, and the report is about one"})
		default:
			others++
			if p.Held() > chosen.Held() {
				chosen = p
			}
		}
	}
	if others > 1 {
		warnings = append(warnings, Warning{Code: capture.SeveralProcesses, Count: int64(others), Message: fmt.Sprintf(
			"the trace holds %d processes of %s; this report is about %s, which holds the most; %s",
			others, named(chosen.Process), life(chosen), chooseAnother)})
	}
	return chosen, warnings
}

// life names one process of a trace by its pid and its time.
func life(p part) string {
	s := fmt.Sprintf("pid %d", p.Process.PID)
	if at := p.Trace.Began; at != allocations.BeforeTrace {
		s += fmt.Sprintf(", begun at %s", time.Duration(at).Round(time.Millisecond))
	}
	if at := p.Trace.Exited; at != allocations.Never {
		s += fmt.Sprintf(", ended at %s", time.Duration(at).Round(time.Millisecond))
	}
	return s
}
