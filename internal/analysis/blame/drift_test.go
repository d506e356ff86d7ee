package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

func TestDrifts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, want string }{
		{"a frame left out", "app!a app!b app!c app!main", "app!a app!c app!main", "0>0 omitted"},
		{"a frame came", "app!a app!c app!main", "app!a app!b app!c app!main", "0>0 omitted"},
		{"the blame frame left out", "app!a app!b app!main", "app!b app!main", "0>0"},
		{"left out before the cut", "app!a app!b app!c app!d app!e", "app!a app!c app!d app!e app!f", "0>0 omitted"},
		{"one came and one went", "app!a app!b app!c app!main", "app!a app!x app!c app!main", "0>0"},
		{"a class renamed", "app!A::f app!main", "app!B::f app!main", "0>0"},
		{"a module renamed", "app!A::f app!A::g", "app2!A::f app2!A::g", "0>0"},
		{"two of each", "app!a app!b app!c app!main;app!a app!x app!y app!main", "app!a app!y app!main;app!a app!c app!main",
			"0>1 omitted;1>0 omitted"},
		{"split behind the cut", "app!a app!b app!c app!d app!e",
			"app!a app!c app!d app!e app!f;app!a app!c app!d app!e app!g", "0>0 omitted;0>1 omitted"},
		{"as like as another", "app!a app!x app!main;app!a app!y app!main", "app!a app!main", ""},
		{"another function", "app!a app!b app!main", "app!q app!r app!main", ""},
		{"another caller behind the cut", "app!a app!b app!c app!d app!e", "app!a app!b app!c app!x app!y", "0>0"},
		{"the root left out", "app!a app!b app!main", "app!a app!b", "0>0"},
		{"three left out", "app!a app!b app!c app!d app!e", "app!a app!e", "0>0"},
		{"no names", "app!<unknown>+0x1@1 app!<unknown>+0x2@1", "app!<unknown>+0x3@2 app!<unknown>+0x4@2", ""},
		{"no names, in a module of another name", "app!<unknown>+0x1@1 app!<unknown>+0x2@1",
			"app2!<unknown>+0x1@1 app2!<unknown>+0x2@1", ""},
		{"0.60 alike", "app!a app!b app!c app!d app!e", "app!a app!x app!b", "0>0"},
		{"0.55 alike", "app!a app!b app!c app!d app!e", "app!a app!x app!b app!y", ""},
		{"nothing", "", "", ""},
	} {
		var got []string
		for _, d := range blame.FindReplacements(signatures(c.from), signatures(c.to)) {
			text := fmt.Sprintf("%d>%d", d.From, d.To)
			if d.FrameOmitted {
				text += " omitted"
			}
			got = append(got, text)
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func signatures(text string) []blame.Signature {
	var list []blame.Signature
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, ";") {
		list = append(list, blame.Signature{Frames: strings.Fields(one)})
	}
	return list
}

// Signatures that the names they share do not tell apart are not paired; there may be many of them.
func TestDriftsOfMany(t *testing.T) {
	t.Parallel()
	var from, to []blame.Signature
	for i := range 1000 {
		from = append(from, blame.Signature{Frames: []string{"app!a", fmt.Sprintf("app!f%d", i), "app!main"}})
		to = append(to, blame.Signature{Frames: []string{"app!a", fmt.Sprintf("app!g%d", i), "app!main"}})
	}
	if drifts := blame.FindReplacements(from, to); len(drifts) != 0 {
		t.Errorf("%d pairs of what cannot be told apart", len(drifts))
	}
}
