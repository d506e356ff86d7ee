package leaks

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// leftIn is a leak at exit of a file, listed in tests.
func leftIn(signature, module, file string, bytes int64, certain bool, tests ...string) compare.Finding {
	return compare.Finding{Signature: signature, Title: signature, Class: analysis.ClassLeftAtExit, Certain: certain,
		Blame:       &analysis.Blame{Module: module, File: file, Line: 7},
		Outstanding: analysis.Amount{Count: 2, Bytes: bytes}, Listed: []analysis.ListedLeak{{Tests: tests}}}
}

func reviewed() *compare.BuildResult {
	many := leftIn("e", "", "", 5, true, "A.1")
	many.Listed[0].MoreTests = 1
	known, grows, bare := leftIn("k", "", `c:\src\a.cpp`, 9, true), leftIn("g", "", "", 9, true), leftIn("f", "", "", 1, true)
	known.Known, grows.Class, bare.Blame, bare.Listed = "old", analysis.ClassGrowing, nil, nil
	return &compare.BuildResult{Findings: []compare.Finding{
		leftIn("a", "", `c:\src\a.cpp`, 10, true, "A.1"), leftIn("b", "", `c:\src\a.cpp`, 20, false, "A.2"),
		leftIn("c", "app.exe", `c:\src\b.cpp`, 40, true, "A.1", "A.2"), leftIn("d", "app.exe", "", 6, true), many, known, grows, bare}}
}

func sayGroups(groups []LeakGroup) string {
	var text strings.Builder
	for i := range groups {
		g := &groups[i]
		fmt.Fprintf(&text, "%s several=%t leaks=%d certain=%d possible=%d blocks=%d bytes=%d\n", placeOf(g.Module, g.File)+g.Test, g.Several, len(g.Leaks),
			g.Certain, g.Possible(), g.Held.Count, g.Held.Bytes)
	}
	return text.String()
}

// Each leak that nobody has accepted stands in one group by place and in one by test; what grows and what is known does
// not.
func TestReviewGroups(t *testing.T) {
	r := ReviewOf(reviewed())
	if got := fmt.Sprint(r.Signatures(), r.Known); got != "[c b a d e f] 1" {
		t.Error(got)
	}
	for _, test := range []struct {
		groups []LeakGroup
		want   string
	}{
		{r.ByPlace(), `app.exe · b.cpp several=false leaks=1 certain=1 possible=0 blocks=2 bytes=40
a.cpp several=false leaks=2 certain=1 possible=1 blocks=4 bytes=30
 several=false leaks=2 certain=2 possible=0 blocks=4 bytes=6
app.exe several=false leaks=1 certain=1 possible=0 blocks=2 bytes=6
`},
		{r.ByTest(), ` several=true leaks=2 certain=2 possible=0 blocks=4 bytes=45
A.2 several=false leaks=1 certain=0 possible=1 blocks=2 bytes=20
A.1 several=false leaks=1 certain=1 possible=0 blocks=2 bytes=10
 several=false leaks=2 certain=2 possible=0 blocks=4 bytes=7
`},
		{[]LeakGroup{r.Total()}, " several=false leaks=6 certain=5 possible=1 blocks=12 bytes=82\n"},
		{[]LeakGroup{(&Review{}).Total()}, " several=false leaks=0 certain=0 possible=0 blocks=0 bytes=0\n"},
	} {
		if got := sayGroups(test.groups); got != test.want {
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
	if l := r.Leaks[1]; l.Place() != "a.cpp" || l.Line != 7 || l.Tests[0] != "A.2" {
		t.Errorf("%+v", l)
	}
}

// A pattern leaves out leaks by module, file, test or signature. Leak e does not name all of its tests: it is left out
// where a pattern may name one of them.
func TestReviewWithout(t *testing.T) {
	r := ReviewOf(reviewed())
	for pattern, want := range map[string]string{
		"a.cpp": "[c d e f] [b a]", `C:\src\A.cpp`: "[c d e f] [b a]", `C:\src\*`: "[d f] [c b a e]",
		"App.exe": "[b a f] [c d e]",
		"A.2":     "[a d f] [c b e]", "A.*": "[d f] [c b a e]", "F": "[c b a d e] [f]", "": "[c b a d e f] []",
		"cpp": "[c b a d f] [e]", "a.cp?": "[c d f] [b a e]", "*": "[] [c b a d e f]",
	} {
		rest, left := r.Without([]string{"", pattern})
		if got := fmt.Sprint(rest.Signatures(), left.Signatures()); got != want || rest.Known != 1 || left.Known != 1 {
			t.Errorf("without %q: %s, want %s", pattern, got, want)
		}
	}
}

// A pattern that names no leak of the run is a mistake, unless nothing is left to accept.
func TestPatternsNamingNothing(t *testing.T) {
	r := ReviewOf(reviewed())
	for _, test := range []struct{ patterns, want string }{
		{"cahce.cpp a.cpp A.3 * f", "[cahce.cpp A.3]"}, {"a.cpp A.1 app.exe k", "[]"}, {"g", "[g]"}, {"", "[]"},
	} {
		if got := fmt.Sprint(r.NamingNothing(strings.Fields(test.patterns))); got != test.want {
			t.Errorf("%s: %s, want %s", test.patterns, got, test.want)
		}
	}
	if got := r.NamingNothing([]string{""}); len(got) != 1 {
		t.Errorf("the empty pattern names %d", 1-len(got))
	}
	side := reviewed()
	for i := range side.Findings {
		side.Findings[i].Known = "old"
	}
	r = ReviewOf(side)
	if got := r.NamingNothing([]string{"none"}); got != nil {
		t.Errorf("of known leaks alone: %v", got)
	}
}

// The sentence names how many are known, and what is left.
func TestReviewSentence(t *testing.T) {
	for want, r := range map[string]Review{
		"": {Leaks: make([]UnacceptedLeak, 2)},
		"500 known as of build 7. The gate is on new leaks.":                    {Known: 500},
		"1,480 known as of build 7, 20 not accepted. The gate is on new leaks.": {Known: 1480, Leaks: make([]UnacceptedLeak, 20)},
	} {
		if got := r.Sentence("7"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
