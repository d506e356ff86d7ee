package pdb

// A dbi is the header of the DBI stream and where its parts begin:
//
//	field             offset  size  source: microsoft-pdb dbi.h, NewDBIHdr
//	signature         0       4     -1
//	version           4       4     19990903 since Visual C++ 7
//	age               8       4
//	global symbols    12      2     stream
//	public symbols    16      2     stream
//	symbol records    20      2     stream
//	modules           24      4     bytes, from offset 64
//	contributions     28      4     bytes, and so on in this order
//	section map       32      4
//	files             36      4
//	type servers      40      4
//	debug streams     48      4     bytes; the last part
//	edit and continue 52      4     bytes; before the debug streams
//	flags             56      2     1 incremental, 2 stripped
//	machine           58      2
type dbi struct {
	publics, records       int // streams, noStream for none
	modules, contributions part
	toSource, fromSource   int // streams
	sections, origSections int // streams
}

type part struct{ at, bytes int64 }

const dbiHeader = 64

func (f *File) readDBI() error {
	f.dbi = dbi{publics: noStream, records: noStream, toSource: noStream, fromSource: noStream,
		sections: noStream, origSections: noStream}
	if f.c.streams() <= streamDBI {
		f.info.TypesOnly = true
		return nil
	}
	s, err := f.c.open(streamDBI)
	if err != nil {
		return err
	}
	if s.size() == 0 {
		f.info.TypesOnly = true
		return nil
	}
	h, err := s.view(0, dbiHeader)
	if err != nil {
		return err
	}
	if le.Uint32(h) != 0xFFFFFFFF {
		return fail(CodeUnsupported, streamDBI, 0, "the DBI stream is of a version before Visual C++ 5")
	}
	f.info.Age = le.Uint32(h[8:])
	f.dbi.publics, f.dbi.records = int(le.Uint16(h[16:])), int(le.Uint16(h[20:]))
	f.info.Stripped = le.Uint16(h[56:])&2 != 0
	f.info.Machine = le.Uint16(h[58:])
	f.info.Bits = bitsOf(f.info.Machine)
	f.info.Managed = f.info.Machine == machineCEE

	at, debug := int64(dbiHeader), part{}
	for _, p := range []struct {
		field int
		part  *part
	}{{24, &f.dbi.modules}, {28, &f.dbi.contributions}, {32, nil}, {36, nil}, {40, nil}, {52, nil}, {48, &debug}} {
		n := int64(int32(le.Uint32(h[p.field:])))
		if n < 0 || n > s.size()-at {
			return fail(CodeCorrupt, streamDBI, int64(p.field), "a part of %d bytes at %#x of a stream of %d", n, at, s.size())
		}
		if p.part != nil {
			*p.part = part{at, n}
		}
		at += n
	}
	return f.debugStreams(s, debug)
}

// debugStreams reads the numbers of the streams that come from the image: u16 each, 3 OMAP to source, 4 OMAP from
// source, 5 section headers, 10 section headers before the image was reordered.
func (f *File) debugStreams(s stream, debug part) error {
	b, err := s.view(debug.at, int(min(debug.bytes, 64)))
	if err != nil {
		return err
	}
	for i, to := range map[int]*int{3: &f.dbi.toSource, 4: &f.dbi.fromSource, 5: &f.dbi.sections,
		10: &f.dbi.origSections} {
		if i*2+2 <= len(b) {
			*to = int(le.Uint16(b[i*2:]))
		}
	}
	return nil
}

// A compiland is what DBI says of a module:
//
//	field   offset  size  source: microsoft-pdb dbi.h, MODI
//	stream  34      2
//	symbols 36      4     bytes, from the stream's beginning
//	C11     40      4     bytes of old lines
//	C13     44      4     bytes of lines and what belongs to them
//	names   64            module and object file, zero-terminated; then to a multiple of 4
type compiland struct {
	stream            int
	symbols, c11, c13 uint32
	name              uint32 // where in moduleNames
}

func (f *File) readModules() error {
	if f.dbi.modules.bytes == 0 {
		return nil
	}
	s, err := f.c.open(streamDBI)
	if err != nil {
		return err
	}
	b, err := s.view(f.dbi.modules.at, int(f.dbi.modules.bytes))
	if err != nil {
		return err
	}
	f.moduleList = b
	for c := (cursor{b: b}); len(b)-c.at >= dbiHeader; {
		at := f.dbi.modules.at + int64(c.at)
		h := c.take(dbiHeader)
		name := c.at
		c.text()
		c.text()
		c.align()
		if c.short {
			return f.tolerate(fail(CodeCorrupt, streamDBI, at, "the name of module %d does not end", len(f.modules)))
		}
		f.modules = append(f.modules,
			compiland{int(le.Uint16(h[34:])), le.Uint32(h[36:]), le.Uint32(h[40:]), le.Uint32(h[44:]), uint32(name)})
	}
	return nil
}

// moduleName is the path of a module's object file.
func (f *File) moduleName(i int) []byte {
	c := cursor{b: f.moduleList, at: int(f.modules[i].name)}
	return c.text()
}
