package analysis_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// timed gives snapshots a time each, ten minutes apart.
func timed(list []*capture.Capture) []*capture.Capture {
	for i, c := range list {
		c.Snapshots[0].TakenAt = time.Date(2025, 3, 4, 12, 10*i, 0, 0, time.UTC)
	}
	return list
}

// settled analyses evidence with a settle time.
func settled(t *testing.T, d time.Duration, list []*capture.Capture) *analysis.Report {
	t.Helper()
	r, err := analysis.Analyze(t.Context(), inputs(list...), analysis.Options{Settle: d})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What lies in the settle time counts for nothing: the rest is judged as if it had been recorded alone.
func TestSettle(t *testing.T) {
	warm := []int64{10, 5000, 9000, 12000, 12010, 12020, 12030, 12040, 12050, 12060, 12070, 12080, 12090, 12100}
	for _, test := range []struct {
		settle time.Duration
		left   int // of the snapshots
	}{
		{0, 14}, {time.Nanosecond, 13}, {30*time.Minute - 1, 11}, {30 * time.Minute, 11}, {30*time.Minute + 1, 10},
		{9 * time.Hour, 1},
	} {
		r := settled(t, test.settle, timed(grown(10, warm...)))
		want := settled(t, 0, timed(grown(10, warm...))[14-test.left:])
		if r.Verdict.Status != want.Verdict.Status || r.Verdict.SnapshotsMissing != want.Verdict.SnapshotsMissing ||
			len(r.Snapshots) != 14 {
			t.Errorf("%v: %+v, want %+v", test.settle, r.Verdict, want.Verdict)
		}
		f, g := r.Findings[0], want.Findings[0]
		if f.Verdict != g.Verdict || (f.Growth == nil) != (g.Growth == nil) || f.Growth != nil && *f.Growth != *g.Growth ||
			f.Score != nil && g.Score != nil && *f.Score != *g.Score {
			t.Errorf("%v: %+v, want %+v", test.settle, f, g)
		}
		said := strings.HasSuffix(r.Verdict.MattersSentence, " (settle time) is ignored")
		if said != (test.settle > 0 && test.left > 1) {
			t.Errorf("%v: %q", test.settle, r.Verdict.MattersSentence)
		}
	}
	r := settled(t, 20*time.Minute, timed(append(grown(9, 1, 1, 1), grown(10, warm...)...))) // the settle time of the longest life
	if f := r.Findings[0]; f.Growth.Count != 12100-9000 {
		t.Errorf("of the longest life: %+v", f.Growth)
	}
}

// Evidence that does not tell what lies in the settle time is judged from its beginning, and says so.
func TestSettleNeedsSnapshotsWithTimes(t *testing.T) {
	const says = "; the settle time of 10 min is ignored: it needs snapshots with times"
	warm := []int64{10, 500, 900, 1200, 1210, 1220, 1230}
	untimed := timed(grown(10, warm...))
	untimed[3].Snapshots[0].TakenAt = time.Time{}
	r := settled(t, 10*time.Minute, untimed)
	if !strings.HasSuffix(r.Verdict.MattersSentence, says) || r.Findings[0].Growth.Count != 1220 {
		t.Errorf("without a time: %+v, %+v", r.Verdict, r.Findings[0].Growth)
	}
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(64, 6400)}, 300})
	if r = settled(t, 10*time.Minute, []*capture.Capture{c}); !strings.HasSuffix(r.Verdict.MattersSentence, says) {
		t.Errorf("a trace: %+v", r.Verdict)
	}
}
