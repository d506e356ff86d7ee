package leaks_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

// lined reads builds in their order, such as "m1 m2 x1@c7<c6,c5 x2^m1": m is main, r release, x a branch and n none;
// the commit stands behind @, its ancestors behind <, and a declared fork behind ^.
func lined(text string) []leaks.LineBuild {
	branches := map[byte]string{'m': "main", 'r': "release", 'x': "x", 'y': "y", 'n': ""}
	var list []leaks.LineBuild
	for at, word := range strings.Fields(text) {
		b := leaks.LineBuild{ID: int64(at + 1), Branch: branches[word[0]], Rank: leaks.LineRank(at)}
		word, b.Fork, _ = strings.Cut(word, "^")
		word, ancestors, _ := strings.Cut(word, "<")
		if ancestors != "" {
			b.Ancestors = strings.Split(ancestors, ",")
		}
		b.Name, b.Commit, _ = strings.Cut(word, "@")
		list = append(list, b)
	}
	return list
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, builds, chosen string
		branch, want         string // builds of the line of a branch, those of the parent before a bar
	}{
		{"one branch", "m1 m2 m3", "", "main", "m1 m2 m3"},
		{"the usual name is the default", "x1 m1 x2", "", "", "m1"},
		{"no branch is the default where none has a usual name", "x1 n1 n2", "", "", "n1 n2"},
		{"the branch of the oldest build is the default", "x1 y1 x2", "", "", "x1 x2"},
		{"a setting names the default", "m1 x1 m2", "x", "", "x1"},
		{"builds without a branch are of the default", "m1 n1 m2", "", "main", "m1 n1 m2"},
		{"it left before its first build", "m1 m2 x1 m3 x2", "", "x", "m1 m2 | x1 x2"},
		{"there was nothing before", "x1 m1 x2", "", "x", "x1 x2"},
		{"it says where", "m1 m2 m3 x1^m1", "", "x", "m1 | x1"},
		{"the newest build that says where", "m1 m2 x1^m1 x2^m2", "", "x", "m1 m2 | x1 x2"},
		{"it names no build", "m1 m2 x1^m9", "", "x", "m1 m2 | x1"},
		{"the nearest ancestor", "m1@aaaaaaa1 m2@aaaaaaa2 m3@aaaaaaa3 x1@bbbbbbb1<bbbbbbb1,aaaaaaa2,aaaaaaa1", "", "x", "m1 m2 | x1"},
		{"an ancestor that is cut short", "m1@aaaaaaa1bb m2@aaaaaaa2 x1<AAAAAAA1", "", "x", "m1 | x1"},
		{"six digits tell nothing", "m1@aaaaa1 m2@bbbbb2 x1<aaaaa1", "", "x", "m1 m2 | x1"},
		{"an ancestor on a release", "m1@aaaaaaa1 r1@ccccccc1 m2@aaaaaaa2 x1<ccccccc1,aaaaaaa1", "", "x", "m1 r1 | x1"},
		{"of one commit the default branch", "m1@aaaaaaa1 r1@aaaaaaa1 x1<aaaaaaa1", "", "x", "m1 | x1"},
		{"two that lead to each other", "x1^y1 y1^x1", "main", "x", "y1 | x1"},
	} {
		lines := leaks.NewBuildLines(lined(test.builds), test.chosen)
		line := lines.Of(test.branch)
		var words []string
		for at, id := range line.BuildIDs {
			if at > 0 && at == line.ForkIndex()+1 {
				words = append(words, "|")
			}
			words = append(words, lines.BuildName(id))
		}
		if got := strings.Join(words, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestPlacesOnALine(t *testing.T) {
	lines := leaks.NewBuildLines(lined("m1 m2 x1 m3"), "")
	x := lines.Of("x")
	if x.IndexOf(3) != 2 || x.IndexOf(4) != -1 || *x.IDAt(2) != 3 || x.IDAt(-1) != nil || fmt.Sprint(x.BuildIDsUpTo(2)) != "[1 2]" || len(x.BuildIDsUpTo(4)) != 0 ||
		x.Parent != "main" || x.ForkID != 2 || lines.OfBuild(3) != x || lines.OfBuild(9) != nil || lines.BuildName(9) != "" {
		t.Errorf("%+v", x)
	}
	var branches []string
	for _, line := range lines.All() {
		branches = append(branches, line.Branch)
	}
	if got := strings.Join(branches, " "); got != "main x" {
		t.Error(got)
	}
	if none := leaks.NewBuildLines(nil, ""); len(none.Of("main").BuildIDs) != 0 || len(none.All()) != 1 {
		t.Errorf("%+v", none)
	}
}
