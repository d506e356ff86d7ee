package symbols

import (
	"context"
	"errors"
	"path/filepath"

	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/undname"
)

// Lookup says what a PDB, or the exports of an image, say about addresses: answer is called for each of them, in their order, with a
// Location that is good until it returns. One without a function means that nothing is known. Addresses are looked up as they
// are: give one less than a return address to get its call.
func Lookup(ctx context.Context, path string, rvas []uint32, answer func(rva uint32, at *index.Location) error) error {
	content, err := openFile(path)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	identity, err := Identify(ctx, filepath.Base(path), content, content.Size())
	if err != nil {
		return err
	}
	if identity.Kind == KindImage {
		return lookupExports(content, rvas, answer)
	}
	file, err := pdb.OpenFile(path) // in memory, which is faster than reading
	if err != nil {
		return err
	}
	err = lookupPDB(ctx, file, rvas, answer)
	return errors.Join(err, file.Close())
}

func lookupPDB(ctx context.Context, file *pdb.File, rvas []uint32, answer func(rva uint32, at *index.Location) error) error {
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
			at.Function, at.Displacement, at.File, at.Line, at.Approx = l.Function, l.Displacement, l.File, l.Line, l.LowConfidence
			if l.Kind == pdb.KindPublic {
				name, ok := displayed[l.Function]
				if !ok {
					name = undname.Display(l.Function, x86)
					displayed[l.Function] = name
				}
				at.Function = name
			}
			for _, in := range l.Inlines {
				at.Inlines = append(at.Inlines, index.Inline{Function: in.Name, File: in.File, Line: in.Line})
			}
			legibleLocation(&at)
		}
		if err := answer(rva, &at); err != nil {
			return err
		}
	}
	return nil
}

func lookupExports(content Content, rvas []uint32, answer func(rva uint32, at *index.Location) error) error {
	image, err := pe.Open(content, content.Size())
	if err != nil {
		return err
	}
	for _, rva := range rvas {
		var at index.Location
		if export, displacement, ok := image.NearestExport(rva); ok {
			at = index.Location{Function: exportName(export), Displacement: displacement, Approx: true}
		}
		if err := answer(rva, &at); err != nil {
			return err
		}
	}
	return nil
}
