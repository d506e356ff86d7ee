package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/migrations"
)

// standing is a signature's states by scenario.
func standing(s store.Signature) string {
	list := make([]string, len(s.States))
	for i := range s.States {
		st := &s.States[i]
		list[i] = fmt.Sprintf("%s=%s", st.Scenario, st.State)
	}
	return strings.Join(list, " ")
}

// A clean trace in a build does not fix a leak that a scenario of logs found and has not decided since; every view of
// the leak says so.
func TestCleanInOneScenario(t *testing.T) {
	l := newLab(t)
	shows := leaksReport(finding{signature: "A", class: leak, bytes: 50, blocks: 9})
	undecided := leaksReport(finding{signature: "A", class: analysis.ClassUnknown})
	undecided.Verdict.Status = analysis.StatusInconclusive
	l.run("1/trace", shows)
	l.run("1/soak", leaksReport(finding{signature: "A", class: leak, bytes: 70}))
	l.run("2/trace", leaksReport(finding{signature: "A", class: stable, blocks: 9}))
	s := l.signature("A")
	if s.State != leaks.StateFound || standing(s) != "soak=found trace=fixed" {
		t.Fatalf("%s %s", s.State, standing(s))
	}
	if got := leaks.DescribeScenarios(s.States,
		s.FixedIn); got != "trace: clean in build 2; soak: not retested since build 1, where it leaked" {
		t.Error(got)
	}
	if soak, trace := s.States[0], s.States[1]; soak.Bad.Growth.Bytes != 70 || trace.Bad.Growth.Bytes != 50 ||
		trace.Now.Growth.Bytes != 0 || trace.NowBuild != "2" || s.Measured != "trace" {
		t.Errorf("soak %+v, trace %+v, measured in %q", soak.Bad, trace.Bad, s.Measured)
	}
	v := l.gateOf("2/trace")
	if len(v.Fixed) != 0 || strings.Join(v.CleanButOpen, " ") != "A" || strings.Contains(v.Compared.Sentence, " 1 fixed") {
		t.Errorf("%+v: %s", v, v.Compared.Sentence)
	}
	l.run("2/soak", undecided)
	if s = l.signature("A"); standing(s) != "soak=found trace=fixed" || s.States[0].LastUndecided != "2" {
		t.Errorf("%+v", s.States)
	}
	l.run("3/soak", leaksReport(finding{signature: "A", class: stable}))
	if s = l.signature("A"); s.State != leaks.StateFixed || standing(s) != "soak=fixed trace=fixed" {
		t.Errorf("%s %s", s.State, standing(s))
	}
	if v = l.gateOf("2/trace"); strings.Join(v.Fixed, " ") != "A" || len(v.CleanButOpen) != 0 {
		t.Errorf("%+v", v)
	}
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
	if s = l.signature("A"); s.State != leaks.StateKnown || standing(s) != "soak=known trace=known" {
		t.Errorf("%s %s", s.State, standing(s))
	}
}

// States do not depend on the order of uploads, the state over all scenarios is the gravest, and no comparison says
// fixed where a state does not.
func TestStatesInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	random := rand.New(rand.NewPCG(3, 4))
	classes := []analysis.Class{leak, stable, analysis.ClassUnknown, grows}
	shared := newLab(t)
	for range 4 {
		type upload struct {
			place string
			class analysis.Class
		}
		var uploads []upload
		for build := range 3 {
			for _, scenario := range []string{"soak", "trace"} {
				uploads = append(uploads, upload{fmt.Sprintf("%d/%s", build+1, scenario), classes[random.IntN(len(classes))]})
			}
		}
		var first string
		for range 2 {
			l := shared.emptied(t)
			for _, u := range uploads {
				l.run(u.place, leaksReport(finding{signature: "A", class: u.class, bytes: 5}))
			}
			s := l.signature("A")
			got := fmt.Sprintf("%s: %s, %s", s.State, standing(s), leaks.DescribeScenarios(s.States, s.FixedIn))
			if first == "" {
				first = got
			} else if got != first {
				t.Errorf("%v: %s, and in another order %s", uploads, got, first)
			}
			var states []leaks.State
			for i := range s.States {
				states = append(states, s.States[i].State)
			}
			if leaks.GravestState(states...) != s.State {
				t.Errorf("%v: %s over all, %q of the scenarios", uploads, s.State, states)
			}
			for _, pair := range [][2]string{{"1", "2"}, {"1", "3"}, {"2", "3"}} {
				for _, scenario := range []string{"soak", "trace"} {
					c := must[*leaks.RunComparison](t)(l.now().Compare(t.Context(),
						leaks.ComparisonQuery{Project: "demo", Scenario: scenario, Base: pair[0], Head: pair[1]}))
					for _, r := range c.Rows {
						if r.Change == compare.ChangeFixed && s.State != leaks.StateFixed {
							t.Errorf("%v: fixed in %s from %v, and %s over all", uploads, scenario, pair, s.State)
						}
					}
				}
			}
			random.Shuffle(len(uploads), func(i, j int) { uploads[i], uploads[j] = uploads[j], uploads[i] })
		}
	}
}

// A migrated database of the schema before keeps its states and its policies.
func TestStatesOfAnOlderDatabase(t *testing.T) {
	l := newLab(t)
	l.run("1/trace", leaksReport(finding{signature: "A", class: leak, bytes: 50}))
	l.run("1/soak", leaksReport(finding{signature: "A", class: leak, bytes: 70}))
	l.run("2/trace", leaksReport(finding{signature: "A", class: stable}))
	read := func() store.Signature { // a view that stays open would keep the schema from changing
		return must[store.Signature](t)(store.Read(t.Context(), l.Store,
			func(v store.View) (store.Signature, error) { return v.FindSignature(t.Context(), "demo", "A") }))
	}
	before := read()
	var up, down []string
	for _, name := range []string{"00013_policies.sql", "00014_states.sql"} {
		above, below, _ := strings.Cut(string(must[[]byte](t)(migrations.FS.ReadFile(name))), "-- +goose Down")
		up, down = append(up, above), append(down, below)
	}
	for _, statements := range slices.Backward(down) {
		l.sql(statements)
	}
	for _, statements := range up {
		l.sql(statements)
	}
	if s := read(); len(s.States) != 0 {
		t.Fatalf("%+v", s.States)
	}
	if err := store.Migrate(t.Context(), l.conn.Config().ConnString()); err != nil {
		t.Fatal(err)
	}
	after := read()
	if standing(after) != standing(before) || after.Measured != before.Measured ||
		leaks.DescribeScenarios(after.States, after.FixedIn) != leaks.DescribeScenarios(before.States, before.FixedIn) {
		t.Errorf("%s, before %s", standing(after), standing(before))
	}
	if v := l.gateOf("2/trace"); v.Policy != 0 || v.Gate != leaks.GatePassed {
		t.Errorf("%+v", v)
	}
	var left int
	if err := l.conn.QueryRow(t.Context(), `select count(*) from unfollowed`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d projects are left, %v", left, err)
	}
}
