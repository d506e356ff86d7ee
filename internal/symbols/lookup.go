package symbols

import (
	"context"
	"errors"

	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/undname"
)

// An Outcome says which file a look-up used, and what limits its answers.
type Outcome struct {
	From    string // the PDB beside the image that was used; "" for the file itself
	Note    string // what limits the answers, in sentences; "" for nothing
	Useless bool   // the file cannot give functions and lines for any address
}

// Lookup names addresses by a PDB, by an image and the PDB that lies beside it, or else by the image's exports. It
// calls answer for each address, in their order. The Location is valid until answer returns; one without a function
// means that nothing is known. Addresses are looked up as they are: pass the return address minus one to get its call.
// Files may be compressed as in symbol stores.
func Lookup(ctx context.Context, path string, rvas []uint32,
	answer func(rva uint32, at *index.Location) error) (Outcome, error) {
	f, err := openExpanded(ctx, path)
	if err != nil {
		return Outcome{}, err
	}
	defer f.close()
	switch {
	case f.refused != nil: // it is a PDB that has nothing to say of native code
		for _, rva := range rvas {
			if err := answer(rva, &index.Location{}); err != nil {
				return Outcome{}, err
			}
		}
		return Outcome{Note: f.refused.Sentence(), Useless: true}, nil
	case f.Kind == KindPDB:
		return lookupFile(ctx, f, nil, rvas, answer)
	}
	beside, missing, err := f.beside(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if beside != nil {
		defer beside.close()
		out, err := lookupFile(ctx, beside, f, rvas, answer)
		out.From = beside.path
		return out, err
	}
	exports, err := lookupExports(f.content, rvas, answer)
	return Outcome{Note: missing, Useless: exports == 0}, err
}

// lookupFile answers by a PDB. One without section headers is given those of its image, if there is one.
func lookupFile(ctx context.Context, f, image *expandedFile, rvas []uint32,
	answer func(rva uint32, at *index.Location) error) (Outcome, error) {
	file, err := pdb.OpenFile(f.data) // in memory, which is faster than reading
	if err != nil {
		return Outcome{}, err
	}
	info := file.Info()
	if info.NoSections && image != nil {
		err = useSectionsOf(file, image.content)
	}
	if err == nil {
		err = lookupPDB(ctx, file, rvas, answer)
	}
	useless := info.TypesOnly || info.Managed || info.Unfinished || info.FastLink
	return Outcome{Note: info.Note, Useless: useless}, errors.Join(err, file.Close())
}

func useSectionsOf(file *pdb.File, content Content) error {
	image, err := pe.Open(content, content.Size())
	if err != nil {
		return err
	}
	return file.UseSections(sectionsOf(image))
}

func lookupPDB(ctx context.Context, file *pdb.File, rvas []uint32,
	answer func(rva uint32, at *index.Location) error) error {
	found := make([]pdb.Location, len(rvas))
	if err := file.LookupAll(ctx, rvas, found); err != nil {
		return err
	}
	var at index.Location
	x86, displayed := isX86(file), map[string]string{} // by the names of public symbols
	for i, rva := range rvas {
		l := &found[i]
		at = index.Location{Inlines: at.Inlines[:0]}
		if l.Function != "" {
			at.Function, at.Displacement, at.File, at.Line, at.Approx = l.Function, l.Displacement, l.File,
				shownLine(l.Line), l.LowConfidence
			if l.Kind == pdb.KindPublic {
				name, ok := displayed[l.Function]
				if !ok {
					name = undname.Display(l.Function, x86)
					displayed[l.Function] = name
				}
				at.Function = name
			}
			for _, in := range l.Inlines {
				at.Inlines = append(at.Inlines, index.Inline{Function: in.Name, File: in.File, Line: shownLine(in.Line)})
			}
			legibleLocation(&at)
		}
		if err := answer(rva, &at); err != nil {
			return err
		}
	}
	return nil
}

// lookupExports answers by an image's exports and returns how many addresses lie behind one.
func lookupExports(content Content, rvas []uint32, answer func(rva uint32, at *index.Location) error) (answered int,
	err error) {
	image, err := pe.Open(content, content.Size())
	if err != nil {
		return 0, err
	}
	for _, rva := range rvas {
		var at index.Location
		if export, displacement, ok := image.NearestExport(rva); ok {
			at = index.Location{Function: exportName(export), Displacement: displacement, Approx: true}
			answered++
		}
		if err := answer(rva, &at); err != nil {
			return answered, err
		}
	}
	return answered, nil
}
