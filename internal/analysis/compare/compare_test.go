package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// finding is a finding with a signature made of the blame frame and its callers.
func finding(class analysis.Class, frames ...string) compare.Finding {
	return compare.Finding{
		Signature: "sig1:" + strings.Join(frames, ";"), Kind: "heap", Title: frames[0], Frames: frames,
		Class: class, Allocated: -1,
		Outstanding: analysis.Amount{Count: 10, Bytes: 640}, Growth: &analysis.Amount{Count: 10, Bytes: 640},
	}
}

// at gives a finding a rate over ten hours.
func at(rate float64, f compare.Finding) compare.Finding {
	f.RateUnit, f.RateCount, f.RateBytes, f.Exposure = "hour", rate, 64*rate, 10
	return f
}

// burst makes the blocks of a finding come a hundred at a time.
func burst(f compare.Finding) compare.Finding {
	f.Dispersion = 100
	return f
}

// unbounded takes the interval of a finding's rate away.
func unbounded(f compare.Finding) compare.Finding {
	f.Unbounded = true
	return f
}

func side(build string, findings ...compare.Finding) *compare.BuildResult {
	shown := &analysis.Report{Verdict: analysis.EvidenceVerdict{Status: analysis.StatusNoLeak}}
	for _, f := range findings {
		shown.Findings = append(shown.Findings, analysis.Finding{Frames: f.Frames, Sites: 1})
	}
	return &compare.BuildResult{Build: build, Findings: findings, Seen: []compare.FrameCounts{compare.CountFrames(shown)}}
}

func changes(c *compare.Comparison) string {
	var list []string
	for i := range c.Rows {
		list = append(list, fmt.Sprintf("%s %s", c.Rows[i].Change, c.Rows[i].HeadOrBase().Title))
	}
	return strings.Join(list, ", ")
}

func TestCompare(t *testing.T) {
	const leak, growing, stable, cache = analysis.ClassLeak, analysis.ClassGrowing,
		analysis.ClassStable, analysis.ClassCache
	outlined := finding(leak, "app!Inlined", "app!Foo", "app!main")
	outlined.Outline = finding(leak, "app!Foo", "app!main").Signature
	another := finding(leak, "app!Another", "app!Foo", "app!main")
	another.Outline = outlined.Outline
	clean := outlined
	clean.Class = stable
	for _, test := range []struct {
		name       string
		base, head *compare.BuildResult
		want       string
	}{
		{"nothing", side("1"), side("2"), ""},
		{"only what is stable", side("1", finding(stable, "app!A")), side("2", finding(cache, "app!A")), ""},
		{"new", side("1"), side("2", finding(leak, "app!A")), "new app!A"},
		{"new where it was clean", side("1", finding(cache, "app!A")), side("2", finding(growing, "app!A")), "new app!A"},
		{"fixed: it is clean", side("1", finding(leak, "app!A")), side("2", finding(stable, "app!A")), "fixed app!A"},
		{"fixed: its caller ran", side("1", finding(leak, "app!A", "app!B", "app!main")),
			side("2", finding(stable, "app!C", "app!B", "app!main")), "fixed app!A"},
		{"not exercised", side("1", finding(leak, "app!A", "app!B", "app!main")),
			side("2", finding(stable, "app!C", "app!D", "app!main")), "not-exercised app!A"},
		{"main runs always", side("1", finding(leak, "app!A", "app!main")), side("2", finding(stable, "app!C", "app!main")),
			"not-exercised app!A"},
		{"what a thread begins with runs always", side("1", finding(leak, "app!A", "app!Worker")),
			side("2", finding(stable, "app!C", "app!Worker")), "not-exercised app!A"},
		{"its caller's caller has other branches", side("1", finding(leak, "app!A", "app!B", "app!C", "app!main")),
			side("2", finding(stable, "app!D", "app!C", "app!main")), "not-exercised app!A"},
		{"fixed: it ran for another caller", side("1", finding(leak, "app!A", "app!B", "app!main")),
			side("2", finding(stable, "app!A", "app!C", "app!main")), "fixed app!A"},
		{"not decided", side("1", finding(leak, "app!A")), side("2", finding(analysis.ClassUnknown, "app!A")),
			"not-exercised app!A"},
		{"persisting", side("1", finding(growing, "app!A")), side("2", finding(leak, "app!A")), "persisting app!A"},
		{"grown", side("1", at(10, finding(leak, "app!A"))), side("2", at(30, finding(leak, "app!A"))), "grown app!A"},
		{"shrunk", side("1", at(30, finding(leak, "app!A"))), side("2", at(10, finding(leak, "app!A"))), "shrunk app!A"},
		{"grown since too few snapshots", side("1", unbounded(at(10, finding(leak, "app!A")))),
			side("2", at(30, finding(leak, "app!A"))), "persisting app!A"},
		{"shrunk in too few snapshots", side("1", at(30, finding(leak, "app!A"))),
			side("2", unbounded(at(10, finding(leak, "app!A")))), "persisting app!A"},
		{"a little more is chance", side("1", at(10, finding(leak, "app!A"))), side("2", at(11, finding(leak, "app!A"))),
			"persisting app!A"},
		{"bursts are chance", side("1", burst(at(10, finding(leak, "app!A")))),
			side("2", burst(at(30, finding(leak, "app!A")))), "persisting app!A"},
		{"few blocks are chance", side("1", at(0.1, finding(leak, "app!A"))), side("2", at(0.3, finding(leak, "app!A"))),
			"persisting app!A"},
		{"evidence without inlined calls", side("1", finding(leak, "app!Foo", "app!main")), side("2", outlined),
			"persisting app!Inlined"},
		{"and the other way", side("1", outlined), side("2", finding(stable, "app!Foo", "app!main")), "fixed app!Foo"},
		{"several without inlined calls", side("1", at(30, finding(leak, "app!Foo", "app!main"))),
			side("2", at(10, outlined), at(20, another)), "persisting app!Another, persisting app!Inlined"},
		{"several with them", side("1", outlined, another), side("2", finding(leak, "app!Foo", "app!main")),
			"persisting app!Foo"},
		{"one of several is clean", side("1", finding(leak, "app!Foo", "app!main")), side("2", clean, another),
			"persisting app!Another"},
		{"new beside one that both have", side("1", finding(leak, "app!Foo", "app!main")),
			side("2", finding(leak, "app!Foo", "app!main"), outlined), "new app!Inlined, persisting app!Foo"},
		{"the worst first", side("1", finding(leak, "app!A"), finding(leak, "app!B"), finding(leak, "app!C", "app!X")),
			side("2", finding(stable, "app!A"), finding(leak, "app!B"), finding(leak, "app!N")),
			"new app!N, persisting app!B, fixed app!A, not-exercised app!C"},
	} {
		if got := changes(compare.Compare(test.base, test.head)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Absence and cleanness in a build that is not newer fix nothing: the leak may begin behind it.
func TestOlderHead(t *testing.T) {
	const older = "not in the evidence of build 1; only builds after 2, which leaked first, can show a fix"
	const ran = "gone in build 1, where its caller app!Serve ran (in 1 other stack)"
	leak := finding(analysis.ClassLeak, "app!Leak", "app!Serve", "app!main")
	leak.FirstBad, leak.FirstRank = "2", []byte{2}
	stable := leak
	stable.Class = analysis.ClassStable
	other := finding(analysis.ClassStable, "app!Else", "app!Serve", "app!main")
	for _, test := range []struct {
		name       string
		base, head byte // places; 0 where builds have no order
		shows      compare.Finding
		change     compare.Change
		why        string
	}{
		{"absent in an older build", 2, 1, other, compare.ChangeNotExercised, older},
		{"absent in another run of the first bad build", 2, 2, other, compare.ChangeNotExercised, older},
		{"absent between the first bad build and the base", 4, 3, other, compare.ChangeClean, ran},
		{"absent in a newer build", 2, 3, other, compare.ChangeFixed, ran},
		{"absent without an order", 0, 0, other, compare.ChangeFixed, ran},
		{"clean in an older build", 2, 1, stable, compare.ChangeClean, "stable in build 1"},
		{"clean in a newer build", 2, 3, stable, compare.ChangeFixed, "stable in build 1"},
	} {
		base, head := side("2", leak), side("1", test.shows)
		if test.base > 0 {
			base.Rank, head.Rank = []byte{test.base}, []byte{test.head}
		}
		row := compare.Compare(base, head).Rows[0]
		if row.Change != test.change || row.Why != test.why {
			t.Errorf("%s: %s, %q, want %s, %q", test.name, row.Change, row.Why, test.change, test.why)
		}
	}
}

// Without symbols a build may show a leak under another signature: that it has no allocation of it is not known.
func TestAbsenceWithoutSymbols(t *testing.T) {
	const unknown = "upload the symbols of both builds: without symbols, signatures hold for one build only, " +
		"and build 1 may have this leak"
	const absent = "not in the trace of build 1"
	const unproven = absent + ", nor are its callers"
	named := finding(analysis.ClassLeak, "app!Leak", "app!Serve", "app!main")
	provisional := finding(analysis.ClassLeak, "app!<unknown>+0x10@0x4000", "app!Serve", "app!main")
	another := finding(analysis.ClassLeak, "dll!<unknown>+0x10@0x4000", "dll!Serve", "dll!main")
	ran := finding(analysis.ClassStable, "app!Else", "app!Serve", "app!main")
	for _, test := range []struct {
		name     string
		findings []compare.Finding // of the build that does not show the leak
		leak     []compare.Finding // and those of the other build with it, last
		build    string            // the other
		want     string
	}{
		{"names", nil, []compare.Finding{named}, "2", absent},
		{"no names", []compare.Finding{ran}, []compare.Finding{provisional}, "2", unknown},
		{"no names, in another run of the build", nil, []compare.Finding{provisional}, "1", absent},
		{"names in one build only", []compare.Finding{provisional}, []compare.Finding{named}, "2", unknown},
		{"a module without names that is the same in both", []compare.Finding{provisional},
			[]compare.Finding{provisional, named}, "2", absent},
		{"another module without names", []compare.Finding{another}, []compare.Finding{named}, "2", absent},
	} {
		silent, shows := side("1", test.findings...), side(test.build, test.leak...)
		silent.Trace = true
		of := func(c *compare.Comparison) (compare.Change, string) {
			for _, r := range c.Rows {
				if r.HeadOrBase().Signature == test.leak[len(test.leak)-1].Signature {
					return r.Change, r.Why
				}
			}
			return "", ""
		}
		if change, why := of(compare.Compare(silent, shows)); change != compare.ChangeNew || why != test.want {
			t.Errorf("%s: %s, %q, want new, %q", test.name, change, why, test.want)
		}
		want := test.want
		if want == absent {
			want = unproven
		}
		if change, why := of(compare.Compare(shows, silent)); change != compare.ChangeNotExercised || why != want {
			t.Errorf("%s: %s, %q, want not-exercised, %q", test.name, change, why, want)
		}
	}
}

// A leak that vanishes while a similar one appears is suggested as the same leak.
func TestRenames(t *testing.T) {
	before := side("1", at(10, finding(analysis.ClassLeak, "app!Old::Add", "app!Serve", "app!Run")),
		finding(analysis.ClassLeak, "app!Other", "app!Tick", "app!Timer"))
	after := side("2", at(11, finding(analysis.ClassLeak, "app!New::Add", "app!Serve", "app!Run")),
		finding(analysis.ClassLeak, "app!Unlike", "app!Paint", "app!Window"))
	c := compare.Compare(before, after)
	if len(c.Renames) != 1 || c.Renames[0].Base != before.Findings[0].Signature ||
		c.Renames[0].Head != after.Findings[0].Signature {
		t.Errorf("%+v", c.Renames)
	}
	if want := "Build 2 against 1: 2 new, 1 fixed, 1 not exercised."; c.Sentence != want {
		t.Errorf("%q, want %q", c.Sentence, want)
	}
}

// Without symbols no two builds share a signature, and most of the grown sites may be called growing.
func BenchmarkRenames(b *testing.B) {
	many := func(class string) *compare.BuildResult {
		var list []compare.Finding
		for i := range 4000 {
			list = append(list, finding(analysis.ClassGrowing, fmt.Sprintf("app!%s%d::Add%d", class, i, i),
				"app!Serve", "app!Run", "app!main"))
		}
		return side(class, list...)
	}
	base, head := many("Old"), many("New")
	for b.Loop() {
		if c := compare.Compare(base, head); len(c.Renames) != 4000 {
			b.Fatal(len(c.Renames))
		}
	}
}

// A leak that lost a frame to the compiler is suggested as the same leak, whatever its new name is.
func TestRenamesByDrift(t *testing.T) {
	c := compare.Compare(side("1", finding(analysis.ClassLeak, "app!Add", "app!Forward", "app!Serve", "app!Run")),
		side("2", finding(analysis.ClassLeak, "app!Add", "app!Serve", "app!Run")))
	if len(c.Renames) != 1 || !strings.Contains(c.Renames[0].Why, "compiler") {
		t.Errorf("%+v", c.Renames)
	}
}

// stack spells frames, innermost first.
func stack(names string) (list []*analysis.Frame) {
	for name := range strings.FieldsSeq(names) {
		list = append(list, &analysis.Frame{Module: "app", Function: name})
	}
	return list
}

func TestUnion(t *testing.T) {
	report := func(sites map[string]int64) *analysis.Report {
		r := &analysis.Report{}
		for _, names := range slices.Sorted(func(yield func(string) bool) {
			for n := range sites {
				if !yield(n) {
					return
				}
			}
		}) {
			r.Sites = append(r.Sites, analysis.Site{Kind: "heap", Stack: r.AddStack(stack(names)...),
				Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: sites[names], Bytes: sites[names]}}})
		}
		return r
	}
	base := report(map[string]int64{"malloc A main": 1000, "malloc B main": 500})
	head := report(map[string]int64{"malloc A main": 2000, "malloc C main": 100, "malloc D main": 1})
	root, err := compare.MergeTrees(t.Context(), base, head, compare.OutstandingOf, 100)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var walk func(n *compare.Node, depth int)
	walk = func(n *compare.Node, depth int) {
		lines = append(lines, fmt.Sprintf("%d %s %d→%d +%d", depth, n.Name, n.Base.Bytes, n.Head.Bytes, n.Others))
		for _, c := range n.Children {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	want := []string{"0  1500→2101 +0", "1 app!main 1500→2101 +1", "2 app!A 1000→2000 +0", "3 app!malloc 1000→2000 +0",
		"2 app!B 500→0 +0", "3 app!malloc 500→0 +0", "2 app!C 0→100 +0", "3 app!malloc 0→100 +0"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q\nwant %q", lines, want)
	}
}

func ExampleCompare() {
	before := &compare.BuildResult{Build: "4811"}
	after := &compare.BuildResult{Build: "4812",
		Findings: []compare.Finding{{Signature: "sig1:5b58", Title: "shop!Receipt::AppendLine", Class: analysis.ClassLeak}}}
	c := compare.Compare(before, after)
	fmt.Println(c.Sentence)
	for _, row := range c.Rows {
		fmt.Println(row.Change, row.Head.Title+":", row.Why)
	}
	// Output:
	// Build 4812 against 4811: 1 new.
	// new shop!Receipt::AppendLine: not in the evidence of build 4811
}
