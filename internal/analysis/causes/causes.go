// Package causes groups the leaks of a run that are parts of one cause: an object that is lost as a whole, such as a
// session with its five strings and two nodes. Its input is, for each leak, how many blocks of each interval stayed.
// Its output is groups of leaks whose blocks were allocated in a fixed ratio at the same times. docs/method.md has
// the rule and its error rate. The package knows only numbers and names of frames.
package causes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"heapdrift/internal/analysis/blame"
)

// A Leak holds the numbers and frames of one leak of a run.
type Leak struct {
	// StayedByInterval is, for each interval of the run, how many of the blocks allocated in it stayed. All leaks of a
	// run have the same intervals.
	StayedByInterval []int64
	// Frames are the frames of the signature, the blamed function first.
	Frames []string
	// Load is the share of the work done in each interval, estimated from the other leaks; nil if unknown. It is called
	// only for leaks whose blocks were allocated unevenly.
	Load func() []float64
}

// A Run holds what all leaks of a run share.
type Run struct {
	// Time is the length of each interval, Work the counted work done in it. Both are shares that add up to 1; nil if
	// unknown.
	Time, Work []float64
	// Coarse is the possible error of a share in Time, where the clock counts minutes and the run is short.
	Coarse float64
	// IsTrunk reports whether so much of the program runs through a frame that it owns no object; nil for no such frame.
	IsTrunk func(frame string) bool
}

// A Group holds the leaks of one cause.
type Group struct {
	LeakIndexes []int // indexes in the list that Find got, ascending
	Ratio       []int // blocks of each leak in one object, in the order of LeakIndexes
	// Objects is how many objects were allocated and stayed.
	Objects int64
	// CommonFrame is the innermost frame that all of them were called by; "" where there is none.
	CommonFrame string
}

const (
	// A group needs leastObjects lost objects, in leastIntervals intervals.
	leastObjects   = 8
	leastIntervals = 5
	// ownerReach is how many calls may lie between the owner of an object and the blamed functions of two of its parts,
	// both counted together. Frames further out dispatch all kinds of work.
	ownerReach = 2
	// window is how many neighbours by shape a leak is compared with, on each side. With fewer leaks, all pairs are
	// compared.
	window = 16
)

// Find groups leaks by cause; a leak that shares its cause with no other is in no group. Two leaks have one cause if
// their blocks were allocated in a fixed ratio of whole numbers, far more exactly than by a shared load. In addition,
// one frame of the program must call both, or both must come in the same bursts that the load does not explain: all
// blocks of one piece of work come in a fixed ratio. Two leaks have no common cause if they agree with each other no
// better than with the time or the work. Entry points own no object.
func Find(ctx context.Context, list []Leak, run Run) ([]Group, error) {
	g := grouping{list: list, run: run, shapes: make([]shape, len(list)), set: make([]int, len(list))}
	var usable []int
	for i := range list {
		g.set[i] = i
		g.shapes[i] = shapeOf(list[i].StayedByInterval)
		if g.shapes[i].intervals >= leastIntervals && g.shapes[i].total >= leastObjects {
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
		if g.shapes[i].burstiness(g.list[i].StayedByInterval, g.run.Time, 1) >= leastBurstiness {
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
	a, b := g.list[i].StayedByInterval, g.list[k].StayedByInterval
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
	if s.burstiness(l.StayedByInterval, g.run.Time, blocks) < leastBurstiness || l.Load == nil && g.run.Work == nil {
		return false
	}
	return (g.run.Work == nil || s.burstiness(l.StayedByInterval, g.run.Work, blocks) >= leastBurstiness) &&
		(l.Load == nil || s.burstiness(l.StayedByInterval, l.Load(), blocks) >= leastBurstiness)
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
		group := Group{LeakIndexes: leaks, CommonFrame: g.owner(leaks)}
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
