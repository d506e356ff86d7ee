package store_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestRules(t *testing.T) {
	l := newLab(t)
	for _, place := range []string{"1", "3", "2"} {
		l.run(place, leaksReport(finding{signature: "A", class: leak}))
	}
	if f := must[store.RuleFile](t)(l.now().FindRules(t.Context(), "demo")); f != (store.RuleFile{}) {
		t.Errorf("%+v", f)
	}
	before := input(t, l.Store, l.runs["1"])
	saved, queued, err := l.CreateRules(t.Context(), "demo",
		store.RuleChange{Text: "module:app -> +app\n", Author: "ann", Note: "ours"})
	if err != nil || saved.Version != 1 || queued != 3 || saved.Author != "ann" || saved.At.IsZero() {
		t.Fatalf("%+v %d %v", saved, queued, err)
	}
	in := input(t, l.Store, l.runs["1"])
	if in.Rules.Text != "module:app -> +app\n" || in.Rules.Version != 1 || in.Revision != before.Revision+1 {
		t.Errorf("%+v", in)
	}
	var order []int64
	for _, d := range must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0)) {
		order = append(order, d.ID)
	}
	slices.Sort(order)
	var builds []string
	for _, id := range order {
		lease := must[store.Lease](t)(l.ClaimJob(t.Context(), id, 1e12))
		builds = append(builds, must[store.Run](t)(l.now().FindRun(t.Context(), lease.RunID)).Build)
	}
	if strings.Join(builds, " ") != "3 2 1" {
		t.Errorf("analysed in the order %v", builds)
	}
	if _, queued, err = l.CreateRules(t.Context(), "demo",
		store.RuleChange{Author: "bob", Note: "none any more", Version: 1}); err != nil || queued != 3 {
		t.Errorf("%d %v", queued, err)
	}
	versions := must[[]store.RuleFile](t)(l.now().ListRules(t.Context(), "demo"))
	if len(versions) != 2 || versions[0].Version != 2 || versions[1].Text == "" {
		t.Errorf("%+v", versions)
	}
	for version := range 2 {
		if _, _, err := l.CreateRules(t.Context(), "demo", ruleChange(int64(version))); !errors.Is(err, store.ErrConflict) {
			t.Errorf("on version %d: %v", version, err)
		}
	}
	for _, version := range []int64{7, math.MaxInt32, math.MaxInt64} {
		if _, _, err := l.CreateRules(t.Context(), "demo", ruleChange(version)); !errors.Is(err, store.ErrConflict) {
			t.Errorf("on version %d: %v", version, err)
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, 5)
	for i := range errs {
		wait.Go(func() { _, _, errs[i] = l.CreateRules(t.Context(), "demo", ruleChange(2)) })
	}
	wait.Wait()
	conflicts := 0
	for _, err := range errs {
		if errors.Is(err, store.ErrConflict) {
			conflicts++
		} else if err != nil {
			t.Error(err)
		}
	}
	if conflicts != len(errs)-1 {
		t.Errorf("%d conflicts", conflicts)
	}
	var wrong *leaks.FieldError
	if _, _, err := l.CreateRules(t.Context(), "demo",
		store.RuleChange{Text: "a\x00", Author: "ann", Version: 3}); !errors.As(err, &wrong) || wrong.Field != "text" {
		t.Error(err)
	}
	if _, err := l.now().FindRules(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := l.CreateRules(t.Context(), "nobody", ruleChange(0)); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A faulty change of the rules is refused with the fault, and nothing is stored or queued.
func TestRulesThatAreRefused(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport())
	for field, change := range map[string]store.RuleChange{
		"actor": {Text: "module:x -> +app\n"},
		"note":  {Text: "module:x -> +app\n", Author: "ann", Note: strings.Repeat("x", leaks.MaxNoteChars+1)},
		"text":  {Text: strings.Repeat("#", leaks.MaxRuleFileBytes+1), Author: "ann"},
	} {
		var wrong *leaks.FieldError
		if _, _, err := l.CreateRules(t.Context(), "demo", change); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var line *blame.RuleError
	if _, _, err := l.CreateRules(t.Context(), "demo",
		store.RuleChange{Text: "module:x -> +app\nno rule\n", Author: "ann"}); !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("no rule file: %v", err)
	}
	if f := must[store.RuleFile](t)(l.now().FindRules(t.Context(), "demo")); f.Version != 0 {
		t.Errorf("stored all the same: %+v", f)
	}
	if due := must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0)); len(due) != 0 {
		t.Errorf("%d jobs are queued for nothing", len(due))
	}
	for version := 1; version <= 3; version++ { // whatever the version was
		if saved, _, err := l.CreateRules(t.Context(), "demo", ruleChange(-1)); err != nil || saved.Version != version {
			t.Errorf("%+v, %v", saved, err)
		}
	}
}

// ruleChange is a correct change of the rules at a version.
func ruleChange(version int64) store.RuleChange {
	return store.RuleChange{Text: "module:x -> +app\n", Author: "ann", Version: version}
}

func TestRuleStacks(t *testing.T) {
	l := newLab(t)
	first := l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: stable},
		finding{signature: "C", class: grows}))
	run := l.run("2", leaksReport(finding{signature: "A", class: leak}))
	stacks := must[[]leaks.RuleStack](t)(l.now().ListRuleStacks(t.Context(), "demo", 10))
	if len(stacks) != 2 || stacks[0].RunID != run || stacks[0].Kind != "heap" || len(stacks[0].Frames) != 1 ||
		stacks[0].Frames[0].Function != "FA" ||
		stacks[1].RunID != first || len(stacks[1].Frames) != 1 || stacks[1].Frames[0].Function != "FC" {
		t.Errorf("%+v", stacks)
	}
	if stacks = must[[]leaks.RuleStack](t)(l.now().ListRuleStacks(t.Context(), "demo", 1)); len(stacks) != 1 {
		t.Errorf("%+v", stacks)
	}
	if _, err := l.now().ListRuleStacks(t.Context(), "nobody", 1); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestOwnModules(t *testing.T) {
	l := newLab(t)
	run := l.run("1", leaksReport())
	add := func(kind, name, key, pdb, origin string) {
		t.Helper()
		f := store.SymbolFile{Kind: kind, Name: name, Key: key, PDB: pdb, Symbols: "private", SHA256: name, Origin: origin}
		must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), f))
	}
	add("pdb", "App.Core.PDB", "1", "", store.OriginUpload)
	add("pdb", "App.Core.PDB", "2", "", store.OriginUpload)
	add("pdb", "ntdll.pdb", "3", "", store.OriginServer)
	add("image", "tool.exe", "4", "app.core.pdb", store.OriginServer)
	add("image", "ntdll.dll", "5", "ntdll.pdb", store.OriginUpload)
	if got := strings.Join(input(t, l.Store, run).OwnModules, " "); got != "app.core tool" {
		t.Error(got)
	}
}

func TestWork(t *testing.T) {
	l := newLab(t)
	work := func(v float64) *float64 { return &v }
	target := leaks.UploadTarget{Project: "demo", Build: "1", Work: work(120), WorkUnit: "document"}
	e := addEvidence(t, l.Store, target, "a.txt")
	if err := l.CreateCaptures(t.Context(), claim(t, l.Store),
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Bytes: 5}}); err != nil {
		t.Fatal(err)
	}
	name(t, l.Store, claim(t, l.Store), "names")
	in := input(t, l.Store, e.RunID)
	if in.WorkUnit != "document" || *in.Captures[0].Files[0].Work != 120 || *e.Work != 120 {
		t.Errorf("%+v", in)
	}
	save(t, l.Store, claim(t, l.Store), &analysis.Report{}, "r", in.Revision)
	again := leaks.UploadTarget{Project: "demo", Build: "1"} // the file again, without a word of work
	if e := addEvidence(t, l.Store, again, "a.txt"); *e.Work != 120 ||
		len(must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0))) != 0 {
		t.Errorf("%+v", e)
	}
	target.Work = work(150)
	addEvidence(t, l.Store, target, "a.txt")
	if lease := claim(t, l.Store); lease.Kind != store.JobAnalyse || input(t, l.Store, e.RunID).Revision != in.Revision+1 {
		t.Errorf("%+v", lease)
	}
}
