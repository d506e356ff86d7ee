package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/corpus"
)

// labSignatures collects the signature of each stack of the lab in each piece of evidence, by scenario and role.
type labSignatures map[string]map[string][]string

func (l labSignatures) add(scenario, role, signature string) {
	key := scenario + " " + role
	if l[key] == nil {
		l[key] = map[string][]string{}
	}
	l[key][signature] = append(l[key][signature], role)
}

// Every stack of every trace is classed as leak or as none, as the truth says.
func TestLabLeaksOfTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n := 0
	eachTrace(t, func(t *testing.T, paths []string, run *traceRun, _ traceFile, nth int) {
		if damaged(run) && run.Name != "A/etl_x64_attached" {
			return // missing events make blocks look leaked, and the verdict says so
		}
		r := analyzeJSON(t, append([]string{"--symbols", labSymbols(t), "--process", process(run, nth)}, paths...)...)
		leaks := 0
		for _, stack := range run.Stacks {
			site := byRole(t, r, run)[stack.Role]
			if site == nil || site.Allocated.Count == 0 {
				continue
			}
			n++
			f := findingOf(t, r, site.Signature)
			if stack.Leak && run.Name[0] == 'F' {
				continue // these stacks stop allocating long before the trace ends, some after a few blocks
			}
			if leak := f.Verdict == analysis.ClassLeak; leak != stack.Leak ||
				(site.Verdict == analysis.ClassLeak) != stack.Leak {
				t.Errorf("%s: site %s, finding %s with %v", stack.Role, site.Verdict, f.Verdict, f.Clauses)
			}
			if stack.Leak {
				leaks++
			}
		}
		want := analysis.StatusNoLeak
		if leaks > 0 {
			want = analysis.StatusLeak
		}
		if run.Name[0] != 'F' && (r.Verdict.Leaks != leaks || r.Verdict.Status != want) {
			t.Errorf("%d leaks, %+v", leaks, r.Verdict)
		}
	})
	if n == 0 {
		t.Error("no stacks compared")
	}
}

func findingOf(t *testing.T, r *analysis.Report, signature string) *analysis.Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f analysis.Finding) bool { return f.Signature == signature })
	if i < 0 {
		t.Fatalf("no finding of %s", signature)
	}
	return &r.Findings[i]
}

// Three or four snapshots do not decide, and yet every leak has a higher score than anything else.
func TestLabLeaksOfSnapshots(t *testing.T) {
	symbolTruths(t, func(t *testing.T, files []string, run int, truth symbolTruth) {
		r := analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, files...)...)
		want := analysis.StatusInconclusive
		if !slices.ContainsFunc(truth.Runs[run].Stacks, func(s truthStack) bool { return s.Leak }) { // nothing came in that stayed
			want = analysis.StatusNoLeak
		}
		if r.Verdict.Status != want {
			t.Errorf("%+v", r.Verdict)
		}
		least, most := 1.0, 0.0
		for role, site := range snapshotRoles(r, truth, run) {
			score := 0.0
			if site.Score != nil {
				score = *site.Score
			}
			if isLeak(truth, run, role) {
				least = min(least, score)
			} else {
				most = max(most, score)
			}
		}
		if least <= most {
			t.Errorf("a leak scores %.3f, something else %.3f", least, most)
		}
	})
}

// snapshotRoles finds the truth's stacks in the report by the ids of the last snapshot.
func snapshotRoles(r *analysis.Report, truth symbolTruth, run int) map[string]*analysis.Site {
	found := map[string]*analysis.Site{}
	snapshots := truth.Runs[run].Snapshots
	for _, s := range snapshots[len(snapshots)-1].PerStack {
		if site := byTrace(r, s.BackTrace); s.BackTrace != "" && site != nil {
			found[s.Role] = site
		}
	}
	return found
}

func isLeak(truth symbolTruth, run int, role string) bool {
	for _, s := range truth.Runs[run].Stacks {
		if s.Role == role {
			return s.Leak
		}
	}
	return false
}

// One stack has one signature, whatever the evidence, the bitness and the build, and no two leaks share one.
func TestLabSignatures(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	found, leaks := labSignatures{}, map[string]bool{}
	symbolTruths(t, func(t *testing.T, files []string, run int, truth symbolTruth) {
		r := analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, files...)...)
		scenario, _, _ := strings.Cut(truth.Runs[run].Name, "/")
		for role, site := range snapshotRoles(r, truth, run) {
			found.add(scenario, role, site.Signature)
			leaks[scenario+" "+role] = leaks[scenario+" "+role] || isLeak(truth, run, role)
		}
	})
	eachTrace(t, func(t *testing.T, paths []string, run *traceRun, _ traceFile, nth int) {
		if run.Name == "F/no_rundown" { // no event tells which modules there are
			return
		}
		scenario, _, _ := strings.Cut(run.Name, "/")
		if scenario == "F" {
			scenario = "A" // its stacks
		}
		r := analyzeJSON(t, append([]string{"--symbols", labSymbols(t), "--process", process(run, nth)}, paths...)...)
		roles := byRole(t, r, run)
		for _, stack := range run.Stacks {
			if site := roles[stack.Role]; site != nil {
				found.add(scenario, stack.Role, site.Signature)
				leaks[scenario+" "+stack.Role] = leaks[scenario+" "+stack.Role] || stack.Leak
			}
		}
	})
	owner := map[string]string{}
	for _, role := range slices.Sorted(maps.Keys(found)) {
		if len(found[role]) != 1 {
			t.Errorf("%s has %d signatures: %v", role, len(found[role]), found[role])
		}
		for signature := range found[role] {
			other, ok := owner[signature]
			if ok && (leaks[role] || leaks[other]) {
				t.Errorf("%s and %s have one signature", role, other)
			}
			owner[signature] = role
		}
	}
	if len(found) == 0 {
		t.Error("nothing compared")
	}
}

// Traces and snapshots show as new, fixed and persisting from one build to the next what the truth says.
func TestLabBuilds(t *testing.T) {
	evidence := func(build, kind string) *analysis.Report {
		files, err := filepath.Glob(corpus.Path(t, "lab", "D", build, kind) + "/*[0-9].[et][tx][lt]")
		if err != nil || len(files) == 0 {
			t.Fatalf("no evidence of %s, %v", build, err)
		}
		if kind == "umdh" {
			files = slices.DeleteFunc(files, func(f string) bool { return !strings.HasPrefix(filepath.Base(f), "snap") })
		}
		return analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, files...)...)
	}
	text, err := os.ReadFile(corpus.Path(t, "lab", "D", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Extra struct {
			Builds []struct {
				From, To string
				Roles    map[string][]string
			} `json:"build_comparison"`
		}
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	functions := map[string]string{"template_reserve": "Reserve", "audit_line": "AuditLog::operator<<"}
	for _, pair := range truth.Extra.Builds {
		for _, kind := range []string{"etl", "umdh"} {
			for _, reverse := range []bool{false, true} {
				base, head := pair.From, pair.To
				want := map[compare.Change][]string{compare.ChangeNew: pair.Roles["new"], compare.ChangeFixed: pair.Roles["fixed"],
					compare.ChangePersisting: pair.Roles["persisting"]}
				if reverse {
					base, head = head, base
					want[compare.ChangeNew], want[compare.ChangeFixed] = want[compare.ChangeFixed], want[compare.ChangeNew]
				}
				c := compare.Compare(compare.ResultOf(base, evidence(base, kind)), compare.ResultOf(head, evidence(head, kind)))
				got := map[compare.Change][]string{}
				for _, row := range c.Rows {
					title := row.HeadOrBase().Title
					for role, function := range functions {
						if strings.Contains(title, function) {
							title = role
						}
					}
					got[row.Change] = append(got[row.Change], title)
				}
				for _, change := range []compare.Change{compare.ChangeNew, compare.ChangeFixed, compare.ChangePersisting, compare.ChangeGrown,
					compare.ChangeShrunk, compare.ChangeNotExercised} {
					slices.Sort(got[change])
					slices.Sort(want[change])
					if !slices.Equal(got[change], want[change]) {
						t.Errorf("%s, %s to %s: %s %v, want %v", kind, base, head, change, got[change], want[change])
					}
				}
			}
		}
	}
	if len(truth.Extra.Builds) == 0 {
		t.Error("no builds in the truth")
	}
}

// A difference prints no inlined calls. Its leaks still have the signatures of the logs that it compares, and the name
// that a leak has without symbols stays known.
func TestLabSignaturesOfDifferences(t *testing.T) {
	expanded := 0
	for _, folder := range []string{"A/umdh_x64", "A/umdh_x86", "C/umdh_x86", "D/b100/umdh", "D/b101/umdh"} {
		dir := corpus.Path(t, "lab", filepath.FromSlash(folder))
		logs, err := filepath.Glob(filepath.Join(dir, "snap*.txt"))
		if err != nil {
			t.Fatal(err)
		}
		differences, err := filepath.Glob(filepath.Join(dir, "diff_*.txt"))
		if err != nil || len(differences) == 0 {
			t.Fatal("no differences", err)
		}
		raw := analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, logs...)...)
		for _, difference := range differences {
			bare, named := analyzeJSON(t, difference), analyzeJSON(t, "--symbols", labSymbols(t), difference)
			before := map[string]bool{}
			for i := range bare.Findings {
				before[bare.Findings[i].Signature] = true
			}
			for i := range named.Findings {
				f := &named.Findings[i]
				of, ok := findingBySignature(raw, f.Signature)
				if !ok || f.Outline != of.Outline {
					t.Errorf("%s: %s is no finding of the logs", difference, f.Title)
				}
				if f.Outline != "" {
					expanded++
				}
				if !before[f.Signature] && !before[f.Outline] {
					t.Errorf("%s: %s had another signature without symbols, and that is lost", difference, f.Title)
				}
			}
		}
	}
	if expanded == 0 {
		t.Error("no difference has inlined calls")
	}
}

// Symbols of another build have other lines, and then nothing shows that their inlined calls are those of the program.
func TestInlinedCallsOfAnotherBuild(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "lab", "A", "umdh_x86", "diff_1_3.hex.txt"))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.ReplaceAll(string(text), `battery.h, 19)`, `battery.h, 21)`)
	if other == string(text) {
		t.Fatal("the difference has no such line")
	}
	for i, r := range []*analysis.Report{
		analyzeJSON(t, "--symbols", labSymbols(t), write(t, "diff.txt", text)),
		analyzeJSON(t, "--symbols", labSymbols(t), write(t, "diff.txt", []byte(other))),
	} {
		expanded := slices.ContainsFunc(r.Findings, func(f analysis.Finding) bool { return f.Outline != "" })
		if expanded != (i == 0) {
			t.Errorf("difference %d: inlined calls are known: %v", i, expanded)
		}
	}
}

// What matters is what the flag says, where the evidence tells its unit, and is in the verdict.
func TestWhatMatters(t *testing.T) {
	dir := corpus.Path(t, "lab", "C", "umdh_x86")
	logs := make([]string, 4)
	for i := range logs {
		logs[i] = filepath.Join(dir, fmt.Sprintf("snap%d.txt", i+1))
	}
	for matters, want := range map[string]analysis.Growth{
		"": {Bytes: 10 << 20, Unit: "day"}, "512KB/hour": {Bytes: 512 << 10, Unit: "hour"}, "1/page": {Bytes: 10 << 20, Unit: "day"},
	} {
		if r := analyzeJSON(t, append([]string{"--matters", matters}, logs...)...); *r.Verdict.Matters != want {
			t.Errorf("%q: %v", matters, r.Verdict.Matters)
		}
	}
	if _, errOut, code := cli(t, append([]string{"analyze", "--matters", "much"}, logs...)...); code != exitUsage ||
		!strings.Contains(errOut, `--matters: "much" is not a growth: write 10MB/day`) {
		t.Errorf("exit %d, %s", code, errOut)
	}
}
