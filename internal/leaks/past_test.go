package leaks

import (
	"fmt"
	"testing"
	"time"

	"heapdrift/internal/analysis"
)

// Runs tell of a leak whether they found it: a certain leak and a clean class do, so does absence where its callers
// ran; a leak that is not certain, growth, and evidence that does not decide do not.
func TestPastOf(t *testing.T) {
	in := func(order int, class analysis.Class) PastFinding {
		return PastFinding{Signature: "a", RunOrder: order, Class: class, Certain: true, Status: analysis.StatusLeak}
	}
	unsure, absent, thin := in(1, analysis.ClassLeak), in(1, ""), in(1, analysis.ClassStable)
	unsure.Certain, absent.Absent, thin.Status = false, true, analysis.StatusInconclusive
	other := in(1, analysis.ClassLeak)
	other.Signature = "b"
	for name, test := range map[string]struct {
		list []PastFinding
		want string
	}{
		"nothing":                     {nil, "map[]"},
		"a certain leak":              {[]PastFinding{in(1, analysis.ClassLeak)}, "map[a:[true]]"},
		"a leak that is not certain":  {[]PastFinding{unsure}, "map[]"},
		"growth":                      {[]PastFinding{in(1, analysis.ClassGrowing)}, "map[]"},
		"a clean class":               {[]PastFinding{in(1, analysis.ClassStable)}, "map[a:[false]]"},
		"a clean class of thin runs":  {[]PastFinding{thin}, "map[]"},
		"an unknown class":            {[]PastFinding{in(1, analysis.ClassUnknown)}, "map[]"},
		"absence":                     {[]PastFinding{absent}, "map[a:[false]]"},
		"found beside what is open":   {[]PastFinding{in(1, analysis.ClassLeak), in(1, analysis.ClassGrowing)}, "map[a:[true]]"},
		"open beside found":           {[]PastFinding{unsure, in(1, analysis.ClassLeak)}, "map[a:[true]]"},
		"clean beside what is open":   {[]PastFinding{in(1, analysis.ClassStable), in(1, analysis.ClassGrowing)}, "map[]"},
		"what is open beside clean":   {[]PastFinding{in(1, analysis.ClassGrowing), in(1, analysis.ClassStable)}, "map[]"},
		"clean twice in a run":        {[]PastFinding{in(1, analysis.ClassStable), in(1, analysis.ClassCache)}, "map[a:[false]]"},
		"several runs":                {[]PastFinding{in(1, analysis.ClassStable), in(2, analysis.ClassGrowing), in(3, analysis.ClassLeak)}, "map[a:[false true]]"},
		"the same run of two of them": {[]PastFinding{in(1, analysis.ClassStable), other}, "map[a:[false] b:[true]]"},
	} {
		if got := fmt.Sprint(FoundInPastRuns(test.list)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// The gravest run of a cell speaks for it, of equals the newest; the cell counts all and knows the newest upload.
func TestCells(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2025, 3, 1, hour, 0, 0, 0, time.UTC) }
	run := func(id int64, status analysis.VerdictStatus, hour int) CoverageCell {
		return CoverageCell{RunID: id, Status: status, At: at(hour), Sentence: fmt.Sprint("of ", id), Runs: 99}
	}
	for name, test := range map[string]struct {
		runs []CoverageCell
		run  int64
		hour int
	}{
		"one":                           {[]CoverageCell{run(1, analysis.StatusNoLeak, 5)}, 1, 5},
		"the newer of equals":           {[]CoverageCell{run(1, analysis.StatusNoLeak, 5), run(2, analysis.StatusNoLeak, 6)}, 2, 6},
		"the newer of equals, before":   {[]CoverageCell{run(2, analysis.StatusNoLeak, 6), run(1, analysis.StatusNoLeak, 5)}, 2, 6},
		"a leak before no leak":         {[]CoverageCell{run(1, analysis.StatusLeak, 5), run(2, analysis.StatusNoLeak, 6)}, 1, 6},
		"no leak before inconclusive":   {[]CoverageCell{run(1, analysis.StatusNoLeak, 5), run(2, analysis.StatusInconclusive, 4)}, 1, 5},
		"inconclusive before no status": {[]CoverageCell{run(2, "", 5), run(1, analysis.StatusInconclusive, 4)}, 1, 5},
		"three":                         {[]CoverageCell{run(1, "", 7), run(2, analysis.StatusLeak, 4), run(3, analysis.StatusNoLeak, 5)}, 2, 7},
	} {
		var c CoverageCell
		for _, r := range test.runs {
			c.AddRun(r)
		}
		if c.RunID != test.run || c.Sentence != fmt.Sprint("of ", test.run) || c.Runs != len(test.runs) || !c.At.Equal(at(test.hour)) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	c := CoverageCell{Totals: []TotalGrowth{{Unit: "hour", Bytes: 1}, {Unit: "document", Bytes: 2}}}
	if c.TotalIn("document") != &c.Totals[1] || c.TotalIn("hour") != &c.Totals[0] || c.TotalIn("page") != nil {
		t.Error("totals are of other units")
	}
}

// The budget of a whole run is that in bytes and in the unit asked for, the first of them.
func TestTotalBudget(t *testing.T) {
	p := Policy{Budgets: []Budget{
		{Scope: BudgetSignature, Measure: MeasureBytes, Per: "hour", Limit: 1}, {Scope: BudgetTotal, Measure: MeasureBlocks, Per: "hour", Limit: 2},
		{Scope: BudgetTotal, Measure: MeasureBytes, Per: "document", Limit: 3}, {Scope: BudgetTotal, Measure: MeasureBytes, Per: "hour", Limit: 4},
		{Scope: BudgetTotal, Measure: MeasureBytes, Per: "hour", Limit: 5},
	}}
	for unit, want := range map[string]float64{"hour": 4, "document": 3} {
		if got := p.TotalBudget(unit); got == nil || *got != want {
			t.Errorf("per %s: %v", unit, got)
		}
	}
	if got := p.TotalBudget("page"); got != nil {
		t.Errorf("per page: %v", *got)
	}
}

// How a leak stands on a line is told by what is known of it, the most telling fact first.
func TestTextOfLines(t *testing.T) {
	for want, l := range map[string]LineState{
		"fixed in 9":                 {State: StateFixed, FixedIn: "9", Found: true},
		"known":                      {State: StateKnown, Found: true, After: "1", Since: "2"},
		"came back in 9, fixed in 8": {State: StateRegressed, FixedIn: "8", RegressedIn: "9", Found: true},
		"open since the first build of its scenario": {State: StateOngoing, Found: true, After: "1", Since: "2"},
		"open, appeared between 1 and 2":             {State: StateRegressed, After: "1", Since: "2"},
		"open since 2":                               {State: StateFixed, Since: "2"},
		"open":                                       {State: StateOngoing},
	} {
		if got := l.Text(); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
	for want, b := range map[string]CleanBound{
		"less than 2.00 KB/hour (with 90 % probability)":      {BytesPerUnit: 2048, BlocksPerUnit: 3, Unit: "hour"},
		"less than 3 blocks/document (with 90 % probability)": {BlocksPerUnit: 3, Unit: "document"},
	} {
		if got := b.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
