package pages_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

func TestProjectStanding(t *testing.T) {
	s, _ := openHistory(t)
	text := words(s.page("/projects/shopd"))
	has(t, text, "Gate fails", "build 4813", "Worst leak:", "2.48 MB/hour", "in Receipt::AppendLine",
		"first seen in 4812 , clean in 4811", "soak-60min leaks", "Compare 4811 → 4812",
		"Growth of all leaks by build", "log linear", "first seen: 4811 → 4812", "Coverage")
	page := s.page("/projects/shopd")
	if n := strings.Count(page, `<circle class="dot is-`); n != 3 {
		t.Errorf("the chart has %d builds, want 3", n)
	}
	has(t, page, `title="soak-60min, 4811: leaks"`, `title="soak-60min, 4813: leaks"`)
	has(t, s.page("/projects/shopd?scale=linear&q=a"), `href="/projects/shopd?q=a"`)
}

// The verdict block says why each gate of the newest build fails, and the same whatever filters the list below it.
func TestReasonsOfSeveralGates(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := open(t)
	for scenario, samples := range map[string][]sample{
		"a": shop[:1], "b": shop[:2], "c": shop[:1], "calm": shop[4:7], "older": shop[1:2],
	} {
		to := target
		to.Scenario = scenario
		if scenario == "older" {
			to.Build = "4700"
		}
		addRun(t, s.store, to, capturesOf(samples, 11))
	}
	for _, query := range []string{"", "?q=nosuchthing", "?class=cache"} {
		has(t, words(s.page("/projects/shopd"+query)), "Gate fails", "1 leak is from the first build, none is new; 2 stacks in total.",
			"gate of a, c: 1 leak", "gate of b: 1 leak in 2 stacks")
	}
	lacks(t, words(s.page("/projects/shopd")), "gate: ", "of calm", "of older")
}

func TestSeveralLeaksAtOnce(t *testing.T) {
	s, _ := openHistory(t)
	all := must[*store.SignaturePage](t)(storetest.Now(t, s.store).ListSignatures(t.Context(),
		store.SignatureQuery{Project: "shopd", Limit: 100}))
	if len(all.Rows) < 2 {
		t.Fatalf("%d signatures", len(all.Rows))
	}
	pick := func(i int) string { return all.Rows[i].Text + "@" + strconv.FormatInt(all.Rows[i].Version, 10) }
	states := func() (list []string) {
		for i := range 2 {
			now := must[store.Signature](t)(storetest.Now(t, s.store).FindSignature(t.Context(), "shopd", all.Rows[i].Text))
			list = append(list, string(now.State)+" "+now.Assignee)
		}
		return list
	}
	has(t, s.page("/projects/shopd"), `action="/projects/shopd/signatures"`, `value="`+pick(0)+`"`)
	const path = "/projects/shopd/signatures?sort=growth"
	if code, _ := s.fill(path, "pick", pick(0), "pick", pick(1), "do", "assign", "assignee", "cara", "actor",
		"ada"); code != http.StatusSeeOther {
		t.Fatal(code)
	}
	if got := states(); !strings.HasSuffix(got[0], " cara") || !strings.HasSuffix(got[1], " cara") {
		t.Errorf("%q", got)
	}
	// A change to a leak that somebody else has changed meanwhile is refused, and so are all other changes of the
	// request.
	if code, _ := s.fill(path, "pick", all.Rows[1].Text+"@"+strconv.FormatInt(all.Rows[1].Version+1, 10), "pick", pick(0),
		"do", "known", "reason", "by design"); code != http.StatusConflict {
		t.Errorf("a change of what had changed: %d", code)
	}
	if got := states(); got[0] == string(leaks.StateKnown)+" cara" || got[1] == string(leaks.StateKnown)+" cara" {
		t.Errorf("half of it was done: %q", got)
	}
	for _, form := range [][]string{{"do", "known", "reason", "x"}, {"pick", "sig1:x", "do", "open"},
		{"pick", pick(0), "do", "nothing"}} {
		if code, _ := s.fill(path, form...); code < 400 || code >= 500 {
			t.Errorf("%v: %d", form, code)
		}
	}
}

func TestReleaseBoard(t *testing.T) {
	s, _ := openHistory(t)
	clean := target
	clean.Project = "aaa"
	addRun(t, s.store, clean, capturesOf(shop[4:7], 11))
	page := s.page("/")
	// A failing project stands first, whatever its name.
	has(t, words(page), "1 of 2 projects with a failed gate", "failing 1", "shopd Gate fails", "soak-60min Leaking",
		"Receipt:: AppendLine", "2.48 MB/hour", "aaa")
	lacks(t, words(s.page("/?show=failing")), "aaa")
}
