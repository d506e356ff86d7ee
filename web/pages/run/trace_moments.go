package run

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
)

// shownMoments is how many moments of one kind the page of a trace names: those that rise most.
const shownMoments = 10

// momentLinks are moments of one kind, each with a window to look at it.
type momentLinks struct {
	name string
	list []preset
	more int // that are not named
}

// momentsOf are the spikes and steps of a trace, in the lanes of its chart. A part that is empty is left out.
func momentsOf(r *analysis.Report) []momentLinks {
	t, whole := r.Trace, wholeOf(r.Trace)
	var links []momentLinks
	for _, lane := range []struct {
		name string
		line *analysis.Timeline
	}{{"of heaps", &t.Heap}, {"of virtual memory", &t.Virtual}} {
		moments := lane.line.Moments(whole.From, whole.To)
		for _, kind := range []struct {
			name, one, then string
			spike           bool
		}{{"Spikes", "spike", "and falls again", true}, {"Steps", "a step", "and stays a while", false}} {
			chosen := slices.DeleteFunc(slices.Clone(moments), func(m analysis.Moment) bool { return m.Spike != kind.spike })
			slices.SortStableFunc(chosen, func(a, b analysis.Moment) int { return cmp.Compare(b.Bytes, a.Bytes) })
			l := momentLinks{name: kind.name + " " + lane.name, more: max(0, len(chosen)-shownMoments)}
			chosen = chosen[:min(len(chosen), shownMoments)]
			slices.SortStableFunc(chosen, func(a, b analysis.Moment) int { return cmp.Compare(a.From, b.From) })
			for _, m := range chosen {
				l.list = append(l.list, preset{
					clock(m.From) + ", " + figures.Bytes(m.Bytes), kind.one + " " + lane.name + ": it rises by " +
						figures.Bytes(m.Bytes) + " " + timeOfMoment(m) + " " + kind.then,
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

// timeOfMoment is when a moment rises.
func timeOfMoment(m analysis.Moment) string {
	from, to := clock(m.From), clock(m.To)
	if m.Spike || from == to {
		return "at " + from
	}
	return "from " + from + " to " + to
}

// around is a window with a moment in its middle: the time that it takes before and behind it, and at least one in a
// hundred of the trace.
func around(m analysis.Moment, whole capture.Window) capture.Window {
	span := whole.To - whole.From
	room := max(m.To-m.From, span/100)
	w := capture.Window{From: max(m.From-room, whole.From), To: min(m.To+room, whole.To)}
	step := int64(1) // a short address for times that nobody needs exact
	for ; step <= room/50; step *= 10 {
	}
	return capture.Window{From: max(w.From/step*step, whole.From), To: min((w.To/step+1)*step, whole.To)}
}
