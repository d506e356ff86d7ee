package project_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

func TestProjectStanding(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	text := pagestest.Words(s.Page("/projects/shopd"))
	pagestest.Has(t, text, "Gate fails", "build 4813", "Worst leak: Receipt::AppendLine", "2.48 MB/hour",
		"first seen in 4812 , clean in 4811", "soak-60min leaks", "Compare 4811 → 4812",
		"Growth of all leaks by build", "log linear", "first seen: 4811 → 4812", "Coverage")
	page := s.Page("/projects/shopd")
	if n := strings.Count(page, `<circle class="dot is-`); n != 3 {
		t.Errorf("the chart has %d builds, want 3", n)
	}
	pagestest.Has(t, page, `title="soak-60min, 4811: leaks"`, `title="soak-60min, 4813: leaks"`)
	pagestest.Has(t, s.Page("/projects/shopd?scale=linear&q=a"), `href="/projects/shopd?q=a"`)
}

// The verdict block says why each gate of the newest build fails, and the same whatever filters the list below it.
func TestReasonsOfSeveralGates(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	for scenario, samples := range map[string][]pagestest.Sample{
		"a": pagestest.Shop[:1], "b": pagestest.Shop[:2], "c": pagestest.Shop[:1], "calm": pagestest.Shop[4:7],
		"older": pagestest.Shop[1:2],
	} {
		to := pagestest.DefaultTarget
		to.Scenario = scenario
		if scenario == "older" {
			to.Build = "4700"
		}
		pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(samples, 11))
	}
	for _, query := range []string{"", "?q=nosuchthing", "?class=cache"} {
		pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd"+query)), "Gate fails",
			"1 leak is from the first build, none is new; 2 stacks in total.",
			"gate of a, c: 1 leak", "gate of b: 1 leak in 2 stacks")
	}
	pagestest.Lacks(t, pagestest.Words(s.Page("/projects/shopd")), "gate: ", "of calm", "of older")
}

func TestSeveralLeaksAtOnce(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	all := pagestest.Must[*store.SignaturePage](t)(storetest.Now(t, s.Store).ListSignatures(t.Context(),
		store.SignatureQuery{Project: "shopd", Limit: 100}))
	if len(all.Rows) < 2 {
		t.Fatalf("%d signatures", len(all.Rows))
	}
	pick := func(i int) string { return all.Rows[i].Text + "@" + strconv.FormatInt(all.Rows[i].Version, 10) }
	states := func() (list []string) {
		for i := range 2 {
			now := pagestest.Must[store.Signature](t)(storetest.Now(t, s.Store).FindSignature(t.Context(), "shopd",
				all.Rows[i].Text))
			list = append(list, string(now.State)+" "+now.Assignee)
		}
		return list
	}
	pagestest.Has(t, s.Page("/projects/shopd"), `action="/projects/shopd/signatures"`, `value="`+pick(0)+`"`)
	const path = "/projects/shopd/signatures?sort=growth"
	if code, _ := s.Fill(path, "pick", pick(0), "pick", pick(1), "do", "assign", "assignee", "cara", "actor",
		"ada"); code != http.StatusSeeOther {
		t.Fatal(code)
	}
	if got := states(); !strings.HasSuffix(got[0], " cara") || !strings.HasSuffix(got[1], " cara") {
		t.Errorf("%q", got)
	}
	// A change to a leak that somebody else has changed meanwhile is refused, and so are all other changes of the
	// request.
	if code, _ := s.Fill(path, "pick", all.Rows[1].Text+"@"+strconv.FormatInt(all.Rows[1].Version+1, 10), "pick", pick(0),
		"do", "known", "reason", "by design"); code != http.StatusConflict {
		t.Errorf("a change of what had changed: %d", code)
	}
	if got := states(); got[0] == string(leaks.StateKnown)+" cara" || got[1] == string(leaks.StateKnown)+" cara" {
		t.Errorf("half of it was done: %q", got)
	}
	for _, form := range [][]string{{"do", "known", "reason", "x"}, {"pick", "sig1:x", "do", "open"},
		{"pick", pick(0), "do", "nothing"}} {
		if code, _ := s.Fill(path, form...); code < 400 || code >= 500 {
			t.Errorf("%v: %d", form, code)
		}
	}
}

func TestReleaseBoard(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	clean := pagestest.DefaultTarget
	clean.Project = "aaa"
	pagestest.AddRun(t, s.Store, clean, pagestest.CapturesOf(pagestest.Shop[4:7], 11))
	page := s.Page("/")
	// A failing project stands first, whatever its name.
	pagestest.Has(t, pagestest.Words(page), "1 of 2 projects with a failed gate", "failing 1", "shopd Gate fails",
		"soak-60min Leaking",
		"Receipt:: AppendLine", "2.48 MB/hour", "aaa")
	pagestest.Lacks(t, pagestest.Words(s.Page("/?show=failing")), "aaa")
}

// A board of many projects shows the last answers of the gates; a smaller one asks them.
func TestGatesOfManyProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	for i := range 13 {
		to := pagestest.DefaultTarget
		to.Project = "project " + strconv.Itoa(i)
		pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(pagestest.Shop[:1], 11))
		text := pagestest.Words(s.Page("/"))
		if many := i == 12; strings.Contains(text, "Gate as of") != many {
			t.Errorf("%d projects: %s", i+1, text)
		}
		if failed := strings.Count(text, "Gate fails"); i >= 11 && failed != i+1 {
			t.Errorf("%d projects, of which %d fail", i+1, failed)
		}
	}
}
