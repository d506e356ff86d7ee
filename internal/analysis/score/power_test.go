package score_test

import (
	"math"
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

// spaced is an axis of n instants over three hours, where place moves even shares of it.
func spaced(n int, place func(float64) float64) *score.Axis {
	a := even(n, 1)
	for i, x := range a.At {
		a.At[i] = place(x) - place(0)
	}
	last := a.At[n-1]
	for i := range a.At {
		a.At[i] *= 3 / last
	}
	return a
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
		if judge(r).Class == score.ClassLeak {
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
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, n := range []int{10, 12, 15, 20} {
		for name, a := range map[string]*score.Axis{"even": even(n, 3), "uneven": spaced(n, func(x float64) float64 {
			return x + 0.4/float64(n)*math.Sin(40*x)
		}), "ever rarer": spaced(n, func(x float64) float64 { return x * x }), "with a gap": spaced(n, func(x float64) float64 {
			if x < 0.6 {
				return x
			}
			return x + 0.45
		})} {
			for _, noise := range []float64{0, 1, 10, 50} {
				p, why := score.SnapshotPower(a, true, noise, 64)
				share := found(t, 150,
					func(r *rand.Rand) score.Result {
						return score.JudgeSnapshots(noisyLeak(r, a, p.Count, noise, 64), a, nil)
					})
				if share < 0.85 || why != "" {
					t.Errorf("%d snapshots, %s, with a noise of %v blocks: %s, %q, and of such leaks %.0f %% are found", n, name,
						noise, p, why, 100*share)
				}
			}
		}
	}
	for _, hours := range []float64{0.01, 1, 50} {
		p := score.TracePower(&allocations.Survival{Over: int64(hours * 3600e9)}, 64)
		share := found(t, 300, func(r *rand.Rand) score.Result { return score.JudgeTrace(steadySurvival(r, hours, p.Count), nil) })
		if share < 0.85 {
			t.Errorf("a trace of %v h: %s, and of such leaks %.0f %% are found", hours, p, 100*share)
		}
	}
}

func TestPowerWithoutEvidence(t *testing.T) {
	gap := func(share float64) *score.Axis { // of 12 snapshots
		a := even(12, 1)
		a.At[11] = a.At[10] / (1 - share)
		return a
	}
	const few, long = "no leak can be certain with fewer than 10 snapshots",
		"one interval between snapshots is too long to say which leaks would be detected"
	for name, test := range map[string]struct {
		axis     *score.Axis
		followed bool
		shows    bool
		why      string
	}{
		"no snapshots":     {&score.Axis{Unit: "hour"}, true, false, ""},
		"five snapshots":   {even(5, 1), true, false, few},
		"nine snapshots":   {even(9, 1), true, false, few},
		"ten snapshots":    {even(10, 1), true, true, ""},
		"no addresses":     {even(20, 1), false, false, "no leak can be certain without block addresses"},
		"a gap below 40 %": {gap(0.39), true, true, ""},
		"a gap above it":   {gap(0.41), true, false, long},
	} {
		p, why := score.SnapshotPower(test.axis, test.followed, 0, 64)
		if (p.Count > 0) != test.shows || why != test.why || !test.shows && p.String() != "Would detect no leak." {
			t.Errorf("%s: %+v, %q", name, p, why)
		}
	}
	if p := score.TracePower(&allocations.Survival{}, 64); p.Count != 0 {
		t.Errorf("empty window: %+v", p)
	}
}

// The power begins with the number of snapshots from which a leak may be certain, and needs addresses as that does.
func TestPowerIsOfCertainLeaks(t *testing.T) {
	for n := 3; n <= 20; n++ {
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = int64(1000 * i)
		}
		a := even(n, 3)
		for followed, s := range map[bool]*score.Series{true: stays(counts...), false: counted(counts...)} {
			p, _ := score.SnapshotPower(a, followed, 0, 64)
			if r := score.JudgeSnapshots(s, a, nil); r.Certain != (p.Count > 0) {
				t.Errorf("%d snapshots, followed: %v: certain %v, and %s", n, followed, r.Certain, p)
			}
		}
	}
}

func TestPowerSaysNoLessThanItIs(t *testing.T) {
	for rate, want := range map[float64]string{
		0.0123: "Would detect a steady leak of 0.013 blocks/hour (about 0.79 B/hour) or faster with 90 % probability.",
		30:     "Would detect a steady leak of 30 blocks/hour (about 1.9 KB/hour) or faster with 90 % probability.",
		123456: "Would detect a steady leak of 130,000 blocks/hour (about 7.6 MB/hour) or faster with 90 % probability.",
	} {
		if got := (score.Power{Unit: "hour", Count: rate, Bytes: 64 * rate}).String(); got != want {
			t.Errorf("%v: %q, want %q", rate, got, want)
		}
	}
}
