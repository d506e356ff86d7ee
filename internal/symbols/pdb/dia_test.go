package pdb_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
)

// symFiles are outputs of Microsoft's DIA in Breakpad's format, and the PDBs that they describe.
var symFiles = map[string]string{
	"breakpad/dump_syms_regtest.sym":      "breakpad/dump_syms_regtest.pdb",
	"breakpad/dump_syms_regtest64.sym":    "breakpad/dump_syms_regtest64.pdb",
	"breakpad/omap_reorder_bbs.sym":       "breakpad/omap_reorder_bbs.pdb",
	"breakpad/omap_stretched.sym":         "breakpad/omap_stretched.pdb",
	"symbolic/crash.sym":                  "symbolic/crash.pdb",
	"symbolic/CrashWithException.pdb.sym": "symbolic/CrashWithException.pdb",
	"mozilla/basic32-min.sym":             "mozilla/basic32-min.pdb",
}

// notOfPDBs are .sym files that no PDB of the corpus belongs to.
var notOfPDBs = map[string]bool{"breakpad/pe_only_symbol_test.sym": true}

// Every line record of DIA is found, at its first byte and at its last.
func TestDIALines(t *testing.T) {
	root := corpus.Path(t, "symbols")
	for _, pattern := range []string{"*/*.sym", "*/*/*.sym"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			name, _ := filepath.Rel(root, path)
			if name = filepath.ToSlash(name); symFiles[name] == "" && !notOfPDBs[name] {
				t.Errorf("%s is compared with no PDB", name)
			}
		}
	}
	for sym, file := range symFiles {
		text, err := os.ReadFile(filepath.Join(root, sym))
		if err != nil {
			t.Fatal(err)
		}
		f, err := pdb.OpenFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		files, records, wrong := map[string]string{}, 0, 0
		for _, line := range strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n") {
			c := strings.SplitN(line, " ", 4)
			if len(c) < 3 {
				continue
			}
			if c[0] == "FILE" {
				files[c[1]] = strings.Join(c[2:], " ")
				continue
			}
			start, err := strconv.ParseUint(c[0], 16, 32)
			if err != nil || len(c) != 4 {
				continue
			}
			size, _ := strconv.ParseUint(c[1], 16, 32)
			records++
			for _, rva := range []uint64{start, start + size - 1} {
				if size == 0 {
					continue
				}
				at, ok, err := f.Lookup(t.Context(), uint32(rva))
				if err != nil {
					t.Fatal(err)
				}
				if !ok || strconv.Itoa(int(at.Line)) != c[2] || !strings.EqualFold(at.File, files[c[3]]) {
					if wrong++; wrong < 5 {
						t.Errorf("%s: %#x: %s:%d, want %s:%s", sym, rva, at.File, at.Line, files[c[3]], c[2])
					}
				}
			}
		}
		t.Logf("%s: %d line records, %d wrong", sym, records, wrong)
		_ = f.Close()
	}
}
