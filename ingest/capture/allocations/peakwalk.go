package allocations

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"heapdrift/ingest/crew"
)

// A peakWalk goes through the changes of a window in the order of time, slice by slice: each slice is a scan that
// gathers as many changes as memory allows, for all groupings at once.
type peakWalk struct {
	rows      Scanner
	groupings []peakGrouping
	sites     int
	atOnce    int64 // changes that a slice has at most
}

// A peakGrouping is what stands in each group as the walk goes on, and the peaks so far.
type peakGrouping struct {
	groups []int32 // by site; −1 for none
	live   []Usage
	peaks  []Peak
}

// maxChanges is how many changes are held at once: 100 MB.
const maxChanges = 4 << 20

func newPeakWalk(rows Scanner, q *Question, start []Usage, atOnce int64) *peakWalk {
	w := &peakWalk{rows: rows, sites: q.Sites, atOnce: atOnce}
	for _, groups := range q.Peaks {
		g := peakGrouping{groups: groups}
		for site, group := range groups {
			if group < 0 {
				continue
			}
			if more := int(group) + 1 - len(g.live); more > 0 {
				g.live = append(g.live, make([]Usage, more)...)
			}
			g.live[group] = g.live[group].Add(start[site])
		}
		g.peaks = make([]Peak, len(g.live))
		for i, u := range g.live {
			g.peaks[i] = Peak{u, q.From}
		}
		w.groupings = append(w.groupings, g)
	}
	return w
}

// through follows the parts of the time in counts, joining neighbours with up to atOnce changes. A part with more
// changes is counted again in finer parts.
func (w *peakWalk) through(ctx context.Context, counts *timeCounts) error {
	for first := 0; first < len(counts.changes); {
		last, n := first, counts.changes[first]
		for last+1 < len(counts.changes) && n+counts.changes[last+1] <= w.atOnce {
			last++
			n += counts.changes[last]
		}
		from, to := counts.span(first, last)
		var err error
		switch {
		case n == 0:
		case n <= w.atOnce:
			err = w.slice(ctx, &changeSlice{sites: w.sites, times: counts, from: from, to: to, first: first},
				counts.changes[first:last+1], n)
		case from == to:
			err = w.instant(ctx, from)
		default:
			// More in one part of the time than fits: its own parts are counted.
			parts, rows := make([]*timeCounts, scanners()), w.rows.Len()
			for i := range parts {
				parts[i] = newTimeCounts(from, to, rows)
			}
			if err = scan(ctx, w.rows, from, to, parts); err == nil {
				for _, p := range parts[1:] {
					parts[0].add(p)
				}
				err = w.through(ctx, parts[0])
			}
		}
		if err != nil {
			return err
		}
		first = last + 1
	}
	return nil
}

// slice gathers n changes, as many in each part of the time as counted, and goes through them.
func (w *peakWalk) slice(ctx context.Context, s *changeSlice, counted []int64, n int64) error {
	s.changes, s.next, s.ends = make([]change, n), make([]atomic.Int64, len(counted)), make([]int64, len(counted))
	var end int64
	for i, n := range counted {
		s.next[i].Store(end)
		end += n
		s.ends[i] = end
	}
	sinks := make([]changeSink, scanners())
	for i := range sinks {
		sinks[i] = changeSink{s}
	}
	if err := scan(ctx, w.rows, s.from, s.to, sinks); err != nil {
		return err
	}
	s.sort()
	var done crew.Crew
	for i := range w.groupings {
		done.Go(func() { w.groupings[i].walk(s.changes) })
	}
	done.Wait()
	return nil
}

// walk takes changes that follow each other.
func (g *peakGrouping) walk(changes []change) {
	for i := range changes {
		c := &changes[i]
		group := g.groups[c.source]
		if group < 0 {
			continue
		}
		live := &g.live[group]
		live.Count += int64(c.count)
		if live.Bytes += c.bytes; live.Bytes > g.peaks[group].Bytes {
			g.peaks[group] = Peak{*live, c.at}
		}
	}
}

// instant goes through all changes of one instant. Ends come first: what stands before or after is the most.
func (w *peakWalk) instant(ctx context.Context, at int64) error {
	sinks := make([]*instantSink, scanners())
	for i := range sinks {
		sinks[i] = &instantSink{at, make([]Usage, w.sites)}
	}
	if err := scan(ctx, w.rows, at, at, sinks); err != nil {
		return err
	}
	for i := range w.groupings {
		g := &w.groupings[i]
		for site, group := range g.groups {
			for _, s := range sinks {
				if group >= 0 {
					g.live[group] = g.live[group].Add(s.net[site])
				}
			}
		}
		for group, u := range g.live {
			if u.Bytes > g.peaks[group].Bytes {
				g.peaks[group] = Peak{u, at}
			}
		}
	}
	return nil
}

// scanners is how many goroutines scan at once: each adds up in memory of its own.
func scanners() int { return min(runtime.GOMAXPROCS(0), 8) }

// scan has rows scanned by one goroutine for each sink.
func scan[S Sink](ctx context.Context, rows Scanner, from, to int64, sinks []S) error {
	all := make([]Sink, len(sinks))
	for i, s := range sinks {
		all[i] = s
	}
	return rows.Scan(ctx, from, to, all...)
}

// A changeSlice is the changes in a part of the time; group is the site.
type changeSlice struct {
	sites    int
	times    *timeCounts
	from, to int64
	first    int // the first part of times
	changes  []change
	next     []atomic.Int64 // by part: where its next change goes
	ends     []int64
}

// partsAtOnce is how many parts of the time a goroutine takes at a time. A part has some tens of changes, or none:
// sorting it takes less than asking for it.
const partsAtOnce = 256

// sort puts the changes in order: only those of a part need sorting.
func (s *changeSlice) sort() {
	var next atomic.Int64
	var done crew.Crew
	for range scanners() {
		done.Go(func() {
			for {
				last := int(next.Add(partsAtOnce))
				first := last - partsAtOnce
				if first >= len(s.ends) {
					return
				}
				s.sortParts(first, min(last, len(s.ends)))
			}
		})
	}
	done.Wait()
}

// sortParts sorts each part from first up to, but without, last.
func (s *changeSlice) sortParts(first, last int) {
	begin := int64(0)
	if first > 0 {
		begin = s.ends[first-1]
	}
	for _, end := range s.ends[first:last] {
		if end-begin > 1 {
			slices.SortFunc(s.changes[begin:end], compareChanges)
		}
		begin = end
	}
}

// A changeSink gathers changes for one goroutine.
type changeSink struct{ slice *changeSlice }

func (k changeSink) AddRows(rows []Row) error {
	s := k.slice
	for i := range rows {
		r := &rows[i]
		if r.UnknownFree || uint64(r.Site) >= uint64(s.sites) { // sites beyond occur only outside the window
			continue
		}
		if r.AllocTime >= s.from && r.AllocTime <= s.to {
			s.put(change{r.AllocTime, int32(r.Site), r.count(), int64(r.Size)})
		}
		if r.FreeTime >= s.from && r.FreeTime <= s.to {
			s.put(change{r.FreeTime, int32(r.Site), -r.count(), -int64(r.Size)})
		}
	}
	return nil
}

func (s *changeSlice) put(c change) {
	part := s.times.part(c.at) - s.first
	// A scan may pass rows that the scan which counted them did not: there is no space for them.
	if i := s.next[part].Add(1); i <= s.ends[part] {
		s.changes[i-1] = c
	}
}

// An instantSink adds up the changes of one instant by site.
type instantSink struct {
	at  int64
	net []Usage
}

func (k *instantSink) AddRows(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if r.UnknownFree || r.AllocTime > k.at || r.FreeTime < k.at {
			continue
		}
		u := Usage{int64(r.count()), int64(r.Size)}
		if r.AllocTime == k.at {
			k.net[r.Site] = k.net[r.Site].Add(u)
		}
		if r.FreeTime == k.at {
			k.net[r.Site] = k.net[r.Site].Sub(u)
		}
	}
	return nil
}

// A change is a beginning or an end inside the window.
type change struct {
	at     int64
	source int32 // number of what changed: of a site in a walk, of a leaf among candidates
	count  int32
	bytes  int64
}

// compareChanges puts changes in the order of time, ends first.
func compareChanges(a, b change) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.bytes, b.bytes)
}
