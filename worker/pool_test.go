package worker_test

import (
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// The logs of three builds are judged together, in whichever order they come; their reports keep what each says by
// itself.
func TestLogsOfThreeRunsAddUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	sure := &score.Evidence{LogOdds: 4}
	if _, ok := score.JudgeTogether([]*score.Evidence{sure, sure}); !ok {
		t.Skip("package score has no table of poolings")
	}
	p := start(t)
	runs := map[string]int64{}
	for _, build := range []string{"3", "1", "2"} {
		runs[build] = p.leaking(build, 20)
		p.settled(runs[build])
	}
	builds := []string{"1", "2", "3"}
	for n, build := range builds {
		report := p.report(p.settled(runs[build]))
		page, _, err := storetest.Now(t, p.Store).ListFindings(t.Context(), store.FindingQuery{RunID: runs[build], Limit: 9})
		if err != nil || len(page) != 1 || len(report.Findings) == 0 {
			t.Fatalf("%d findings, %v", len(page), err)
		}
		alone, f := report.Findings[0], page[0]
		if slices.ContainsFunc(alone.Clauses, func(c score.Clause) bool { return c.Rule == "pooled" }) ||
			alone.Evidence == nil {
			t.Errorf("build %s: the report says %+v", build, alone)
		}
		if n == 0 {
			if f.Pooled != nil || f.Class != alone.Verdict || *f.Score != *alone.Score {
				t.Errorf("the oldest: %+v", f)
			}
			continue
		}
		var evidence []*score.Evidence
		for range builds[:n+1] { // the logs are alike
			evidence = append(evidence, alone.Evidence)
		}
		want, _ := score.JudgeTogether(evidence)
		if f.Class != analysis.ClassLeak || !want.Leaks || f.Pooled == nil || f.Pooled.PooledResult != want ||
			!slices.Equal(f.Pooled.Builds, builds[:n+1]) || *f.Score != want.Score {
			t.Errorf("build %s: %+v, want %+v", build, f, want)
		}
		if f.Alone == nil || f.Alone.Class != alone.Verdict || *f.Alone.Score != *alone.Score ||
			f.Alone.Certain != alone.Certain {
			t.Errorf("build %s by itself: %+v, want %s", build, f.Alone, alone.Verdict)
		}
	}
}
