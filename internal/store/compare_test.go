package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// complaint is the reason for which a question was refused: the code of the refusal or the wrong field; "" for no
// error.
func complaint(t *testing.T, err error) string {
	t.Helper()
	var refusal *leaks.NoComparison
	var wrong *leaks.FieldError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		if refusal.Error() == "" {
			t.Error("a refusal says nothing")
		}
		return refusal.Code
	case errors.As(err, &wrong):
		return wrong.Field
	case errors.Is(err, store.ErrNotFound):
		return "not found"
	}
	t.Fatal(err)
	return ""
}

func TestCompareBuildsAndRuns(t *testing.T) {
	l := newLab(t)
	l.run("1/soak", leaksReport(finding{signature: "A", class: stable}, finding{signature: "B", class: leak, bytes: 5}))
	l.run("2/soak", leaksReport(finding{signature: "A", class: leak, bytes: 9}, finding{signature: "B", class: stable}))
	l.run("2/smoke", leaksReport(finding{signature: "A", class: leak, bytes: 9}))
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "3", Scenario: "soak"}, "a.txt") // no result yet
	for name, test := range map[string]struct {
		question leaks.ComparisonQuery
		want     string // sides and sentence, or what it is refused with
		why      string
	}{
		"all by itself": {leaks.ComparisonQuery{Project: "demo", Scenario: "soak"}, "1 2: 1 new, 1 fixed",
			"the baseline of build 2"},
		"both named": {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Base: "2", Head: "1"},
			"2 1: 1 new, 1 clean but not fixed", ""},
		"a head": {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Head: "2"}, "1 2: 1 new, 1 fixed",
			"the baseline of build 2"},
		"a base": {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Base: "1"}, "1 2: 1 new, 1 fixed", ""},
		"runs": {leaks.ComparisonQuery{BaseRunID: l.runs["1/soak"], HeadRunID: l.runs["2/soak"]},
			"1 2: 1 new, 1 fixed", ""},
		"a run":               {leaks.ComparisonQuery{HeadRunID: l.runs["2/soak"]}, "1 2: 1 new, 1 fixed", "the baseline of build 2"},
		"runs of two":         {leaks.ComparisonQuery{BaseRunID: l.runs["1/soak"], HeadRunID: l.runs["2/smoke"]}, "scenario", ""},
		"a run of another":    {leaks.ComparisonQuery{Project: "other", HeadRunID: l.runs["2/soak"]}, "project", ""},
		"no such run":         {leaks.ComparisonQuery{HeadRunID: 999}, "not found", ""},
		"itself":              {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Base: "1", Head: "1"}, "base", ""},
		"nothing before":      {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Head: "1"}, leaks.CodeNoBaseline, ""},
		"no result of it":     {leaks.ComparisonQuery{Project: "demo", Scenario: "none"}, leaks.CodeNoResult, ""},
		"no result yet":       {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Head: "3"}, "not found", ""},
		"no such base":        {leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Base: "9"}, "not found", ""},
		"no such project":     {leaks.ComparisonQuery{Project: "nobody", Scenario: "soak"}, "not found", ""},
		"no base of it by it": {leaks.ComparisonQuery{Project: "demo", Scenario: "smoke"}, leaks.CodeNoBaseline, ""},
	} {
		c, err := l.now().Compare(t.Context(), test.question)
		got := complaint(t, err)
		if err == nil {
			_, what, _ := strings.Cut(strings.TrimSuffix(c.Sentence, "."), ": ")
			got = fmt.Sprintf("%s %s: %s", c.Base.Build, c.Head.Build, what)
			if c.Why != test.why || c.Project != "demo" || c.Scenario != "soak" {
				t.Errorf("%s: %s %s, because of %q", name, c.Project, c.Scenario, c.Why)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		sides, err := l.now().FindResultsToCompare(t.Context(), test.question)
		if got := complaint(t, err); (got == "") != (c != nil) || got != "" && got != test.want ||
			got == "" && (sides.Comparison != nil || sides.Base.Build != c.Base.Build) {
			t.Errorf("%s: sides %+v, %v", name, sides, err)
		}
	}
}

func TestVerdictOnARun(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 5}))
	second := leaksReport(finding{signature: "A", class: leak, bytes: 5}, finding{signature: "B", class: leak, bytes: 7},
		finding{signature: "C", class: leak, bytes: 7})
	second.Power, second.Verdict.Sentence = &analysis.Power{Sentence: "≥ 1 KB per hour"}, "It leaks."
	l.run("2", second)
	l.run("2/other", leaksReport())
	l.change("C", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
	verdict := func(place, baseline string, on ...leaks.FailOn) (leaks.RunVerdict, error) {
		return store.Read(t.Context(), l.Store, func(v store.View) (leaks.RunVerdict, error) {
			run, err := v.FindRun(t.Context(), l.runs[place])
			if err != nil {
				return leaks.RunVerdict{}, err
			}
			return v.FindVerdict(t.Context(), &run, store.GateQuestion{Baseline: baseline, FailOn: on})
		})
	}
	v := must[leaks.RunVerdict](t)(verdict("2", "", leaks.FailOnNew))
	if v.Gate != leaks.GateFailed || v.Why != "1 new leak" || v.State != leaks.RunReady || v.Status != "leak" ||
		v.Sentence != "It leaks." || v.Power != "≥ 1 KB per hour" ||
		strings.Join(v.New, " ") != "B" || strings.Join(v.Persisting, " ") != "A" || strings.Join(v.Known, " ") != "C" ||
		v.Compared.Base.Build != "1" {
		t.Errorf("%+v", v)
	}
	if v := must[leaks.RunVerdict](t)(verdict("2", "1", leaks.FailOnGrown)); v.Gate != leaks.GatePassed || v.Compared == nil {
		t.Errorf("against the one that is named: %+v", v)
	}
	if v := must[leaks.RunVerdict](t)(verdict("1", "", leaks.FailOnNew)); v.Gate != leaks.GateInconclusive ||
		v.Compared != nil {
		t.Errorf("with nothing before: %+v", v)
	}
	if v := must[leaks.RunVerdict](t)(verdict("1", "2", leaks.FailOnNew)); v.Gate != leaks.GatePassed || v.Compared == nil {
		t.Errorf("against a newer one: %+v", v)
	}
	for _, baseline := range []string{"2", "9"} { // its own, and none
		if _, err := verdict("2", baseline, leaks.FailOnNew); complaint(t, err) != "baseline" {
			t.Errorf("against %q: %v", baseline, err)
		}
	}
	if _, err := verdict("2/other", "1", leaks.FailOnNew); complaint(t, err) != "baseline" {
		t.Errorf("against a build without the scenario: %v", err)
	}
	l.again("1")
	if v := must[leaks.RunVerdict](t)(verdict("1", "9", leaks.FailOnNew)); v.Gate != leaks.GatePending {
		t.Errorf("while it is analysed: %+v", v)
	}
}

// The verdict on a run without any readable evidence says why nothing was read.
func TestVerdictOnUnreadEvidence(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	verdict := func() leaks.RunVerdict {
		return must[leaks.RunVerdict](t)(store.Read(t.Context(), s, func(v store.View) (leaks.RunVerdict, error) {
			run, err := v.FindRun(t.Context(), e.RunID)
			if err != nil {
				return leaks.RunVerdict{}, err
			}
			return v.FindVerdict(t.Context(), &run, store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnLeak}})
		}))
	}
	if v := verdict(); v.Gate != leaks.GatePending || v.State != leaks.RunProcessing {
		t.Errorf("%+v", v)
	}
	if err := s.FailJob(t.Context(), claim(t, s),
		store.Failure{Code: "unknown-format", Message: "not evidence", Final: true}); err != nil {
		t.Fatal(err)
	}
	if v := verdict(); v.Gate != leaks.GateError || v.State != leaks.RunFailed ||
		v.Sentence != "a.txt could not be read: not evidence" {
		t.Errorf("%+v", v)
	}
}

func TestScenariosAndBuildsWithResults(t *testing.T) {
	l := newLab(t)
	for _, place := range []string{"1/soak", "2/smoke", "2/soak", "2/soak/again", "3/smoke"} {
		l.run(place, leaksReport())
	}
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "4", Scenario: "trace"}, "a.txt")
	if got := must[[]string](t)(l.now().ListScenarios(t.Context(), "demo")); strings.Join(got, " ") != "smoke soak trace" {
		t.Errorf("scenarios %q", got)
	}
	if got := must[[][]string](t)(l.now().ListResultScenarios(t.Context(), "demo",
		2)); fmt.Sprint(got) != "[[smoke] [soak soak smoke]]" {
		t.Errorf("scenarios of results %q", got)
	}
	for limit, want := range map[int]string{0: "1 2 3", 2: "2 3", 9: "1 2 3"} {
		var names []string
		for _, b := range must[[]store.BuildRef](t)(l.now().ListBuildsWithResults(t.Context(), "demo", limit)) {
			names = append(names, b.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d builds with results: %s, want %s", limit, got, want)
		}
	}
	if _, err := l.now().ListBuildsWithResults(t.Context(), "nobody", 0); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	for _, project := range []string{"nobody", ""} {
		if got := must[[]string](t)(l.now().ListScenarios(t.Context(), project)); len(got) != 0 {
			t.Errorf("scenarios of %q: %q", project, got)
		}
	}
}

// A preview applies other rules to the leaks of a project and compares the result with that of the project's own rules.
func TestPreviewRules(t *testing.T) {
	l := newLab(t)
	r := leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak},
		finding{signature: "C", class: stable})
	r.Sites[0].Stack = r.AddStack(r.Stack(r.Sites[0].Stack)[0],
		&analysis.Frame{Module: "app", Function: "main", Layer: "app"})
	l.run("1", r)
	preview := func(text string) *leaks.RulesPreview {
		trial := must[*leaks.RuleTrial](t)(l.now().FindRuleTrial(t.Context(), "demo"))
		return must[*leaks.RulesPreview](t)(trial.Preview(t.Context(), must[*blame.Rules](t)(blame.ParseRules(text))))
	}
	const other = "function:FA -> alloc\n" // then it is main that leaks
	if p := preview(""); p.Stacks != 2 || len(p.Moves) != 0 {
		t.Errorf("the same: %+v", p)
	}
	if p := preview(other); p.Stacks != 2 || len(p.Moves) != 1 {
		t.Errorf("other rules: %+v", p)
	}
	if _, _, err := l.CreateRules(t.Context(), "demo", store.RuleChange{Text: other, Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	if p := preview(other); len(p.Moves) != 0 {
		t.Errorf("those that it has by now: %+v", p)
	}
	if _, err := l.now().FindRuleTrial(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
