package leaks

import (
	"cmp"
	"math"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// A TotalGrowth is the sum of the growth rates of all findings of a run that leak or grow, in one unit. Findings that
// the team tolerates do not count, as they do not count against budgets of the whole run. Low and High are the sums of
// the ends of the intervals; the true total is hardly ever that far out.
type TotalGrowth struct {
	Unit             string  // "hour", a unit of work, or PerRun
	Bytes, Low, High float64 // bytes per Unit
	Unbounded        bool    // a rate among them has no confidence interval, as in score.Rate
	Signatures       int     // how many findings are in the sum
	Length           float64 // of the run, in hours, where Unit is PerRun
}

// PerRun is the unit of growth of runs that are too short for growth per hour (score.LeastHoursOfRate).
const PerRun = "run"

// State states a total with its unit and basis.
func (t *TotalGrowth) State() score.StatedGrowth {
	if t.Unit != PerRun || !(t.Length > 0) {
		return score.StatedGrowth{Bytes: t.Bytes, Unit: t.Unit}
	}
	return score.StatedGrowth{Bytes: t.Bytes, Length: time.Duration(math.Round(t.Length * float64(time.Hour)))}
}

// A CoverageCell summarises the runs of one build in one scenario by the gravest of them, and by the newest among
// equals.
type CoverageCell struct {
	Build, Scenario string
	RunID           int64 // id of the run that stands for all
	Runs            int   // how many
	Status          analysis.VerdictStatus
	Sentence        string // of its report
	Sites           int64
	At              time.Time     // of the newest upload
	Totals          []TotalGrowth // one for each unit; none where nothing grows that is not tolerated
	Found           RunLeaks      // what Run found, by its state in the project
}

// statusGravity orders the statuses of runs, the gravest last.
var statusGravity = map[analysis.VerdictStatus]int{analysis.StatusInconclusive: 1,
	analysis.StatusNoLeak: 2, analysis.StatusLeak: 3}

// AddRun adds a run to the cell. A run that is not inconclusive takes precedence over one that is.
func (c *CoverageCell) AddRun(run CoverageCell) {
	speaks := cmp.Or(cmp.Compare(statusGravity[run.Status], statusGravity[c.Status]), cmp.Compare(run.RunID, c.RunID)) > 0
	at, runs := c.At, c.Runs+1
	if run.At.After(at) {
		at = run.At
	}
	if speaks {
		*c = run
	}
	c.At, c.Runs = at, runs
}

// TotalIn is the total in a unit; nil for none.
func (c *CoverageCell) TotalIn(unit string) *TotalGrowth {
	for i := range c.Totals {
		if c.Totals[i].Unit == unit {
			return &c.Totals[i]
		}
	}
	return nil
}

// TotalBudget is the policy's limit on the growth of a whole run, in bytes per unit; nil for none.
func (p *Policy) TotalBudget(unit string) *float64 {
	for i := range p.Budgets {
		if b := &p.Budgets[i]; b.Scope == BudgetTotal && b.Measure == MeasureBytes && b.Per == unit {
			return &b.Limit
		}
	}
	return nil
}
