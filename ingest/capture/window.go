package capture

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture/allocations"
)

// ParseWindow reads a window as users write it, "10.5,20.5": seconds since the trace's start, both inside. Its error
// says what is wrong with the text.
func ParseWindow(s string) (Window, error) {
	from, to, ok := strings.Cut(s, ",")
	a, errA := strconv.ParseFloat(strings.TrimSpace(from), 64)
	b, errB := strconv.ParseFloat(strings.TrimSpace(to), 64)
	const farthest = float64(math.MaxInt64 / 2 / int64(time.Second)) // so that its length is a number of ns, too
	if !ok || errA != nil || errB != nil || !(math.Abs(a) < farthest && math.Abs(b) < farthest) {
		return Window{}, fmt.Errorf("a window is two numbers of seconds from the trace's start, as in 10.5,20.5; this is %q", s)
	}
	w := Window{From: int64(math.Round(a * 1e9)), To: int64(math.Round(b * 1e9))}
	if w.From > w.To {
		return Window{}, fmt.Errorf("the window %q ends before it begins", s)
	}
	return w, nil
}

// CutToWindow returns the captures of a trace with the numbers of a window, which come from the rows of the trace's
// allocation table by one scan. Stacks, modules and lines over time are shared with the captures given. A window that
// is the whole trace, but for rounding, gives the captures themselves: they know the size that each block had at its
// peak, of which the table has the last only.
func CutToWindow(ctx context.Context, captures []*Capture, rows allocations.Scanner, w Window) ([]*Capture, error) {
	if !slices.ContainsFunc(captures, func(c *Capture) bool { return !c.Trace.shows(w) }) {
		return captures, nil
	}
	g := groupings{}
	samples := 2
	for _, c := range captures {
		g.add(c)
		samples = max(samples, len(c.Snapshots))
	}
	q := allocations.Question{From: w.From, To: w.To, Sites: len(g.sites), Samples: samples,
		Peaks: [][]int32{g.sites, g.kinds, g.heaps}}
	beyond, err := askSurvivals(ctx, captures, rows, &q)
	if err != nil {
		return nil, err
	}
	a, err := allocations.Ask(ctx, rows, q)
	if err != nil {
		return nil, err
	}
	out := make([]*Capture, len(captures))
	next := windowAnswer{question: &q, answer: a, beyond: int64(beyond)}
	for i, c := range captures {
		out[i] = next.capture(c, w)
	}
	return out, nil
}

// shows reports whether the numbers are those of the window, or of one that is longer or shorter by nothing but time
// outside of the trace, a hundredth at most.
func (t *Trace) shows(w Window) bool {
	whole := t.Whole()
	return t.Window == whole && w.From <= whole.From && w.To >= whole.To &&
		(whole.From-w.From)+(w.To-whole.To) <= (whole.To-whole.From)/100
}

// groupings say, by number in the table, which group of sites, kinds and heaps a site belongs to: counted through over
// all captures, or −1.
type groupings struct {
	sites, kinds, heaps []int32
	n                   windowAnswer
}

func (g *groupings) add(c *Capture) {
	for i := range c.Sites {
		s := &c.Sites[i]
		n := int(s.Life.Number)
		for len(g.sites) <= n {
			g.sites, g.kinds, g.heaps = append(g.sites, -1), append(g.kinds, -1), append(g.heaps, -1)
		}
		g.sites[n], g.kinds[n] = int32(g.n.sites+i), int32(g.n.kinds+int(s.Kind))
		if s.Kind == KindHeap {
			g.heaps[n] = int32(g.n.heaps + int(s.Heap))
		}
	}
	g.n.pass(c)
}

// windowAnswer holds the answer to a question about a window, and counts the groups of the captures that are done.
type windowAnswer struct {
	question            *allocations.Question
	answer              *allocations.Answer
	beyond              int64
	sites, kinds, heaps int
}

func (n *windowAnswer) pass(c *Capture) {
	n.sites, n.kinds, n.heaps = n.sites+len(c.Sites), n.kinds+int(KindHeapVirtual)+1, n.heaps+len(c.Heaps)
}

// peak is that of a group; a group without rows has none.
func (n *windowAnswer) peak(grouping, group int) allocations.Peak {
	if peaks := n.answer.Peaks[grouping]; group < len(peaks) {
		return peaks[group]
	}
	return allocations.Peak{}
}

// capture is c with the numbers of the answer.
func (n *windowAnswer) capture(c *Capture, w Window) *Capture {
	out, trace := *c, *c.Trace
	out.Trace, trace.Window, trace.SurvivalsBeyond = &trace, w, n.beyond
	samples := n.answer.Samples
	out.Snapshots = trace.Instants(len(samples.At))
	out.Sites = slices.Clone(c.Sites)
	for i := range out.Sites {
		s := &out.Sites[i]
		number := s.Life.Number
		s.Life = &Life{
			Number: number, Usage: n.answer.Sites[number], Peak: n.peak(0, n.sites+i),
			Survival: n.answer.SiteSurvival(n.question, int(number)),
		}
		s.Usage = make([]Usage, 0, len(samples.At))
		for u := range samples.Each(int(number)) {
			s.Usage = append(s.Usage, Usage{Count: u.Count, Bytes: u.Bytes})
		}
	}
	trace.Heap.Peak, trace.Virtual.Peak = n.peak(1, n.kinds+int(KindHeap)), n.peak(1, n.kinds+int(KindVirtual))
	out.Heaps = slices.Clone(c.Heaps)
	for i := range out.Heaps {
		out.Heaps[i].Timeline.Peak = n.peak(2, n.heaps+i)
	}
	n.pass(c)
	return &out
}
