package tracecapture

import (
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
)

// meta says what the numbers in the rows stand for.
func (b *builder) meta() *allocations.Meta {
	m := &allocations.Meta{Start: b.info.Start, From: b.covered.From, To: b.covered.To}
	m.Sites = make([]allocations.Site, len(b.sites))
	stacks, seen := map[etl.StackID]bool{}, map[uint32]bool{}
	for i := range b.sites {
		s := &b.sites[i]
		m.Sites[i] = allocations.Site{Process: s.process, Heap: s.heap, Stack: uint32(s.stack), Kind: s.kind}
		stacks[s.stack] = true
		if seen[s.process] {
			continue
		}
		seen[s.process] = true
		p := &b.joined.Processes[s.process]
		m.Processes = append(m.Processes,
			allocations.Process{Number: s.process, PID: p.PID, Name: processName(p), Began: began(p), Exited: exited(p)})
		for k := range p.Images {
			m.Images = append(m.Images, tableImage(s.process, &p.Images[k]))
		}
	}
	for _, kernel := range b.joined.Kernel() {
		for k := range b.joined.Processes[kernel].Images {
			if !seen[kernel] {
				m.Images = append(m.Images, tableImage(kernel, &b.joined.Processes[kernel].Images[k]))
			}
		}
	}
	all := b.joined.Stacks // alone: m is kept, and everything else that b holds is not needed any more
	m.Stacks = func(yield func(uint32, []uint64) bool) {
		var addresses []uint64
		for id := range all.Len() {
			if !all.Plain(etl.StackID(id)) {
				continue
			}
			addresses = all.Append(addresses[:0], etl.StackID(id))
			if !yield(uint32(id), addresses) {
				return
			}
		}
	}
	return m
}
