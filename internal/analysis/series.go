package analysis

import (
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
)

// A series is the snapshots of one program merged: every site with its usage at each instant.
type series struct {
	parts    []part
	instants []instant
	keys     []*stackKeys            // by part
	lives    []int                   // by part: which process life it shows
	heaps    []uint64                // handle of each heap slot, as in the last part that has it
	sites    map[siteKey]*mergedSite // until all are merged
	order    []*mergedSite           // by first appearance
	room     []mergedSite            // for those that come
	usages   []capture.Usage         // room for the usage of those that come
	places   [][]int32               // by part and site of its capture: place in order
	young    int                     // instants of the longest life that lie in its settle time
	warnings []Warning
	looked   bool     // somebody looked for pointers to the blocks of the last part
	doubted  *Warning // why the process or the order is not certain; nil where both are
}

// An instant is one snapshot of one part.
type instant struct{ part, snapshot int }

// A siteKey tells the sites of a series apart: by stack, place of the heap in the report, and kind.
type siteKey struct {
	stack stackNumber
	heap  int32
	kind  capture.SiteKind
}

// mergedSite is one site over the whole series.
type mergedSite struct {
	key      siteKey
	place    int32 // in series.order
	life     int   // of the process, which the first part that has it shows
	part     int   // the last part that has it, for addresses and ids
	site     *capture.Site
	stack    capture.StackID // in the part stackOf
	aliases  []capture.StackID
	stackOf  int
	traces   []uint64
	only     [1]uint64 // of traces, which nearly always are one
	usage    []capture.Usage
	borrowed bool            // usage is that of a site
	lives    []*capture.Life // of a trace
	// unreachable are the blocks of the last part that no pointer was found to.
	unreachable capture.Usage
	agreed      capture.Usage // of those, what several dumps say so of
	// left is what was left at exit, by what points to it; lists are the parts that say so. Of such evidence only.
	left  *[capture.ReachCount]capture.Usage
	lists []int32
	// beforeTests are blocks that were there before the first test ran.
	beforeTests Amount
}

// merge builds the series. The parts are in the order given, which is the order in time.
func merge(ctx context.Context, parts []part) (*series, error) {
	s := &series{parts: parts, sites: make(map[siteKey]*mergedSite, len(parts[0].Sites)),
		order: make([]*mergedSite, 0, len(parts[0].Sites))}
	last := parts[len(parts)-1]
	lists := last.isList() // of what was left at exit: of several processes or tests they are one instant together
	for p := range parts {
		if lists && p > 0 {
			break
		}
		for snapshot := range parts[p].Snapshots {
			s.instants = append(s.instants, instant{p, snapshot})
		}
	}
	s.looked = last.Shape == capture.ShapeSnapshot && last.Memory != nil && last.Memory.Reach != nil
	if lists {
		s.lives = make([]int, len(parts))
	} else {
		s.findLives()
	}
	s.makeKeys()
	ids := s.resolveIDs()
	slots := s.heapSlots()
	s.places = make([][]int32, len(parts))
	first := 0
	for p := range parts {
		s.places[p] = make([]int32, len(parts[p].Sites))
		for i := range parts[p].Sites {
			if i%4096 == 0 && ctx.Err() != nil {
				return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
			}
			s.places[p][i] = s.add(p, i, first, ids[s.lives[p]], slots[p])
		}
		if !lists {
			first += len(parts[p].Snapshots)
		}
	}
	s.sites = nil // from here on sites go by their place
	return s, nil
}

// makeKeys makes the keys of each part's stacks by the modules of the whole life that it shows.
func (s *series) makeKeys() {
	histories, numbers := s.histories(), newStackNumbers()
	for p := range s.parts {
		var lend func(uint64) *capture.Module
		if h := histories[p]; h != nil {
			lend = func(address uint64) *capture.Module { return h.lend(p, address) }
		}
		if p > 0 && histories[p] != nil && histories[p] == histories[p-1] && histories[p].still {
			s.keys = append(s.keys, s.keys[p-1].next(s.parts[p].Capture))
			continue
		}
		s.keys = append(s.keys, newStackKeys(s.parts[p].Capture, numbers, lend))
	}
	s.warnContested(histories)
}

// add counts one site of one part in, by its place there, and returns its place in order; first is the index of the
// part's first instant.
func (s *series) add(p, at, first int, ids map[uint64]origin, slots []int32) int32 {
	site := &s.parts[p].Sites[at]
	from := origin{part: p, site: site, candidates: s.keys[p].candidates(site)}
	if known, ok := ids[site.Trace]; ok && site.Trace != 0 &&
		(covers(known.candidates, from.candidates) || s.isSameStack(known, from)) {
		from = known
	}
	key := siteKey{stack: s.keys[p].numbers.joint(from.candidates), heap: capture.NoHeap, kind: site.Kind}
	if key.stack == 0 && site.Trace != 0 { // the id is all there is to tell it by
		key.stack = s.keys[p].numbers.id(s.lives[p], site.Trace)
	}
	if site.Heap != capture.NoHeap {
		key.heap = slots[site.Heap]
	}
	m := s.sites[key]
	if m == nil {
		m = s.newSite()
		*m = mergedSite{key: key, place: int32(len(s.order)), life: s.lives[p], part: -1}
		s.sites[key] = m
		s.order = append(s.order, m)
	}
	if m.part != p {
		m.part, m.site, m.traces = p, site, nil
	}
	if m.stack == capture.NoStack || from.part > m.stackOf {
		m.stack, m.aliases, m.stackOf = from.site.Stack, from.site.AliasStacks, from.part
	}
	switch {
	case site.Trace == 0 || slices.Contains(m.traces, site.Trace):
	case m.traces == nil:
		m.only[0] = site.Trace
		m.traces = m.only[:]
	default:
		m.traces = append(m.traces, site.Trace)
	}
	if site.Life != nil {
		m.lives = append(m.lives, site.Life)
	}
	s.addUsage(m, site.Usage, first)
	if s.parts[p].isList() {
		m.leave(p, site, s.parts[p].Lines, at)
	}
	if site.Unreachable && p == len(s.parts)-1 {
		m.unreachable = m.unreachable.Add(site.Usage[0])
	}
	return m.place
}

// newUsage makes room for the usage of a site, of many at once.
func (s *series) newUsage() []capture.Usage {
	const atOnce = 1 << 12
	n := len(s.instants)
	if len(s.usages) < n {
		s.usages = make([]capture.Usage, max(atOnce, n))
	}
	own := s.usages[:n:n]
	s.usages = s.usages[n:]
	return own
}

// newSite makes room for a site, of many at once.
func (s *series) newSite() *mergedSite {
	const atOnce = 256
	if len(s.room) == 0 {
		s.room = make([]mergedSite, atOnce)
	}
	m := &s.room[0]
	s.room = s.room[1:]
	return m
}

// addUsage adds the usage of a site from the first instant of its part on. One site with all instants, which in traces
// nearly every one is, needs no copy: a trace can have very many.
func (s *series) addUsage(m *mergedSite, usage []capture.Usage, first int) {
	if m.usage == nil && len(usage) == len(s.instants) {
		m.usage, m.borrowed = usage, true
		return
	}
	if m.usage == nil || m.borrowed {
		own := s.newUsage()
		copy(own, m.usage)
		m.usage, m.borrowed = own, false
	}
	for i, u := range usage {
		m.usage[first+i] = m.usage[first+i].Add(u)
	}
}

// An origin is a site whose stack or stacks stand for an id.
type origin struct {
	part       int
	site       *capture.Site
	candidates []stackNumber
}

// resolveIDs says for each process life which stacks an id stands for. Within a life an id keeps its meaning,
// so a snapshot that lost an id's stack, or shows only some of its aliases, borrows from one that has more.
func (s *series) resolveIDs() []map[uint64]origin {
	lives := make([]map[uint64]origin, s.lives[len(s.lives)-1]+1)
	contradicted := map[uint64]bool{}
	for p := range s.parts {
		ids := lives[s.lives[p]]
		if ids == nil {
			ids = make(map[uint64]origin, len(s.parts[p].Sites))
			lives[s.lives[p]] = ids
		}
		for i := range s.parts[p].Sites {
			site := &s.parts[p].Sites[i]
			if site.Trace == 0 || site.Stack == capture.NoStack {
				continue
			}
			here := origin{p, site, s.keys[p].candidates(site)}
			known, ok := ids[site.Trace]
			switch {
			case !ok || covers(here.candidates, known.candidates):
				ids[site.Trace] = here
			case !covers(known.candidates, here.candidates) && !s.isSameStack(known, here):
				contradicted[site.Trace] = true
			}
		}
	}
	if n := len(contradicted); n > 0 {
		s.warn(capture.Inconsistent, int64(n), verb(int64(n), "stack id names", "stack ids name")+
			" different stacks in different snapshots of the same process. The stack of each snapshot is used.")
	}
	return lives
}

// isSameStack reports whether an id has the same addresses in two parts. The later part may show another module at one
// of them, which was loaded after the id was given.
func (s *series) isSameStack(a, b origin) bool {
	if len(a.site.AliasStacks) > 0 || len(b.site.AliasStacks) > 0 {
		return false
	}
	x, y := &s.parts[a.part].Stacks, &s.parts[b.part].Stacks
	return slices.EqualFunc(x.Stack(a.site.Stack), y.Stack(b.site.Stack), func(i, j capture.FrameID) bool {
		f, g := x.Frame(i), y.Frame(j)
		return f.Address == g.Address && f.Address != 0
	})
}

// covers reports whether all holds every number of part.
func covers(all, part []stackNumber) bool {
	for _, k := range part {
		if !slices.Contains(all, k) {
			return false
		}
	}
	return true
}

// heapSlots gives each heap of each part its place in the report. Within a process life a heap is told by its
// handle; across lives, where handles differ, by its place in the order of the evidence.
func (s *series) heapSlots() [][]int32 {
	slots := make([][]int32, len(s.parts))
	var handles map[uint64]int32
	for p := range s.parts {
		if p == 0 || s.lives[p] != s.lives[p-1] {
			handles = map[uint64]int32{}
		}
		for _, heap := range s.parts[p].Heaps {
			slot, ok := handles[heap.Handle]
			if !ok {
				slot = int32(len(handles))
				handles[heap.Handle] = slot
			}
			slots[p] = append(slots[p], slot)
			for int(slot) >= len(s.heaps) {
				s.heaps = append(s.heaps, 0)
			}
			s.heaps[slot] = heap.Handle
		}
	}
	return slots
}

func (s *series) warn(code capture.Code, count int64, message string) {
	s.warnings = append(s.warnings, Warning{Code: code, Message: message, Count: count})
}
