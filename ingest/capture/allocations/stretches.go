package allocations

import (
	"context"
	"fmt"
	"math/bits"
)

// Peaks of a few groups, as of kinds and heaps, need no order of all changes. A first scan adds up what changes in
// short stretches of time; from that follow the few stretches in which a group can have stood highest, and a second
// scan brings the changes in these.
const (
	stretchBytes  = 64 << 20 // memory of all stretches, on all cores
	maxStretches  = 1 << 18  // of time: then ten million allocations are some tens in each
	minStretches  = 1 << 10
	maxCandidates = 2 << 20 // changes in stretches that a peak may lie in
)

// byStretches answers a question whose peaks are of few groups; nil where it is another, or where too many changes may
// be peaks.
func byStretches(ctx context.Context, rows Scanner, q *Question) (*Answer, error) {
	leaf, leaves := leavesOf(q)
	plan, err := q.survivalPlan()
	if err != nil {
		return nil, err
	}
	cores := min(scanners(), plan.cores())
	n := min(stretchBytes/(cores*max(leaves, 1)*stretchSize), maxStretches)
	if len(q.Peaks) == 0 || q.IgnoreExit || q.Samples > 0 || n < minStretches {
		return nil, nil
	}
	n = min(n, max(minStretches, int(rows.Len()/16))) // a small table needs few
	d := divide(q.From, q.To, n)
	parts, sinks := make([]*stretchAdder, cores), make([]Sink, cores)
	for i := range parts {
		parts[i] = &stretchAdder{division: d, window: NewWindow(q.From, q.To, q.Sites), survivals: newSurvivalAdder(plan),
			leaf: leaf, stretches: make([]stretch, leaves*d.n)}
		sinks[i] = parts[i]
	}
	if err := rows.Scan(ctx, q.From, q.To, sinks...); err != nil {
		return nil, err
	}
	sum := parts[0]
	for _, p := range parts[1:] {
		sum.add(p)
	}
	groups := sum.groups(q, leaves)
	wanted, changes := sum.wanted(groups, leaves)
	if changes > maxCandidates {
		return nil, nil
	}
	found, err := gather(ctx, rows, sum, wanted, cores)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Sites: sum.window.Sites, Peaks: make([][]Peak, len(q.Peaks))}
	sum.survivals.into(answer, q)
	for i := range groups {
		g := &groups[i]
		answer.Peaks[g.grouping] = append(answer.Peaks[g.grouping], g.peak(found, d))
	}
	return answer, nil
}

// leavesOf numbers the sets of sites that no grouping tells apart; −1 for sites in no group.
func leavesOf(q *Question) (leaf []int32, n int) {
	leaf = make([]int32, q.Sites)
	known := map[string]int32{}
	var key []byte
	for site := range leaf {
		key = key[:0]
		grouped := false
		for _, groups := range q.Peaks {
			key = fmt.Appendf(key, "%d ", groups[site])
			grouped = grouped || groups[site] >= 0
		}
		if !grouped {
			leaf[site] = -1
			continue
		}
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(known))
			known[string(key)] = number
		}
		leaf[site] = number
	}
	return leaf, len(known)
}

// A division cuts a window into n stretches, each 1<<shift ns long.
type division struct {
	from, to int64
	shift    int
	n        int
}

// divide makes at most so many stretches.
func divide(from, to int64, most int) division {
	span := uint64(to) - uint64(from)
	d := division{from: from, to: to}
	if per := span / uint64(most); per > 0 {
		d.shift = bits.Len64(per)
	}
	d.n = int(span>>d.shift) + 1
	return d
}

func (d division) inside(at int64) bool { return at >= d.from && at <= d.to }
func (d division) stretch(at int64) int { return int((uint64(at) - uint64(d.from)) >> d.shift) }
func (d division) begin(i int) int64    { return int64(uint64(d.from) + uint64(i)<<d.shift) }

func (d division) end(i int) int64 {
	return int64(uint64(d.from) + min(uint64(i+1)<<d.shift-1, uint64(d.to)-uint64(d.from)))
}

// A stretch is what changes in one stretch of time, of one leaf.
type stretch struct {
	bytes   int64 // by how much it ends higher than it began
	up      int64 // by how much it can rise above its beginning at most
	count   int32
	changes int32
}

const stretchSize = 24 // bytes

// A stretchAdder is what one goroutine adds up in the first scan.
type stretchAdder struct {
	division
	window    *Window
	survivals *survivalAdder
	leaf      []int32   // by site
	stretches []stretch // by leaf and time
}

// AddRows takes rows: it is a Sink.
func (a *stretchAdder) AddRows(rows []Row) error {
	if err := a.window.AddRows(rows); err != nil {
		return err
	}
	a.survivals.rows(rows)
	for i := range rows {
		r := &rows[i]
		if r.UnknownFree || r.AllocTime > a.to || r.FreeTime < a.from || a.leaf[r.Site] < 0 {
			continue
		}
		own := a.stretches[int(a.leaf[r.Site])*a.n:][:a.n]
		count := r.count()
		if r.AllocTime >= a.from {
			s := &own[a.stretch(r.AllocTime)]
			s.bytes += int64(r.Size)
			s.up += int64(r.Size)
			s.count += count
			s.changes++
		}
		if r.FreeTime <= a.to {
			s := &own[a.stretch(r.FreeTime)]
			s.bytes -= int64(r.Size)
			s.count -= count
			s.changes++
		}
	}
	return nil
}

func (a *stretchAdder) add(b *stretchAdder) {
	a.survivals.add(b.survivals)
	for i := range a.window.Sites {
		a.window.Sites[i] = a.window.Sites[i].Add(b.window.Sites[i])
	}
	for i, s := range b.stretches {
		t := &a.stretches[i]
		t.bytes, t.up, t.count, t.changes = t.bytes+s.bytes, t.up+s.up, t.count+s.count, t.changes+s.changes
	}
}
