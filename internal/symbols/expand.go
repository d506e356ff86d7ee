package symbols

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
)

// A writtenModule is an image of which a difference prints functions in the place of addresses, and what it prints of
// them.
type writtenModule struct {
	*wantedModule
	symbols capture.SymbolKind
	places  map[capture.FunctionOffset]line
}

// A line is where the evidence says that a place is; zero where it does not.
type line struct {
	file string // without its folders, in lower case
	line uint32
}

// expand finds the inlined calls at the places that differences name. Evidence that prints names leaves them out, so
// its leaks have other signatures than those of evidence with addresses.
func (r *Resolver) expand(ctx context.Context, captures []*capture.Capture, names *capture.Names) error {
	for _, w := range collectPlaces(captures) {
		image := capture.Image{ImageID: w.ImageID()}
		s := &search{resolver: r, wantedModule: w.wantedModule, out: &image}
		if err := s.expand(ctx, w); err != nil {
			return err
		}
		if len(image.NamedOffsets()) == 0 {
			continue
		}
		known := slices.IndexFunc(names.Images, func(i capture.Image) bool { return i.ImageID == image.ImageID })
		if known < 0 {
			names.Images = append(names.Images, image)
			continue
		}
		for _, p := range image.NamedOffsets() {
			names.Images[known].AddOffset(p, image.AtOffset(p)...)
		}
	}
	return nil
}

// collectPlaces lists the images of differences that private symbols named: only those know of inlined calls.
func collectPlaces(captures []*capture.Capture) []*writtenModule {
	byID, order := map[capture.ImageID]*writtenModule{}, []*writtenModule(nil)
	for _, c := range captures {
		if c.Shape != capture.ShapeDifference {
			continue
		}
		byName := map[string]*capture.Module{}
		for i := range c.Modules {
			byName[strings.ToLower(c.Modules[i].Name())] = &c.Modules[i]
		}
		for id := range c.Stacks.FrameCount() {
			text := c.Stacks.Text(c.Stacks.Frame(capture.FrameID(id)))
			if text == nil || text.Function == "" || text.Inline || text.Offset == 0 {
				continue
			}
			m := byName[strings.ToLower(text.Module)]
			if m == nil || m.Symbols != capture.SymbolsPrivate && text.File == "" {
				continue
			}
			w := byID[m.ImageID()]
			if w == nil {
				w = &writtenModule{wantedModule: &wantedModule{Module: *m, bits: c.Process.Bits}, symbols: m.Symbols,
					places: map[capture.FunctionOffset]line{}}
				byID[m.ImageID()] = w
				order = append(order, w)
			}
			w.places[capture.FunctionOffset{Function: text.Function, Offset: text.Offset}] = lineOf(text.File, text.Line)
		}
	}
	return order
}

func lineOf(file string, number uint32) line {
	return line{strings.ToLower(file[strings.LastIndexAny(file, `\/`)+1:]), number}
}

// expand finds the PDB that the names stem from and tells the inlined calls that it has at the places.
func (s *search) expand(ctx context.Context, w *writtenModule) error {
	*s.out = capture.Image{ImageID: s.ImageID(), Symbols: cmp.Or(w.symbols, capture.SymbolsPrivate), PDB: s.pdbName()}
	defer legibleImage(s.out)
	files, err := s.files(ctx)
	if err != nil {
		return err
	}
	var found []capture.Image
	for _, f := range files {
		image, ok, err := s.expandBy(ctx, f, w)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		known := func(i capture.Image) bool { return i.UsedDebugID == image.UsedDebugID }
		if !slices.ContainsFunc(found, known) { // one PDB may lie in several places
			found = append(found, image)
		}
	}
	if len(found) == 1 { // where several builds fit, it is not known which one was loaded
		*s.out = found[0]
	}
	return nil
}

// files are the PDBs that the module's names may stem from: the one with its id, else those of its name.
func (s *search) files(ctx context.Context) ([]*File, error) {
	if s.DebugID != "" {
		f, _, err := s.resolver.Library.Find(ctx, Want{Name: s.pdbName(), DebugID: s.DebugID})
		if f == nil || err != nil {
			return nil, err
		}
		return []*File{f}, nil
	}
	files, _, err := s.resolver.Library.FindByName(ctx, []string{s.pdbName()})
	return slices.DeleteFunc(slices.Clone(files), func(f *File) bool {
		return f.Kind != KindPDB || s.Size != 0 && f.SizeOfImage != 0 && uint64(f.SizeOfImage) != s.Size ||
			s.bits != 0 && f.Bits != 0 && f.Bits != s.bits
	}), err
}

// expandBy looks the places up in a PDB. Without an id it is the module's only if every line that the evidence prints
// is where the PDB has it.
func (s *search) expandBy(ctx context.Context, f *File, w *writtenModule) (image capture.Image, ok bool, err error) {
	image = *s.out
	file, done, err := s.openPDB(ctx, candidate{pdb: f})
	if evidence.IsRefusal(err) {
		return image, false, nil
	}
	if err != nil {
		return image, false, err
	}
	defer done()
	at, err := lookupPlaces(ctx, file, w.places)
	if err != nil {
		if evidence.IsRefusal(err) {
			err = nil
		}
		return image, false, err
	}
	lines := 0
	for place, printed := range w.places {
		seen := at[place]
		if printed != (line{}) && seen.has(printed) {
			lines++
		} else if s.DebugID == "" && (printed != (line{}) || len(seen.calls) == 0) {
			return image, false, nil
		}
		if frames := seen.only(); len(frames) > 1 {
			image.AddOffset(place, frames...)
		}
	}
	if s.DebugID == "" && lines == 0 {
		return image, false, nil
	}
	image.UsedDebugID, image.Own, image.Proven = f.DebugID, f.Own, true
	image.Tried = []capture.Attempt{{Place: f.Place, Result: ResultFound}}
	image.Match = fmt.Sprintf("%s %s: the lines that the evidence prints are where it has them, and it knows the inlined calls", f.Name, f.DebugID)
	if s.DebugID != "" {
		image.Match = fmt.Sprintf("%s by its id %s, which the evidence gives; it knows the inlined calls", f.Name, f.DebugID)
	}
	return image, true, nil
}

// placeSymbols are what a PDB has at the places that a printed frame may stand for: several functions may have one
// name.
type placeSymbols struct {
	calls [][]capture.NamedFrame // of the call, one byte before the return address
	lines []line                 // of the call and of the return address, inlined calls among them
}

func (s *placeSymbols) has(l line) bool { return s != nil && slices.Contains(s.lines, l) }

// only is the frames of the call, where all functions of the name agree on them.
func (s *placeSymbols) only() []capture.NamedFrame {
	if s == nil || len(s.calls) == 0 ||
		slices.ContainsFunc(s.calls, func(c []capture.NamedFrame) bool { return !slices.Equal(c, s.calls[0]) }) {
		return nil
	}
	return s.calls[0]
}

// lookupPlaces walks a PDB once and collects what it has at the places.
func lookupPlaces(ctx context.Context, file *pdb.File,
	places map[capture.FunctionOffset]line) (map[capture.FunctionOffset]*placeSymbols, error) {
	offsets := map[string][]uint64{}
	at := map[capture.FunctionOffset]*placeSymbols{}
	for p := range places {
		offsets[p.Function] = append(offsets[p.Function], p.Offset)
		at[p] = &placeSymbols{}
	}
	names := spelling{x86: isX86(file)}
	err := file.LocationRanges(ctx, func(g pdb.LocationRange) error {
		if g.Kind == pdb.KindPublic || offsets[g.Function] == nil {
			return nil
		}
		first, end := uint64(g.Displacement), uint64(g.Displacement)+uint64(g.End-g.Start)
		for _, offset := range offsets[g.Function] {
			here := at[capture.FunctionOffset{Function: g.Function, Offset: offset}]
			called, returned := offset > first && offset <= end, offset >= first && offset < end
			if !called && !returned {
				continue
			}
			location := names.location(&g.Location)
			here.lines = append(here.lines, lineOf(location.File, location.Line))
			for _, i := range location.Inlines {
				here.lines = append(here.lines, lineOf(i.File, i.Line))
			}
			if called {
				location.Displacement = uint32(offset - 1)
				here.calls = append(here.calls, frames(&location, ""))
			}
		}
		return nil
	})
	return at, err
}
