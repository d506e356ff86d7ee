package api_test

import (
	"testing"

	"heapdrift/internal/analysis"
)

// The tests of a run are listed with their states and history, and choose leaks of the project.
func TestTestsOfARun(t *testing.T) {
	n := start(t)
	run := n.listed("1", analysis.ExitTest{Test: "S.A", Leaks: 1, Certain: 1, Lost: analysis.Amount{Count: 2, Bytes: 64}, Whole: true},
		analysis.ExitTest{Test: "S.B", Whole: true})
	type answer struct {
		Total  int
		Counts map[string]int
		Builds []string
		Tests  []struct {
			Test, State string
			Leaks       int
			Lost        analysis.Amount
			History     []string
		}
	}
	all := decode[answer](t, n.do("GET", "/api/v1/runs/1/tests", nil).want(t, 200, ""))
	if run != 1 || all.Total != 2 || all.Counts["open"] != 1 || all.Counts["clean"] != 1 || len(all.Builds) != 1 || len(all.Tests) != 2 ||
		all.Tests[0].Test != "S.A" || all.Tests[0].State != "open" || all.Tests[0].Lost.Bytes != 64 || all.Tests[1].History[0] != "clean" {
		t.Errorf("%+v", all)
	}
	for query, total := range map[string]int{"?state=clean": 1, "?q=s.a": 1, "?limit=1": 2, "?state=new": 0} {
		if got := decode[answer](t, n.do("GET", "/api/v1/runs/1/tests"+query, nil).want(t, 200, "")); got.Total != total || len(got.Tests) > total {
			t.Errorf("%s: %+v", query, got)
		}
	}
	n.do("GET", "/api/v1/runs/1/tests?state=odd", nil).want(t, 422, "invalid-state")
	n.do("GET", "/api/v1/runs/1/tests?limit=501", nil).want(t, 422, "invalid-limit")
	n.do("GET", "/api/v1/runs/9/tests", nil).want(t, 404, "not-found")
	for test, count := range map[string]int{"S.A": 1, "S.B": 0} {
		type leaksOf struct{ Total int }
		if got := decode[leaksOf](t, n.do("GET", "/api/v1/projects/shop/signatures?test="+test, nil).want(t, 200, "")); got.Total != count {
			t.Errorf("leaks of %s: %d", test, got.Total)
		}
	}
}

// listed stores a run of a list of leaks at exit with one leak, in the first of its tests.
func (n *node) listed(build string, tests ...analysis.ExitTest) int64 {
	n.t.Helper()
	f := found(sigLeak, "Leak", analysis.ClassLeftAtExit, 64)
	f.Score, f.Growth, f.Certain = nil, nil, true
	f.LeftAtExit = &analysis.LeftAtExit{Unsearched: analysis.Amount{Count: 2, Bytes: 64}, Tests: []string{tests[0].Test}, Tools: []string{"crt-leaks"}}
	r := reportOn(analysis.StatusLeak, f)
	r.ListsExit, r.ExitTests, r.ExitLists = true, tests, []analysis.ExitLists{{Tool: "crt-leaks", Tests: []string{"S.A", "S.B"}}}
	return n.sent(build, r)
}
