package pdb

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
)

// In every module of the corpus that has folded functions, the blocks of lines come in the order of the procedures.
func TestBlocksComeInTheOrderOfProcedures(t *testing.T) {
	modules, found := 0, 0
	if err := filepath.WalkDir(corpus.Path(t, "symbols"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".pdb") {
			return err
		}
		f, err := OpenFile(path)
		if err != nil {
			return nil // TestOpen knows those
		}
		defer func() { _ = f.Close() }() // read only
		if _, err := f.space(); err != nil {
			return nil // some have no section headers
		}
		for n := range f.modules {
			m, err := f.loadModule(t.Context(), n, nil)
			if err != nil {
				return err
			}
			addresses := map[uint32]bool{}
			for i := range m.blocks {
				if p := m.find(m.blocks[i].start); p != nil && p.start == m.blocks[i].start && p.folded {
					addresses[p.start] = true
				}
			}
			if len(addresses) == 0 {
				continue
			}
			modules, found = modules+1, found+len(addresses)
			if !m.pairInOrder() {
				t.Errorf("%s: module %d has them in another order", path, n)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d addresses in %d modules", found, modules); found < 100 {
		t.Error("these are too few")
	}
}
