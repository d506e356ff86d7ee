package symbols

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
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
	list, names := make([]index.Location, len(rvas)), spelling{x86: isX86(file)}
	for _, i := range ascending(rvas) {
		if found[i].Function != "" {
			list[i] = names.location(&found[i])
			legibleLocation(&list[i])
		}
	}
	return list, nil
}

// ascending is the order of addresses, as places in the list.
func ascending(rvas []uint32) []int {
	order := make([]int, len(rvas))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rvas[a], rvas[b]) })
	return order
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
