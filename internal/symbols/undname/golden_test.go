package undname_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/internal/symbols/undname"
)

// invented are the names of testdata/names.txt.
func invented(t testing.TB) (names []string) {
	t.Helper()
	for _, text := range golden.Inputs(t, "testdata/names.txt") {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				names = append(names, line)
			}
		}
	}
	return names
}

func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range invented(t) {
		fmt.Fprintln(&b, name)
		for _, spelling := range []struct {
			what  string
			flags undname.Flags
		}{
			{"complete", undname.Complete},
			{"no keywords", undname.NoMSKeywords},
			{"name", undname.NameOnly},
			{"current", undname.CurrentGrammar},
		} {
			fmt.Fprintf(&b, "\t%-12s%q\n", spelling.what, undname.Undecorate(name, spelling.flags))
		}
		fmt.Fprintf(&b, "\t%-12s%q\n", "display", undname.Display(name, true))
	}
	golden.Check(t, "testdata/names.golden", b.String())
}
