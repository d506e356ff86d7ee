package pe

import (
	"context"
	"sort"
)

// NearestExport returns the export that an address in code most likely belongs to, and the displacement from it.
//
// Where .pdata tells the function, it is the last export at or below the address between the bounds that FunctionBounds
// returns; an address in a split-off part that lies before its function has none, as no displacement could say it.
// Outside all functions of .pdata it is only an export exactly at the address. In images without .pdata, all x86 ones
// among them, it is the last export at or below the address in the same section, however far: it may well be another
// function's.
//
// Of several exports at one address it is the first by name; what has only an ordinal comes before names and is taken
// when there is nothing else. Forwarders and exported data are not considered. It is false too where the export
// directory or .pdata cannot be read; Exports and Function say why.
func (f *File) NearestExport(rva uint32) (e Export, displacement uint32, ok bool) {
	section := f.code(rva)
	if section == nil {
		return Export{}, 0, false
	}
	lowest, highest := section.RVA, rva
	f.mu.Lock()
	exports, err := f.exportsLocked(context.Background())
	unwind, unwindErr := f.unwindLocked()
	f.mu.Unlock()
	if err != nil || unwindErr != nil {
		return Export{}, 0, false
	}
	if unwind != nil {
		begin, end, found, err := f.FunctionBounds(rva)
		switch {
		case err != nil || found && rva < begin:
			return Export{}, 0, false
		case found:
			lowest, highest = begin, min(rva, end-1)
		default:
			lowest = rva
		}
	}
	code := exports.code
	i := sort.Search(len(code), func(i int) bool { return code[i].RVA > highest }) - 1
	if i < 0 || code[i].RVA < lowest {
		return Export{}, 0, false
	}
	e = code[i]
	for i--; i >= 0 && code[i].RVA == e.RVA && code[i].Name != ""; i-- {
		e = code[i]
	}
	return e, rva - e.RVA, true
}
