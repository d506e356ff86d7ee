package pdb

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
)

// A LocationRange is a range of the source space over which only the displacements of its Location change; those are of
// its first address.
type LocationRange struct {
	Start, End uint32 // End is exclusive; in the source space, the image's RVAs where there is no OMAP
	Location
}

// windowBytes is how much of what modules say is turned into segments at once. A segment takes ten times the bytes of
// the line it is made of.
const windowBytes = 4 << 20

// areaBytes is how much code is worked on together at most; modules may contribute all their code in one piece.
const areaBytes = 64 << 10

// framesTogether is how many inlined calls the segments of a window may tell together. Those of real programs have
// a tenth of it.
const framesTogether = 8 << 20

// LocationRanges walks the image in ascending order of the source space and yields the longest ranges over which
// function, lines, inlined calls, public symbol and confidence are constant. They say what Lookup says; what the PDB
// knows nothing of is left out. Memory does not grow with the PDB.
func (f *File) LocationRanges(ctx context.Context, yield func(LocationRange) error) error {
	s, err := f.space()
	if err != nil {
		return err
	}
	strays, err := f.straysOf(ctx, s.contributions)
	if err != nil {
		return err
	}
	w := &walk{f: f, s: s, strays: strays, yield: yield}
	w.names = overlay{f: f, s: s}
	w.measure()
	for i, section := range f.sectionOrder {
		start := uint64(f.source[section].RVA)
		end := roundPage(start + uint64(f.source[section].Size))
		if i+1 < len(f.sectionOrder) {
			end = min(end, uint64(f.source[f.sectionOrder[i+1]].RVA))
		}
		if end = min(end, 1<<32-1); end <= start {
			continue
		}
		if err := w.section(ctx, section+1, uint32(start), uint32(end)); err != nil {
			return err
		}
	}
	return w.flush()
}

// A walk is under way through the image.
type walk struct {
	f       *File
	s       space
	strays  []contribution
	code    []uint64 // bytes of code per module
	names   overlay
	frames  atomic.Int64  // inlined calls of the window
	pending LocationRange // not yielded yet, because it may go on
	yield   func(LocationRange) error
}

// An area is a range of code of one module, or of none (-1).
type area struct {
	start, end uint32
	module     int32
}

func (w *walk) measure() {
	w.code = make([]uint64, len(w.f.modules))
	for _, c := range w.s.contributions {
		w.code[c.module] += uint64(c.end - c.start)
	}
}

// weight estimates how many bytes of its module an area is described by.
func (w *walk) weight(a area) uint64 {
	if a.module < 0 {
		return 0
	}
	c := w.f.modules[a.module]
	return (uint64(c.symbols) + uint64(c.c13)) * uint64(a.end-a.start) / max(w.code[a.module], 1)
}

// section walks a section in windows.
func (w *walk) section(ctx context.Context, section int, start, end uint32) error {
	i, in := contributionAt(w.s.contributions, start)
	if !in {
		i++
	}
	var window []area
	weight := uint64(0)
	add := func(a area) error {
		window = append(window, a)
		if weight += w.weight(a); weight < windowBytes && len(window) < windowBytes/64 {
			return nil
		}
		err := w.window(ctx, section, window)
		window, weight = window[:0], 0
		return err
	}
	for at := start; at < end; {
		next := area{at, end, -1}
		if i < len(w.s.contributions) {
			if c := w.s.contributions[i]; c.end <= at {
				i++
				continue
			} else if c.start <= at {
				next = area{at, min(c.end, end), int32(c.module)}
			} else {
				next.end = min(end, c.start)
			}
		}
		next.end = uint32(min(uint64(next.end), uint64(at)+areaBytes))
		if err := add(next); err != nil {
			return err
		}
		at = next.end
	}
	return w.window(ctx, section, window)
}

// window works the areas out, module by module, and passes them on in their order.
func (w *walk) window(ctx context.Context, section int, areas []area) error {
	order := make([]int, len(areas))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(areas[a].module, areas[b].module) })
	var groups [][]int
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && areas[order[j]].module == areas[order[i]].module {
			j++
		}
		groups = append(groups, order[i:j])
		i = j
	}
	done := make([][]LocationRange, len(areas))
	w.frames.Store(0)
	err := inParallel(ctx, len(groups), func(ctx context.Context, next func() (int, bool)) error {
		var buf []byte
		for i, ok := next(); ok; i, ok = next() {
			c := cutter{w: w, ctx: ctx}
			if number := areas[groups[i][0]].module; number >= 0 {
				m, err := w.f.loadModule(ctx, int(number), buf)
				if err != nil {
					return err
				}
				buf = m.memory
				c.l = &locator{m: m}
			}
			for _, a := range groups[i] {
				var err error
				if done[a], err = c.cut(areas[a]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, segments := range done {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, s := range segments {
			if err := w.name(section, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// name adds public symbols to a segment, which may cut it into several.
func (w *walk) name(section int, s LocationRange) error {
	base := w.f.source[section-1].RVA
	for s.Start < s.End {
		part := s
		known, err := w.names.public(part.Start, section, &part.Location)
		if err != nil {
			return err
		}
		publics := w.s.publics
		if next := publics.after(uint16(section), part.Start-base, w.names.last); next < len(publics.keys) {
			if key := publics.keys[next]; uint16(key>>32) == uint16(section) &&
				uint64(base)+(key&0xFFFFFFFF) < uint64(part.End) {
				part.End = base + uint32(key)
			}
		}
		if doubt := uint64(part.Start) - uint64(part.PublicDisplacement) + farFromPublic; part.Kind == KindPublic &&
			doubt > uint64(part.Start) {
			part.End = uint32(min(uint64(part.End), doubt))
		}
		if known {
			if err := w.pass(part); err != nil {
				return err
			}
		}
		s.Displacement += part.End - s.Start
		s.Start = part.End
	}
	return nil
}

// pass yields the pending segment unless the next one continues it.
func (w *walk) pass(s LocationRange) error {
	if w.pending.goesOn(&s) {
		w.pending.End = s.End
		return nil
	}
	err := w.flush()
	w.pending = s
	return err
}

// goesOn says whether the next segment says nothing new.
func (s *LocationRange) goesOn(next *LocationRange) bool {
	run := next.Start - s.Start
	return s.End == next.Start && s.End > s.Start && s.same(&next.Location) &&
		(s.Kind == "" || s.Displacement+run == next.Displacement) &&
		(s.Public == "" || s.PublicDisplacement+run == next.PublicDisplacement)
}

func (w *walk) flush() error {
	if w.pending.End <= w.pending.Start {
		return nil
	}
	return w.yield(w.pending)
}
