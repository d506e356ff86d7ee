package store_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// Names are found in any case, even if the database's locale knows ASCII only.
func TestNamesBeyondASCII(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\Ärger.exe`, Size: 4096}, 64, asItIs)
	image := appPDB(func(f *store.SymbolFile) {
		f.Kind, f.Name, f.Key, f.Symbols, f.PDB = "image", "ÄRGER.EXE", "5F0000001000", "export", "kern.pdb"
	})
	if added := addFile(t, s, image); added.Runs != 1 {
		t.Errorf("the image renews %d runs", added.Runs)
	}
	name(t, s, claim(t, s), "names")
	r := report(t, snapshot(1, 0))
	r.Modules = []analysis.Module{{Name: "Ärger.exe", Size: 4096, Frames: 3, Unnamed: 2}}
	save(t, s, claim(t, s), r, "rep", input(t, s, run).Revision)
	if added := addFile(t, s, appPDB(func(f *store.SymbolFile) { f.Name = "kern.pdb" })); added.Runs != 1 {
		t.Errorf("the PDB that the image names renews %d runs", added.Runs)
	}
	if named := must[[]store.SymbolFile](t)(storetest.Now(t, s).ListSymbolFilesByName(t.Context(),
		[]string{"Ärger.exe"})); len(named) != 1 {
		t.Errorf("%d files go by the name", len(named))
	}
	if _, err := storetest.Now(t, s).FindSymbolFile(t.Context(), "ärger.EXE", "5f0000001000"); err != nil {
		t.Error(err)
	}
	if page, err := storetest.Now(t, s).ListSymbolFiles(t.Context(), store.SymbolQuery{Filter: "äRG",
		Limit: 1}); err != nil ||
		page.Total != 1 {
		t.Errorf("the filter finds %+v, %v", page, err)
	}
	if added := addFile(t, s, image); added.New {
		t.Error("the same again is new")
	}
}

// Evidence may name a module's PDB without an id, and by another name than the module's.
func TestPDBThatEvidenceNamesWithoutID(t *testing.T) {
	s, _ := open(t)
	withModule(t, s, target, capture.Module{Path: `C:\app.exe`, PDB: "Kern.pdb"}, 64, asItIs)
	for file, want := range map[string]int{"kern.PDB": 1, "kernel.pdb": 0} {
		if added := addFile(t, s, appPDB(func(f *store.SymbolFile) { f.Name = file })); added.Runs != want {
			t.Errorf("%s renews %d runs, want %d", file, added.Runs, want)
		}
	}
}

// A stripped PDB that the team uploads does not replace the whole one from a server, but makes the whole one the team's
// own.
func TestStrippedUploadMakesOwn(t *testing.T) {
	s, _ := open(t)
	addFile(t, s, appPDB(func(f *store.SymbolFile) { f.Origin, f.SHA256 = store.OriginServer, "whole" }))
	withModule(t, s, target, capture.Module{Path: `C:\app.exe`, DebugID: debugID}, 64,
		func(m *analysis.Module) { m.Symbols = capture.SymbolsPrivate })
	stripped := appPDB(func(f *store.SymbolFile) { f.Symbols, f.SHA256 = "public", "stripped" })
	if added := addFile(t, s, stripped); added.Origin != store.OriginUpload || added.SHA256 != "whole" ||
		added.Runs != 1 || added.New {
		t.Errorf("%+v", added)
	}
}
