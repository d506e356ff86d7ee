package pdbtest

import (
	"cmp"
	"slices"
)

// A contribution is a piece of code that a module gave to the image.
type contribution struct {
	Address
	size   uint32
	module uint16
}

// append adds SC: section, padding, offset, size, characteristics, module, padding, two checksums.
func (c contribution) append(b []byte) []byte {
	b = le.AppendUint16(b, c.Section)
	b = le.AppendUint16(b, 0)
	b = append(b, fields(c.Offset, c.size, Code)...)
	b = le.AppendUint16(b, c.module)
	b = le.AppendUint16(b, 0)
	return append(b, fields(0, 0)...)
}

// contribute collects what a module gave to the image; the first piece goes into the module's own record.
func (w *Writer) contribute(m *Module) contribution {
	module := uint16(w.modules)
	first := len(w.contributions)
	add := func(a Address, size uint32) {
		w.contributions = append(w.contributions, contribution{a, size, module})
	}
	for i := range m.Functions {
		if f := &m.Functions[i]; !f.Folded {
			add(f.Address, f.Length)
		}
	}
	for _, t := range m.Thunks {
		add(t.Address, uint32(t.Length))
	}
	for _, t := range m.Trampolines {
		add(t.Address, uint32(t.Length))
	}
	for _, p := range m.Separated {
		add(p.Address, p.Length)
	}
	if first < len(w.contributions) {
		return w.contributions[first]
	}
	return contribution{Address: Address{Section: 0xFFFF}, module: module}
}

// A moduleRecord is what the module list says of a module. stream is 0xFFFF for none; symbols and lines are bytes.
type moduleRecord struct {
	first          contribution
	stream         uint16
	symbols, lines int
	files          []uint32
}

// moduleInfo adds a module to the module list: a field that is not used, its first contribution, flags, stream, bytes
// of symbols, C11 and C13 lines, number of files, two more and the offsets of names that are not used here.
func (w *Writer) moduleInfo(m *Module, r *moduleRecord) {
	b := r.first.append(le.AppendUint32(w.moduleList, 0))
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, r.stream)
	b = append(b, fields(uint32(r.symbols), 0, uint32(r.lines))...)
	b = le.AppendUint16(b, uint16(len(r.files)))
	b = le.AppendUint16(b, 0)
	b = append(b, fields(0, 0, 0)...)
	object := m.Object
	if object == "" {
		object = m.Name
	}
	b = appendName(appendName(b, m.Name), object)
	b = append(b, make([]byte, -len(b)&3)...)
	w.moduleList = b
	w.moduleFiles = append(w.moduleFiles, r.files)
}

// dbi is stream 3: the header and its parts in this order: modules, contributions, section map, sources, type servers
// (none), edit and continue (an empty table of names), debug streams.
func (w *Writer) dbi(globals, publics, records uint16) []byte {
	p := &w.program
	contributions := le.AppendUint32(nil, 0xF12EBA2D)
	slices.SortStableFunc(w.contributions, func(x, y contribution) int {
		return cmp.Or(cmp.Compare(x.Section, y.Section), cmp.Compare(x.Offset, y.Offset))
	})
	for _, c := range w.contributions {
		contributions = c.append(contributions)
	}
	sectionMap, sources := w.sectionMap(), w.sources()
	ec := newNames().stream()
	ec = append(ec, make([]byte, -len(ec)&3)...)
	debug := w.debugStreams()

	const newFormat, major, minor = 1 << 15, 14, 11
	b := fields(0xFFFFFFFF, 19990903, p.Age)
	for _, v := range []uint16{globals, newFormat | major<<8 | minor, publics, 0, records, 0} {
		b = le.AppendUint16(b, v)
	}
	for _, part := range [][]byte{w.moduleList, contributions, sectionMap, sources, nil} {
		b = le.AppendUint32(b, uint32(len(part)))
	}
	b = append(b, fields(0, uint32(len(debug)), uint32(len(ec)))...)
	var flags uint16
	if p.Stripped {
		flags |= 2
	}
	b = le.AppendUint16(b, flags)
	b = le.AppendUint16(b, p.Machine)
	b = le.AppendUint32(b, 0)
	for _, part := range [][]byte{w.moduleList, contributions, sectionMap, sources, ec, debug} {
		b = append(b, part...)
	}
	return b
}

// sectionMap is the number of segments twice, and for each: flags, overlay, group, frame (section), names, offset,
// size.
func (w *Writer) sectionMap() []byte {
	sections := w.linked()
	n := uint16(len(sections) + 1)
	b := le.AppendUint16(le.AppendUint16(nil, n), n)
	entry := func(flags, frame uint16, size uint32) {
		for _, v := range []uint16{flags, 0, 0, frame, 0xFFFF, 0xFFFF} {
			b = le.AppendUint16(b, v)
		}
		b = append(b, fields(0, size)...)
	}
	for i, s := range sections {
		const read, execute, address32, selector = 1, 4, 8, 0x100
		flags := uint16(read | address32 | selector)
		if s.Characteristics&0x20000000 != 0 {
			flags |= execute
		}
		entry(flags, uint16(i+1), s.Size)
	}
	entry(0x208, n, 0xFFFFFFFF) // absolute symbols
	return b
}

// sources is the file list: number of modules and files, for each module a number that is not used and how many files
// it has, offsets of all names, the names.
func (w *Writer) sources() []byte {
	var text, offsets []byte
	at := map[uint32]uint32{}
	total := 0
	for _, files := range w.moduleFiles {
		for _, name := range files {
			if _, ok := at[name]; !ok {
				at[name] = uint32(len(text))
				end := name
				for w.names.text[end] != 0 {
					end++
				}
				text = append(text, w.names.text[name:end+1]...)
			}
			offsets = le.AppendUint32(offsets, at[name])
			total++
		}
	}
	b := le.AppendUint16(nil, uint16(len(w.moduleFiles)))
	b = le.AppendUint16(b, uint16(min(total, 0xFFFF))) // readers sum up the modules' numbers
	for range w.moduleFiles {
		b = le.AppendUint16(b, 0)
	}
	for _, files := range w.moduleFiles {
		b = le.AppendUint16(b, uint16(len(files)))
	}
	b = append(append(b, offsets...), text...)
	return append(b, make([]byte, -len(b)&3)...)
}

// debugStreams writes the streams of the optional debug header and returns their numbers: OMAP to and from the source
// are 3 and 4, section headers 5, original section headers 10.
func (w *Writer) debugStreams() []byte {
	streams := [11]uint16{}
	for i := range streams {
		streams[i] = 0xFFFF
	}
	p := &w.program
	if p.OMAP != nil {
		streams[3] = w.c.add(mappings(p.OMAP.ToSource))
		streams[4] = w.c.add(mappings(p.OMAP.FromSource))
	}
	if !p.NoSections {
		streams[5] = w.c.add(headers(p.Sections))
	}
	if p.Original != nil {
		streams[10] = w.c.add(headers(p.Original))
	}
	var b []byte
	for _, s := range streams {
		b = le.AppendUint16(b, s)
	}
	return b
}

func mappings(list []Mapping) []byte {
	var b []byte
	for _, m := range list {
		b = append(b, fields(m.From, m.To)...)
	}
	return b
}

// headers is IMAGE_SECTION_HEADER: name, size in memory, RVA, size and offset in the file, three fields of object
// files, characteristics.
func headers(sections []Section) []byte {
	var b []byte
	for _, s := range sections {
		var name [8]byte
		copy(name[:], s.Name)
		b = append(b, name[:]...)
		b = append(b, fields(s.Size, s.RVA, (s.Size+0x1FF)&^0x1FF, s.RVA, 0, 0, 0, s.Characteristics)...)
	}
	return b
}

// linked is the sections that symbols refer to.
func (w *Writer) linked() []Section {
	if w.program.Original != nil {
		return w.program.Original
	}
	return w.program.Sections
}
