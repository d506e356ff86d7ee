package analysis

import (
	"fmt"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// What would decide an inconclusive run, by what it lacks.
func TestNext(t *testing.T) {
	grows := func(class Class, longer float64) draftFinding {
		return draftFinding{Finding{Signature: "s", Verdict: class, Score: new(0.9), Evidence: &score.Evidence{},
			why: func() []score.Clause {
				return []score.Clause{{Rule: "score"}, {Rule: score.RuleNext, LengthFactor: longer}}
			}}, 9 << 20, nil}
	}
	snapshots := func(n int, findings ...draftFinding) *draft {
		d := twoHours(findings...)
		d.judged = d.judged[:n]
		return d
	}
	untimed := snapshots(12, grows(ClassLeak, 2.5))
	for i := range untimed.judged {
		untimed.judged[i].AtNS = 0
	}
	tiny := grows(ClassGrowing, 3)
	tiny.most = 1
	lossy := snapshots(12, grows(ClassGrowing, 2))
	lossy.report.Warnings = []Warning{{Code: capture.Truncated}}
	dump := snapshots(1, draftFinding{Finding{Verdict: ClassUnreferenced}, 9 << 20, nil})
	for name, test := range map[string]struct {
		draft *draft
		want  string
	}{
		"nothing grows":    {snapshots(12), "<nil>"},
		"no doubt matters": {snapshots(12, tiny), "<nil>"},
		"one snapshot": {snapshots(1, grows(ClassGrowing, 0)),
			"{snapshots 4 9 0 0 Take 4 more snapshots of this process to detect leaks, 9 more to be certain.}"},
		"four snapshots": {snapshots(4, grows(ClassGrowing, 0)),
			"{snapshots 1 6 0 0 Take 1 more snapshot of this process to detect leaks, 6 more to be certain.}"},
		"five that leak": {snapshots(5, grows(ClassLeak, 2)),
			"{snapshots 0 5 0 0 Take 5 more snapshots of this process to be certain.}"},
		"nine that leak": {snapshots(9, grows(ClassLeak, 2)),
			"{snapshots 0 1 0 0 Take 1 more snapshot of this process to be certain.}"},
		"ten that leak": {snapshots(10, grows(ClassLeak, 2)),
			"{longer-run 0 0 2 3.3 Record 3.27 h instead of 98.2 min, or record a second run.}"},
		"twelve that leak": {snapshots(12, grows(ClassLeak, 2.5)),
			"{longer-run 0 0 2.5 5.0 Record 5 h instead of 2 h, or record a second run.}"},
		"nothing tells how long": {snapshots(12, grows(ClassLeak, 0)),
			"{longer-run 0 0 0 0 Record longer, or record a second run.}"},
		"long enough":       {snapshots(12, grows(ClassLeak, 1)), "{longer-run 0 0 0 0 Record longer, or record a second run.}"},
		"hardly too short":  {snapshots(12, grows(ClassLeak, 1.01)), "{longer-run 0 0 1.1 2.2 Record 2.2 h instead of 2 h, or record a second run.}"},
		"a tenth too short": {snapshots(12, grows(ClassLeak, 1.1)), "{longer-run 0 0 1.1 2.2 Record 2.2 h instead of 2 h, or record a second run.}"},
		"a fifth too short": {snapshots(12, grows(ClassLeak, 1.2)), "{longer-run 0 0 1.2 2.4 Record 2.4 h instead of 2 h, or record a second run.}"},
		"without times":     {untimed, "{longer-run 0 0 2.5 0 Record 2.5 times as long, or record a second run.}"},
		"losses":            {lossy, "{complete-run 0 0 0 0 Record the run again; the warnings list the losses.}"},
		"a dump":            {dump, "{dumps 2 9 0 0 Take 2 more dumps of this process, or 10 snapshots.}"},
	} {
		v, got := test.draft.decide(), "<nil>"
		if n := v.Next; n != nil {
			got = fmt.Sprintf("{%s %d %d %.2g %.1f %s}", n.Evidence, n.Snapshots, n.SnapshotsToBeCertain, n.LengthFactor, n.Hours, n.Sentence)
			if n.Hours == 0 {
				got = fmt.Sprintf("{%s %d %d %.2g 0 %s}", n.Evidence, n.Snapshots, n.SnapshotsToBeCertain, n.LengthFactor, n.Sentence)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s; %s", name, got, test.want, v.Sentence)
		}
		if (v.Next != nil) != (v.Status == StatusInconclusive) {
			t.Errorf("%s: %s with next %v", name, v.Status, v.Next)
		}
	}
}
