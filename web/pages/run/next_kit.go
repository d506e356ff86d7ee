package run

import (
	"cmp"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/kit"
	"heapdrift/web/address"

	"github.com/a-h/templ"
)

// kitURL is the page with the commands that record what would decide an inconclusive run; "" where nothing tells, or
// where no recording would.
func (v runView) kitURL() templ.SafeURL {
	if v.report == nil {
		return ""
	}
	evidence, snapshots := nextEvidence(v.report.Report)
	image := v.report.Process.Name
	if evidence == "" || !strings.HasSuffix(strings.ToLower(image), ".exe") {
		return ""
	}
	return templ.SafeURL(address.Kit(v.run.Project, v.run.Scenario, image, evidence, snapshots))
}

// nextEvidence is the kit that records what a report lacks, and how many snapshots or dumps of it; "" for none.
func nextEvidence(r *analysis.Report) (evidence string, snapshots int) {
	next := r.Verdict.Next
	if next == nil {
		return "", 0
	}
	switch next.Evidence {
	case analysis.NextSnapshots:
		return kit.UMDH, cmp.Or(next.SnapshotsToBeCertain, next.Snapshots)
	case analysis.NextDumps:
		return kit.ProcDump, next.Snapshots
	case analysis.NextLonger, analysis.NextComplete:
		if r.Trace != nil {
			return kit.WPR, 0
		}
		return kit.UMDH, 0
	}
	return "", 0 // a larger window of the same trace
}
