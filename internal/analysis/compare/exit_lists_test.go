package compare_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A leak at exit is gone by a list of its tool and of its test or program, and one in held memory by a caller that ran.
func TestWhyGoneByTheSameSort(t *testing.T) {
	frames := []string{"app!Add", "app!Serve", "app!main"}
	caller := analysis.Finding{Signature: "B", Sites: 1, Frames: []string{"app!Other", "app!Serve", "app!main"},
		ByKind: []analysis.KindResult{{Kind: "umdh-snapshot"}}}
	listed := caller
	listed.ByKind = []analysis.KindResult{{Kind: "vld"}}
	listed.LeftAtExit = &analysis.LeftAtExit{Tools: []string{"vld"}, Tests: []string{"T"}}
	both := listed
	both.ByKind = append(both.ByKind, caller.ByKind...)
	lists := func(tool string, tests, programs []string) []analysis.ExitLists {
		return []analysis.ExitLists{{Tool: tool, Tests: tests, Programs: programs}}
	}
	inT := []analysis.ListedLeak{{Tools: []string{"vld"}, Tests: []string{"S", "T"}}}
	ofApp := []analysis.ListedLeak{{Tools: []string{"crt-leaks", "vld"}, Programs: []string{"app.exe"}}}
	two := []analysis.ListedLeak{{Tools: []string{"vld"}, Programs: []string{"app.exe"}}, {Tools: []string{"sanitizer"}, Tests: []string{"T"}}}
	for name, test := range map[string]struct {
		lists   []analysis.ExitLists
		finding analysis.Finding
		by      compare.ShownBy
		gone    bool
	}{
		"the list of its test":             {lists("vld", []string{"T", "U"}, nil), listed, compare.ShownBy{Listed: inT}, true},
		"of another test":                  {lists("vld", []string{"U"}, nil), listed, compare.ShownBy{Listed: inT}, false},
		"of another tool":                  {lists("drmemory", []string{"T"}, nil), listed, compare.ShownBy{Listed: inT}, false},
		"outside of tests":                 {lists("vld", nil, []string{"T"}), listed, compare.ShownBy{Listed: inT}, false},
		"of its program":                   {lists("vld", nil, []string{"app.exe"}), listed, compare.ShownBy{Listed: ofApp}, true},
		"of another program":               {lists("vld", []string{"app.exe"}, []string{"b.exe"}), listed, compare.ShownBy{Listed: ofApp}, false},
		"of the program by the other tool": {lists("sanitizer", nil, []string{"app.exe"}), listed, compare.ShownBy{Listed: two}, false},
		"in the test by the other tool":    {lists("vld", []string{"T"}, nil), listed, compare.ShownBy{Listed: two}, false},
		"in the test by its tool":          {lists("sanitizer", []string{"T"}, nil), listed, compare.ShownBy{Listed: two}, true},
		"snapshots with its callers":       {nil, caller, compare.ShownBy{Listed: inT}, false},
		"held, and callers in snapshots":   {nil, caller, compare.ShownBy{Held: true}, true},
		"held, and callers in a list":      {lists("vld", []string{"T"}, nil), listed, compare.ShownBy{Held: true}, false},
		"held, and callers in both":        {lists("vld", []string{"T"}, nil), both, compare.ShownBy{Held: true}, true},
		"held and listed, and its list":    {lists("vld", []string{"T"}, nil), listed, compare.ShownBy{Held: true, Listed: inT}, true},
		"held and listed, and its callers": {nil, caller, compare.ShownBy{Held: true, Listed: inT}, true},
	} {
		r := &analysis.Report{ExitLists: test.lists, ListsExit: test.lists != nil, Findings: []analysis.Finding{test.finding}}
		if got := compare.CountFrames(r).WhyGone(frames, test.by); (got != nil) != test.gone {
			t.Errorf("%s: %+v", name, got)
		}
	}
	few := &analysis.Report{ExitLists: lists("vld", []string{"T"}, nil), Findings: []analysis.Finding{both},
		Verdict: analysis.EvidenceVerdict{SnapshotsMissing: 2}}
	seen := compare.CountFrames(few)
	if seen.WhyGone(frames, compare.ShownBy{Held: true}) != nil || seen.WhyGone(frames, compare.ShownBy{Listed: inT}) == nil {
		t.Error("too few snapshots beside a whole list prove nothing, and the list does")
	}
}

// Whether a leak at exit is new, a baseline without a list of its tool does not tell.
func TestCompareWithoutAListOfTheTool(t *testing.T) {
	left := analysis.Finding{Signature: "A", Verdict: analysis.ClassLeftAtExit, Certain: true, Sites: 1, Frames: []string{"app!Add"},
		ByKind:     []analysis.KindResult{{Kind: "vld", Verdict: analysis.ClassLeftAtExit}},
		LeftAtExit: &analysis.LeftAtExit{Tools: []string{"vld"}, Tests: []string{"T"}}}
	held := left
	held.Verdict, held.Certain, held.LeftAtExit, held.ByKind = analysis.ClassStable, false, nil, []analysis.KindResult{{Kind: "umdh-snapshot"}}
	vld := []analysis.ExitLists{{Tool: "vld", Tests: []string{"U"}}}
	head := compare.ResultOf("2", &analysis.Report{ListsExit: true, ExitLists: []analysis.ExitLists{{Tool: "vld", Tests: []string{"T"}}},
		Findings: []analysis.Finding{left}})
	for name, test := range map[string]struct {
		base    analysis.Report
		unknown bool
		back    compare.Change // from the head to the base, as a newer build
	}{
		"nothing of it":                 {analysis.Report{}, true, compare.ChangeNotExercised},
		"held there":                    {analysis.Report{Findings: []analysis.Finding{held}}, true, compare.ChangeNotExercised},
		"a list of the tool":            {analysis.Report{ExitLists: vld}, false, compare.ChangeNotExercised},
		"a list of the tool, held":      {analysis.Report{ExitLists: vld, Findings: []analysis.Finding{held}}, false, compare.ChangeNotExercised},
		"a list of the test, held":      {analysis.Report{ExitLists: []analysis.ExitLists{{Tool: "vld", Tests: []string{"T"}}}, Findings: []analysis.Finding{held}}, false, compare.ChangeFixed},
		"a list of the test without it": {analysis.Report{ExitLists: []analysis.ExitLists{{Tool: "vld", Tests: []string{"T"}}}}, false, compare.ChangeFixed},
	} {
		base := compare.ResultOf("1", &test.base)
		if r := compare.Compare(base, head).Rows; len(r) != 1 || r[0].Change != compare.ChangeNew || r[0].Unknown != test.unknown {
			t.Errorf("%s: %+v", name, r)
		}
		if r := compare.Compare(head, base).Rows; len(r) != 1 || r[0].Change != test.back {
			t.Errorf("%s, back: %+v", name, r)
		}
	}
}
