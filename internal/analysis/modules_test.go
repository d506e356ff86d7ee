package analysis_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// Memory with only the name of the nearest export is still at stake; memory with a name from symbols is not. The report
// says which symbols belong to other builds, which are not proven, and which would help most.
func TestWhatSymbolsLeaveAtStake(t *testing.T) {
	c := app.snapshot(row{id: 1, stack: app.in(-0x10, 0x1005), count: 2, bytes: 100},
		row{id: 2, stack: app.in(-0x20, 0x2005), count: 3, bytes: 1000})
	named := func(module int, function string, kind capture.SymbolKind, rvas ...uint32) capture.Image {
		i := capture.Image{ImageID: c.Modules[module].ImageID(), Symbols: kind, PDB: "some.pdb", Match: "a match",
			Tried: []capture.Attempt{{Place: "p", Result: "found"}}}
		for _, rva := range rvas {
			i.Add(rva, capture.NamedFrame{Function: function, Offset: uint64(rva), Approx: kind == capture.SymbolsExport})
		}
		return i
	}
	for name, test := range map[string]struct {
		app       capture.Image
		kind      capture.SymbolKind
		unnamed   int64
		stake     analysis.Amount
		mismatch  bool
		warnings  string
		sentences []string
	}{
		"private": {named(0, "Grow", capture.SymbolsPrivate, 0x1005, 0x2005), capture.SymbolsPrivate, 0, analysis.Amount{},
			false, "no-image-info", []string{"app.exe"}},
		"one left": {named(0, "Grow", capture.SymbolsPublic, 0x1005), capture.SymbolsPublic, 1,
			analysis.Amount{Count: 3, Bytes: 1000}, false, "no-symbols no-image-info", nil},
		"exports": {named(0, "Grow", capture.SymbolsExport, 0x1005, 0x2005), capture.SymbolsExport, 0,
			analysis.Amount{Count: 5, Bytes: 1100}, false, "no-image-info", nil},
		"mismatch": {named(0, "Grow", capture.SymbolsMismatch), capture.SymbolsNone, 2,
			analysis.Amount{Count: 5, Bytes: 1100}, true, "no-symbols symbol-mismatch",
			[]string{"Wanted: some.pdb of app.exe (image size 65,536 bytes).", "app.exe: a match"}},
	} {
		library := named(1, "RtlAllocateHeap", capture.SymbolsPublic, 0x10, 0x20)
		library.Proven = true
		names := &capture.Names{Images: []capture.Image{test.app, library}}
		names.Sort()
		r, err := analysis.Analyze(t.Context(), inputs(c), analysis.Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Modules[0]
		if m.Symbols != test.kind || m.Frames != 2 || m.Unnamed != test.unnamed || m.UnnamedHeld != test.stake ||
			m.Mismatch != test.mismatch || m.Match != "a match" || len(m.Tried) != 1 {
			t.Errorf("%s: %+v", name, m)
		}
		if l := r.Modules[1]; l.Unnamed != 0 || l.UnnamedHeld.Bytes != 0 || l.Unproven {
			t.Errorf("%s: the library is %+v", name, l)
		}
		var codes, said []string
		for _, w := range r.Warnings {
			codes, said = append(codes, string(w.Code)), append(said, w.Message)
		}
		if got := strings.Join(codes, " "); got != test.warnings {
			t.Errorf("%s: warnings %q, want %q", name, got, test.warnings)
		}
		for _, s := range test.sentences {
			if !strings.Contains(strings.Join(said, "\n"), s) {
				t.Errorf("%s: %q lacks %q", name, said, s)
			}
		}
	}
}

// What is matched by name and size only is said of those modules; the evidence may tell the ids of others.
func TestUnprovenModules(t *testing.T) {
	c := app.snapshot(row{id: 1, stack: app.in(-0x10, 0x1005), count: 2, bytes: 100})
	for proven, want := range map[bool]string{
		true:  "app.exe: symbols matched by name and image size only (the evidence has no PDB id).",
		false: "app.exe, ntdll.dll: symbols matched by name and image size only (the evidence has no PDB ids).",
	} {
		program := capture.Image{ImageID: c.Modules[0].ImageID(), Symbols: capture.SymbolsPublic}
		program.Add(0x1005, capture.NamedFrame{Function: "Grow"})
		library := capture.Image{ImageID: c.Modules[1].ImageID(), Symbols: capture.SymbolsPublic, Proven: proven}
		library.Add(0x10, capture.NamedFrame{Function: "RtlAllocateHeap"})
		names := &capture.Names{Images: []capture.Image{program, library}}
		names.Sort()
		r, err := analysis.Analyze(t.Context(), inputs(c), analysis.Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != capture.NoImageInfo || r.Warnings[0].Message != want {
			t.Errorf("%+v, want %q", r.Warnings, want)
		}
	}
}

// A module says which symbols it lacks by what the evidence tells of it.
func TestWanted(t *testing.T) {
	for want, m := range map[string]analysis.Module{
		"app.pdb A838B346301E555A176DC1EBC5F8618B1":     {Name: "app.exe", PDB: "app.pdb", DebugID: "A838B346301E555A176DC1EBC5F8618B1", Size: 4096},
		"app.pdb of app.exe (image size 65,536 bytes)":  {Name: "app.exe", Size: 65536},
		"other.pdb of app.exe (image size 4,096 bytes)": {Name: "app.exe", PDB: "other.pdb", Size: 4096},
		"ntdll.pdb of ntdll":                            {Name: "ntdll"},
		"app.pdb of app.exe":                            {Name: "app.exe", DebugID: "A838B346301E555A176DC1EBC5F8618B1"},
	} {
		if got := m.MissingSymbolsText(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
