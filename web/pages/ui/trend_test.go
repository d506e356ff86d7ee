package ui

import (
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestScale(t *testing.T) {
	log := scaleFor(false, 3<<10, 3<<20)
	if log.y(0) != trendHeight || log.y(10<<20) != 0 || log.y(3<<20) <= 0 || log.y(3<<10) >= trendHeight {
		t.Errorf("%+v: %g %g", log, log.y(3<<20), log.y(3<<10))
	}
	for _, bytes := range []float64{0, 1, 1000, 1 << 20, 1 << 50} {
		for _, s := range []scale{log, scaleFor(true, 1, 1<<20), scaleFor(false, 0.001, 0.01), scaleFor(false, 1, 1<<50)} {
			if y := s.y(bytes); y < 0 || y > trendHeight {
				t.Errorf("%+v puts %g at %g", s, bytes, y)
			}
		}
	}
	if half := scaleFor(true, 0, 100); half.y(55) != trendHeight/2 {
		t.Error(half.y(55))
	}
	if got := levelText(10 << 20); got != "10 MB" {
		t.Error(got)
	}
}

// Up to twelve builds have their names below the chart. Of more, each second or third has, and the last one always.
func TestNamesBelowATrend(t *testing.T) {
	for n, want := range map[int]string{2: "1 2", 11: "1 2 3 4 5 6 7 8 9 10 11", 12: "1 2 3 4 5 6 7 8 9 10 11 12",
		13: "1 3 5 7 9 11 13", 24: "2 4 6 8 10 12 14 16 18 20 22 24", 25: "1 4 7 10 13 16 19 22 25"} {
		c := &store.Coverage{Scenarios: []string{"a"}}
		for i := range n {
			c.Builds = append(c.Builds, store.BuildRef{Name: strconv.Itoa(i + 1)})
			c.Cells = append(c.Cells, leaks.CoverageCell{Build: strconv.Itoa(i + 1), Scenario: "a", RunID: int64(i + 1), Status: analysis.StatusLeak,
				Totals: []leaks.TotalGrowth{{Unit: "hour", Bytes: 1 << 20, Low: 1 << 19, High: 1 << 21, Signatures: 1}}})
		}
		var got []string
		for _, tick := range TrendOf(TrendQuery{Coverage: c}).ticks {
			got = append(got, tick.text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d builds: %q, want %s", n, got, want)
		}
	}
}

// A build that was not run is not shown as clean, and a build without a rate of growth has no point.
func TestTrendOf(t *testing.T) {
	grows := func(bytes float64) []leaks.TotalGrowth {
		return []leaks.TotalGrowth{{Unit: "hour", Bytes: bytes, Low: bytes / 2, High: bytes * 2, Signatures: 1}}
	}
	s := TrendQuery{Coverage: &store.Coverage{
		Builds: []store.BuildRef{{Name: "1"}, {Name: "2"}, {Name: "3"}, {Name: "4"}}, Scenarios: []string{"a", "b", "c"},
		Cells: []leaks.CoverageCell{
			{Build: "1", Scenario: "a", RunID: 1, Status: analysis.StatusNoLeak},
			{Build: "1", Scenario: "b", RunID: 2, Status: analysis.StatusLeak, Totals: grows(1 << 20)},
			{Build: "2", Scenario: "a", RunID: 3, Status: analysis.StatusLeak, Totals: grows(2 << 20)},
			{Build: "3", Scenario: "a", RunID: 4, Status: analysis.StatusInconclusive},
			{Build: "4", Scenario: "b", RunID: 5, Status: analysis.StatusLeak, Totals: grows(1 << 20)},
			{Build: "4", Scenario: "c", RunID: 6, Status: analysis.StatusLeak,
				Totals: []leaks.TotalGrowth{{Unit: "document", Bytes: 5}}},
		},
	}}
	limit := leaks.Policies{Default: leaks.Policy{Budgets: []leaks.Budget{{Scope: leaks.BudgetTotal, Measure: leaks.MeasureBytes,
		Per: "hour", Limit: 65536}}}}
	s.Policies = &limit
	tr := TrendOf(s)
	if tr.since != nil {
		t.Errorf("nothing says where it came in, and the chart has %+v", tr.since)
	}
	s.LastClean, s.FirstBad = "1", "3"
	if since := TrendOf(s).since; since == nil || since.x != "12.5%" || since.width != "50.0%" {
		t.Errorf("it came between 1 and 3, and the chart has %+v", since)
	}
	if tr.Unit != "hour" || len(tr.units) != 2 || len(tr.lines) != 2 || len(tr.budgets) != 1 ||
		tr.budgets[0].text != "budget 64.0 KB/hour" {
		t.Fatalf("%+v", tr)
	}
	a, b := tr.lines[0], tr.lines[1]
	if len(a.points) != 2 || a.path == "" || a.gap != "" || a.points[0].y != "150.0" || a.points[1].low == "" {
		t.Errorf("%+v", a)
	}
	if len(b.points) != 2 || b.path != "" || b.gap == "" {
		t.Errorf("builds 2 and 3 were not run in b, and the line is %+v", b)
	}
	if other := TrendOf(TrendQuery{Coverage: s.Coverage, Unit: "document", Linear: true}); other.Unit != "document" ||
		len(other.lines) != 1 || len(other.budgets) != 0 {
		t.Errorf("%+v", other)
	}
	s.Coverage.Builds = s.Coverage.Builds[:1]
	if TrendOf(s) != nil {
		t.Error("one build is no course")
	}
}
