package store

import "testing"

// A file takes the place of another where it says more. Where both say as much, one of the team takes that of a
// server's, and that of another one of the team.
func TestReplaces(t *testing.T) {
	const team, server = OriginUpload, "server"
	for _, test := range []struct {
		symbols, origin, sum          string
		oldSymbols, oldOrigin, oldSum string
		want                          bool
	}{
		{"private", server, "b", "public", team, "a", true}, {"public", team, "b", "private", server, "a", false},
		{"export", server, "b", "none", team, "a", true}, {"public", server, "b", "export", team, "a", true},
		{"public", team, "b", "public", server, "a", true}, {"public", server, "b", "public", team, "a", false},
		{"public", team, "b", "public", team, "a", true}, {"public", team, "a", "public", team, "a", false},
		{"public", team, "a", "public", server, "a", true}, {"public", server, "b", "public", server, "a", false},
	} {
		f := &SymbolFile{Symbols: test.symbols, Origin: test.origin, SHA256: test.sum}
		if got := f.replaces(&SymbolFile{Symbols: test.oldSymbols, Origin: test.oldOrigin, SHA256: test.oldSum}); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
