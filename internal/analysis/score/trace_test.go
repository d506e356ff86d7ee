package score_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

const hour = int64(3600e9)

// A life is a block of an hour's trace: when it was born and freed, as shares of the hour; freed beyond 1 is never.
type life struct{ born, freed float64 }

// survival adds lives up by the definition of allocations.Survival.
func survival(lives []life) *allocations.Survival {
	v := &allocations.Survival{Over: hour}
	for _, l := range lives {
		bin := v.Bin(int64(l.born * float64(hour)))
		v.Born[bin]++
		if l.freed > 1 {
			v.Left[bin]++
			v.LeftBytes[bin] += 64
			continue
		}
		v.Ended[allocations.Bucket(uint64((l.freed-l.born)*float64(hour)))]++
	}
	return v
}

// lives makes n lives that begin at random times; freed says when each ends.
func lives(n int, freed func(r *rand.Rand, born float64) float64) []life {
	r := rand.New(rand.NewPCG(5, 6))
	list := make([]life, n)
	for i := range list {
		born := r.Float64()
		list[i] = life{born, freed(r, born)}
	}
	return list
}

func TestTraceClasses(t *testing.T) {
	short := func(r *rand.Rand, born float64) float64 { return min(1, born+0.001*r.ExpFloat64()) }
	for name, c := range map[string]struct {
		lives []life
		want  score.Class
	}{
		"nothing":        {nil, score.ClassStable},
		"all are freed":  {lives(500, short), score.ClassTransient},
		"all are leaked": {lives(500, func(*rand.Rand, float64) float64 { return 2 }), score.ClassLeak},
		"one in ten is leaked": {lives(1000, func(r *rand.Rand, born float64) float64 {
			if r.IntN(10) == 0 {
				return 2
			}
			return short(r, born)
		}), score.ClassLeak},
		"in flight at the end": {lives(1000, func(r *rand.Rand, born float64) float64 { return born + 0.02*r.ExpFloat64() }),
			score.ClassTransient},
		"one block stays": {[]life{{0.1, 2}}, score.ClassOneTime},
		"one burst stays": {lives(100, func(_ *rand.Rand, born float64) float64 {
			if born < 0.3 || born > 0.31 {
				return min(1, born+0.001)
			}
			return 2
		}), score.ClassOneTime},
		"a buffer that is resized": {[]life{{0, 0.2}, {0.2, 0.4}, {0.4, 0.6}, {0.6, 0.8}, {0.8, 2}}, score.ClassTransient},
		"a ring that fills and replaces": {lives(1000, func(_ *rand.Rand, born float64) float64 {
			return born + 0.4
		}), score.ClassTransient},
	} {
		v := survival(c.lives)
		if got := score.JudgeTrace(v, nil); got.Class != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, got.Class, c.want, score.ExplainTrace(v, nil).Clauses)
		}
	}
}

func TestCacheThatFillsInATrace(t *testing.T) {
	var list []life
	for i := range 600 {
		list = append(list, life{0.4 * float64(i) / 600, 2})
	}
	if got := score.JudgeTrace(survival(list), nil); got.Class != score.ClassCache {
		t.Errorf("%+v", got)
	}
}

func TestLateFreesDiscount(t *testing.T) {
	v := survival(lives(200, func(*rand.Rand, float64) float64 { return 2 }))
	before := score.JudgeTrace(v, nil)
	v.LateUnknownFrees = 90
	after := score.JudgeTrace(v, nil)
	if !before.Certain || after.Evidence.LogOdds >= before.Evidence.LogOdds {
		t.Errorf("%+v, with late frees of older blocks %+v", before, after)
	}
}

// The age that the first clause names is that of the blocks it counts: whole stretches are judged, whose blocks are all
// older than the settle time.
func TestAgeOfSurvivors(t *testing.T) {
	v := &allocations.Survival{Over: 64e9} // stretches of a second, and a settle time of 1.28 s
	for b := range v.Born {
		v.Born[b], v.Left[b], v.LeftBytes[b] = 5, 5, 500
	}
	const want = "None of the 310 blocks older than 2 s was freed."
	if got := score.ExplainTrace(v, nil).Clauses[0].Text; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTraceRate(t *testing.T) {
	r := score.JudgeTrace(survival(lives(1000, func(*rand.Rand, float64) float64 { return 2 })), nil).Rate
	if r == nil || r.Unit != "hour" || math.Abs(r.Count-1000) > 50 || r.Bytes != 64*r.Count ||
		r.CountLow > 960 || r.CountHigh < 1040 {
		t.Errorf("%+v", r)
	}
}

// TestAnySurvival judges counts that no trace has.
func TestAnySurvival(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	values := []int64{0, 0, 0, 0, 1, 2, 100, 1e9, math.MaxInt64 / 64, -5}
	for range 1000 {
		v := &allocations.Survival{From: values[r.IntN(9)], Over: values[r.IntN(9)], LateUnknownFrees: values[r.IntN(10)]}
		for i := range v.Born {
			v.Born[i], v.Left[i], v.LeftBytes[i] = values[r.IntN(10)], values[r.IntN(10)], values[r.IntN(10)]
		}
		for i := range v.Ended {
			v.Ended[i] = values[r.IntN(10)] / 4
		}
		got, explained := score.JudgeTrace(v, nil), score.ExplainTrace(v, nil)
		if !sane(&got) || !sane(&explained) || got.Class != explained.Class || len(explained.Clauses) == 0 {
			t.Fatalf("%+v of %+v", explained, v)
		}
	}
}

func FuzzSnapshots(f *testing.F) {
	f.Add(int64(0), int64(10), int64(20), int64(30), int64(40), int64(-1), 1.0)
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), int64(0), int64(1), int64(2), int64(5), 1e-300)
	f.Fuzz(func(t *testing.T, a, b, c, d, e, stay int64, step float64) {
		s := &score.Series{Count: []int64{a, b, c, d, e}, Bytes: []int64{e, d, c, b, a}, Followed: true,
			Spans: []capture.Span{{First: int32(a), Last: 4, Count: stay}, {First: 1, Last: int32(b), Count: c}}}
		r := score.ExplainSnapshots(s, &score.Axis{Unit: "hour", At: []float64{0, step, 2 * step, 4 * step, 5 * step}}, nil)
		if !sane(&r) {
			t.Fatalf("%+v", r)
		}
	})
}

func BenchmarkTrace(b *testing.B) {
	leak := survival(lives(500, func(*rand.Rand, float64) float64 { return 2 }))
	freed := survival(lives(500, func(r *rand.Rand, born float64) float64 { return min(1, born+0.001*r.ExpFloat64()) }))
	list := []*allocations.Survival{leak, freed, freed, freed, freed, freed, freed, freed} // one in eight is judged by shape
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		score.JudgeTrace(list[n%len(list)], nil)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sites/s")
}

// If the work stops before the trace does, growth that follows the load is still a leak; by the clock it looks like
// growth that has ended.
func TestWorkThatEnds(t *testing.T) {
	v, load := &allocations.Survival{Over: 64e9}, make([]float64, allocations.SurvivalBins)
	for b := range 40 {
		v.Born[b], v.Left[b], v.LeftBytes[b] = 5, 5, 500
		load[b] = 1.0 / 40
	}
	if got := score.JudgeTrace(v, nil); got.Class != score.ClassCache {
		t.Errorf("%s where the process went on", got.Class)
	}
	if got := score.JudgeTrace(v, load); got.Class != score.ClassLeak {
		t.Errorf("%s where it stopped: %+v", got.Class, score.ExplainTrace(v, load))
	}
}
