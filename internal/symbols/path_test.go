package symbols

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/symsrv"
)

// A symbol path finds files by id and by name; a file that cannot be read is reported and does not hide others.
func TestPathLibrary(t *testing.T) {
	root := t.TempDir()
	pdb := pdbOf(t, till(1, 0, false))
	write := func(path string, data []byte) {
		t.Helper()
		full := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const id = "010000000000000000000000000000001"
	write("store/till.pdb/"+id+"/till.pdb", pdb)
	write("plain/Till.pdb", pdbOf(t, till(2, 5, false)))
	write("plain/dll/till.pdb", []byte("not a PDB"))
	write("plain/till.exe", imageOf(t, till(1, 0, false), "till.pdb"))
	path, err := symsrv.Parse(root+"/plain;srv*"+root+"/store", symsrv.Options{Check: CheckFile})
	if err != nil {
		t.Fatal(err)
	}
	lib := PathLibrary{Path: path}
	f, tried, err := lib.Find(t.Context(), Want{Name: "till.pdb", DebugID: id})
	if err != nil || f == nil || f.DebugID != id || f.Symbols != capture.SymbolsPrivate || len(tried) < 2 {
		t.Errorf("%+v, %+v, %v", f, tried, err)
	}
	if f, _, err := lib.Find(t.Context(), Want{Name: "till.pdb", DebugID: "FF" + id[2:]}); f != nil || err != nil {
		t.Errorf("found %+v, %v", f, err)
	}
	files, tried, err := lib.FindByName(t.Context(), []string{"till.pdb", "till.exe", "other.pdb"})
	var places []string
	for _, f := range files {
		rel, err := filepath.Rel(root, f.Place)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, filepath.ToSlash(rel)+" "+string(f.Kind))
	}
	if got, want := strings.Join(places, ", "), "plain/Till.pdb pdb, store/till.pdb/"+id+
		"/till.pdb pdb, plain/till.exe image"; got != want || err != nil {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	results := map[string]string{}
	for _, a := range tried {
		results[filepath.Base(a.Place)] = a.Result
	}
	if results["till.pdb"] != ResultFailed || results["other.pdb"] != ResultNotFound {
		t.Errorf("%+v", tried)
	}
	got := resolve(t, Resolver{Library: lib}, running(tillReturns, tillModule("")))
	if got.UsedDebugID != id || !got.Proven {
		t.Errorf("used %s: %s", got.UsedDebugID, got.Match)
	}
}
