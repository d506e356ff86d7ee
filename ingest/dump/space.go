package dump

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/sorting"
)

// A mark says what a piece of address space is used for.
type mark struct {
	span
	use capture.UseName
}

// listedReservations is how many of the largest reservations are listed, and how many sizes that many have.
const listedReservations = 20

// leastRepeated is how many reservations of one size are worth a line.
const leastRepeated = 4

// A piece is a stretch of address space that is alike.
type piece struct {
	span
	use         capture.UseName
	reservation uint64
	state       minidump.State
	protect     minidump.Protection
	private     bool
}

// spaceOf sums the address space by use. Marks say what the regions themselves do not: which are heaps, stacks and the
// like. Losses say where in heaps blocks are that nothing points to; nil where nobody looked.
func (p *process) spaceOf(marks []mark, losses []loss) *capture.Space {
	s := &capture.Space{Partial: len(p.regions) == 0, Bits: uint8(p.bits()), Limit: p.limit()}
	var stretches []capture.AddressRange
	pieces := p.pieces(arrange(marks))
	uses := map[capture.UseName]*capture.UseTotal{}
	reservations := map[uint64]*capture.Reservation{}
	var order []uint64
	var before piece
	for _, at := range pieces {
		u := uses[at.use]
		if u == nil {
			u = &capture.UseTotal{Name: at.use}
			uses[at.use] = u
		}
		u.Regions++
		u.Reserved += int64(at.size)
		if at.use != capture.UseFree {
			stretches = at.stretches(stretches, losses)
		}
		if at.state == minidump.MemCommit {
			u.Committed += int64(at.size)
			if at.use == capture.UsePrivate {
				p.virtual++
			}
			if at.private && !s.Partial { // without a list of regions all memory looks private
				u.Private += int64(at.size)
			}
		}
		u.Largest = max(u.Largest, int64(at.size))
		if at.use == capture.UseFree && int64(at.size) > s.LargestFree {
			s.LargestFree, s.LargestFreeAt = int64(at.size), capture.Address(at.address)
		}
		if at.use == capture.UsePrivate || at.use == capture.UseManaged {
			if s.Partial && before.use == at.use && before.end() == at.address { // neighbours are taken as one
				at.reservation = before.reservation
			}
			r := reservations[at.reservation]
			if r == nil {
				r = &capture.Reservation{Address: capture.Address(at.reservation), Use: at.use}
				reservations[at.reservation], order = r, append(order, at.reservation)
			}
			at.addTo(r)
		}
		before = at
	}
	for _, name := range capture.UseNames {
		if u := uses[name]; u != nil {
			s.Uses = append(s.Uses, *u)
		}
	}
	s.Map = capture.DrawSpaceMap(stretches)
	s.Largest, s.Repeated = largest(order, reservations)
	p.shares(s)
	return s
}

// addTo counts a piece in its reservation.
func (at *piece) addTo(r *capture.Reservation) {
	r.Reserved += int64(at.size)
	if at.state != minidump.MemCommit {
		return
	}
	if r.Committed == 0 && at.protect != 0 {
		r.Protect = at.protect.String()
	}
	r.Committed += int64(at.size)
}

// arrange sorts marks and cuts those that overlap: of two, the one that begins first stays whole.
func arrange(marks []mark) []mark {
	sorting.Stable(marks, func(a, b mark) int { return cmp.Compare(a.address, b.address) })
	list, end := make([]mark, 0, len(marks)), uint64(0)
	for _, m := range marks {
		if m.size > ^uint64(0)-m.address { // no such thing
			continue
		}
		if m.address < end {
			m.span = span{end, m.end() - min(end, m.end())}
		}
		if m.size > 0 {
			list, end = append(list, m), m.end()
		}
	}
	return list
}

// pieces cuts the regions where marks begin and end.
func (p *process) pieces(marks []mark) (list []piece) {
	modules := p.images()
	top := uint64(4 * gigabyte)
	if limit := p.limit(); limit > 0 {
		top = uint64(limit)
	}
	for _, r := range p.spread() {
		// To a 32-bit process nothing is free that it cannot use, and 64-bit Windows reserves most of that so that nobody
		// takes it.
		if p.bits() == 32 && r.State != minidump.MemCommit {
			if r.Base >= top {
				continue
			}
			r.Size = min(r.Size, top-r.Base)
		}
		whole := piece{span: span{r.Base, r.Size}, use: p.useOf(r, modules), reservation: r.AllocationBase, state: r.State,
			protect: r.Protect, private: r.Type == minidump.MemPrivate}
		if whole.use != capture.UsePrivate && whole.use != capture.UseMapped { // some heaps lie in sections
			list = append(list, whole)
			continue
		}
		at := r.Base
		i, _ := slices.BinarySearchFunc(marks, r.Base, func(m mark, a uint64) int { return cmp.Compare(m.end()-1, a) })
		for ; at < r.Base+r.Size; i++ {
			next := piece{}
			if i < len(marks) && marks[i].address < r.Base+r.Size {
				if marks[i].address > at {
					next = whole
					next.span = span{at, marks[i].address - at}
					list = append(list, next)
					at = marks[i].address
				}
				next = whole
				next.use, next.span = marks[i].use, span{at, min(marks[i].end(), r.Base+r.Size) - at}
			} else {
				next = whole
				next.span = span{at, r.Base + r.Size - at}
			}
			list = append(list, next)
			at = next.end()
		}
	}
	return list
}

// spread is the regions, or what stands for them where the dump has none: the memory that is in it, which is committed.
func (p *process) spread() []minidump.Region {
	if len(p.regions) > 0 {
		return p.regions
	}
	ranges := p.memory.Ranges()
	list := make([]minidump.Region, len(ranges))
	for i, r := range ranges {
		list[i] = minidump.Region{Base: r.Address, Size: r.Size, AllocationBase: r.Address, State: minidump.MemCommit,
			Type: minidump.MemPrivate}
	}
	return list
}

// images are the spans of the modules, by address.
func (p *process) images() []span {
	list := make([]span, 0, len(p.modules))
	for _, m := range p.modules {
		list = append(list, span{m.Base, m.Size})
	}
	sorting.Unstable(list, func(a, b span) int { return cmp.Compare(a.address, b.address) })
	return list
}

// inside reports whether an address lies in one of the spans, which are sorted.
func inside(spans []span, address uint64) bool {
	i, ok := slices.BinarySearchFunc(spans, address, func(s span, a uint64) int { return cmp.Compare(s.address, a) })
	return ok || i > 0 && address-spans[i-1].address < spans[i-1].size
}

// useOf is what a region says of its use by itself.
func (p *process) useOf(r minidump.Region, images []span) capture.UseName {
	switch {
	case r.State == minidump.MemFree:
		return capture.UseFree
	case r.Type == minidump.MemImage || inside(images, r.Base):
		return capture.UseImage
	case r.Type == minidump.MemMapped:
		return capture.UseMapped
	}
	return capture.UsePrivate
}

// shares sums the regions by state, type and protection, as !address -summary does.
func (p *process) shares(s *capture.Space) {
	states, types, protections := map[string]capture.Share{}, map[string]capture.Share{}, map[string]capture.Share{}
	add := func(to map[string]capture.Share, name string, size uint64) {
		share := to[name]
		share.Name, share.Regions, share.Bytes = name, share.Regions+1, share.Bytes+int64(size)
		to[name] = share
	}
	for _, r := range p.regions {
		add(states, r.State.String(), r.Size)
		if r.State == minidump.MemFree {
			continue
		}
		add(types, r.Type.String(), r.Size)
		if r.State == minidump.MemCommit {
			add(protections, r.Protect.String(), r.Size)
		}
	}
	s.States, s.Types, s.Protections = sorted(states), sorted(types), sorted(protections)
}

func sorted(shares map[string]capture.Share) []capture.Share {
	list := make([]capture.Share, 0, len(shares))
	for _, s := range shares {
		list = append(list, s)
	}
	sorting.Stable(list, func(a, b capture.Share) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// largest lists the reservations that commit most, and the sizes that many share.
func largest(order []uint64, all map[uint64]*capture.Reservation) ([]capture.Reservation,
	[]capture.RepeatedReservations) {
	list := make([]capture.Reservation, 0, len(order))
	sizes := map[int64]*capture.RepeatedReservations{}
	for _, base := range order {
		r := all[base]
		list = append(list, *r)
		s := sizes[r.Reserved]
		if s == nil {
			s = &capture.RepeatedReservations{ReservedEach: r.Reserved, First: r.Address}
			sizes[r.Reserved] = s
		}
		s.Count++
		s.CommittedTotal += r.Committed
	}
	sorting.Stable(list, func(a, b capture.Reservation) int {
		return cmp.Or(cmp.Compare(b.Committed, a.Committed), cmp.Compare(b.Reserved, a.Reserved))
	})
	var repeated []capture.RepeatedReservations
	for _, s := range sizes {
		if s.Count >= leastRepeated {
			repeated = append(repeated, *s)
		}
	}
	sorting.Stable(repeated, func(a, b capture.RepeatedReservations) int {
		return cmp.Or(cmp.Compare(b.CommittedTotal, a.CommittedTotal), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First, b.First))
	})
	return list[:min(len(list), listedReservations)], repeated[:min(len(repeated), listedReservations)]
}
