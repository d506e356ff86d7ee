package leaks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/pagestest"
)

func TestCompareBuilds(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	page := pagestest.Words(s.Page("/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min"))
	pagestest.Has(t, page, "Compare builds of shopd", "1 new", "Changes", "all 5 new 1", "same 4", "new",
		"Receipt:: AppendLine", "stable", "leak", "certain", "2.48 MB/hour", "Call stacks of both builds",
		"By module", "shopd", "Base: build 4811", "Head: build 4812")
	pagestest.Lacks(t, page, "worse 0", "not exercised 0") // a group without rows takes no room
	const pair = "/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min"
	for query, rows := range map[string]int{"": 5, "&group=new": 1, "&group=persisting": 4, "&group=fixed": 0,
		"&group=nonsense": 5, "&q=appendline": 1, "&q=shopd&group=persisting": 2, "&q=nosuch": 0} {
		page := s.Page(pair + query)
		if n := strings.Count(page, "<tr data-row="); n != rows {
			t.Errorf("%s: %d rows, want %d", query, n, rows)
		}
	}
	pagestest.Has(t, s.Page(pair+"&group=new&q=a"),
		`base=4811&amp;group=persisting&amp;head=4812&amp;q=a&amp;scenario=soak-60min#changes`,
		`name="group" value="new"`, `value="a"`)
	pagestest.Has(t, pagestest.Words(s.Page(pair+"&q=nosuch")), "No leak matches. Show all")
	page = pagestest.Words(s.Page("/projects/shopd/compare"))
	pagestest.Has(t, page, "fixed 1", "AuditLog:: Note", "Base: build 4812", "the baseline of build 4813",
		"Head: build 4813")
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd/compare?head=4811")),
		"the branch of 4811 has no older build with a result")
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd/compare?head=nosuch&base=4811")),
		"One of the builds has no run of this scenario.")
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd/compare?scenario=%3Cb%3E")),
		"No build of the project has a result in the scenario &lt;b&gt;")
	if status, _ := s.Get("/projects/nobody/compare", "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("no project: %d", status)
	}
}

// A comparison says which of its runs are not analysed to their end, and so does the page of such a run.
func TestCompareWithPendingRuns(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	const pair = "/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min"
	pagestest.Lacks(t, pagestest.Words(s.Page(pair)), "has not ended")
	to := pagestest.DefaultTarget
	to.Build, to.Scenario = "4812", "soak-60min"
	run := pagestest.AddEvidence(t, s.Store, to, "late.log").RunID
	pagestest.Has(t, pagestest.Words(s.Page(pair)),
		"The analysis of 1 run of build 4812 has not ended. Its result will change this comparison.")
	pagestest.Has(t, pagestest.Words(s.Page(fmt.Sprint("/runs/", run))),
		"The run has 1 file to read. This report will change.")
}

// Two builds link to the commits between them, where uploads name the commits and the project says where they can be
// read.
func TestCommitsBetweenBuilds(t *testing.T) {
	s := pagestest.Open(t)
	page := func() string {
		_, page := s.Get("/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min")
		return page
	}
	for _, build := range []string{"4811", "4812"} {
		to := pagestest.DefaultTarget
		to.Build, to.Commit = build, map[string]string{"4811": "1f0c", "4812": "9ab"}[build]
		samples := pagestest.Shop
		if build == "4811" {
			samples = pagestest.Shop[3:] // without its leaks
		}
		pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(samples, 6))
	}
	if strings.Contains(page(), "Commits 4811 to 4812") {
		t.Error("nobody says where commits can be read")
	}
	links := pagestest.Must[leaks.SourceLinks](t)(leaks.ParseSourceLinks("",
		"https://git.example/shopd/compare/{base}...{head}"))
	if err := s.Store.UpdateSourceLinks(t.Context(), pagestest.DefaultTarget.Project, links, "mei"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page(),
		`href="https://git.example/shopd/compare/1f0c...9ab" rel="noreferrer">Commits 4811 to 4812</a>`) {
		t.Error("the comparison does not lead to the commits")
	}
}
