package symbols

import (
	"context"
	"errors"
	"path/filepath"

	"heapdrift/worker/symbols/index"
	"heapdrift/worker/symbols/pdb"
	"heapdrift/worker/symbols/pe"
)

// Lookup says what a PDB, or the exports of an image, say about addresses. A Location without a function means that
// nothing is known. Addresses are looked up as they are: give one less than a return address to get its call.
func Lookup(ctx context.Context, path string, rvas []uint32) ([]index.Location, error) {
	content, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	identity, err := Identify(ctx, filepath.Base(path), content, content.Size())
	if err != nil {
		return nil, err
	}
	if identity.Kind == KindImage {
		return lookupExports(content, rvas)
	}
	file, err := pdb.OpenFile(path) // in memory, which is faster than reading
	if err != nil {
		return nil, err
	}
	list, err := lookupPDB(ctx, file, rvas)
	return list, errors.Join(err, file.Close())
}

func lookupPDB(ctx context.Context, file *pdb.File, rvas []uint32) ([]index.Location, error) {
	found := make([]pdb.Location, len(rvas))
	if err := file.LookupAll(ctx, rvas, found); err != nil {
		return nil, err
	}
	list, x86 := make([]index.Location, len(rvas)), isX86(file)
	for i := range found {
		if found[i].Function != "" {
			list[i] = location(&found[i], x86)
		}
	}
	return list, nil
}

func lookupExports(content Content, rvas []uint32) ([]index.Location, error) {
	image, err := pe.Open(content, content.Size())
	if err != nil {
		return nil, err
	}
	list := make([]index.Location, len(rvas))
	for i, rva := range rvas {
		if export, displacement, ok := image.NearestExport(rva); ok {
			list[i] = index.Location{Function: exportName(export), Displacement: displacement, Approx: true}
		}
	}
	return list, nil
}
