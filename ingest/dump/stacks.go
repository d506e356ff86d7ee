package dump

import (
	"cmp"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/sorting"
)

// A threadStack is where the stack of a thread lies, on one side of it.
type threadStack struct {
	thread      uint32
	reservation span   // from DeallocationStack to StackBase
	limit       uint64 // the lowest address in use or once in use
	top         uint64 // the stack pointer; 0 unknown
	registers   []uint64
	teb         span
}

// readStacks reads the environment blocks of all threads.
func (p *process) readStacks() {
	native := pointers{p.memory, p.native()}
	for _, t := range p.threads {
		registers, err := p.source.Registers(t)
		p.failed("the registers of a thread", err)
		p.addStack(native, t, t.TEB, registers, 0)
		if p.wow64 {
			own, err := p.source.WOW64Registers(t)
			p.failed("the 32-bit registers of a thread", err)
			p.addStack(pointers{p.memory, 32}, t, p.wowTEB(t), own, registers.SP)
		}
	}
}

// addStack adds a stack of a thread. WOW64 saves the 32-bit registers when the thread enters 64-bit code. So the stack
// pointer of a thread in 32-bit code is in the native registers, which other says.
func (p *process) addStack(m pointers, t minidump.Thread, teb uint64, registers minidump.Registers, other uint64) {
	layout := tebs[m.bits]
	s := threadStack{thread: t.ID, registers: registers.General, teb: span{teb &^ (pageBytes - 1), layout.size}}
	base, ok := m.at(teb + layout.stackBase)
	limit, has := m.at(teb + layout.stackLimit)
	low, kept := m.at(teb + layout.deallocation)
	if !ok || !has || limit == 0 || limit >= base { // what the thread list says of it, then
		low, limit, base, kept = t.Stack.Address, t.Stack.Address, t.Stack.Address+t.Stack.Size, false
	}
	if !kept || low == 0 || low > limit {
		low = limit
	}
	s.reservation, s.limit = pagesOf(span{low, base - low}), limit&^(pageBytes-1)
	if registers.SP > limit && registers.SP <= base {
		s.top = registers.SP
		if other > limit && other <= base {
			s.top = min(s.top, other)
		}
	}
	p.stacks = append(p.stacks, s)
}

// threadFacts lists the threads, those with the largest stacks first.
func (p *process) threadFacts(where func(address uint64) string) []capture.Thread {
	list, stacks := make([]capture.Thread, 0, len(p.threads)), map[uint32][]*threadStack{}
	for i := range p.stacks {
		stacks[p.stacks[i].thread] = append(stacks[p.stacks[i].thread], &p.stacks[i])
	}
	for _, t := range p.threads {
		out := capture.Thread{ID: t.ID, Name: t.Name}
		for _, s := range stacks[t.ID] {
			if s.reservation.size == 0 {
				continue
			}
			out.Stack = capture.Address(s.reservation.address) // in the end that of the program's own side
			out.Reserved += int64(s.reservation.size)
			out.Committed += int64(s.reservation.end() - s.limit)
		}
		if t.StartAddress != 0 {
			out.Start = where(t.StartAddress)
		}
		if r, err := p.source.Registers(t); err == nil && r.IP != 0 {
			out.At = where(r.IP)
		}
		list = append(list, out)
	}
	sorting.Stable(list, func(a, b capture.Thread) int { return cmp.Compare(b.Committed, a.Committed) })
	return list
}
