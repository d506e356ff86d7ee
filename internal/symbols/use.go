package symbols

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/undname"
)

// use names the module's return addresses by a candidate, into out, and reports whether it could name any. A file that
// cannot be read is noted; the error is one of reading from where it lies.
func (s *search) use(ctx context.Context, c candidate, out *capture.Image) (bool, error) {
	if c.pdb != nil {
		ok, err := s.usePDB(ctx, c, out)
		if err != nil || ok {
			return ok, err
		}
	}
	if c.image != nil {
		return s.useExports(ctx, c.image, out)
	}
	return false, nil
}

func (s *search) usePDB(ctx context.Context, c candidate, out *capture.Image) (bool, error) {
	f := c.pdb
	named, err := s.lookup(ctx, c, out)
	switch {
	case evidence.IsRefusal(err):
		s.note(f.Place, ResultFailed, "%v", err)
		return false, nil
	case err != nil:
		return false, err
	case named == 0:
		s.note(f.Place, ResultMismatch, "none of the %d return addresses lies in a function of it%s", len(s.rvas), c.limits())
		return false, nil
	}
	out.PDB, out.UsedDebugID, out.Symbols, out.Own = f.Name, f.DebugID, f.Symbols, f.Own
	return true, nil
}

// lookup names the return addresses by a PDB's index where indexes are kept, else by the PDB itself.
func (s *search) lookup(ctx context.Context, c candidate, out *capture.Image) (int, error) {
	if s.resolver.Indexes == nil {
		return s.lookupPDB(ctx, c, out)
	}
	x, err := s.index(ctx, c)
	if err != nil {
		return 0, err
	}
	var at index.Location
	named := 0
	for _, rva := range s.rvas {
		if rva > 0 && x.Lookup(rva-1, &at) {
			out.Add(rva, frames(&at, x.Type(rva))...)
			named++
		}
	}
	return named, nil
}

func (s *search) lookupPDB(ctx context.Context, c candidate, out *capture.Image) (int, error) {
	file, done, err := s.openPDB(ctx, c)
	if err != nil {
		return 0, err
	}
	defer done()
	calls := make([]uint32, len(s.rvas))
	for i, rva := range s.rvas {
		calls[i] = max(rva, 1) - 1
	}
	found := make([]pdb.Location, len(calls))
	if err := file.LookupAll(ctx, calls, found); err != nil {
		return 0, err
	}
	types, err := allocatedTypes(ctx, file, s.rvas)
	if err != nil {
		return 0, err
	}
	s.noteDamage(c.pdb, file)
	named, names := 0, spelling{x86: isX86(file)}
	for i := range found {
		if found[i].Function == "" {
			continue
		}
		at := names.location(&found[i])
		out.Add(s.rvas[i], frames(&at, types[s.rvas[i]])...)
		named++
	}
	return named, nil
}

// allocatedTypes reads what the calls before some return addresses allocate.
func allocatedTypes(ctx context.Context, f *pdb.File, rets []uint32) (map[uint32]string, error) {
	types := map[uint32]string{}
	err := f.AllocationSites(ctx, func(ret uint32, name string) error {
		if _, ok := slices.BinarySearch(rets, ret); ok {
			types[ret] = name
		}
		return nil
	})
	return types, err
}

// frames makes the frames of a return address from what is known about its call, innermost first.
func frames(at *index.Location, allocated string) []capture.NamedFrame {
	list := make([]capture.NamedFrame, 0, len(at.Inlines)+1)
	for _, i := range at.Inlines {
		list = append(list, capture.NamedFrame{Function: legible(i.Function), File: legible(i.File),
			Line: shownLine(i.Line), Inline: true})
	}
	list = append(list, capture.NamedFrame{
		Function: legible(at.Function), Offset: uint64(at.Displacement) + 1, File: legible(at.File),
		Line: shownLine(at.Line), Approx: at.Approx,
	})
	list[0].Type = legible(allocated)
	return list
}

// shownLine is a line of a file; 0 for what a compiler writes in its place for debuggers.
func shownLine(line uint32) uint32 {
	if pdb.IsHiddenLine(line) {
		return 0
	}
	return line
}

// index opens a PDB's index and builds it first where there is none.
func (s *search) index(ctx context.Context, c candidate) (*index.Index, error) {
	r, f := s.resolver, c.pdb
	// A PDB without lines may have the id of the one with lines that it was made from.
	key := f.DebugID + "-" + string(f.Symbols)
	if x, err := r.cached(ctx, key, f.DebugID); x != nil || err != nil {
		return x, err
	}
	file, done, err := s.openPDB(ctx, c)
	if err != nil {
		return nil, err
	}
	defer done()
	built, err := BuildIndex(ctx, file)
	if err != nil {
		return nil, err
	}
	if s.noteDamage(f, file) { // not kept: the next run must hear of it too
		var data bytes.Buffer
		if err := built.Write(&data); err != nil {
			return nil, err
		}
		return index.Open(data.Bytes())
	}
	if err := r.Indexes.Put(ctx, key, built.Write); err != nil {
		return nil, err
	}
	built = nil // it is as large as what is read now
	x, err := r.cached(ctx, key, f.DebugID)
	if x == nil && err == nil {
		err = fmt.Errorf("symbols: the index %s was just stored and cannot be read", key)
	}
	return x, err
}

// openPDB opens a candidate's PDB. One without section headers is given those of the image.
func (s *search) openPDB(ctx context.Context, c candidate) (file *pdb.File, done func(), err error) {
	content, err := c.pdb.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if file, err = pdb.Open(content, content.Size()); err == nil && file.Info().NoSections && c.image != nil {
		err = s.useSections(ctx, file, c.image)
	}
	if err != nil {
		return nil, nil, errors.Join(err, content.Close())
	}
	return file, func() { _ = content.Close() }, nil
}

func (s *search) useSections(ctx context.Context, file *pdb.File, from *File) error {
	image, done, err := s.openImage(ctx, from)
	if image == nil || err != nil {
		return err
	}
	defer done()
	return file.UseSections(sectionsOf(image))
}

func sectionsOf(image *pe.File) (sections []pdb.Section) {
	for _, h := range image.Info().Sections {
		sections = append(sections, pdb.Section{Name: h.Name, RVA: h.RVA, Size: h.Size, Characteristics: h.Characteristics})
	}
	return sections
}

// noteDamage notes what of a PDB could not be read, and reports whether there is anything.
func (s *search) noteDamage(f *File, file *pdb.File) bool {
	damage := file.Damage()
	if len(damage) > 0 {
		s.note(f.Place, ResultFailed, "%d parts of it could not be read: functions there lack lines, or names; the first: %v",
			len(damage), damage[0])
	}
	return len(damage) > 0
}

// cached opens an index that is kept; nil where there is none of this version that is whole.
func (r *Resolver) cached(ctx context.Context, key, debugID string) (*index.Index, error) {
	content, err := r.Indexes.Open(ctx, key)
	if content == nil || err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	x, err := index.Read(content, content.Size())
	if errors.Is(err, index.ErrIndex) || err == nil && x.DebugID() != debugID {
		return nil, nil
	}
	return x, err
}

// exportReach is how far behind an export an address still counts as one of it: few functions are longer than a page.
// In images without .pdata the nearest export may be the last of the section.
const exportReach = 0x1000

// useExports names return addresses by the nearest export of an image, where one is near.
func (s *search) useExports(ctx context.Context, f *File, out *capture.Image) (bool, error) {
	image, done, err := s.openImage(ctx, f)
	if image == nil || err != nil {
		return false, err
	}
	defer done()
	for _, rva := range s.rvas {
		export, displacement, ok := image.NearestExport(max(rva, 1) - 1)
		if ok && displacement < exportReach {
			out.Add(rva, capture.NamedFrame{Function: exportName(export), Offset: uint64(displacement) + 1, Approx: true})
		}
	}
	if out.NamedAddresses() == 0 {
		s.note(f.Place, ResultMismatch, "no export of it lies near the return addresses")
		return false, nil
	}
	out.Symbols, out.PDB = capture.SymbolsExport, f.PDB
	return true, nil
}

// openImage opens an image; nil where it cannot be used, which is noted.
func (s *search) openImage(ctx context.Context, f *File) (image *pe.File, done func(), err error) {
	content, err := f.Open(ctx)
	if err == nil {
		image, err = pe.Open(content, content.Size())
	}
	if err == nil {
		return image, func() { _ = content.Close() }, nil
	}
	if content != nil {
		_ = content.Close()
	}
	if !evidence.IsRefusal(err) {
		return nil, nil, err
	}
	s.note(f.Place, ResultFailed, "%v", err)
	return nil, nil, nil
}

// exportName is the name that debuggers give an export.
func exportName(e pe.Export) string {
	if e.Name == "" {
		return fmt.Sprintf("Ordinal%d", e.Ordinal)
	}
	return legible(undname.Display(e.Name, false))
}
