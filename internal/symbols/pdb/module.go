package pdb

import (
	"context"
	"slices"
	"sort"
)

// A module is what a module's stream says, made ready for searches:
//
//	symbols  u32 4, then records {u16 bytes behind it, u16 kind, …}; offsets in records count from the stream's beginning
//	C11      lines of old compilers
//	C13      subsections {u32 kind, u32 bytes, …, to a multiple of 4}
type module struct {
	f       *File
	number  int    // of the module
	memory  []byte // what symbols and lines are in
	symbols []byte
	procs   []proc // by start, and by their order in symbols where that is equal
	paired  bool   // the blocks of folded procedures have their owners
	lines
}

// A proc is what a name is found for: a procedure, thunk, trampoline or separated block.
type proc struct {
	start, end uint32 // in the source space
	reach      uint32 // highest end of this and all before
	record     uint32 // where in symbols; never 0
	folded     bool   // another one starts there too
	inlines    *inlines
}

const interruptEvery = 1 << 14 // records between two looks at the context

// loadModule reads a module's stream. It takes memory from buf where that is large enough. A damaged module is empty.
func (f *File) loadModule(ctx context.Context, number int, buf []byte) (*module, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := f.readModule(ctx, number, buf)
	if err == nil {
		return m, nil
	}
	return &module{f: f, number: number, memory: buf[:0]}, f.tolerate(err)
}

func (f *File) readModule(ctx context.Context, number int, buf []byte) (*module, error) {
	m := &module{f: f, number: number}
	d := f.modules[number]
	if d.stream == noStream {
		m.memory = buf[:0] // for the next
		return m, nil
	}
	s, err := f.c.open(d.stream)
	if err != nil {
		return nil, err
	}
	symbols, c13 := int64(d.symbols), int64(d.c13)
	c13At := symbols + int64(d.c11)
	if symbols > s.size() || c13 > 0 && c13At+c13 > s.size() {
		return nil, fail(CodeTruncated, d.stream, s.size(), "module %d needs %d bytes", number, c13At+c13)
	}
	if buf, err = appendRead(buf[:0], s, 0, symbols); err != nil {
		return nil, err
	}
	if buf, err = appendRead(buf, s, c13At, c13); err != nil {
		return nil, err
	}
	m.memory = buf
	m.symbols, m.c13 = buf[:symbols:symbols], buf[symbols:]
	if err := m.readProcs(ctx); err != nil {
		return nil, err
	}
	m.readLines(f)
	return m, nil
}

// readStep is how many bytes are made room for before those are read.
const readStep = 16 << 20

// appendRead reads n bytes of a stream in steps, because that of an MSFZ file may claim more than is there.
func appendRead(to []byte, s stream, off, n int64) ([]byte, error) {
	for n > 0 {
		have, step := len(to), min(n, readStep)
		to = slices.Grow(to, int(step))[:have+int(step)]
		if err := s.read(off, to[have:]); err != nil {
			return nil, err
		}
		off, n = off+step, n-step
	}
	return to, nil
}

// record returns a record's kind and its bytes behind the kind, and where the next one is. It is false at the end and
// where the record is cut off.
func (m *module) record(at uint32) (kind uint16, body []byte, next uint32, ok bool) {
	rest := int64(len(m.symbols)) - int64(at)
	if rest < 4 {
		return 0, nil, 0, false
	}
	n := int64(le.Uint16(m.symbols[at:]))
	if n < 2 || n+2 > rest {
		return 0, nil, 0, false
	}
	next = at + uint32(n) + 2
	return le.Uint16(m.symbols[at+2:]), m.symbols[at+4 : next : next], next, true
}

// end returns where a scope that begins with a record ends: behind its S_END. It is false where the record does not
// say so rightly.
func (m *module) end(at, end uint32) (uint32, bool) {
	if end <= at {
		return 0, false
	}
	kind, _, next, ok := m.record(end)
	return next, ok && (kind == symEnd || kind == symProcIDEnd)
}

func (m *module) readProcs(ctx context.Context) error {
	m.procs = make([]proc, 0, len(m.symbols)/400)
	count := 0
	for at := uint32(4); ; {
		kind, b, next, ok := m.record(at)
		if !ok {
			break
		}
		if count++; count%interruptEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		section, offset, size := place(kind, b)
		if isProc(kind) && len(b) >= procSize {
			if end, ok := m.end(at, le.Uint32(b[4:])); ok {
				next = end
			}
		}
		if start, ok := m.f.rva(section, offset); ok && size > 0 && uint64(start)+uint64(size) < 1<<32 {
			m.procs = append(m.procs, proc{start: start, end: start + size, record: at})
		}
		at = next
	}
	byStart := func(a, b proc) int { return compareUint32(a.start, b.start) }
	if !slices.IsSortedFunc(m.procs, byStart) {
		slices.SortStableFunc(m.procs, byStart)
	}
	reach := uint32(0)
	for i := range m.procs {
		reach = max(reach, m.procs[i].end)
		m.procs[i].reach = reach
		if i > 0 && m.procs[i-1].start == m.procs[i].start {
			m.procs[i-1].folded, m.procs[i].folded = true, true
		}
	}
	return nil
}

// isProc reports whether a record is that of a procedure with a scope of its own.
func isProc(kind uint16) bool {
	switch kind {
	case symGlobalProc, symLocalProc, symGlobalProcID, symLocalProcID, symLocalDPC, symLocalDPCID, symGlobalProcST,
		symLocalProcST:
		return true
	}
	return false
}

// procSize is the least size of a procedure's record: parent 0, end 4, next 8, bytes 12, debug range 16, type 24,
// offset 28, section 32, flags 34, name 35.
const procSize = 35

// place says which code a record is of; a size of 0 is none.
func place(kind uint16, b []byte) (section uint16, offset, size uint32) {
	switch {
	case isProc(kind) && len(b) >= procSize:
		return le.Uint16(b[32:]), le.Uint32(b[28:]), le.Uint32(b[12:])
	case (kind == symThunk || kind == symThunkST) && len(b) >= 21:
		// parent 0, end 4, next 8, offset 12, section 16, bytes 18, ordinal 20, name 21
		return le.Uint16(b[16:]), le.Uint32(b[12:]), uint32(le.Uint16(b[18:]))
	case kind == symTrampoline && len(b) >= 16:
		// kind 0, bytes 2, offset 4, offset of the target 8, section 12, section of the target 14
		return le.Uint16(b[12:]), le.Uint32(b[4:]), uint32(le.Uint16(b[2:]))
	case kind == symSepCode && len(b) >= 28:
		// parent 0, end 4, bytes 8, flags 12, offset 16, offset of the procedure 20, section 24, its section 26
		return le.Uint16(b[24:]), le.Uint32(b[16:]), le.Uint32(b[8:])
	}
	return 0, 0, 0
}

// find returns the procedure that covers an address: the last to start, and the first of the stream among equals.
func (m *module) find(rva uint32) *proc {
	i := sort.Search(len(m.procs), func(i int) bool { return m.procs[i].start > rva }) - 1
	for ; i >= 0 && m.procs[i].reach > rva; i-- {
		if m.procs[i].end <= rva {
			continue
		}
		best := i
		for j := i - 1; j >= 0 && m.procs[j].start == m.procs[i].start; j-- {
			if m.procs[j].end > rva {
				best = j
			}
		}
		return &m.procs[best]
	}
	return nil
}
