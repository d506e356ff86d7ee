package store_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// policies are the policies of a project whose default is given as JSON.
func policies(t testing.TB, text string) leaks.Policies {
	return must[leaks.Policies](t)(leaks.ParsePolicies([]byte(`{"default":` + text + `}`)))
}

func (l *lab) policy(text string) {
	l.Helper()
	must[store.PolicyFile](l)(l.CreatePolicy(l.Context(), "demo",
		store.PolicyChange{Policies: policies(l, text), Author: "ann", Version: -1}))
}

func (l *lab) gateOf(place string, on ...leaks.FailOn) leaks.RunVerdict {
	l.Helper()
	view := l.now()
	run := must[store.Run](l)(view.FindRun(l.Context(), l.runs[place]))
	return must[leaks.RunVerdict](l)(view.FindVerdict(l.Context(), &run, store.GateQuestion{FailOn: on}))
}

func TestPolicies(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport())
	file := must[store.PolicyFile](t)(l.now().FindPolicy(t.Context(), "demo"))
	if file.Version != 0 || len(file.Policies.Default.FailOn) != 1 {
		t.Errorf("%+v", file)
	}
	change := store.PolicyChange{Policies: policies(t, `{"fail_on":["new"]}`), Author: "ann", Note: "first"}
	if saved, err := l.CreatePolicy(t.Context(), "demo", change); err != nil || saved.Version != 1 || saved.At.IsZero() {
		t.Fatalf("%+v %v", saved, err)
	}
	if _, err := l.CreatePolicy(t.Context(), "demo", change); !errors.Is(err, store.ErrConflict) {
		t.Errorf("on version 0 again: %v", err)
	}
	change.Version = 1
	var wait sync.WaitGroup
	errs := make([]error, 5)
	for i := range errs {
		wait.Go(func() { _, errs[i] = l.CreatePolicy(t.Context(), "demo", change) })
	}
	wait.Wait()
	saved := 0
	for _, err := range errs {
		if err == nil {
			saved++
		} else if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
	if versions := must[[]store.PolicyFile](t)(l.now().ListPolicies(t.Context(), "demo")); saved != 1 ||
		len(versions) != 2 || versions[1].Note != "first" {
		t.Errorf("%d saved, %+v", saved, versions)
	}
	if _, err := l.CreatePolicy(t.Context(), "nobody", change); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no project: %v", err)
	}
	change.Author = ""
	if _, err := l.CreatePolicy(t.Context(), "demo", change); complaint(t, err) != "actor" {
		t.Errorf("nobody: %v", err)
	}
	if _, err := l.now().FindPolicy(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no project: %v", err)
	}
}

// A decision is stored when a run is analysed, and when an answer differs from the last one.
func TestDecisionsAreStored(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	run := l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 5}))
	decisions := func() []store.StoredDecision {
		return must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run))
	}
	list := decisions()
	if len(list) != 1 || list[0].Gate != leaks.GateFailed || list[0].Reasons[0].Signature != "A" ||
		*list[0].Reasons[0].Figure != 5 {
		t.Fatalf("%+v", list)
	}
	l.policy(`{"fail_on":[]}`)
	v := l.gateOf("1")
	for range 3 {
		if err := l.CreateDecision(t.Context(), run, store.GateQuestion{}, v.Decision); err != nil {
			t.Fatal(err)
		}
	}
	if list = decisions(); len(list) != 2 || list[0].Gate != leaks.GatePassed || list[0].Policy != 1 {
		t.Errorf("%+v", list)
	}
	tight := l.gateOf("1", leaks.FailOnLeak)
	if err := l.CreateDecision(t.Context(), run, store.GateQuestion{FailOn: tight.FailOn}, tight.Decision); err != nil {
		t.Fatal(err)
	}
	if list = decisions(); len(list) != 3 || list[0].Gate != leaks.GateFailed || list[0].FailOn != "leak" {
		t.Errorf("%+v", list)
	}
	for i := range 220 { // each differs from the one before
		v.Decision.Policy = i
		if err := l.CreateDecision(t.Context(), run, store.GateQuestion{}, v.Decision); err != nil {
			t.Fatal(err)
		}
	}
	if list = decisions(); len(list) != 101 || list[0].Policy != 219 {
		t.Errorf("%d decisions, the newest of policy %d", len(list), list[0].Policy)
	}
	for i := range 220 { // what calls ask for drives out none of them
		if err := l.CreateDecision(t.Context(), run, store.GateQuestion{Baseline: strconv.Itoa(i)}, v.Decision); err != nil {
			t.Fatal(err)
		}
	}
	if list = decisions(); len(list) != 200 || list[0].Baseline != "219" || list[100].Baseline != "" ||
		list[100].Policy != 219 {
		t.Errorf("%d decisions, the newest by the policy alone of policy %d", len(list), list[min(100, len(list)-1)].Policy)
	}
	if err := l.CreateDecision(t.Context(), 999, store.GateQuestion{}, v.Decision); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
}

// A leak that comes and goes is quarantined, in whichever order the runs came.
func TestQuarantine(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	shows := leaksReport(finding{signature: "A", class: leak, bytes: 5})
	clean := leaksReport(finding{signature: "A", class: stable})
	for _, order := range [][]string{{"1", "2", "3", "4", "5"}, {"5", "2", "4", "1", "3"}} {
		l := newLab(t)
		for _, build := range order {
			if build == "2" || build == "4" {
				l.run(build, clean)
			} else {
				l.run(build, shows)
			}
		}
		if v := l.gateOf("5"); v.Gate != leaks.GateFailed {
			t.Errorf("%v: without a guard %s", order, v.Why)
		}
		l.policy(`{"fail_on":["leak"],"noise":{"runs":5,"changes":4}}`)
		if v := l.gateOf("5"); v.Gate != leaks.GatePassed || v.Decision.Reasons[0].Code != leaks.ReasonQuarantined ||
			*v.Decision.Reasons[0].Figure != 4 {
			t.Errorf("%v: %s %+v", order, v.Why, v.Decision.Reasons)
		}
		if v := l.gateOf("3"); v.Gate != leaks.GateFailed {
			t.Errorf("%v: before it flapped: %s", order, v.Why)
		}
	}
}

// Each project has the versions of its own policy, and none of another project's.
func TestPoliciesOfTwoProjects(t *testing.T) {
	s, _ := open(t)
	for _, project := range []string{"one", "two", "three"} {
		to := target
		to.Project = project
		addEvidence(t, s, to, "a.txt")
	}
	for version, project := range []string{"one", "two", "two"} {
		change := store.PolicyChange{Policies: policies(t, `{"fail_on":["leak"]}`), Author: project, Version: -1}
		if _, err := s.CreatePolicy(t.Context(), project, change); err != nil {
			t.Fatal(version, err)
		}
	}
	for project, want := range map[string]int{"one": 1, "two": 2, "three": 0} {
		now := storetest.Now(t, s)
		list, err := now.ListPolicies(t.Context(), project)
		if err != nil || len(list) != want {
			t.Errorf("%s has %d versions, want %d: %v", project, len(list), want, err)
		}
		for i := range list {
			if list[i].Author != project {
				t.Errorf("%s has a policy of %s", project, list[i].Author)
			}
		}
		if file, err := now.FindPolicy(t.Context(), project); err != nil || file.Version != want {
			t.Errorf("%s: version %d, want %d: %v", project, file.Version, want, err)
		}
	}
}

// A guard looks at the runs up to the one that it judges: newer ones decide nothing.
func TestPastOfARun(t *testing.T) {
	shows := leaksReport(finding{signature: "A", class: leak, bytes: 5})
	clean := leaksReport(finding{signature: "A", class: stable})
	l := newLab(t)
	for build, r := range map[string]*analysis.Report{"1": shows, "2": clean, "3": shows} {
		l.run(build, r)
	}
	l.policy(`{"fail_on":["leak"],"noise":{"runs":3,"changes":2}}`)
	for build, want := range map[string]leaks.Gate{"1": leaks.GateFailed, "3": leaks.GatePassed} {
		if v := l.gateOf(build); v.Gate != want {
			t.Errorf("build %s: %s, %s", build, v.Gate, v.Why)
		}
	}
}

// Drift is measured against the newest pinned build before the run's own.
func TestDriftAgainstTheRelease(t *testing.T) {
	l := newLab(t)
	for build, bytes := range map[string]int64{"1": 100, "2": 105, "3": 112} {
		l.run(build, leaksReport(finding{signature: "A", class: leak, bytes: bytes}))
	}
	l.policy(`{"fail_on":[],"drift":{"percent":10}}`)
	if v := l.gateOf("3"); v.Gate != leaks.GateInconclusive || v.Decision.Reasons[0].Code != leaks.ReasonNoRelease {
		t.Errorf("without a release: %s", v.Why)
	}
	if err := l.UpdateBaseline(t.Context(), "demo", "1", true); err != nil {
		t.Fatal(err)
	}
	if v := l.gateOf("3"); v.Gate != leaks.GateFailed || v.Decision.Reasons[0].Code != leaks.ReasonDrift {
		t.Errorf("12 %%: %s", v.Why)
	}
	if v := l.gateOf("2"); v.Gate != leaks.GatePassed {
		t.Errorf("5 %%: %s", v.Why)
	}
	if v := l.gateOf("1"); v.Gate != leaks.GateInconclusive {
		t.Errorf("the release itself: %s", v.Why)
	}
}

// A budget and a canary still hold when their signature becomes part of another.
func TestPolicyOfAMergedSignature(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 100},
		finding{signature: "B", class: leak, bytes: 100}))
	if err := l.MergeSignature(t.Context(), "demo", "A", "B", "ann"); err != nil {
		t.Fatal(err)
	}
	l.policy(`{"fail_on":[],"budgets":[{"of":"signature","name":"A","per":"hour","limit":1}]}`)
	if v := l.gateOf("1"); v.Gate != leaks.GateFailed || v.Decision.Reasons[0].Signature != "B" {
		t.Errorf("budget: %s", v.Why)
	}
	l.policy(`{"canary":"A"}`)
	if v := l.gateOf("1"); v.Decision.Canary != leaks.CanaryProven {
		t.Errorf("canary: %s", v.Why)
	}
}

// A budget of a process keeps its name, even if a merged signature has the same.
func TestPolicyOfAMergedSignatureAndAProcess(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "app.exe", class: leak, bytes: 100},
		finding{signature: "B", class: leak, bytes: 100}))
	if err := l.MergeSignature(t.Context(), "demo", "app.exe", "B", "ann"); err != nil {
		t.Fatal(err)
	}
	l.policy(`{"fail_on":[],"budgets":[{"of":"signature","name":"app.exe","per":"hour","limit":100000},
		{"of":"process","name":"app.exe","per":"hour","limit":1}]}`)
	if v := l.gateOf("1"); v.Gate != leaks.GateFailed || v.Decision.Reasons[0].Code != leaks.ReasonBudget {
		t.Errorf("%s: %s", v.Gate, v.Why)
	}
}

func TestPolicyOfAScenarioAndAProcess(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 100}))
	l.run("1/soak", leaksReport(finding{signature: "A", class: leak, bytes: 100}))
	made := must[leaks.Policies](t)(leaks.ParsePolicies([]byte(`{
		"default":{"fail_on":["leak"]},
		"scenarios":{"soak":{"fail_on":[],"budgets":[{"of":"process","name":"APP.EXE","per":"hour","limit":100},{"of":"process","name":"other.exe","per":"hour","limit":1}]}}}`)))
	must[store.PolicyFile](t)(l.CreatePolicy(t.Context(), "demo",
		store.PolicyChange{Policies: made, Author: "ann", Version: -1}))
	if v := l.gateOf("1"); v.Gate != leaks.GateFailed {
		t.Errorf("default: %s", v.Why)
	}
	if v := l.gateOf("1/soak"); v.Gate != leaks.GatePassed {
		t.Errorf("soak: %s", v.Why)
	}
	soak := made.Scenarios["soak"]
	soak.Budgets[0].Limit = 99
	must[store.PolicyFile](t)(l.CreatePolicy(t.Context(), "demo",
		store.PolicyChange{Policies: made, Author: "ann", Version: -1}))
	if v := l.gateOf("1/soak"); v.Gate != leaks.GateFailed || v.Decision.Reasons[0].Code != leaks.ReasonBudget {
		t.Errorf("soak below: %s", v.Why)
	}
}

// A leak that comes back after its fix fails gates as regressed in the builds that show it again, and not in older
// ones.
func TestRegressedFromTheBuildOn(t *testing.T) {
	l := newLab(t)
	shows, clean := leaksReport(finding{signature: "A", class: leak, bytes: 5}),
		leaksReport(finding{signature: "A", class: stable})
	for build, r := range map[string]bool{"1": true, "2": false, "3": true, "4": true} {
		if r {
			l.run(build, shows)
		} else {
			l.run(build, clean)
		}
	}
	l.policy(`{"fail_on":["regressed"]}`)
	for build, want := range map[string]leaks.Gate{"1": leaks.GatePassed, "2": leaks.GatePassed, "3": leaks.GateFailed,
		"4": leaks.GateFailed} {
		if v := l.gateOf(build); v.Gate != want {
			t.Errorf("build %s: %s because %s", build, v.Gate, v.Why)
		}
	}
}

// A rule that marks everything as known moves no stack, and silences every leak.
func TestPreviewOfARuleThatSilencesAll(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 5}, finding{signature: "B", class: leak, bytes: 7}))
	l.run("2", leaksReport(finding{signature: "B", class: leak, bytes: 7}))
	l.run("3", leaksReport(finding{signature: "B", class: stable}))
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
	trial := must[*leaks.RuleTrial](t)(l.now().FindRuleTrial(t.Context(), "demo"))
	preview := func(text string) *leaks.RulesPreview {
		return must[*leaks.RulesPreview](t)(trial.Preview(t.Context(), must[*blame.Rules](t)(blame.ParseRules(text))))
	}
	p := preview(`module:* -> known="x"`)
	if len(p.Moves) != 0 || len(p.Silenced) != 1 || p.Silenced[0].Signature != "B" ||
		p.Silenced[0].To != leaks.ReasonRule || p.Silenced[0].Why != "x" {
		t.Errorf("%+v", p)
	}
	if len(p.ChangedRuns) != 2 || p.ChangedRuns[0].Build != "2" || p.ChangedRuns[0].From != leaks.GateFailed ||
		p.ChangedRuns[0].To != leaks.GatePassed || p.Runs != 3 {
		t.Errorf("%+v", p.ChangedRuns)
	}
	if !strings.Contains(p.Text(), "1 leak becomes known") || !strings.Contains(p.Text(), "(2 to passed)") {
		t.Error(p.Text())
	}
	if p = preview(`module:other -> known="x"`); len(p.Silenced)+len(p.Unsilenced)+len(p.ChangedRuns) != 0 {
		t.Errorf("a rule about nothing: %+v", p)
	}
}

func TestPreviewOfAPolicy(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 5}))
	l.run("2", leaksReport(finding{signature: "A", class: leak, bytes: 5}))
	impact := must[*leaks.Impact](t)(l.now().PreviewPolicy(t.Context(), "demo",
		policies(t, `{"fail_on":["leak"],"minimum_score":0.96}`)))
	if len(impact.Silenced) != 1 || impact.Silenced[0].To != leaks.ReasonScore || impact.Silenced[0].Changed != 2 ||
		len(impact.ChangedRuns) != 2 || impact.ChangedRuns[0].To != leaks.GatePassed {
		t.Errorf("%+v", impact)
	}
	l.policy(`{"fail_on":["leak"],"minimum_score":0.96}`)
	impact = must[*leaks.Impact](t)(l.now().PreviewPolicy(t.Context(), "demo", policies(t, `{"fail_on":["leak"]}`)))
	if len(impact.Unsilenced) != 1 || impact.Unsilenced[0].From != leaks.ReasonScore || len(impact.ChangedRuns) != 2 ||
		impact.ChangedRuns[0].To != leaks.GateFailed {
		t.Errorf("%+v", impact)
	}
	if _, err := l.now().PreviewPolicy(t.Context(), "nobody", policies(t, `{}`)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no project: %v", err)
	}
}
