package pdb

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
)

// A Layout says where the fields of a class, structure or union are.
type Layout struct {
	Name   string
	Kind   TypeKind
	Size   uint64 // in bytes
	Fields []Field
}

// A TypeKind says what a named type is.
type TypeKind string

// The kinds of named types that have a layout.
const (
	KindStructure TypeKind = "struct"
	KindClass     TypeKind = "class"
	KindInterface TypeKind = "interface"
	KindUnion     TypeKind = "union"
)

// A Field is a member, a base class or the pointer to virtual functions. Those of unions and of anonymous structures
// inside them overlap, and are in the order of the type's declaration.
type Field struct {
	Name   string // of a base class: its own; of the pointer to virtual functions: __vfptr
	Offset uint64 // in bytes
	Size   uint64 // in bytes, of a bit field those of its type; 0 unknown
	Type   string // as C++ spells it, with [n] at the end: _LIST_ENTRY[128], void *
	Of     string // the class, structure, union or enumeration that the field is, is an array of, or points to
	Bit    uint8  // of a bit field: its lowest bit
	Bits   uint8  // of a bit field: how many; 0 for other fields
	Base   bool   // a base class; a virtual one has no offset
}

// FindLayout returns the layout of a class, structure or union by its full name; nil where the PDB does not define it.
func (f *File) FindLayout(ctx context.Context, name string) (*Layout, error) {
	types, err := f.types()
	if err != nil {
		return nil, err
	}
	d, err := f.definitionsOf(ctx, types)
	if err != nil {
		return nil, err
	}
	number, ok := d.find(types, name)
	if !ok {
		return nil, nil
	}
	kind, b, ok := types.get(number)
	a, whole := parseAggregate(kind, b)
	if !ok || !whole || a.kind == leafEnum {
		return nil, nil
	}
	l := &Layout{Name: string(a.name), Kind: typeKinds[a.kind], Size: a.size}
	r := fieldReader{types: types, defined: d, to: l, seen: map[uint32]bool{}}
	return l, r.read(ctx, a.fields)
}

var typeKinds = map[uint16]TypeKind{
	leafStructure: KindStructure, leafStructure2: KindStructure, leafClass: KindClass, leafClass2: KindClass,
	leafInterface: KindInterface, leafUnion: KindUnion,
}

// definitions finds types by name: hashes of the names, in ascending order, without forward references.
type definitions struct {
	seed maphash.Seed
	all  []definition
}

type definition struct {
	hash   uint64
	number uint32
}

// definitionsOf reads all types once.
func (f *File) definitionsOf(ctx context.Context, types *records) (*definitions, error) {
	f.defined.mu.Lock()
	defer f.defined.mu.Unlock()
	if f.defined.ready != nil {
		return f.defined.ready, nil
	}
	d := &definitions{seed: maphash.MakeSeed()}
	if types.s != nil {
		err := types.scan(ctx, func(number uint32, _ int64, kind uint16, b []byte) bool {
			if a, ok := parseAggregate(kind, b); ok && a.properties&propertyForward == 0 {
				d.all = append(d.all, definition{maphash.Bytes(d.seed, a.name), number})
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.all, func(a, b definition) int { return cmp.Compare(a.hash, b.hash) })
	f.defined.ready = d
	return d, nil
}

// find returns the first definition of a name.
func (d *definitions) find(types *records, name string) (uint32, bool) {
	hash := maphash.String(d.seed, name)
	i, _ := slices.BinarySearchFunc(d.all, hash, func(e definition, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for ; i < len(d.all) && d.all[i].hash == hash; i++ {
		if types.nameOf(d.all[i].number) == name {
			return d.all[i].number, true
		}
	}
	return 0, false
}
