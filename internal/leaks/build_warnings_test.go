package leaks_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/leaks"
)

func TestBuildWarnings(t *testing.T) {
	for _, test := range []struct {
		facts leaks.BuildFacts
		want  string
	}{
		{leaks.BuildFacts{Build: "7", Branch: "main", Commit: "b", Sequence: new(int64(14))}, "[]"},
		{leaks.BuildFacts{Build: "7", Branch: "main", Commit: "b", FormerCommit: "b"}, "[]"},
		{leaks.BuildFacts{Build: "7"},
			`[{no-branch Build 7 has no branch. Name it: --branch of push, or heapdrift builds set "7" --branch NAME.}]`},
		{leaks.BuildFacts{Build: "7", Branch: "main", Commit: "b", FormerCommit: "a"},
			"[{commit-replaced Build 7 was uploaded with commit a before; commit b replaces it.}]"},
		{leaks.BuildFacts{Build: "7", Branch: "main", Sequence: new(int64(14)), SameSequence: []string{"6"}},
			`[{same-sequence Build 6 has sequence 14 too: their names decide which of them is older. Correct one: heapdrift builds set "7" --sequence N.}]`},
	} {
		if got := fmt.Sprint(test.facts.Warnings()); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	all := leaks.BuildFacts{Build: "7", Commit: "b", FormerCommit: "a", Sequence: new(int64(1)), SameSequence: []string{"5", "6"}}
	if got := all.Warnings(); len(got) != 4 || got[0].Code != leaks.WarnCommit || got[3].Code != leaks.WarnBranch {
		t.Errorf("%+v", got)
	}
}
