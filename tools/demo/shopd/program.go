package shopd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// A module is an image that the process loads, and who has its symbols.
type module struct {
	path    string
	base    uint64
	pdbName string
	symbols availability
}

// An availability says who has the symbols of a module.
type availability uint8

const (
	missing availability = iota
	private              // the team, which built it
	public               // a symbol server, without files and lines
)

// fileName is the last part of the module's path, and name that without its extension.
func (m *module) fileName() string { return m.path[strings.LastIndexByte(m.path, '\\')+1:] }
func (m *module) name() string     { return strings.TrimSuffix(m.fileName(), path.Ext(m.fileName())) }

// A call is where a return address lies.
type call struct {
	module, function string
	offset           uint32 // of the return address in the function
	file             string
	line             uint32
}

// calls reads the frames of a stack, innermost first.
func (s *site) calls() []call {
	var list []call
	for frame := range strings.FieldsSeq(s.stack) {
		frame = strings.ReplaceAll(frame, "~", " ")
		where, source, _ := strings.Cut(frame, " (")
		place, offset, _ := cutLast(where, "+0x")
		c := call{}
		c.module, c.function, _ = strings.Cut(place, "!")
		c.offset = number(offset, 16)
		if file, line, ok := cutLast(strings.TrimSuffix(source, ")"), ", "); ok {
			c.file, c.line = file, number(line, 10)
		}
		list = append(list, c)
	}
	return list
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

func number(s string, base int) uint32 {
	v, err := strconv.ParseUint(s, base, 32)
	if err != nil {
		panic(fmt.Errorf("shopd: %w", err)) // the frames stand in process.go
	}
	return uint32(v)
}

// callLength is that of the calls in the images.
const callLength = 5

// program is the module as a build has it: the functions that any of the demo's stacks goes through, one behind the
// other. Builds of the team's own program differ in where their functions lie.
func (m *module) program(build int) *pdbtest.Program {
	functions := map[string]*pdbtest.Function{}
	for _, s := range allSites() {
		for _, c := range s.calls() {
			if c.module != m.name() {
				continue
			}
			f := functions[c.function]
			if f == nil {
				f = &pdbtest.Function{Name: c.function}
				functions[c.function] = f
			}
			add(f, m, c)
		}
	}
	at := uint32(0x10)
	if m.symbols == private {
		at += uint32(build) * 0x40
	}
	list := make([]pdbtest.Function, 0, len(functions))
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := *functions[name]
		f.Address = pdbtest.Address{Section: 1, Offset: at}
		at += (f.Length + 0x1F) &^ 0xF
		list = append(list, f)
	}
	p := &pdbtest.Program{
		Age: 1, Signature: uint32(day.Unix()), Machine: petest.X86, Sections: pdbtest.Standard(max(at, 0x8000)),
		Stripped: m.symbols == public,
		Modules:  []pdbtest.Module{{Name: m.name() + ".obj", Functions: list}},
	}
	if m.symbols == private {
		p.Signature += uint32(build)
	}
	id := fnv.New128a()
	fmt.Fprintln(id, m.path, p.Signature)
	p.GUID = [16]byte(id.Sum(nil))
	return p
}

// add makes room for a call in a function.
func add(f *pdbtest.Function, m *module, c call) {
	at := pdbtest.Call{Offset: c.offset - callLength, Length: callLength}
	if slices.ContainsFunc(f.Calls, func(known pdbtest.Call) bool { return known.Offset == at.Offset }) {
		return
	}
	f.Calls = append(f.Calls, at)
	f.Length = max(f.Length, c.offset+8)
	if m.symbols == public {
		f.Decorated = "_" + f.Name // of C
	}
	if c.file == "" {
		return
	}
	if len(f.Lines) == 0 {
		f.Lines = append(f.Lines, pdbtest.Line{Offset: 0, File: c.file, Line: c.line - 2})
	}
	f.Lines = append(f.Lines, pdbtest.Line{Offset: at.Offset, File: c.file, Line: c.line},
		pdbtest.Line{Offset: c.offset, File: c.file, Line: c.line + 1})
	slices.SortStableFunc(f.Lines, func(a, b pdbtest.Line) int { return cmp.Compare(a.Offset, b.Offset) })
}

// An image is a module as a build loads it.
type image struct {
	*module
	identity symbols.Identity // of its PDB
	guid     [16]byte         // of its PDB, as the file has it
	age      uint32
	size     uint64 // in memory
	starts   map[string]uint64
	pdb, exe []byte // contents
}

// images are the modules of a build.
func (b build) images(ctx context.Context) ([]image, error) {
	at := slices.IndexFunc(everyBuild(), func(other build) bool { return other.name == b.name })
	list := make([]image, len(modules))
	for i := range modules {
		m := &modules[i]
		p := m.program(at)
		made, err := petest.Of(p, m.pdbName)
		if err != nil {
			return nil, fmt.Errorf("shopd: %w", err)
		}
		img := image{module: m, guid: p.GUID, age: p.Age, size: uint64(made.SizeOfImage()), starts: map[string]uint64{}}
		if img.exe, err = made.Bytes(); err != nil {
			return nil, fmt.Errorf("shopd: %w", err)
		}
		if img.pdb, err = p.PDB(); err != nil {
			return nil, fmt.Errorf("shopd: %w", err)
		}
		if img.identity, err = symbols.Identify(ctx, m.pdbName, bytes.NewReader(img.pdb), int64(len(img.pdb))); err != nil {
			return nil, fmt.Errorf("shopd: %w", err)
		}
		for _, f := range p.Modules[0].Functions {
			img.starts[f.Name] = m.base + uint64(p.RVA(f.Address))
		}
		list[i] = img
	}
	return list, nil
}
