package umdh

import (
	"math"
	"sort"

	"heapdrift/ingest/capture"
)

// lookups is how many sites are looked up at once, so that they are on their way from memory at the same time.
const lookups = 32

// take adds the lines of a run from the place at on, behind the given number of lines. It returns the place and the
// number of lines up to which it went; all is false where the line there is for the careful reading.
func (s *snapshot) take(p *piece, r *run, at int, before int64) (to int, lines int64, all bool) {
	entries, stacks := p.entries[:r.entriesEnd], p.stacks[r.stacks:r.stacksEnd]
	next, first := r.entries, before
	if at > r.from { // lines of the run were read carefully
		next += sort.Search(len(entries)-next, func(i int) bool { return int(entries[next+i].at) >= at })
		if next == len(entries) || int(entries[next].at) > at {
			return at, 0, false
		}
		first -= int64(entries[next].line) - 1
		for len(stacks) > 0 && stacks[0].entries <= next {
			stacks = stacks[1:]
		}
	}
	for {
		if len(stacks) > 0 && stacks[0].entries == next {
			all := p.frames[stacks[0].from:stacks[0].to]
			if n := s.frames(all); n < len(all) {
				to, lines = p.frameAt(r, next, n)
				return to, first + lines - before, false
			}
			stacks = stacks[1:]
		}
		if next == len(entries) {
			return r.to, first + r.lines - before, true
		}
		end := len(entries)
		if len(stacks) > 0 {
			end = stacks[0].entries
		}
		s.blocks(entries[next:end], first)
		next = end
	}
}

// frameAt finds the line of the nth address, from 0, below the entry before the given one, and how many lines of the
// run come before it.
func (p *piece) frameAt(r *run, entry, n int) (at int, lines int64) {
	at = r.from
	if entry > r.entries {
		e := &p.entries[entry-1]
		at, lines = int(e.at), int64(e.line)-1
	}
	for ; ; lines++ {
		if p.text[at] == '\t' {
			if n == 0 {
				return at, lines
			}
			n--
		}
		_, whole := lineEnd(p.text[at:r.to], 0, true)
		at += whole
	}
}

// frames adds return addresses to the stack of the last entry. It returns how many it takes there.
func (s *snapshot) frames(addresses []uint64) int {
	if !s.gathering.pending() && !s.takesFrames() {
		return 0
	}
	n := min(len(addresses), s.gathering.left())
	for _, a := range addresses[:n] {
		s.addresses |= a
	}
	s.gathering.addresses = append(s.gathering.addresses, addresses[:n]...)
	return n
}

// blocks adds entries, each of one block. Lines are counted from the given number on.
func (s *snapshot) blocks(entries []listedEntry, first int64) {
	if len(entries) == 0 {
		return
	}
	if s.gathering.pending() {
		s.endStack()
	}
	var at [lookups]uint32
	var touched uint32
	tag, last, lastID := uint32(s.heap), s.last, uint64(math.MaxUint64)
	for len(entries) > 0 {
		some := entries[:min(len(entries), lookups)]
		entries = entries[len(some):]
		for i := range some {
			touched |= s.places.slots[s.places.home(uint64(some[i].id), tag)].index
		}
		for i := range some {
			e := &some[i]
			if id := uint64(e.id); id != lastID { // neighbours are often of one stack
				var known bool
				if last, known = s.places.find(id, tag); !known {
					last = s.siteOf(id, first+int64(e.line))
				}
				lastID = id
			}
			at[i] = last
		}
		for i := range some {
			e := &some[i]
			site := &s.sites[at[i]]
			site.usage.Count++
			site.usage.Bytes += int64(e.requested)
			site.usage.Overhead += int64(e.overhead)
			s.addresses |= e.address
			s.c.Blocks.Add(capture.Block{Site: at[i], Address: e.address, Size: uint64(e.requested)})
		}
	}
	s.last, s.touched = last, touched
}
