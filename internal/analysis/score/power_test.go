package score_test

import (
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// even is an axis of n instants over hours.
func even(n int, hours float64) *score.Axis {
	at := make([]float64, n)
	for i := range at {
		at[i] = hours * float64(i) / float64(n-1)
	}
	return &score.Axis{Unit: "hour", At: at, Hours: at}
}

// noisyLeak is a steady leak of so many blocks per hour, over blocks that come and go.
func noisyLeak(r *rand.Rand, a *score.Axis, rate, noise float64, block int64) *score.Series {
	s := &score.Series{Followed: true}
	leaked, last := 0, int32(len(a.At)-1)
	for i, at := range a.At {
		if i > 0 {
			n := arrivals(r, rate*(at-a.At[i-1]))
			leaked += n
			s.Spans = append(s.Spans, capture.Span{First: int32(i), Last: last, Count: int64(n)})
		}
		others := max(0, int64(1000*noise/(1+noise)+noise*r.NormFloat64()))
		if int32(i) < last { // in no other snapshot
			s.Spans = append(s.Spans, capture.Span{First: int32(i), Last: int32(i), Count: others})
		}
		c := int64(leaked) + others
		s.Count, s.Bytes = append(s.Count, c), append(s.Bytes, c*block)
	}
	return s
}

// arrivals draws a Poisson count.
func arrivals(r *rand.Rand, mean float64) int {
	n := 0
	for t := r.ExpFloat64(); t < mean; t += r.ExpFloat64() {
		n++
	}
	return n
}

func found(t testing.TB, trials int, judge func(*rand.Rand) score.Result) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	leaks := 0
	for range trials {
		if judge(r).Class == score.Leak {
			leaks++
		}
	}
	return float64(leaks) / float64(trials)
}

func steadySurvival(r *rand.Rand, hours, rate float64) *allocations.Survival {
	v := &allocations.Survival{Over: int64(hours * 3600e9)}
	for i := range v.Born {
		n := int64(arrivals(r, rate*hours/allocations.SurvivalBins))
		v.Born[i], v.Left[i], v.LeftBytes[i] = n, n, 64*n
	}
	return v
}

// TestPower generates leaks with exactly the rate of the power, and finds at least 85 % of them.
func TestPower(t *testing.T) {
	for _, n := range []int{6, 7, 8, 10, 12, 20} {
		for _, noise := range []float64{0, 1, 10, 50} {
			a := even(n, 3)
			p := score.SnapshotPower(a, noise, 64)
			share := found(t, 150,
				func(r *rand.Rand) score.Result { return score.Snapshots(noisyLeak(r, a, p.Count, noise, 64), a, nil) })
			if share < 0.85 {
				t.Errorf("%d snapshots with a noise of %v blocks: %s, and of such leaks %.0f %% are found", n, noise, p, 100*share)
			}
		}
	}
	for _, hours := range []float64{0.01, 1, 50} {
		p := score.TracePower(&allocations.Survival{Over: int64(hours * 3600e9)}, 64)
		share := found(t, 300, func(r *rand.Rand) score.Result { return score.Trace(steadySurvival(r, hours, p.Count), nil) })
		if share < 0.85 {
			t.Errorf("a trace of %v h: %s, and of such leaks %.0f %% are found", hours, p, 100*share)
		}
	}
}

func TestPowerWithoutEvidence(t *testing.T) {
	for name, p := range map[string]score.Power{
		"five snapshots": score.SnapshotPower(even(5, 1), 0, 64),
		"no snapshots":   score.SnapshotPower(&score.Axis{Unit: "hour"}, 0, 64),
		"empty window":   score.TracePower(&allocations.Survival{}, 64),
	} {
		if p.Count != 0 || p.String() != "could not have seen any leak" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestPowerSaysNoLessThanItIs(t *testing.T) {
	for rate, want := range map[float64]string{
		0.0123: "would have seen ≥ 0.013 blocks per hour (≥ 0.79 B per hour)",
		30:     "would have seen ≥ 30 blocks per hour (≥ 1.9 KB per hour)",
		123456: "would have seen ≥ 130,000 blocks per hour (≥ 7.6 MB per hour)",
	} {
		if got := (score.Power{Unit: "hour", Count: rate, Bytes: 64 * rate}).String(); got != want {
			t.Errorf("%v: %q, want %q", rate, got, want)
		}
	}
}
