package run

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// shownJumps is how many jumps of one kind the page of a trace names: those that rise most.
const shownJumps = 10

// jumpLinks are jumps of one kind, each with a window to look at it.
type jumpLinks struct {
	name string
	list []preset
	more int // that are not named
}

// jumpsOf are the spikes and steps of a trace, in the lanes of its chart. A part that is empty is left out.
func jumpsOf(r *analysis.Report) []jumpLinks {
	t, whole := r.Trace, wholeOf(r.Trace)
	var links []jumpLinks
	for _, lane := range []struct {
		name string
		line *analysis.Timeline
	}{{"of heaps", &t.HeapTimeline}, {"of virtual memory", &t.VirtualTimeline}} {
		jumps := lane.line.Jumps(whole.From, whole.To)
		for _, kind := range []struct {
			name, one, then string
			spike           bool
		}{{"Spikes", "spike", "and falls again", true}, {"Steps", "a step", "and stays a while", false}} {
			chosen := slices.DeleteFunc(slices.Clone(jumps), func(m analysis.Jump) bool { return m.Spike != kind.spike })
			slices.SortStableFunc(chosen, func(a, b analysis.Jump) int { return cmp.Compare(b.Bytes, a.Bytes) })
			l := jumpLinks{name: kind.name + " " + lane.name, more: max(0, len(chosen)-shownJumps)}
			chosen = chosen[:min(len(chosen), shownJumps)]
			slices.SortStableFunc(chosen, func(a, b analysis.Jump) int { return cmp.Compare(a.FromNS, b.FromNS) })
			for _, m := range chosen {
				l.list = append(l.list, preset{
					clock(m.FromNS) + ", " + quantity.Bytes(m.Bytes), kind.one + " " + lane.name + ": it rises by " +
						quantity.Bytes(m.Bytes) + " " + timeOfJump(m) + " " + kind.then,
					classified(around(m, whole), r),
				})
			}
			if len(l.list) > 0 {
				links = append(links, l)
			}
		}
	}
	return links
}

// timeOfJump is when a jump rises.
func timeOfJump(m analysis.Jump) string {
	from, to := clock(m.FromNS), clock(m.ToNS)
	if m.Spike || from == to {
		return "at " + from
	}
	return "from " + from + " to " + to
}

// around is a window with a jump in its middle: the time that it takes before and behind it, and at least one in a
// hundred of the trace.
func around(m analysis.Jump, whole capture.Window) capture.Window {
	span := whole.To - whole.From
	room := max(m.ToNS-m.FromNS, span/100)
	w := capture.Window{From: max(m.FromNS-room, whole.From), To: min(m.ToNS+room, whole.To)}
	step := int64(1) // a short address for times that nobody needs exact
	for ; step <= room/50; step *= 10 {
	}
	return capture.Window{From: max(w.From/step*step, whole.From), To: min((w.To/step+1)*step, whole.To)}
}
