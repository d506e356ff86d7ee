package score_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/internal/analysis/score"
)

func series(counts ...int64) *score.Series {
	s := &score.Series{Count: counts, Survivors: -1}
	for _, c := range counts {
		s.Bytes = append(s.Bytes, 64*c)
	}
	return s
}

func TestSnapshotClasses(t *testing.T) {
	for name, c := range map[string]struct {
		series *score.Series
		want   score.Class
	}{
		"nothing":                    {series(), score.Unknown},
		"one snapshot":               {series(5), score.Unknown},
		"constant":                   {series(64, 64, 64, 64, 64, 64), score.Stable},
		"shrinks":                    {series(90, 70, 65, 50, 20, 3), score.Stable},
		"steady":                     {series(10, 60, 110, 161, 209, 260), score.Leak},
		"steady from the second":     {series(0, 0, 50, 100, 150, 200, 250, 300), score.Leak},
		"steady, few snapshots":      {series(10, 60, 110), score.Growing},
		"steady, five":               {series(0, 100, 200, 300, 400), score.Leak},
		"fills":                      {series(0, 500, 800, 950, 990, 1000, 1000, 1000), score.Cache},
		"ramp, then flat":            {series(0, 100, 200, 300, 300, 300, 300, 300), score.Cache},
		"one burst":                  {series(3, 3, 3, 200, 200, 200, 200), score.OneTime},
		"lazy initialisation of two": {series(0, 3, 3), score.OneTime},
		"at the end only":            {series(5, 5, 5, 5, 5, 5, 60, 130), score.Growing},
		"now one, now two":           {series(1, 2, 1, 1), score.Stable},
	} {
		if got := score.Snapshots(c.series, even(len(c.series.Count)+1, 2)); got.Class != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, got.Class, c.want, got)
		}
	}
}

// TestThreeSnapshotsRank has the series of the lab's programs: all are undecided, and every leak is above every other stack.
func TestThreeSnapshotsRank(t *testing.T) {
	leaks := map[string]*score.Series{
		"leak_samples":     {Count: []int64{507, 1050, 1594}, Bytes: []int64{2076672, 4300800, 6529024}, Survivors: 543},
		"leak_status_text": {Count: []int64{51, 105, 160}, Bytes: []int64{4896, 10080, 15360}, Survivors: 54},
	}
	others := map[string]*score.Series{
		"startup_config": {Count: []int64{400, 400, 400}, Bytes: []int64{35152, 35152, 35152}},
		"bounded_cache":  {Count: []int64{64, 64, 64}, Bytes: []int64{1048576, 1048576, 1048576}},
		"lazy_init":      {Count: []int64{0, 3, 3}, Bytes: []int64{0, 9000, 9000}, Survivors: 3},
		"log_resize":     {Count: []int64{1, 1, 1}, Bytes: []int64{344, 664, 944}, Survivors: 1},
	}
	rank(t, even(3, 0.5), leaks, others)
	rank(t, &score.Axis{Unit: "hour", At: []float64{0, 0.1, 0.3, 0.4}}, map[string]*score.Series{
		"leak_shadow_records": {Count: []int64{0, 0, 37, 111}, Bytes: []int64{0, 0, 2812, 8436}, Survivors: 37},
	}, map[string]*score.Series{
		"startup":          {Count: []int64{12, 12, 12, 12}, Bytes: []int64{49152, 49152, 49152, 49152}},
		"parser_recursion": {Count: []int64{1, 2, 1, 1}, Bytes: []int64{24, 48, 24, 24}},
	})
}

func rank(t *testing.T, a *score.Axis, leaks, others map[string]*score.Series) {
	t.Helper()
	for leak, s := range leaks {
		l := score.Snapshots(s, a)
		if l.Class != score.Growing || l.Certain {
			t.Errorf("%s: %+v", leak, l)
		}
		for other, s := range others {
			if o := score.Snapshots(s, a); o.Score >= l.Score || o.Class == score.Leak {
				t.Errorf("%s %+v is not above %s %+v", leak, l, other, o)
			}
		}
	}
}

func TestSurvivorsAcquit(t *testing.T) {
	s := series(10, 60, 110, 161, 209, 260)
	s.Survivors = 200
	if r := score.Snapshots(s, even(6, 1)); r.Class != score.Leak || !r.Certain {
		t.Errorf("all survive: %+v", r)
	}
	s.Survivors = 0
	if r := score.Snapshots(s, even(6, 1)); r.Class != score.Transient || r.Score != 0 {
		t.Errorf("nothing survives: %+v", r)
	}
}

func TestRateIsPerUnit(t *testing.T) {
	r := score.Snapshots(series(100, 200, 300, 400, 500, 600), even(6, 2))
	if r.Rate == nil || math.Abs(r.Rate.Count-250) > 1e-9 || math.Abs(r.Rate.Bytes-64*250) > 1e-6 || r.Rate.Unit != "hour" {
		t.Fatalf("%+v", r.Rate)
	}
	noisy := score.Snapshots(series(100, 190, 320, 390, 520, 590, 710), even(7, 2)).Rate
	if noisy.CountLow > noisy.Count || noisy.CountHigh < noisy.Count || noisy.CountLow == noisy.CountHigh {
		t.Errorf("%+v", noisy)
	}
}

// TestAnySeries judges what no program ever did: results are numbers, probabilities stay within 0 and 1, texts are made, and
// what was counted in other units or told twice changes nothing.
func TestAnySeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, 0, 1, 2, 3, 10, 1000, 1e6, 1e12, math.MaxInt64, math.MinInt64, -1}
	steps := []float64{0, 1e-300, 1e-9, 0.1, 1, 1, 1, 60, 1e9, 1e300}
	for range 1500 {
		n := r.IntN(12)
		if r.IntN(20) == 0 {
			n = 60 + r.IntN(200)
		}
		s, a, at := &score.Series{Survivors: values[r.IntN(len(values))]}, &score.Axis{Unit: "hour"}, 0.0
		for range n {
			s.Count = append(s.Count, values[r.IntN(len(values))])
			s.Bytes = append(s.Bytes, values[r.IntN(len(values))])
			at += steps[r.IntN(len(steps))]
			a.At = append(a.At, at)
		}
		got := score.Snapshots(s, a)
		explained := score.ExplainSnapshots(s, a)
		if !sane(&got) || !sane(&explained) || got.Class != explained.Class || got.Score != explained.Score || len(explained.Clauses) == 0 {
			t.Fatalf("%v at %v: %+v", s, a.At, explained)
		}
		if noise := score.Noise(s, a); !(noise >= 0) {
			t.Fatalf("%v at %v: a noise of %v", s, a.At, noise)
		}
	}
}

func sane(r *score.Result) bool {
	ok := r.Score >= 0 && r.Score <= 1 && r.Model >= 0 && r.Model <= 1 && r.Class != ""
	if rate := r.Rate; rate != nil {
		for _, v := range []float64{rate.Count, rate.CountLow, rate.CountHigh, rate.Bytes, rate.BytesLow, rate.BytesHigh} {
			ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
	}
	for _, c := range r.Clauses {
		ok = ok && c.Rule != "" && c.Text != "" && !strings.Contains(c.Text, "NaN") && !strings.Contains(c.Text, "Inf") && !strings.Contains(c.Text, "%!")
	}
	return ok
}

// TestUnitsDoNotMatter scales time and bytes.
func TestUnitsDoNotMatter(t *testing.T) {
	s := series(10, 70, 100, 171, 209, 260, 333)
	want := score.Snapshots(s, even(7, 1))
	for i := range s.Bytes {
		s.Bytes[i] *= 4096
	}
	got := score.Snapshots(s, even(7, 1<<20))
	if math.Abs(got.Score-want.Score) > 1e-9 || got.Class != want.Class {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAxisThatIsNone(t *testing.T) {
	for name, at := range map[string][]float64{
		"descending": {3, 2, 1, 0, -1}, "not a number": {0, 1, math.NaN(), 3, 4}, "endless": {0, 1, 2, 3, math.Inf(1)}, "an instant": {1, 1, 1, 1, 1},
	} {
		r := score.ExplainSnapshots(series(1, 2, 3, 4, 5), &score.Axis{Unit: "hour", At: at})
		if r.Class != score.Unknown || r.Score != 0 || len(r.Clauses) == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func BenchmarkSnapshots(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	a := even(6, 1)
	var list []*score.Series
	for range 256 { // one in eight grows
		s := series(100, 100, 100, 100, 100, 100)
		if len(list)%8 == 0 {
			s = noisyLeak(r, a, 200, 2, 64)
		}
		list = append(list, s)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		score.Snapshots(list[n%len(list)], a)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sites/s")
}

func BenchmarkSnapshotsAllGrow(b *testing.B) {
	a := even(6, 1)
	s := noisyLeak(rand.New(rand.NewPCG(3, 4)), a, 200, 2, 64)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		score.Snapshots(s, a)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sites/s")
}
