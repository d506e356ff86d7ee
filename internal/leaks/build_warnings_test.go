package leaks_test

import (
	"fmt"
	"strings"
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
	if got := all.Warnings(); len(got) != 4 || got[0].Code != leaks.WarnCommitReplaced || got[3].Code != leaks.WarnNoBranch {
		t.Errorf("%+v", got)
	}
}

func TestLackBranches(t *testing.T) {
	for builds, want := range map[string]string{
		"":                    "",
		"1 2":                 "",
		"1:main 2:x":          "",
		"1 2:main":            "Build 1 has no branch and counts as a build of the default branch. Name its branch:",
		"1 2 3 4:main":        "Builds 1–3 have no branch and count as builds of the default branch. Name their branch:",
		"1 2:main 3 4 5:x":    "Builds 1 and 3–4 have no branch",
		"1 2:m 3 4:m 5":       "Builds 1, 3 and 5 have no branch",
		"1 2:m 3 4:m 5 6:m 7": "Builds 1, 3, 5 and others have no branch",
	} {
		var list []leaks.BuildBranch
		for word := range strings.FieldsSeq(builds) {
			name, branch, _ := strings.Cut(word, ":")
			list = append(list, leaks.BuildBranch{Name: name, Branch: branch})
		}
		if got := leaks.MissingBranchesText(list); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", builds, got, want)
		}
	}
}
