package pdbtest

import "slices"

// Kinds of symbol records (cvinfo.h, SYM_ENUM_e).
const (
	sEnd           = 0x0006
	sFrameproc     = 0x1012
	sObjname       = 0x1101
	sThunk32       = 0x1102
	sPub32         = 0x110E
	sLproc32       = 0x110F
	sGproc32       = 0x1110
	sRegrel32      = 0x1111
	sTrampoline    = 0x112C
	sSepcode       = 0x1132
	sCompile3      = 0x113C
	sInlinesite    = 0x114D
	sInlinesiteEnd = 0x114E
	sHeapallocsite = 0x115E
)

// A symbolList is the symbol part of a module's stream: signature 4, then records of length, kind, fields, padded to 4.
type symbolList struct{ b []byte }

func newSymbols() *symbolList { return &symbolList{le.AppendUint32(nil, 4)} }

// add appends a record and returns where it begins.
func (s *symbolList) add(kind uint16, fields []byte) int {
	at := len(s.b)
	size := (4 + len(fields) + 3) &^ 3 // length, kind, fields
	s.b = le.AppendUint16(s.b, uint16(size-2))
	s.b = le.AppendUint16(s.b, kind)
	s.b = append(s.b, fields...)
	s.b = append(s.b, make([]byte, at+size-len(s.b))...)
	return at
}

// end closes a scope: the field End of the record at begin is the offset of the closing one.
func (s *symbolList) end(begin int, kind uint16) {
	at := s.add(kind, nil)
	le.PutUint32(s.b[begin+8:], uint32(at))
}

// fields appends numbers as 32 bits.
func fields(v ...uint32) []byte {
	var b []byte
	for _, v := range v {
		b = le.AppendUint32(b, v)
	}
	return b
}

func appendName(b []byte, name string) []byte { return append(append(b, name...), 0) }

// symbols is the symbol part of a module.
func (w *Writer) symbols(m *Module) []byte {
	s := newSymbols()
	s.add(sObjname, appendName(fields(0), m.Name))
	s.add(sCompile3, w.compile(m))
	for i := range m.Functions {
		w.function(s, m, &m.Functions[i])
	}
	for _, t := range m.Thunks {
		b := fields(0, 0, 0, t.Offset)
		b = le.AppendUint16(b, t.Section)
		b = le.AppendUint16(b, t.Length)
		b = append(b, 0) // THUNK_ORDINAL_NOTYPE
		s.end(s.add(sThunk32, appendName(b, t.Name)), sEnd)
	}
	for _, t := range m.Trampolines {
		b := le.AppendUint16(nil, 0) // trampIncremental
		b = le.AppendUint16(b, t.Length)
		b = append(b, fields(t.Offset, t.Target.Offset)...)
		b = le.AppendUint16(b, t.Section)
		s.add(sTrampoline, le.AppendUint16(b, t.Target.Section))
	}
	for _, p := range m.Separated {
		b := fields(0, 0, p.Length, 0, p.Offset, p.Parent.Offset)
		b = le.AppendUint16(b, p.Section)
		s.end(s.add(sSepcode, le.AppendUint16(b, p.Parent.Section)), sEnd)
	}
	return s.b
}

// compile is S_COMPILE3: language and flags, machine, versions of front and back end, name of the compiler.
func (w *Writer) compile(m *Module) []byte {
	name := "Microsoft (R) Optimizing Compiler"
	if m.Clang {
		name = "clang version 14.0.6"
	}
	cpu := map[uint16]uint16{machineI386: 0x07, machineAMD64: 0xD0, machineARM64: 0xF6}[w.program.Machine]
	b := fields(1) // C++
	b = le.AppendUint16(b, cpu)
	for _, v := range []uint16{19, 44, 35207, 0, 19, 44, 35207, 0} {
		b = le.AppendUint16(b, v)
	}
	return appendName(b, name)
}

// IMAGE_FILE_MACHINE_*
const (
	machineI386  = 0x14C
	machineAMD64 = 0x8664
	machineARM64 = 0xAA64
)

func (w *Writer) function(s *symbolList, m *Module, f *Function) {
	kind := uint16(sGproc32)
	if f.Local {
		kind = sLproc32
	}
	b := fields(0, 0, 0, f.Length, 0, f.Length, w.procedureType(), f.Offset)
	b = le.AppendUint16(b, f.Section)
	b = append(b, 0)
	begin := s.add(kind, appendName(b, f.Name))
	if w.program.Stripped {
		s.end(begin, sEnd)
		return
	}
	s.add(sFrameproc, append(fields(40, 0, 0, 0, 0), make([]byte, 6)...))
	for i, local := range f.Locals {
		b := fields(uint32(8*i), Long.index)
		s.add(sRegrel32, appendName(le.AppendUint16(b, 335), local)) // CV_AMD64_RSP
	}
	for _, a := range f.Allocations {
		b := fields(f.Offset + a.Offset)
		b = le.AppendUint16(b, f.Section)
		b = le.AppendUint16(b, uint16(a.Length))
		s.add(sHeapallocsite, append(b, fields(w.named(a.Type))...))
	}
	for i := range f.Inlines {
		w.inlineSite(s, m, &f.Inlines[i], begin)
	}
	s.end(begin, sEnd)
}

// procedureType is the TPI index that procedure records have; a stripped PDB has no types to speak of.
func (w *Writer) procedureType() uint32 {
	if w.program.Stripped {
		return 0
	}
	return w.procedure()
}

func (w *Writer) inlineSite(s *symbolList, m *Module, in *Inline, parent int) {
	b := fields(uint32(parent), 0, w.siteID(in))
	begin := s.add(sInlinesite, append(b, w.annotations(m, in)...))
	for i := range in.Inlines {
		w.inlineSite(s, m, &in.Inlines[i], begin)
	}
	s.end(begin, sInlinesiteEnd)
}

// siteID is the id of an inlined function. One of another module is 0x80000000 + slot<<20 + entry: the slot of the
// module among those that this one imports from, and the entry among its ids.
func (w *Writer) siteID(in *Inline) uint32 {
	if in.From == "" {
		return w.inlinee(in.Function)
	}
	return w.imports.id(in.From, slices.Index(w.exports[in.From], in.Function))
}
