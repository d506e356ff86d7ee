package pdbtest

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Writer writes a PDB module by module.
type Writer struct {
	program Program // without Modules
	c       *container
	tpi     *typeStream
	ipi     *typeStream
	names   *names
	structs map[string]uint32   // TPI index by name, of the forward reference
	exports map[string][]string // Exports by module

	modules       int
	moduleList    []byte
	moduleFiles   [][]uint32 // offsets in /names
	contributions []contribution
	records       []byte // of publics
	publics       []publicRecord

	files   *fileTable   // of the module that is being written
	imports *importTable // of the module that is being written
}

// NewWriter begins a PDB. The program's Modules are not written; they are given to Module, one by one.
func NewWriter(out io.WriterAt, p Program) (*Writer, error) {
	p.Age = max(p.Age, 1)
	if p.InfoAge == 0 {
		p.InfoAge = p.Age
	}
	if p.Machine == 0 {
		p.Machine = machineAMD64
	}
	if p.PageSize == 0 {
		p.PageSize = 4096
	}
	if p.PageSize < 512 || p.PageSize&(p.PageSize-1) != 0 {
		return nil, fmt.Errorf("pdbtest: %d is no page size", p.PageSize)
	}
	w := &Writer{
		program: p, c: newContainer(out, p.PageSize), tpi: newTypes(), ipi: newTypes(), names: newNames(),
		structs: map[string]uint32{}, exports: map[string][]string{},
	}
	w.declare(p.Structs)
	return w, nil
}

// Module writes a module.
func (w *Writer) Module(m Module) error {
	if w.modules == 0xFFFF {
		return errors.New("pdbtest: a PDB has at most 65535 modules")
	}
	if err := w.checkImports(&m); err != nil {
		return err
	}
	for i := range m.Functions {
		if f := &m.Functions[i]; f.Decorated != "" {
			w.public(Public{Name: f.Decorated, Address: f.Address})
		}
	}
	w.exports[m.Name] = m.Exports
	if !w.program.Stripped {
		w.declare(m.Structs)
	}
	first := w.contribute(&m)
	w.modules++
	p := &w.program
	if m.NoStream || p.FastLink || p.Stripped && !p.KeepProcedures {
		w.moduleInfo(&m, &moduleRecord{first: first, stream: 0xFFFF})
		return w.c.err
	}
	w.files, w.imports = newFiles(), &importTable{}
	symbols := w.symbols(&m)
	var lines []byte
	if !p.Stripped {
		lines = w.lines(&m)
	}
	const globalReferences = 4 // their size: there are none
	number := w.c.add(slices.Concat(symbols, lines, make([]byte, globalReferences)))
	w.moduleInfo(&m, &moduleRecord{first: first, stream: number, symbols: len(symbols), lines: len(lines),
		files: w.files.order})
	return w.c.err
}

// checkImports makes sure that what is imported was exported.
func (w *Writer) checkImports(m *Module) error {
	var check func(sites []Inline) error
	check = func(sites []Inline) error {
		for i := range sites {
			in := &sites[i]
			if in.From != "" && !slices.Contains(w.exports[in.From], in.Function) {
				return fmt.Errorf("pdbtest: %s imports %s from %s, which does not export it", m.Name, in.Function, in.From)
			}
			if err := check(in.Inlines); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range m.Functions {
		if err := check(m.Functions[i].Inlines); err != nil {
			return err
		}
	}
	return nil
}

// Hole adds streams of so many bytes together that nothing refers to and that are never written: a large file that
// takes up little of the disk.
func (w *Writer) Hole(size int64) { w.c.hole(size) }

// Close writes what belongs to no module (publics, types, tables and directory), and so completes the PDB.
func (w *Writer) Close() error {
	for _, p := range w.program.Publics {
		w.public(p)
	}
	records := w.c.add(w.records)
	publics := w.c.add(w.publicStream())
	globals := w.c.add(hashTable(nil))
	dbi := w.dbi(globals, publics, records)
	if w.program.NoSymbols {
		dbi = nil
	}
	w.c.put(3, dbi)
	w.tpi.write(w.c, 2)
	w.ipi.write(w.c, 4)
	named := map[string]uint16{"/names": w.c.add(w.names.stream()), "/LinkInfo": w.c.add(nil)}
	w.c.put(1, w.info(named))
	return w.c.close()
}

// Write writes the program as a PDB.
func (p *Program) Write(out io.WriterAt) error {
	w, err := NewWriter(out, *p)
	if err != nil {
		return err
	}
	for _, m := range p.Modules {
		if err := w.Module(m); err != nil {
			return err
		}
	}
	return w.Close()
}

// PDB returns the program as a PDB.
func (p *Program) PDB() ([]byte, error) {
	var m memory
	if err := p.Write(&m); err != nil {
		return nil, err
	}
	return m, nil
}

// memory is a file in memory.
type memory []byte

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	if more := at + int64(len(b)) - int64(len(*m)); more > 0 {
		*m = append(*m, make([]byte, more)...)
	}
	return copy((*m)[at:], b), nil
}
