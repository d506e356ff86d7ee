package pdb

import (
	"cmp"
	"io"
	"os"
	"slices"
	"sync"
)

// A File is an open PDB. Its methods may be called from several goroutines.
type File struct {
	c      container
	closer io.Closer
	info   Info
	named  map[string]int // streams
	ids    bool           // has an IPI stream
	dbi    dbi

	modules      []compiland
	moduleList   []byte    // the modules' part of DBI, for names
	source       []Section // of the source space
	sectionOrder []int     // of source by RVA

	contributions func() ([]contribution, error)
	publics       func() (*publics, error)
	names         func() ([]byte, error)
	omap          func() (*OMAP, error)
	types         func() (*records, error) // TPI
	items         func() (*records, error) // IPI
	idNames       idNames
	modulesByName func() map[string]int
	loaded        moduleCache
	strays        strays
	damages       damages
	defined       struct {
		mu    sync.Mutex
		ready *definitions
	}
}

// Open reads the headers of a PDB. What else is needed is read when it is asked for, so r must stay readable until
// Close.
func Open(r io.ReaderAt, size int64) (*File, error) {
	return open(newBlockSource(r, size), nil)
}

// OpenFile opens the PDB at a path. On Linux the file is mapped into memory: it must not be shortened while it is open.
func OpenFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	src, closer, err := openSource(file, st.Size())
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	f, err := open(src, closer)
	if err != nil {
		_ = closer.Close()
		return nil, err
	}
	return f, nil
}

// Close unmaps and closes what OpenFile opened. No other call may be under way or follow.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer = nil
	return err
}

// Info says what the PDB is.
func (f *File) Info() Info {
	i := f.info
	i.Sections = slices.Clone(i.Sections)
	return i
}

func open(src source, closer io.Closer) (*File, error) {
	c, format, err := openContainer(src)
	if err != nil {
		return nil, err
	}
	f := &File{c: c, closer: closer}
	f.info.Format = format
	if m, ok := c.(*msf); ok {
		f.info.PageSize = 1 << m.shift
	}
	for _, read := range []func() error{f.readInfo, f.readDBI, f.readModules, f.readAddressSpace} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	age := f.info.Age
	if f.info.TypesOnly {
		age = f.info.InfoAge
	}
	f.info.DebugID = debugID(f.info.GUID, age)
	f.judge()
	f.contributions = sync.OnceValues(f.readContributions)
	f.publics = sync.OnceValues(f.readPublics)
	f.names = sync.OnceValues(f.readNames)
	f.omap = sync.OnceValues(f.readOMAP)
	f.types = sync.OnceValues(func() (*records, error) { return f.openRecords(streamTPI) })
	f.items = sync.OnceValues(func() (*records, error) { return f.openRecords(streamIPI) })
	f.modulesByName = sync.OnceValue(f.indexModuleNames)
	return f, nil
}

// readAddressSpace reads the section headers of the image and those that symbols count by.
func (f *File) readAddressSpace() error {
	image, err := f.readSections(f.dbi.sections)
	if err != nil {
		return err
	}
	f.info.Sections, f.info.SizeOfImage = image, sizeOfImage(image)
	source := image
	if f.dbi.toSource != noStream && f.dbi.toSource < f.c.streams() {
		s, err := f.c.open(f.dbi.toSource)
		if err != nil {
			return err
		}
		f.info.OMAP = s.size() >= 8
	}
	if f.info.OMAP {
		original, err := f.readSections(f.dbi.origSections)
		if err != nil {
			return err
		}
		if len(original) > 0 { // tools that reorder images leave them out where sections stayed
			source = original
		}
	}
	f.info.NoSections = len(source) == 0
	f.setSource(source)
	return nil
}

func compareUint32(a, b uint32) int { return cmp.Compare(a, b) }
