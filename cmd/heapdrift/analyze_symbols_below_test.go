package main

import (
	"strings"
	"testing"

	"heapdrift/internal/corpus"
)

// The folder above those with the PDBs names as many frames as the folders themselves do.
func TestSymbolsBelowAFolder(t *testing.T) {
	symbolTruths(t, func(t *testing.T, files []string, _ int, _ symbolTruth) {
		if testing.Short() && !strings.Contains(t.Name(), "run1") {
			t.Skip("one run is enough for a short test")
		}
		want := analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, files...)...)
		got := analyzeJSON(t, append([]string{"--symbols", corpus.Path(t, "lab")}, files...)...)
		var named int64
		for i, m := range want.Modules {
			g := got.Modules[i]
			if g.Name != m.Name || g.Symbols != m.Symbols || g.Unnamed != m.Unnamed {
				t.Errorf("%s: %s, %d frames without a name; with its folder %s, %d", m.Name, g.Symbols, g.Unnamed, m.Symbols, m.Unnamed)
			}
			named += m.Frames - m.Unnamed
		}
		if named == 0 {
			t.Error("no frame has a name")
		}
	})
}
