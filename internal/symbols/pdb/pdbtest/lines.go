package pdbtest

// Kinds of C13 subsections (cvinfo.h, DEBUG_S_SUBSECTION_TYPE).
const (
	debugLines         = 0xF2
	debugFileChecksums = 0xF4
	debugInlineeLines  = 0xF6
	debugImports       = 0xF7
	debugExports       = 0xF8
)

// A fileTable is a module's file checksums: offset in /names, size and type of the checksum, the checksum, padded to 4.
// Other subsections name a file by the offset of its entry.
type fileTable struct {
	b       []byte
	offsets map[uint32]uint32 // by offset in /names
	order   []uint32          // offsets in /names
}

func newFiles() *fileTable { return &fileTable{offsets: map[uint32]uint32{}} }

func (t *fileTable) offset(name uint32) uint32 {
	if at, ok := t.offsets[name]; ok {
		return at
	}
	at := uint32(len(t.b))
	t.offsets[name] = at
	t.order = append(t.order, name)
	const md5, size = 1, 16
	t.b = append(le.AppendUint32(t.b, name), size, md5)
	for i := range size { // no source, so no checksum of it; different files differ
		t.b = append(t.b, byte(name>>(i%4*8))+byte(i))
	}
	t.b = append(t.b, 0, 0)
	return at
}

// lines is the C13 part of a module.
func (w *Writer) lines(m *Module) []byte {
	var b []byte
	for i := range m.Functions {
		if f := &m.Functions[i]; len(f.Lines) > 0 {
			b = appendSubsection(b, debugLines, w.functionLines(f))
		}
	}
	var inlinees []byte
	seen := map[uint32]bool{}
	for i := range m.Functions {
		inlinees = w.inlinees(inlinees, m.Functions[i].Inlines, seen)
	}
	if inlinees != nil {
		b = appendSubsection(b, debugInlineeLines, append(fields(0), inlinees...)) // signature 0: no extra files
	}
	if imports := w.imports.subsection(w.names); imports != nil {
		b = appendSubsection(b, debugImports, imports)
	}
	if ids := w.exportedIDs(m); ids != nil {
		b = appendSubsection(b, debugExports, ids)
	}
	return appendSubsection(b, debugFileChecksums, w.files.b)
}

func appendSubsection(b []byte, kind uint32, content []byte) []byte {
	b = le.AppendUint32(b, kind)
	b = le.AppendUint32(b, uint32(len(content)))
	b = append(b, content...)
	return append(b, make([]byte, -len(content)&3)...)
}

// functionLines is a line subsection: address, flags, length of the code; then a block for each change of file: file,
// number of lines, size, and of each line the offset and the number with bit 31 for a statement.
func (w *Writer) functionLines(f *Function) []byte {
	b := le.AppendUint32(nil, f.Offset)
	b = le.AppendUint16(b, f.Section)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, f.Length)
	for i := 0; i < len(f.Lines); {
		n := i
		for n < len(f.Lines) && f.Lines[n].File == f.Lines[i].File {
			n++
		}
		b = append(b, fields(w.files.offset(w.names.offset(f.Lines[i].File)), uint32(n-i), uint32(12+8*(n-i)))...)
		for _, l := range f.Lines[i:n] {
			b = append(b, fields(l.Offset, l.Line&0xFFFFFF|1<<31)...)
		}
		i = n
	}
	return b
}

// inlinees adds where each inlined function begins: id, file, line.
func (w *Writer) inlinees(b []byte, sites []Inline, seen map[uint32]bool) []byte {
	for i := range sites {
		in := &sites[i]
		if id := w.siteID(in); !seen[id] {
			seen[id] = true
			b = append(b, fields(id, w.files.offset(w.names.offset(in.File)), in.Line)...)
		}
		b = w.inlinees(b, in.Inlines, seen)
	}
	return b
}

// An importTable is what a module imports from others: for each of them its name's offset in /names, the number of ids,
// the ids.
type importTable struct {
	modules []string
	ids     map[string][]uint32
}

// id is the reference to an id of another module by its place in the module's Exports.
func (t *importTable) id(module string, export int) uint32 {
	slot := -1
	for i, m := range t.modules {
		if m == module {
			slot = i
		}
	}
	if slot < 0 {
		slot = len(t.modules)
		t.modules = append(t.modules, module)
	}
	if t.ids == nil {
		t.ids = map[string][]uint32{}
	}
	local := localID(export)
	for entry, id := range t.ids[module] {
		if id == local {
			return 1<<31 | uint32(slot)<<20 | uint32(entry)
		}
	}
	t.ids[module] = append(t.ids[module], local)
	return 1<<31 | uint32(slot)<<20 | uint32(len(t.ids[module])-1)
}

// localID is the id that a module's export has outside of the linker's numbering.
func localID(export int) uint32 { return 0x2000 + uint32(export) }

func (t *importTable) subsection(n *names) []byte {
	var b []byte
	for _, m := range t.modules {
		b = append(b, fields(n.offset(m), uint32(len(t.ids[m])))...)
		b = append(b, fields(t.ids[m]...)...)
	}
	return b
}

// exportedIDs is pairs of a module's own id and the IPI index.
func (w *Writer) exportedIDs(m *Module) []byte {
	var b []byte
	for i, name := range m.Exports {
		b = append(b, fields(localID(i), w.inlinee(name))...)
	}
	return b
}
