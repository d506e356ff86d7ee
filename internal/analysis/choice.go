package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

type choice struct {
	parts     []part   // of one kind of evidence and one shape
	witnesses [][]part // of others, each of one: they say something of the same signatures
	facts     []part   // what says nothing of sites
	warnings  []Warning
}

func (c *choice) all() []part { return slices.Concat(c.parts, slices.Concat(c.witnesses...), c.facts) }

func withFacts(parts, nameless []part, warnings []Warning) *choice {
	for _, f := range nameless {
		other := f.Process.PID != 0 && !slices.ContainsFunc(parts, func(p part) bool { return p.Process.PID == f.Process.PID || p.Process.PID == 0 })
		if !other {
			parts = append(parts, f)
			continue
		}
		warnings = append(warnings, Warning{Code: capture.SeveralProcesses, File: f.file, Count: 1, Message: fmt.Sprintf(
			"%s is of process %d, and the report is about %s, pid %d; it is left out", f.file, f.Process.PID, named(parts[0].Process), parts[0].Process.PID)})
	}
	return ofKind(parts, warnings)
}

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
		c.parts, c.witnesses, c.warnings = []part{chosen}, series, append(c.warnings, more...)
	case len(series) > 0:
		c.parts, c.witnesses = series[0], series[1:]
	default: // the last facts, which have no sites
		c.parts, c.facts = c.facts[len(c.facts)-1:], c.facts[:len(c.facts)-1]
	}
	for _, p := range left {
		c.warnings = append(c.warnings, Warning{Code: capture.Unsupported, File: p.file, Count: 1, Message: p.file + " is left out: " + reason})
	}
	return c
}

func addKind(kinds [][]part, p part) [][]part {
	for i := range kinds {
		if kinds[i][0].Kind == p.Kind {
			kinds[i] = append(kinds[i], p)
			return kinds
		}
	}
	return append(kinds, []part{p})
}

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
			warnings = append(warnings, Warning{Code: capture.Unsupported, File: p.file, Count: 1, Message: p.file + " is left out: it is another trace, and the report is about one"})
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
