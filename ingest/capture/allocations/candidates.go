package allocations

import (
	"cmp"
	"context"
	"slices"
)

// A peakGroup is one whose peak is asked for.
type peakGroup struct {
	grouping   int
	leaves     []int32
	start      Usage           // as the window begins
	candidates []peakCandidate // in the order of time
}

// A peakCandidate is a stretch of time in which the group may have stood highest.
type peakCandidate struct {
	stretch int
	level   Usage // at its beginning
}

// groups are those of all groupings, by grouping and number.
func (a *stretchAdder) groups(q *Question, leaves int) []peakGroup {
	var list []peakGroup
	for grouping, of := range q.Peaks {
		first := len(list)
		taken := make([]bool, leaves)
		for site, number := range of {
			if number < 0 {
				continue
			}
			for len(list) <= first+int(number) {
				list = append(list, peakGroup{grouping: grouping})
			}
			g := &list[first+int(number)]
			g.start = g.start.Add(a.window.Sites[site].AtStart())
			if leaf := a.leaf[site]; !taken[leaf] { // all sites of a leaf are in one group
				taken[leaf] = true
				g.leaves = append(g.leaves, leaf)
			}
		}
	}
	for i := range list {
		a.findCandidates(&list[i])
	}
	return list
}

// at is what changes in a stretch of time in all leaves of a group.
func (a *stretchAdder) at(g *peakGroup, i int) (sum stretch) {
	for _, leaf := range g.leaves {
		s := &a.stretches[int(leaf)*a.n+i]
		sum.bytes, sum.up, sum.count = sum.bytes+s.bytes, sum.up+s.up, sum.count+s.count
	}
	return sum
}

// findCandidates finds where a group can have stood highest: where it can rise to what it has surely reached.
func (a *stretchAdder) findCandidates(g *peakGroup) {
	level, reached := g.start.Bytes, g.start.Bytes
	for i := range a.n {
		level += a.at(g, i).bytes
		reached = max(reached, level)
	}
	stands := g.start
	for i := range a.n {
		s := a.at(g, i)
		if highest := stands.Bytes + s.up; highest >= reached && highest > g.start.Bytes {
			g.candidates = append(g.candidates, peakCandidate{i, stands})
		}
		stands = stands.Add(Usage{int64(s.count), s.bytes})
	}
}

// wanted marks the stretches that are candidates of any group, and counts the changes in them.
func (a *stretchAdder) wanted(groups []peakGroup, leaves int) (wanted []bool, changes int) {
	wanted = make([]bool, a.n)
	for i := range groups {
		for _, c := range groups[i].candidates {
			if wanted[c.stretch] {
				continue
			}
			wanted[c.stretch] = true
			for leaf := range leaves {
				changes += int(a.stretches[leaf*a.n+c.stretch].changes)
			}
		}
	}
	return wanted, changes
}

// A gatherer collects changes in wanted stretches for one goroutine; their groups are leaves.
type gatherer struct {
	*stretchAdder
	wanted  []bool
	changes []change
}

// AddRows takes rows: it is a Sink.
func (g *gatherer) AddRows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if r.UnknownFree || uint64(r.Site) >= uint64(len(g.leaf)) || g.leaf[r.Site] < 0 {
			continue
		}
		leaf := g.leaf[r.Site]
		if g.inside(r.AllocTime) && g.wanted[g.stretch(r.AllocTime)] {
			g.changes = append(g.changes, change{r.AllocTime, leaf, r.count(), int64(r.Size)})
		}
		if g.inside(r.FreeTime) && g.wanted[g.stretch(r.FreeTime)] {
			g.changes = append(g.changes, change{r.FreeTime, leaf, -r.count(), -int64(r.Size)})
		}
	}
	return nil
}

// gather returns the changes in the wanted stretches in the order of time; at one instant ends come first.
func gather(ctx context.Context, rows Scanner, a *stretchAdder, wanted []bool, cores int) ([]change, error) {
	first := slices.Index(wanted, true)
	if first < 0 {
		return nil, nil
	}
	last := len(wanted) - 1
	for !wanted[last] {
		last--
	}
	parts, sinks := make([]*gatherer, cores), make([]Sink, cores)
	for i := range parts {
		parts[i] = &gatherer{stretchAdder: a, wanted: wanted}
		sinks[i] = parts[i]
	}
	if err := rows.Scan(ctx, a.begin(first), a.end(last), sinks...); err != nil {
		return nil, err
	}
	var all []change
	for _, p := range parts {
		all = append(all, p.changes...)
	}
	slices.SortFunc(all, compareChanges)
	return all, nil
}

// peak goes through the changes in a group's candidates. What stood highest as the window began peaks there.
func (g *peakGroup) peak(changes []change, d division) Peak {
	peak := Peak{Usage: g.start, At: d.from}
	for _, c := range g.candidates {
		level := c.level
		at, _ := slices.BinarySearchFunc(changes, d.begin(c.stretch),
			func(c change, at int64) int { return cmp.Compare(c.at, at) })
		end := d.end(c.stretch)
		for _, c := range changes[at:] {
			if c.at > end {
				break
			}
			if !slices.Contains(g.leaves, c.source) {
				continue
			}
			if level = level.Add(Usage{int64(c.count), c.bytes}); level.Bytes > peak.Bytes {
				peak = Peak{Usage: level, At: c.at}
			}
		}
	}
	return peak
}
