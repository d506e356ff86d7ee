// Package causes tells which leaks of a run are parts of one cause: an object that is lost whole, such as a session
// with its five strings and two nodes. In come, for each leak, how many of its blocks came in each interval and stayed;
// out come groups whose blocks come in a fixed ratio at the same instants. docs/method.md publishes the rule and how
// often it is wrong. The package knows numbers and names of frames only.
package causes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"heapdrift/internal/analysis/blame"
)

// A Leak is what is known of one leak of a run.
type Leak struct {
	// Came is how many of its blocks came in each interval and stayed; all leaks of a run have the same intervals.
	Came []int64
	// Frames are what its signature is made of, the frame to blame first.
	Frames []string
	// Load is how much of the work was done in each interval, in shares of 1, as the other leaks tell; nil where they do
	// not. It is called only for leaks whose blocks come unevenly.
	Load func() []float64
}

// A Run is what leaks have in common.
type Run struct {
	// Time is how long each interval is, Work how much of what the run counts was done in it, both in shares of 1; nil
	// where that is not known.
	Time, Work []float64
	// Coarse is by how much a share of Time may be wrong, where the clock counts minutes and runs are short.
	Coarse float64
	// IsTrunk says of a frame that so much of the program runs through it that it owns no object; nil for of none.
	IsTrunk func(frame string) bool
}

// A Group is leaks of one cause.
type Group struct {
	Leaks []int // their places in the list, ascending
	Ratio []int // how many blocks of each come with one object, in the order of Leaks
	// Objects is how many objects came and stayed.
	Objects int64
	// Owner is the innermost frame that all of them were called by; "" where there is none.
	Owner string
}

const (
	// leastObjects is how many objects must have been lost, and leastIntervals in how many intervals, before anything is
	// said of what is lost together.
	leastObjects   = 8
	leastIntervals = 5
	// ownerReach is how many calls may lie between the owner of an object and the frames to blame of two of its parts
	// together: what is further out dispatches all kinds of work.
	ownerReach = 2
	// window is how many neighbours by shape a leak is compared with on each side. All pairs are compared of fewer leaks.
	window = 16
)

// Find groups leaks. Two are of one cause where they came in a fixed ratio of whole numbers, far more exactly than
// leaks do that only share the load, and besides either one frame of the program calls both or they came in the same
// bursts, which the load does not explain: what comes with each piece of work comes in a fixed ratio whatever it is.
// Nor do two count that agree with each other no better than with the time or the work. Entry points own no object.
func Find(ctx context.Context, list []Leak, run Run) ([]Group, error) {
	g := grouping{list: list, run: run, shapes: make([]shape, len(list)), set: make([]int, len(list))}
	var usable []int
	for i := range list {
		g.set[i] = i
		if g.shapes[i] = shapeOf(list[i].Came); g.shapes[i].intervals >= leastIntervals && g.shapes[i].total >= leastObjects {
			usable = append(usable, i)
		}
	}
	buckets := g.buckets(usable)
	g.limit = limitOf(buckets)
	for _, bucket := range buckets {
		slices.SortFunc(bucket, func(a, b int) int { return g.shapes[a].compare(&g.shapes[b], a-b) })
		for at, i := range bucket {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("causes: %w", context.Cause(ctx))
			}
			for _, k := range bucket[at+1 : min(at+1+window, len(bucket))] {
				if g.root(i) != g.root(k) && g.isOneCause(i, k) {
					g.join(i, k)
				}
			}
		}
	}
	return g.groups(usable), nil
}

// A grouping is the work of Find.
type grouping struct {
	list   []Leak
	run    Run
	shapes []shape
	limit  float64 // of the logarithm of chance
	set    []int   // of a leak: another one of its group, itself where it stands for the group
}

// buckets divide leaks by what two of one cause must have in common beside the ratio: a frame that calls both, or
// bursts.
func (g *grouping) buckets(usable []int) [][]int {
	type callees struct{ near, far []int } // leaks that a frame may own together with any of them, or with its own only
	byOwner := map[string]*callees{}
	own := map[string]bool{} // frames that allocate themselves
	var bursting []int
	for _, i := range usable {
		frames := g.list[i].Frames
		for k, frame := range frames[:min(1+ownerReach, len(frames))] {
			if !g.mayOwn(frames, k) || slices.Contains(frames[:k], frame) {
				continue
			}
			c := byOwner[frame]
			if c == nil {
				c = &callees{}
				byOwner[frame] = c
			}
			if own[frame] = own[frame] || k == 0; k <= ownerReach/2 {
				c.near = append(c.near, i)
			} else {
				c.far = append(c.far, i)
			}
		}
		if g.shapes[i].burstiness(g.list[i].Came, g.run.Time, 1) >= leastBurstiness {
			bursting = append(bursting, i)
		}
	}
	list := [][]int{bursting}
	for _, frame := range slices.Sorted(maps.Keys(byOwner)) {
		c := byOwner[frame]
		if own[frame] {
			c.near = append(c.near, c.far...)
		}
		list = append(list, c.near)
	}
	return list
}

// mayOwn reports whether a frame may be the owner of an object that the leak is a part of.
func (g *grouping) mayOwn(frames []string, k int) bool {
	return !blame.IsEntry(frames, k) && (g.run.IsTrunk == nil || !g.run.IsTrunk(frames[k]))
}

// isOneCause compares two leaks.
func (g *grouping) isOneCause(i, k int) bool {
	p, q, ok := ratioOf(&g.shapes[i], &g.shapes[k])
	if !ok {
		return false
	}
	a, b := g.list[i].Came, g.list[k].Came
	if !isClose(a, b, p, q) || !g.agree(a, b, p, q) {
		return false
	}
	return logChance(a, b, p, q) <= g.limit && (g.shareOwner(i, k) || g.bursts(i, p) && g.bursts(k, q))
}

// shareOwner reports whether one frame that is near both may own what they are parts of.
func (g *grouping) shareOwner(i, k int) bool {
	a, b := g.list[i].Frames, g.list[k].Frames
	for x, frame := range a[:min(1+ownerReach, len(a))] {
		y := slices.Index(b[:min(1+ownerReach-x, len(b))], frame)
		if y >= 0 && g.mayOwn(a, x) && g.mayOwn(b, y) {
			return true
		}
	}
	return false
}

// agree reports whether two leaks agree with each other better than with a clock: two timers are in a fixed ratio too.
func (g *grouping) agree(a, b []int64, p, q int) bool {
	return isShared(a, b, p, q, g.run.Time, g.run.Coarse) &&
		(g.run.Work == nil || isShared(a, b, p, q, g.run.Work, 0))
}

// bursts reports whether objects, of which each has so many blocks of a leak, came in bursts that neither the time nor
// the load explains. Where nothing tells the load, it may explain them.
func (g *grouping) bursts(i, blocks int) bool {
	s, l := &g.shapes[i], &g.list[i]
	if s.burstiness(l.Came, g.run.Time, blocks) < leastBurstiness || l.Load == nil && g.run.Work == nil {
		return false
	}
	return (g.run.Work == nil || s.burstiness(l.Came, g.run.Work, blocks) >= leastBurstiness) &&
		(l.Load == nil || s.burstiness(l.Came, l.Load(), blocks) >= leastBurstiness)
}

// owner is the innermost frame that all leaks have and that may own an object; "" for none.
func (g *grouping) owner(leaks []int) string {
	frames := g.list[leaks[0]].Frames
	for k, frame := range frames {
		if !g.mayOwn(frames, k) {
			continue
		}
		missing := slices.ContainsFunc(leaks[1:], func(i int) bool {
			at := slices.Index(g.list[i].Frames, frame)
			return at < 0 || !g.mayOwn(g.list[i].Frames, at)
		})
		if !missing {
			return frame
		}
	}
	return ""
}

func (g *grouping) root(i int) int {
	for g.set[i] != i {
		g.set[i] = g.set[g.set[i]]
		i = g.set[i]
	}
	return i
}

func (g *grouping) join(i, k int) {
	i, k = g.root(i), g.root(k)
	g.set[max(i, k)] = min(i, k)
}

// groups lists what was joined, by the first leak of each.
func (g *grouping) groups(usable []int) []Group {
	members := map[int][]int{}
	for _, i := range usable {
		members[g.root(i)] = append(members[g.root(i)], i)
	}
	var list []Group
	for _, root := range slices.Sorted(maps.Keys(members)) {
		leaks := members[root]
		if len(leaks) < 2 {
			continue
		}
		group := Group{Leaks: leaks, Owner: g.owner(leaks)}
		group.Ratio, group.Objects = g.ratio(leaks)
		list = append(list, group)
	}
	return list
}

// ratio is how many blocks of each leak come with one object, and how many objects came.
func (g *grouping) ratio(leaks []int) ([]int, int64) {
	least := &g.shapes[leaks[0]]
	for _, i := range leaks[1:] {
		if g.shapes[i].total < least.total {
			least = &g.shapes[i]
		}
	}
	best, ratio := 0.0, []int(nil)
	for d := 1; d <= mostOfLeast; d++ {
		objects, worst, candidate := float64(least.total)/float64(d), 0.0, make([]int, len(leaks))
		for n, i := range leaks {
			candidate[n] = max(1, round(float64(g.shapes[i].total)/objects))
			worst = max(worst, relative(float64(g.shapes[i].total), float64(candidate[n])*objects))
		}
		// A ratio of larger numbers must be better by as many times to count: some large number always fits.
		if weighed := worst * float64(d); ratio == nil || weighed < best {
			best, ratio = weighed, candidate
		}
		if worst <= mostOff {
			ratio = candidate
			break
		}
	}
	var blocks, total int64
	for n, i := range leaks {
		blocks, total = blocks+int64(ratio[n]), total+g.shapes[i].total
	}
	return ratio, total / blocks
}
