package leaks

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// historyBuilds is how many builds, the newest ones, the chart of a signature has.
const historyBuilds = 40

// historyOf draws how fast the leak grows, by build. A build that did not exercise the leak has no point, because
// nothing is known of the leak there.
func (v signatureView) historyOf(c echo.Context) *ui.Trend {
	coverage := &store.Coverage{Builds: v.history.Builds[max(len(v.history.Builds)-historyBuilds, 0):],
		Scenarios: v.history.Scenarios}
	for i := range v.history.Outcomes {
		if o := &v.history.Outcomes[i]; o.Exercised || o.IsAbsent() {
			coverage.Cells = append(coverage.Cells, cellOf(o))
		}
	}
	page := ui.SignatureURL(v.project, v.Text)
	return ui.TrendOf(ui.TrendQuery{
		Title: "Growth of this leak", Note: "Builds that did not exercise the leak have no point.", Coverage: coverage,
		Unit: ui.Printable(c.QueryParam("per")), Linear: c.QueryParam("scale") == "linear",
		LastClean: v.LastClean, FirstBad: v.FirstBad, Between: v.cameURL(),
		Address: func(fields ...ui.Field) templ.SafeURL { return ui.WithFields(page, fields) },
	})
}

// cellOf is what a build says of the signature in a scenario, as a cell of the chart.
func cellOf(o *leaks.Outcome) leaks.CoverageCell {
	cell := leaks.CoverageCell{Build: o.Build, Scenario: o.Scenario, RunID: o.RunID, Runs: o.Runs,
		Status: analysis.StatusInconclusive}
	switch {
	case o.IsBad():
		cell.Status = analysis.StatusLeak
	case o.IsClean():
		cell.Status = analysis.StatusNoLeak
	}
	if r := o.Rate; r != nil && o.IsBad() {
		cell.Totals = []leaks.TotalGrowth{{Unit: r.Unit, Bytes: max(r.Bytes, 0), Low: max(r.BytesLow, 0),
			High: max(r.BytesHigh, 0), Unbounded: r.Unbounded, Signatures: 1}}
	}
	return cell
}
