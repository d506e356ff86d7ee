package leaks_test

import (
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

// candidate reads a build such as "7@dev run decides": its sequence, its branch (of the same line if none is named),
// and its properties: pinned, chosen, run, decides. The name of the build is its sequence. Sequence 0 stands for a
// build that declared none.
func candidate(t *testing.T, text string) leaks.BaselineCandidate {
	t.Helper()
	words := strings.Fields(text)
	name, _, another := strings.Cut(words[0], "@")
	sequence, ok := leaks.SequenceOfName(name)
	if !ok {
		t.Fatalf("%q is no candidate", text)
	}
	b := leaks.Build{Name: name, Sequence: &sequence}
	if sequence == 0 {
		b.Sequence = nil
	}
	c := leaks.BaselineCandidate{Name: name, Rank: leaks.RankBuilds([]leaks.Build{b})[0], OnLine: !another}
	for _, word := range words[1:] {
		switch word {
		case "pinned":
			c.Pinned = true
		case "chosen":
			c.Chosen = true
		case "run":
			c.HasRun = true
		case "decides":
			c.Decides = true
		default:
			t.Fatalf("%q is no candidate", text)
		}
	}
	return c
}

func candidates(t *testing.T, texts []string) (list []leaks.BaselineCandidate) {
	t.Helper()
	for _, text := range texts {
		list = append(list, candidate(t, text))
	}
	return list
}

func TestBaseline(t *testing.T) {
	for _, test := range []struct {
		name       string
		head       string
		candidates []string
		want       string
	}{
		{"nothing", "5 run", nil, ""},
		{"older", "5", []string{"4 run decides"}, "4"},
		{"itself", "5", []string{"5 run decides"}, ""},
		{"newer", "5", []string{"6 run decides"}, ""},
		{"no result", "5", []string{"4 pinned chosen"}, ""},
		{"the newest of the older", "5", []string{"2 run decides", "4 run decides", "3 run decides", "6 run decides"}, "4"},
		{"another branch", "5", []string{"4@dev run decides"}, ""},
		{"another branch, pinned", "5", []string{"4@dev run decides pinned"}, "4"},
		{"another branch, chosen", "5", []string{"4@dev run decides chosen"}, "4"},
		{"one that decides", "5", []string{"3 run decides", "4 run"}, "3"},
		{"none decides", "5", []string{"3 run", "4 run"}, "4"},
		{"pinned before newer", "5", []string{"2 run decides pinned", "4 run decides"}, "2"},
		{"pinned, though it decides nothing", "5", []string{"2 run pinned", "4 run decides"}, "2"},
		{"of two pinned the newest", "5", []string{"2 run decides pinned", "3@dev run decides pinned", "4 run decides"}, "3"},
		{"of two pinned the one that decides", "5", []string{"2 run decides pinned", "3 run pinned"}, "2"},
		{"chosen before pinned", "5", []string{"1 run chosen", "2 run decides pinned", "4 run decides"}, "1"},
		{"chosen, and pinned besides", "5", []string{"1 run chosen pinned", "2 run decides pinned"}, "1"},
		{"chosen is newer", "5", []string{"6 run chosen pinned", "2 run decides pinned", "4 run decides"}, "2"},
		{"chosen is the head", "5", []string{"5 run chosen pinned", "4 run decides"}, "4"},
		{"chosen without a result", "5", []string{"3 chosen pinned", "4 run decides"}, "4"},
		{"one without a sequence is older", "5", []string{"0 run decides"}, "0"},
		{"and nothing with one is older than it", "0", []string{"4 run decides"}, ""},
	} {
		if got := leaks.ChooseBaseline(candidate(t, test.head), candidates(t, test.candidates)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNewest(t *testing.T) {
	for want, list := range map[string][]string{
		"":  {"4", "5 pinned chosen"},
		"3": {"1 run decides", "3@dev run", "2 run decides pinned", "4"},
		"0": {"0 run", "4"},
	} {
		if got := leaks.NewestWithResult(candidates(t, list)); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
	if got := leaks.NewestWithResult(nil); got != "" {
		t.Errorf("of no builds %q is the newest", got)
	}
}

// Drift is measured against the newest pinned build before a run's own that ran the scenario: never against the run's
// own build, nor against a build that is not pinned.
func TestRelease(t *testing.T) {
	for _, test := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"none", nil, ""},
		{"the one before", []string{"4 run pinned"}, "4"},
		{"itself", []string{"5 run pinned"}, ""},
		{"the one behind", []string{"6 run pinned"}, ""},
		{"no release", []string{"4 run decides chosen"}, ""},
		{"a build between", []string{"3 run pinned", "4 run decides"}, "3"},
		{"the newest", []string{"2 run pinned", "3@dev run pinned", "4 pinned"}, "3"},
	} {
		if got := leaks.NewestReleaseBefore(candidate(t, "5 run pinned"), candidates(t, test.candidates)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
