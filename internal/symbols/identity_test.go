package symbols

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

func TestIdentify(t *testing.T) {
	stripped, fast := till(1, 0, false), till(1, 0, false)
	stripped.Stripped, fast.FastLink = true, true
	const id = "010000000000000000000000000000001"
	for name, c := range map[string]struct {
		data []byte
		want Identity
		note string // part of the note
	}{
		"till.pdb": {pdbOf(t, till(1, 0, false)), Identity{Kind: KindPDB, DebugID: id, SizeOfImage: tillSize, Bits: 64,
			Machine: "x64", Symbols: capture.SymbolsPrivate}, ""},
		"stripped.pdb": {pdbOf(t, stripped), Identity{Kind: KindPDB, DebugID: id, SizeOfImage: tillSize, Bits: 64,
			Machine: "x64", Symbols: capture.SymbolsPublic}, ""},
		"fast.pdb": {pdbOf(t, fast), Identity{Kind: KindPDB, DebugID: id, SizeOfImage: tillSize, Bits: 64, Machine: "x64",
			Symbols: capture.SymbolsPublic}, "FASTLINK"},
		"till.exe": {imageOf(t, till(1, 0, false), `c:\build\till.pdb`),
			Identity{Kind: KindImage, DebugID: id, SizeOfImage: tillSize, Bits: 64, Machine: "x64",
				Symbols: capture.SymbolsExport, PDB: "till.pdb"}, ""},
	} {
		got, err := Identify(t.Context(), name, bytes.NewReader(c.data), int64(len(c.data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.want.Name = name
		if c.want.Kind == KindPDB {
			c.want.PDB = name
		}
		if !strings.Contains(got.Note, c.note) || c.note == "" && got.Note != "" {
			t.Errorf("%s: note %q", name, got.Note)
		}
		got.Note, got.Timestamp = "", 0
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A file that holds no symbols is refused with a code, and a symbol file that is cut is called truncated.
func TestIdentifyRefuses(t *testing.T) {
	whole := pdbOf(t, &pdbtest.Program{Sections: pdbtest.Standard(0x1000)})
	for name, c := range map[string]struct {
		data string
		code string
	}{
		"text.txt":   {"hello", "not-symbols"},
		"empty.pdb":  {"", "not-symbols"},
		"old.pdb":    {"Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00" + strings.Repeat("\x00", 100), "pdb-2.00"},
		"cut.pdb":    {string(whole[:100]), "truncated"},
		"dotnet.pdb": {"BSJB\x01\x00\x01\x00" + strings.Repeat("\x00", 100), "portable-pdb"},
		"cut.exe":    {"MZ", "truncated"},
	} {
		_, err := Identify(t.Context(), name, strings.NewReader(c.data), int64(len(c.data)))
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != c.code || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v (%+v), want code %s", name, err, refused, c.code)
		}
	}
}

// The index of a PDB answers as the PDB itself does, for every address of the expected tables and for some more.
func TestIndexAnswersAsThePDB(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	files := 0
	err := filepath.WalkDir(corpus.Path(t, "symbols"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".pdb") {
			files++
			compareIndex(t, path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Error("no PDBs", err)
	}
}

func compareIndex(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{}
	id, err := Identify(t.Context(), "a.pdb", bytes.NewReader(data), int64(len(data)))
	if err != nil || id.SizeOfImage == 0 {
		return // told of elsewhere
	}
	s.put(t, "", "a.pdb", data)
	module := capture.Module{Path: "a.dll", Base: 1 << 32, Size: uint64(id.SizeOfImage), PDB: "a.pdb", DebugID: id.DebugID}
	var returns []uint64
	for rva := uint64(0x1000); rva < uint64(id.SizeOfImage); rva += 97 {
		returns = append(returns, rva)
	}
	if len(returns) == 0 {
		return
	}
	c := running(returns, module)
	direct := resolve(t, Resolver{Library: s}, c)
	indexed := resolve(t, Resolver{Library: s, Indexes: indexes{}}, c)
	bad := 0
	for _, rva := range returns {
		if a, b := spell(direct.Frames(uint32(rva))), spell(indexed.Frames(uint32(rva))); a != b {
			if bad++; bad <= 3 {
				t.Errorf("%s: %#x is %q by the PDB, %q by its index", file, rva, a, b)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%s: %d of %d return addresses differ", file, bad, len(returns))
	}
}
