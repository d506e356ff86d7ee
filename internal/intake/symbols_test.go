package intake_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/cab/cabtest"
)

func TestSymbolsOfOneFile(t *testing.T) {
	d := open(t)
	pdb, dll := build(t, 7)
	for _, test := range []struct {
		sent string
		body []byte
		name string
		kind string
	}{
		{"app.pdb", pdb, "app.pdb", "pdb"},
		{`C:\build\App.PDB`, pdb, "App.PDB", "pdb"},
		{"app.pdb.gz", gzipped(pdb), "app.pdb", "pdb"},
		{"app.pdb.zst", zstandard(pdb), "app.pdb", "pdb"},
		{"app.pd_", cabinetOf(t, "app.pdb", pdb), "app.pdb", "pdb"},
		{"app.pd_", cabinetOf(t, `build\own.pdb`, pdb), "own.pdb", "pdb"},
		{"app.pd_", cabinetOf(t, "app.pd_", pdb), "app.pdb", "pdb"},
		{"app.pd_", cabinetOf(t, " ", pdb), "app.pdb", "pdb"},
		{"app.pd_.gz", gzipped(cabinetOf(t, "app.pd_", pdb)), "app.pdb", "pdb"},
		{"app.dll", dll, "app.dll", "image"},
		{"app.DL_", cabinetOf(t, "app.DL_", dll), "app.DLL", "image"},
		{"app.ex_", cabinetOf(t, "app.ex_", dll), "app.exe", "image"},
	} {
		got := d.must(test.sent, test.body)
		if len(got.Files) != 1 || len(got.Refused) != 0 {
			t.Fatalf("%s: %+v", test.sent, got)
		}
		f, want := got.Files[0], pdb
		if test.kind == "image" {
			want = dll
		}
		if !strings.EqualFold(f.Name, test.name) || f.Kind != test.kind || f.DebugID != pdbKey ||
			f.Bytes != int64(len(want)) || f.Group != "" || f.Bits != 64 || f.Origin != store.OriginUpload {
			t.Errorf("%s: %+v", test.sent, f)
		}
	}
	if keys := d.keys(); len(keys) != 2 {
		t.Errorf("blobs %v, want the PDB and the DLL", keys)
	}
}

func TestSymbolsOfZip(t *testing.T) {
	d := open(t)
	pdb, dll := build(t, 7)
	pdb2, _ := build(t, 8)
	got := d.must("out.zip", zipOf(
		packedFile{"Release/app.pdb", pdb}, packedFile{"Release/sub/", nil}, packedFile{"Release/app.dll", dll},
		packedFile{"old/app.pdb.gz", gzipped(pdb2)},
		packedFile{"store/app.pd_", cabinetOf(t, "app.pdb", pdb)}, packedFile{"readme.txt", []byte("hello")},
		packedFile{"empty.pdb", nil},
		packedFile{"cut.pdb", pdb[:5000]}, packedFile{"more.zip", zipOf(packedFile{"b.pdb", pdb})},
		packedFile{"log.txt", []byte(log)},
		packedFile{"two.cab", twoFiles(t)}, packedFile{"x/\x01", pdb},
		packedFile{"cut.pd_", cabinetOf(t, "app.pdb", pdb)[:200]}, packedFile{"cut.pdb.gz", gzipped(pdb)[:100]},
	))
	var taken, refused []string
	for _, f := range got.Files {
		taken = append(taken, f.Name+" "+f.Key)
		if f.Group == "" || f.Group != got.Files[0].Group {
			t.Errorf("group %q", f.Group)
		}
	}
	for _, r := range got.Refused {
		refused = append(refused, r.Name+" "+r.Code)
	}
	want := []string{"app.pdb 000000000000000000000000000000082", "app.dll 500000073000", "app.pdb " +
		pdbKey, "app.pdb " + pdbKey}
	if len(taken) == 4 {
		want[1] = taken[1] // the size of the image is petest's
	}
	if !slices.Equal(taken, want) {
		t.Errorf("taken %q, want %q", taken, want)
	}
	want = []string{"cut.pd_ damaged-archive", "cut.pdb truncated", "cut.pdb.gz damaged-archive",
		"empty.pdb empty-file", "log.txt not-symbols",
		"more.zip unsupported-format", "readme.txt not-symbols", "two.cab unsupported-format", "x/ no-name"}
	if !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
	if keys := d.keys(); len(keys) != 3 {
		t.Errorf("blobs: %v", keys)
	}
	again := d.must("other.zip", zipOf(packedFile{"app.dll", dll}))
	if again.Files[0].New || got.Files[1].New == again.Files[0].New {
		t.Errorf("the same file is new: %+v", again.Files)
	}
}

func twoFiles(t testing.TB) []byte {
	t.Helper()
	c := cabtest.Cabinet{Files: []cabtest.File{{Name: "a", Content: []byte("a")}, {Name: "b", Content: []byte("b")}}}
	packed, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func TestSymbolsOfOneGroup(t *testing.T) {
	d := open(t)
	pdb, dll := build(t, 7)
	for name, body := range map[string][]byte{"app.pdb": pdb, "dll.zip": zipOf(packedFile{"app.dll", dll})} {
		got, err := d.AcceptSymbols(t.Context(), "build-12", name, bytes.NewReader(body))
		if err != nil || got.Files[0].Group != "build-12" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	var wrong *leaks.FieldError
	for _, group := range []string{"a b", "ä", strings.Repeat("a", 65)} {
		if _, err := d.AcceptSymbols(t.Context(), group, "app.pdb", bytes.NewReader(pdb)); !errors.As(err, &wrong) ||
			wrong.Field != "group" {
			t.Errorf("group %q: %v", group, err)
		}
	}
}

func TestSymbolsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	d := open(t)
	pdb, dll := build(t, 7)
	bomb := append([]byte("MZ"), make([]byte, 17<<20)...)
	cabinetBomb := cabinetOf(t, "bomb.dll", bomb)
	for _, test := range []struct {
		name string
		body []byte
		code string
	}{
		{"empty.pdb", nil, "empty-file"},
		{"a.txt", []byte("hello"), "not-symbols"},
		{"a.txt", []byte(log), "not-symbols"},
		{"a.txt.gz", gzipped([]byte("hello")), "not-symbols"},
		{"cut.pdb", pdb[:len(pdb)/2], "truncated"},
		{"cut.dll", dll[:300], "truncated"},
		{"old.pdb", []byte("Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00"), "pdb-2.00"},
		{"net.pdb", append([]byte("BSJB\x01\x00\x01\x00"), make([]byte, 100)...), "portable-pdb"},
		{"cut.zip", zipOf(packedFile{"app.pdb", pdb})[:500], "damaged-archive"},
		{"none.zip", zipOf(packedFile{"a.txt", []byte("x")}), "no-symbols"},
		{"empty.zip", zipOf(), "no-symbols"},
		{"two.cab", twoFiles(t), "unsupported-format"},
		{"cut.pd_", cabinetOf(t, "app.pdb", pdb)[:300], "damaged-archive"},
		{"bomb.dll.gz", gzipped(bomb), "archive-bomb"},
		{"bomb.dl_", cabinetBomb, "archive-bomb"},
		{"inner.zip", zipOf(packedFile{"app.pdb", pdb}, packedFile{"bomb.dl_", cabinetBomb}), "archive-bomb"},
	} {
		_, err := d.send(test.name, test.body)
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != test.code || refused.File == "" ||
			strings.HasPrefix(refused.Message, test.name) {
			t.Errorf("%s: %v, want the code %s", test.name, err, test.code)
		}
		if keys := d.keys(); len(keys) > 0 {
			t.Fatalf("%s leaves %v", test.name, keys)
		}
	}
}

func TestSymbolsTooLarge(t *testing.T) {
	d := open(t)
	pdb, _ := build(t, 7)
	d.MaxBytes = int64(len(pdb)) + 100
	for name, body := range map[string][]byte{
		"app.pdb": append(pdb, make([]byte, 101)...), "two.zip": zipOf(packedFile{"a.pdb", pdb}, packedFile{"b.pdb", pdb}),
		"app.pdb.gz": gzipped(append(pdb, make([]byte, 101)...)),
		"app.pd_":    cabinetOf(t, "app.pdb", append(pdb, make([]byte, 101)...)),
	} {
		if _, err := d.send(name, body); !errors.Is(err, intake.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if keys := d.keys(); len(keys) > 0 {
		t.Errorf("blobs are left: %v", keys)
	}
	d.must("app.zip", zipOf(packedFile{"a.pdb", pdb}))
}

// A compressed PDB goes by the name that it had before, wherever evidence asks for it.
func TestNamesOfACompressedPDB(t *testing.T) {
	d := open(t)
	pdb, _ := build(t, 7)
	if f := d.must("app.pd_", cabinetOf(t, "app.pd_", pdb)).Files[0]; f.Name != "app.pdb" || f.PDB != "app.pdb" {
		t.Errorf("%+v", f)
	}
}
