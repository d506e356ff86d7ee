package api_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// The API gives the judgement on a run together with others, the run's own judgement, and the reasons.
func TestPooledLeak(t *testing.T) {
	n := start(t)
	type leak struct {
		Class    string
		Evidence *struct {
			Clauses []score.Clause
			Pooled  *struct {
				Runs           int
				Score          float64
				Leaks, Certain bool
				Builds         []string
			}
			Own *struct {
				Class   string
				Score   *float64
				Certain bool
			}
		}
	}
	grows := found(sigLeak, "Leak", analysis.ClassGrowing, 100)
	grows.Evidence = &score.Evidence{Kind: score.KindFollowed, Snapshots: 8, Conditions: []float64{1}, LogOdds: 4}
	n.build("1", grows)
	v := decode[leak](t, n.do("GET", at(sigLeak), nil).want(t, 200, ""))
	if v.Evidence == nil || v.Evidence.Pooled != nil || v.Evidence.Own != nil {
		t.Errorf("a run that stands for itself: %+v", v.Evidence)
	}
	want, ok := score.JudgeTogether([]*score.Evidence{grows.Evidence, grows.Evidence})
	if !ok {
		t.Skip("package score has no table of poolings")
	}
	n.build("2", grows)
	v = decode[leak](t, n.do("GET", at(sigLeak), nil).want(t, 200, ""))
	if v.Class != "leak" || v.Evidence == nil || v.Evidence.Pooled == nil || v.Evidence.Own == nil {
		t.Fatalf("%+v", v)
	}
	if p := v.Evidence.Pooled; p.Runs != 2 || p.Score != want.Score || !p.Leaks || p.Certain != want.Certain ||
		!slices.Equal(p.Builds, []string{"1", "2"}) {
		t.Errorf("%+v, want %+v", p, want)
	}
	if own := v.Evidence.Own; own.Class != "growing" || own.Certain || own.Score == nil || *own.Score != *grows.Score {
		t.Errorf("by itself: %+v", own)
	}
	if c := v.Evidence.Clauses; len(c) != 2 || c[0].Rule != "pooled" ||
		!strings.HasPrefix(c[0].Text, "Pooled over 2 runs of builds 1 and 2: ") {
		t.Errorf("%+v", c)
	}
}
