package pdb_test

import (
	"io"
	"strings"
	"testing"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// readerOf reads from a text.
func readerOf(contents string) io.ReaderAt { return strings.NewReader(contents) }

// openSample opens pdbtest's sample.
func openSample(t testing.TB) *pdb.File {
	t.Helper()
	return openProgram(t, pdbtest.Sample())
}

// openProgram writes a program and opens it.
func openProgram(t testing.TB, p *pdbtest.Program) *pdb.File {
	t.Helper()
	b, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	f, err := pdb.Open(readerOf(string(b)), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
