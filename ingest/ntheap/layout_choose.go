package ntheap

import (
	"cmp"
	"fmt"
	"slices"

	"heapdrift/ingest/sorting"
)

// choices are the layouts that may fit a process, the likeliest first: ntdll's own, that of its build, and those of
// neighbouring builds in the order of their distance.
func choices(p *Process, build uint32) []*layout {
	type choice struct {
		*layout
		distance uint32
	}
	var all []choice
	for _, l := range embedded() {
		if l.bits != p.Bits {
			continue
		}
		near, distance := l.nearest(build)
		named := *l
		named.name = fmt.Sprintf("%s %s (embedded)", near, arch(p))
		all = append(all, choice{&named, distance})
	}
	sorting.Stable(all, func(a, b choice) int { return cmp.Compare(a.distance, b.distance) })
	var order []*layout
	for _, c := range all {
		order = append(order, c.layout)
	}
	if p.Types != nil && len(order) > 0 {
		own := &layout{name: "ntdll.pdb", bits: p.Bits, types: completedTypes{p.Types, order[0].types}}
		order = slices.Insert(order, 0, own)
	}
	return order
}

// arch names the processor whose layouts are used.
func arch(p *Process) string {
	switch {
	case p.Bits == 32:
		return "x86"
	case p.ARM64:
		return "x64, used for ARM64" // structures of 64-bit Windows do not depend on the processor
	}
	return "x64"
}

// nearest is the build of a layout that is nearest, and how far it is. Builds count up from version to version, so
// their numbers alone order them.
func (l *layout) nearest(build uint32) (Version, uint32) {
	distance := func(v Version) uint32 { return max(v.Build, build) - min(v.Build, build) }
	near := slices.MinFunc(l.builds, func(a, b Version) int { return cmp.Compare(distance(a), distance(b)) })
	return near, distance(near)
}

// completedTypes are the types of a PDB, completed from the table: a stripped PDB has only some types.
type completedTypes struct{ pdb, table Types }

func (c completedTypes) Offset(typ, field string) (uint64, bool) {
	if _, ok := c.pdb.Size(typ); ok {
		return c.pdb.Offset(typ, field)
	}
	return c.table.Offset(typ, field)
}

func (c completedTypes) Size(typ string) (uint64, bool) {
	if size, ok := c.pdb.Size(typ); ok {
		return size, true
	}
	return c.table.Size(typ)
}

// A lookup asks for many fields and remembers that one was missing.
type lookup struct {
	types   Types
	missing string
}

func (l *lookup) at(typ, field string) uint64 {
	offset, ok := l.types.Offset(typ, field)
	if !ok && l.missing == "" {
		l.missing = typ + "." + field
	}
	return offset
}

func (l *lookup) size(typ string) uint64 {
	size, ok := l.types.Size(typ)
	if !ok && l.missing == "" {
		l.missing = "the size of " + typ
	}
	return size
}
