package ntheap

import (
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// mostHeaps is how many heaps a PEB may list; Windows keeps their number in 16 bits.
const mostHeaps = 1 << 16

// An opening is one call of Open.
type opening struct {
	ctx  context.Context // it lives as long as one call of Open
	p    *Process
	hs   *SideHeaps
	w    *window
	main uint64 // the default process heap
	seen map[uint64]bool
}

// Open finds the heaps of a process. It reads their headers, and nothing in them. An error comes with what was found.
func Open(ctx context.Context, p Process) (*SideHeaps, error) {
	if p.Memory == nil || p.Bits != 32 && p.Bits != 64 {
		return &SideHeaps{}, &evidence.Error{Code: CodeBadProcess, Message: fmt.Sprintf("a process of %d bits cannot be opened",
			p.Bits), Do: "give its memory, and 32 or 64", Address: p.PEB}
	}
	hs := &SideHeaps{process: p, stacks: newTraces(p.Bits == 64)}
	o := &opening{ctx: ctx, p: &hs.process, hs: hs, w: newWindow(p.Memory, p.Bits == 64, randomWindow),
		seen: map[uint64]bool{}}
	handles := o.readPEB()
	for _, handle := range handles {
		if err := ctx.Err(); err != nil {
			return hs, err
		}
		o.refuse(handle, o.add(handle))
	}
	if err := o.tryCandidates(); err != nil {
		return hs, err
	}
	if hs.PageHeap {
		if err := o.findPageHeaps(); err != nil {
			return hs, err
		}
	}
	o.name()
	if err := o.findDatabase(); err != nil {
		return hs, err
	}
	if err := o.recoverKey(); err != nil {
		return hs, err
	}
	if len(hs.List) == 0 && len(hs.Gaps) == 0 {
		return hs, &evidence.Error{Code: CodeNoHeaps,
			Message: "no heap was found, by the PEB or by what reservations begin with; the evidence may lack the memory of the process", Do: "make a dump that has it (MiniDumpWithFullMemory)", Address: p.PEB}
	}
	return hs, nil
}

// readPEB takes what the PEB says, and returns the handles that it lists.
func (o *opening) readPEB() []uint64 {
	hs, build := o.hs, o.p.Version.Build
	hs.layouts = choices(o.p, build)
	n := lookup{types: hs.layouts[0].types}
	at := func(field string) uint64 { return o.p.PEB + n.at("_PEB", field) } // the same in every build of a width
	hs.blind = true
	if o.p.PEB == 0 {
		hs.note("the address of the PEB is unknown")
		return nil
	}
	flags, ok := o.w.u32(at("NtGlobalFlag"))
	if !ok {
		hs.note("the PEB at %#x cannot be read", o.p.PEB)
		return nil
	}
	hs.Flags, hs.blind = flags, false
	hs.StackTraces, hs.PageHeap = flags&flagStackTraces != 0, flags&flagPageHeap != 0
	number, _ := o.w.u16(at("OSBuildNumber"))
	switch own := uint32(number); {
	case own == 0 || own == build:
	case build == 0:
		hs.layouts = choices(o.p, own)
	default:
		hs.note("the PEB says build %d of Windows, the evidence %s; the latter is believed", own, o.p.Version)
	}
	o.main, _ = o.w.pointer(at("ProcessHeap"))
	count, _ := o.w.u32(at("NumberOfHeaps"))
	array, _ := o.w.pointer(at("ProcessHeaps"))
	var handles []uint64
	for i := range uint64(min(count, mostHeaps)) {
		handle, ok := o.w.pointer(array + i*o.w.pointerSize())
		if !ok {
			hs.note("the PEB's list of %d heaps breaks off after %d", count, i)
			break
		}
		if handle != 0 {
			handles = append(handles, handle)
		}
	}
	if count > mostHeaps {
		hs.note("the PEB claims %d heaps; the first %d were looked at", count, mostHeaps)
	}
	if o.main != 0 && !slices.Contains(handles, o.main) {
		handles = append(handles, o.main)
	}
	return handles
}

// tryCandidates looks for heaps at the beginning of reservations: from Windows 11 24H2 on the PEB lists the process
// heap only.
func (o *opening) tryCandidates() error {
	before := len(o.hs.List)
	for _, base := range o.p.Candidates {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		if !o.seen[base] && o.marked(base) {
			o.refuse(base, o.add(base))
		}
	}
	switch found := len(o.hs.List) - before; {
	case found == 0:
	case before == 0:
		o.hs.note("the PEB lists no heap that can be read; %d were found by what their reservations begin with", found)
	default:
		o.hs.note("the PEB lists %d of the %d heaps; the others were found by what their reservations begin with", before,
			before+found)
	}
	return nil
}

// refuse says why a heap is not in the list.
func (o *opening) refuse(handle uint64, why string) {
	if why != "" {
		o.hs.Gaps = append(o.hs.Gaps,
			capture.Gap{What: "heap", Heap: capture.Address(handle), Address: capture.Address(handle), Why: why})
	}
}

// marked says whether a reservation begins as heaps do.
func (o *opening) marked(base uint64) bool {
	mark, ok := o.w.u32(base + 2*o.w.pointerSize())
	return ok && (mark == segmentSignature || mark == heapSignature || mark == segmentHeapSignature)
}

func (hs *SideHeaps) note(format string, args ...any) {
	hs.Notes = append(hs.Notes, fmt.Sprintf(format, args...))
}

// name tells the default process heap.
func (o *opening) name() {
	for _, h := range o.hs.List {
		if h.Handle == o.main {
			h.facts.Name = "default process heap"
		}
	}
}
