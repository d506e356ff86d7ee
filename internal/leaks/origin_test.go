package leaks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

func TestOrigin(t *testing.T) {
	lines := leaks.NewBuildLines(lined("m0 m1 m2 m3 m4 m5 m6 x7 x8"), "")
	for _, test := range []struct {
		history string
		branch  string
		head    int
		marks   leaks.MarkedBuilds
		want    string
		says    string
	}{
		{"1C 2L", "main", 2, unmarked, "m1..m2", "appeared between builds m1 and m2"},
		{"1C 2G 3L", "main", 3, unmarked, "m1..m2", "appeared between builds m1 and m2"},
		{"1C 2L 3L", "main", 3, failedIn(2), "m1..m2 told m2", "appeared between builds m1 and m2; build m2 failed for it; no owner"},
		{"1C 2L", "main", 2, failedIn(2), "m1..m2", "appeared between builds m1 and m2"}, // by this very build
		{"1C 2L", "main", 2, owned, "m1..m2 owned", "appeared between builds m1 and m2"},
		{"2L", "main", 2, since(1), "..m2", "appeared in build m2 or before"},
		{"1L 2L", "main", 2, since(1), "found ..m1", ""},
		{"1L 2C 3L", "main", 3, unmarked, "regressed m2..m3", "came back between builds m2 and m3"},
		{"1L 2C 3L", "main", 3, owned, "regressed m2..m3", "came back between builds m2 and m3"}, // that was said before the fix
		{"1C 2L", "main", 1, unmarked, "..m1", "appeared in build m1 or before"},                 // what comes later is not known
		{"1C 2L 7L", "x", 7, unmarked, "found at m6 m1..m2", ""},
		{"5C 6L 7L", "x", 7, unmarked, "found at m6 m5..m6", ""}, // in the build of the fork
		{"1C 7L", "x", 7, unmarked, "m1..x7", "appeared between builds m1 and x7"},
		{"1L 2C 3L", "main", 3, owned, "regressed m2..m3 owned", "came back between builds m2 and m3"}, // by its first run
	} {
		line := lines.Of(test.branch)
		past := leaks.PastLine{BuildLine: line, HeadIndex: test.head, ScenarioID: 1, Sightings: sightings(t, test.history), Marks: test.marks,
			FailedHere: strings.HasSuffix(test.want, " owned"), Name: lines.BuildName}
		o := past.Origin()
		got := ""
		for _, word := range []struct {
			is   bool
			text string
		}{{o.Regressed, "regressed "}, {o.Found, "found "}, {o.Fork != "", "at " + o.Fork + " "}} {
			if word.is {
				got += word.text
			}
		}
		got += o.After + ".." + o.Since
		if o.FailedIn != "" {
			got += " told " + o.FailedIn
		}
		if o.Owned {
			got += " owned"
		}
		if got != test.want || test.says != "" && o.Text() != test.says {
			t.Errorf("%q at %d of %s: %s, %q; want %s, %q", test.history, test.head, test.branch, got, o.Text(), test.want, test.says)
		}
	}
}

// Whoever took the leak after a newer build failed for it has taken it in an older build, too, whose run comes late.
func TestOriginOfALateRun(t *testing.T) {
	lines := leaks.NewBuildLines(lined("m0 m1 m2 m3 m4"), "")
	for told, want := range map[int]bool{1: false, 3: false, 4: true} { // before the fix, in the build itself, and behind it
		marks := owned
		marks.FailedIn = []int{told}
		past := leaks.PastLine{BuildLine: lines.Of("main"), HeadIndex: 3, ScenarioID: 1, Sightings: sightings(t, "1L 2C 3L 4L"), Marks: marks,
			Name: lines.BuildName}
		if o := past.Origin(); o.Owned != want || !o.Regressed {
			t.Errorf("told in %d: %+v", told, o)
		}
	}
}

// gateOn decides on findings with their origins, where what is new fails.
func gateOn(again leaks.RepeatPolicy, first bool, origins map[string]leaks.Origin, head ...compare.Finding) leaks.Decision {
	return leaks.Decide(&leaks.GateCase{Policy: &leaks.Policy{FailOn: []leaks.FailOn{leaks.FailOnNew}, Repeat: again}, Version: 1,
		Suffices: true, FirstBuild: first, Origins: origins, Head: &compare.BuildResult{Build: "7", Findings: head}})
}

func TestAgain(t *testing.T) {
	came := leaks.Origin{After: "5", Since: "6"}
	told, owned, both := came, came, came
	told.FailedIn, owned.Owned, both.FailedIn, both.Owned, both.Owner = "6", true, "6", true, "ann"
	for _, test := range []struct {
		name   string
		again  leaks.RepeatPolicy
		origin leaks.Origin
		gate   leaks.Gate
		why    string
	}{
		{"it came in", "", came, leaks.GateFailed, "1 new leak"},
		{"nobody has taken it", leaks.FailUntilOwned, told, leaks.GateFailed, "1 new leak"},
		{"somebody has", leaks.FailUntilOwned, both, leaks.GatePassed, "no leak is new; 1 reported before"},
		{"before a build failed", leaks.FailUntilOwned, owned, leaks.GatePassed, "no leak is new; 1 with an owner"},
		{"always", leaks.FailUntilFixed, both, leaks.GateFailed, "1 new leak"},
		{"once", leaks.FailOnce, came, leaks.GateFailed, "1 new leak"},
		{"once, and it was told", leaks.FailOnce, told, leaks.GatePassed, "no leak is new; 1 reported before"},
		{"it was there", "", leaks.Origin{Found: true, Since: "1"}, leaks.GatePassed, "no leak is new; 1 from the first build"},
	} {
		got := gateOn(test.again, false, map[string]leaks.Origin{"sure": test.origin}, sure)
		if got.Gate != test.gate || got.Why != test.why {
			t.Errorf("%s: %s because %q, want %s because %q", test.name, got.Gate, got.Why, test.gate, test.why)
		}
	}
	first := gateOn("", true, map[string]leaks.Origin{"sure": {Found: true, Since: "7"}}, sure)
	if first.Gate != leaks.GateInconclusive || !strings.HasPrefix(first.Why, "this is the first build of the scenario") {
		t.Errorf("the first build: %s because %q", first.Gate, first.Why)
	}
}

// Doubt belongs to places: what is silenced makes none, and hides none.
func TestDoubtBelongsToPlaces(t *testing.T) {
	new7 := leaks.Origin{After: "6", Since: "7"}
	doubtful := compare.Finding{Signature: "doubtful", Class: grows, Score: new(0.4),
		Onset: &score.Onset{Before: 5, Since: 1, Factor: 4, Probability: 0.8, Doubtful: true}}
	settled := compare.Finding{Signature: "settled", Class: leak, Score: new(0.8),
		Onset: &score.Onset{Before: 2, Since: 1, Factor: 1.1}}
	unsettled := settled
	unsettled.Signature, unsettled.Onset = "unsettled", &score.Onset{Before: 1, Since: 1, Factor: 1.1}
	origins := map[string]leaks.Origin{"doubtful": new7, "settled": new7, "unsettled": new7, "unsure": new7, "immaterial": new7}
	for _, test := range []struct {
		name string
		head []compare.Finding
		gate leaks.Gate
		why  string
	}{
		{"a doubtful one", []compare.Finding{doubtful}, leaks.GateInconclusive, "doubtful could be a new leak (80 %)"},
		{"beside a tolerated one", []compare.Finding{doubtful, known}, leaks.GateInconclusive, "doubtful could be a new leak (80 %)"},
		{"a tolerated one that is not certain", []compare.Finding{knownUnsure}, leaks.GatePassed, "every leak is known"},
		{"as in two runs before", []compare.Finding{settled}, leaks.GatePassed,
			"no leak is new; 1 growing site, as in earlier runs or too small to judge"},
		{"less than matters, with no run before", []compare.Finding{immaterial}, leaks.GatePassed,
			"no leak is new; 1 growing site, as in earlier runs or too small to judge"},
		{"as in one run before", []compare.Finding{unsettled}, leaks.GateInconclusive, "unsettled could be a new leak (80 %)"},
		{"with no run before", []compare.Finding{unsure}, leaks.GateInconclusive, "unsure could be a new leak"},
	} {
		got := gateOn("", false, origins, test.head...)
		if got.Gate != test.gate || got.Why != test.why || got.Rerun != (test.gate == leaks.GateInconclusive) ||
			len(got.Undecided) > 0 != got.Rerun {
			t.Errorf("%s: %s because %q, rerun %v, %+v", test.name, got.Gate, got.Why, got.Rerun, got.Undecided)
		}
	}
	text, err := json.Marshal(gateOn("", false, origins, doubtful))
	if want := `"undecided":[{"signature":"doubtful","change":"new","probability":0.8,"bytes":0,"unit":""}],"rerun":true`; err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("%s %v", text, err)
	}
}

// Where symbols are missing, all leaks of a build seem to be new: that is a doubt, which no further run decides.
func TestNewWithoutSymbols(t *testing.T) {
	sure, doubtful := framed(sure, "app!Serve", "shop!<unknown>+0x1010@0x6000"), framed(unsure, "shop!<unknown>+0x2020@0x6000")
	new7, older := leaks.Origin{After: "6", Since: "7"}, leaks.Origin{After: "5", Since: "6"}
	for _, test := range []struct {
		name   string
		origin leaks.Origin
		head   []compare.Finding
		gate   leaks.Gate
		why    string
	}{
		{"a leak", new7, []compare.Finding{sure}, leaks.GateInconclusive,
			"no symbols for shop, so it is unknown whether 1 leak is new; push the symbols of build 7"},
		{"and one that is not certain", new7, []compare.Finding{sure, doubtful}, leaks.GateInconclusive,
			"no symbols for shop, so it is unknown whether 2 leaks are new; push the symbols of build 7"},
		{"an older build has the same address", older, []compare.Finding{sure}, leaks.GateFailed, "1 new leak"},
		{"it was there", leaks.Origin{Found: true, Since: "1"}, []compare.Finding{sure}, leaks.GatePassed,
			"no leak is new; 1 from the first build"},
		{"a frame that is not part of the name", new7, []compare.Finding{framed(sure, "app!Serve")}, leaks.GateFailed, "1 new leak"},
	} {
		got := gateOn("", false, map[string]leaks.Origin{"sure": test.origin, "unsure": test.origin}, test.head...)
		undecided := 0
		if test.gate == leaks.GateInconclusive {
			undecided = len(test.head)
		}
		if got.Gate != test.gate || got.Why != test.why || got.Rerun || len(got.Undecided) != undecided {
			t.Errorf("%s: %s because %q, rerun %v, %+v", test.name, got.Gate, got.Why, got.Rerun, got.Undecided)
		}
	}
}

func ExampleLineState_Text() {
	for _, line := range []leaks.LineState{
		{Branch: "main", State: leaks.StateNew, After: "13", Since: "14"},
		{Branch: "release/2.0", State: leaks.StateFixed, FixedIn: "9"},
	} {
		fmt.Printf("%s: %s\n", line.Branch, line.Text())
	}
	fmt.Println((&leaks.CleanBound{Unit: "hour", BlocksPerUnit: 3, BytesPerUnit: 2048}).Text())
	// Output:
	// main: open, appeared between 13 and 14
	// release/2.0: fixed in 9
	// less than 2.00 KB/hour (with 90 % probability)
}
