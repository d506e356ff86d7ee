package pe

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
)

// An Export is an entry of the export directory. Code without a name is exported by ordinal only. Code with several
// names is several Exports.
type Export struct {
	Name      string
	Ordinal   uint32
	RVA       uint32 // 0 for a forwarder, which has no code here
	Forwarder string // "NTDLL.RtlAllocateHeap"; "" for code in this image
}

// Layout of IMAGE_EXPORT_DIRECTORY: Base +16, NumberOfFunctions +20, NumberOfNames +24, AddressOfFunctions +28 (array
// of u32), AddressOfNames +32 (array of u32), AddressOfNameOrdinals +36 (array of u16, without Base).
const (
	exportHeader  = 40
	exportsMax    = 1 << 16  // ordinals have 16 bits
	exportNameMax = 64 << 10 // bytes; link.exe cuts decorated names at 4 KiB
	strayNamesMax = 16 << 20 // bytes of all names that lie outside the directory
)

type exportTable struct {
	all  []Export
	code []Export // those in executable sections, by RVA
	err  error    // what was wrong with the rest
}

// Exports returns the exports sorted by RVA, then by name and ordinal. An image without exports has none and no error.
// Beside an error for a damaged directory come those that could be read. The caller must not change the slice.
func (f *File) Exports(ctx context.Context) ([]Export, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.exportsLocked(ctx)
	if err != nil {
		return nil, err
	}
	return t.all, t.err
}

// exportsLocked reads the table once. An error that is no fault of the image is not remembered.
func (f *File) exportsLocked(ctx context.Context) (*exportTable, error) {
	if f.exports != nil {
		return f.exports, nil
	}
	r := exportReader{f: f, dir: f.dirs[dirExport], table: &exportTable{}}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	t := r.table
	sorting.Stable(t.all, func(a, b Export) int {
		return cmp.Or(cmp.Compare(a.RVA, b.RVA), strings.Compare(a.Name, b.Name), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	for _, e := range t.all {
		if e.Forwarder == "" && f.code(e.RVA) != nil {
			t.code = append(t.code, e)
		}
	}
	f.exports = t
	return t, nil
}

// An exportReader reads one export directory. Names are parts of one string: linkers put them into the directory's
// range.
type exportReader struct {
	f     *File
	dir   directory
	text  string // the directory's range
	at    int64  // its file offset
	stray int    // bytes of names found outside
	table *exportTable
}

func (r *exportReader) read(ctx context.Context) error {
	if r.dir.rva == 0 || r.dir.size == 0 {
		return nil
	}
	r.at, _ = r.f.locate(r.dir.rva)
	b, err := r.f.readRVA(r.dir.rva, int64(max(r.dir.size, exportHeader)))
	if err != nil {
		return err
	}
	if len(b) < exportHeader {
		r.bad("the export directory at RVA %#x is not in the file", r.dir.rva)
		return nil
	}
	r.text = string(b)
	base, functions, names := le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:])
	if functions > exportsMax || names > exportsMax {
		r.bad("the export directory claims %d functions and %d names; ordinals allow %d", functions, names, exportsMax)
		return nil
	}
	addresses, err := r.array(le.Uint32(b[28:]), functions, 4, "addresses")
	if err != nil {
		return err
	}
	pointers, err := r.array(le.Uint32(b[32:]), names, 4, "names")
	if err != nil {
		return err
	}
	ordinals, err := r.array(le.Uint32(b[36:]), names, 2, "ordinals of names")
	if err != nil {
		return err
	}
	named := make([]bool, len(addresses)/4)
	for i := range min(len(pointers)/4, len(ordinals)/2) {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		index := int(le.Uint16(ordinals[i*2:]))
		if index >= len(named) {
			r.bad("the name %d is of function %d, but there are %d", i, index, len(named))
			continue
		}
		name, err := r.name(le.Uint32(pointers[i*4:]))
		if err != nil {
			return err
		}
		named[index] = true
		if err := r.add(name, base+uint32(index), le.Uint32(addresses[index*4:])); err != nil {
			return err
		}
	}
	for index, n := range named {
		if rva := le.Uint32(addresses[index*4:]); !n && rva != 0 { // 0: an ordinal that is not used
			if err := r.add("", base+uint32(index), rva); err != nil {
				return err
			}
		}
	}
	return nil
}

// add appends an export. An address inside the directory's range is that of a forwarder's text.
func (r *exportReader) add(name string, ordinal, rva uint32) error {
	e := Export{Name: name, Ordinal: ordinal, RVA: rva}
	if rva >= r.dir.rva && rva-r.dir.rva < r.dir.size {
		text, err := r.name(rva)
		if err != nil {
			return err
		}
		e.RVA, e.Forwarder = 0, text
	}
	r.table.all = append(r.table.all, e)
	return nil
}

// array returns n elements, fewer where the file does not have them.
func (r *exportReader) array(rva, n, size uint32, what string) ([]byte, error) {
	b, err := r.f.readRVA(rva, int64(n)*int64(size))
	if err == nil && len(b) < int(n*size) {
		r.bad("of the export directory's %d %s %d are in the file", n, what, len(b)/int(size))
	}
	return b, err
}

func (r *exportReader) name(rva uint32) (string, error) {
	if rva >= r.dir.rva && int64(rva-r.dir.rva) < int64(len(r.text)) {
		rest := r.text[rva-r.dir.rva:]
		if end := strings.IndexByte(rest[:min(len(rest), exportNameMax)], 0); end >= 0 {
			return rest[:end], nil
		}
	}
	// Some linkers put names elsewhere in the section.
	for n := int64(256); ; n *= 16 {
		b, err := r.f.readRVA(rva, n)
		if err != nil {
			return "", err
		}
		if end := slices.Index(b, 0); end >= 0 {
			if r.stray += end; r.stray > strayNamesMax {
				r.bad("the names of exports outside the export directory are larger than %d bytes", strayNamesMax)
				return "", nil
			}
			return string(b[:end]), nil
		}
		if int64(len(b)) < n || n >= exportNameMax {
			r.bad("the name of an export at RVA %#x has no end", rva)
			return "", nil
		}
	}
}

// bad remembers the first thing that is wrong.
func (r *exportReader) bad(format string, args ...any) {
	if r.table.err == nil {
		r.table.err = fail(CodeBadExports, r.at, format, args...)
	}
}
