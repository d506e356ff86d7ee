package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// hours are four stretches of an hour.
var hours = score.PartLengths{Unit: "hour", Over: [score.RunParts]float64{1, 1, 1, 1}}

// watched is a run of four hours in which so many blocks stayed in each.
func watched(odds float64, each int64) score.RunRetention {
	return score.RunRetention{LogOdds: odds, Stayed: score.StayedBlocks{each, each, each, each}, PartLengths: hours}
}

func TestOnset(t *testing.T) {
	quiet := watched(math.NaN(), 0)
	for _, test := range []struct {
		name              string
		since, before     []score.RunRetention
		places            int
		certain, doubtful bool
	}{
		// 120 blocks after at most 3: 40 times, log 3.69, of which 1.5 count; of 100 places the threshold is 4.5.
		{"after two, at the threshold", []score.RunRetention{watched(-1.03, 30)}, slices.Repeat([]score.RunRetention{quiet}, 2), 100, true, true},
		{"after two, just below", []score.RunRetention{watched(-1.04, 30)}, slices.Repeat([]score.RunRetention{quiet}, 2), 100, false, true},
		{"after one", []score.RunRetention{watched(0.4, 30)}, []score.RunRetention{quiet}, 100, false, true},
		{"after one, and it looks like a leak", []score.RunRetention{watched(0.5, 30)}, []score.RunRetention{quiet}, 100, true, true},
		{"ten times the places", []score.RunRetention{watched(-1, 30)}, slices.Repeat([]score.RunRetention{quiet}, 2), 1000, false, false},
		{"two runs since, of which less is asked", slices.Repeat([]score.RunRetention{watched(-1.5, 30)}, 2),
			slices.Repeat([]score.RunRetention{quiet}, 2), 100, true, true},
		{"it looks little like a leak", []score.RunRetention{watched(-1.51, 300)}, slices.Repeat([]score.RunRetention{quiet}, 9), 20, false, true},
		{"as much before", []score.RunRetention{watched(4, 30)}, []score.RunRetention{quiet, watched(-3, 30), quiet, quiet}, 100, false, false},
		{"no shape at all", []score.RunRetention{watched(math.NaN(), 300)}, slices.Repeat([]score.RunRetention{quiet}, 9), 20, false, false},
	} {
		o := score.OnsetOf(test.since, test.before, test.places)
		if o == nil || o.Certain != test.certain || o.Doubtful != test.doubtful || o.Before != len(test.before) ||
			o.Since != len(test.since) || !(o.Probability > 0 && o.Probability < 1) {
			t.Errorf("%s: %+v, want certain %v, doubtful %v", test.name, o, test.certain, test.doubtful)
		}
	}
	if o := score.OnsetOf(nil, []score.RunRetention{quiet}, 1); o != nil {
		t.Errorf("of nothing: %+v", o)
	}
	if o := score.OnsetOf([]score.RunRetention{watched(1, 9)}, nil, 1); o != nil {
		t.Errorf("without a run before: %+v", o)
	}
}

// What is bounded leaves as much in a short run as in a long one: neither makes an onset of it.
func TestOnsetOfAnotherLength(t *testing.T) {
	short := watched(2, 100)
	short.Over = [score.RunParts]float64{0.1, 0.1, 0.1, 0.1}
	long := watched(-5, 100)
	if o := score.OnsetOf([]score.RunRetention{short}, []score.RunRetention{long, long}, 30); o.Factor > 1 || o.Certain {
		t.Errorf("a tenth as long: %+v", o)
	}
	if o := score.OnsetOf([]score.RunRetention{long}, []score.RunRetention{short, short}, 30); o.Factor > 1 || o.Certain {
		t.Errorf("ten times as long: %+v", o)
	}
}

// What a much longer run before held, and freed, may be what a short run shows before it is freed.
func TestOnsetAfterLongerRuns(t *testing.T) {
	short := watched(4, 25)
	for _, test := range []struct {
		name   string
		times  float64 // as long as the short run
		held   int64
		unit   string
		before float64 // Times
	}{
		{"twice as long", 2, 97, "hour", 1},
		{"just below", 1.99, 97, "hour", 100.0 / 3},
		{"it held less", 2, 47, "hour", 2},
		{"it held nothing", 8, 0, "hour", 100.0 / 3},
		{"by another unit", 8, 97, "document", 100.0 / 3},
	} {
		long := watched(-4, 0)
		long.Held, long.Unit = test.held, test.unit
		for i := range long.Over {
			long.Over[i] *= test.times
		}
		o := score.OnsetOf([]score.RunRetention{short}, []score.RunRetention{long}, 30)
		if math.Abs(o.Factor-test.before) > 1e-9 {
			t.Errorf("%s: %g times as much, want %g", test.name, o.Factor, test.before)
		}
	}
}

func TestRises(t *testing.T) {
	for _, test := range []struct {
		stayed score.StayedBlocks
		rises  bool
	}{
		{score.StayedBlocks{154, 0, 0, 0}, false}, {score.StayedBlocks{155, 0, 0, 0}, true}, // 1.5 times 103
		{score.StayedBlocks{116, 2, 2, 2}, false}, {score.StayedBlocks{115, 3, 3, 3}, true}, // 1.2 times, and three times 4 evenly
		{score.StayedBlocks{114, 3, 3, 3}, false},
	} {
		before := watched(-4, 0)
		before.Stayed = score.StayedBlocks{100, 0, 0, 0}
		now := watched(2, 0)
		now.Stayed = test.stayed
		if o := score.OnsetOf([]score.RunRetention{now}, []score.RunRetention{before}, 30); o.Rises != test.rises {
			t.Errorf("%v: %+v", test.stayed, o)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, test := range []struct {
		a, b  score.StayedBlocks
		alike bool
	}{
		{score.StayedBlocks{}, score.StayedBlocks{}, true},
		{score.StayedBlocks{6}, score.StayedBlocks{}, true}, {score.StayedBlocks{7}, score.StayedBlocks{}, false}, // three times 3
		{score.StayedBlocks{10, 10, 10, 10}, score.StayedBlocks{31, 31, 32, 32}, true}, // 129 are three times 43
		{score.StayedBlocks{10, 10, 10, 10}, score.StayedBlocks{31, 32, 32, 32}, false},
		{score.StayedBlocks{37, 1, 1, 1}, score.StayedBlocks{19, 7, 7, 7}, true}, // of 8 and 32 in stretches like the one with the fewest
		{score.StayedBlocks{37, 1, 1, 1}, score.StayedBlocks{16, 8, 8, 8}, false},
		{score.StayedBlocks{40, 0, 0, 0}, score.StayedBlocks{10, 10, 10, 10}, false}, // a cache that levels off, and a leak
	} {
		a, b := watched(0, 0), watched(0, 0)
		a.Stayed, b.Stayed = test.a, test.b
		if a.IsAlike(&b) != test.alike || b.IsAlike(&a) != test.alike {
			t.Errorf("%v and %v: %v, %v; want %v", test.a, test.b, a.IsAlike(&b), b.IsAlike(&a), test.alike)
		}
	}
}

// A steady leak of the bound, or of more, leaves so little in one run of ten at most.
func TestBoundHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []float64{0.5, 2, 10, 60} {
		outside := 0
		for range 2000 {
			w := watched(0, 0)
			for i := range w.Stayed {
				w.Stayed[i] = poisson(r, rate)
			}
			if w.Bound(1).Count < rate {
				outside++
			}
		}
		if outside > 220 {
			t.Errorf("%v blocks an hour: the bound is below in %d of 2,000 runs", rate, outside)
		}
	}
	if b := (&score.RunRetention{}).Bound(1); b.Count != 0 {
		t.Errorf("without a length: %+v", b)
	}
	empty := watched(0, 0)
	if a, b := empty.Bound(1).Count, empty.Bound(5).Count; !(a > 0.5 && a < 1.2) || b < 4.9*a || b > 5.1*a {
		t.Errorf("of four empty hours: %v, in bursts of five %v", a, b)
	}
}

func poisson(r *rand.Rand, mean float64) (n int64) {
	for sum := r.ExpFloat64(); sum < mean; sum += r.ExpFloat64() {
		n++
	}
	return n
}

func TestStayed(t *testing.T) {
	axis := &score.Axis{Unit: "hour", At: []float64{0, 1, 2, 3, 4, 8}}
	if got := score.PartLengthsOf(axis); got.Over != [score.RunParts]float64{2, 2, 0, 4} || got.Sum() != 8 {
		t.Errorf("%+v", got)
	}
	s := &score.Series{Count: []int64{5, 6, 9, 9, 10, 12}, Bytes: make([]int64, 6), Followed: true, Spans: []capture.Span{
		{First: 0, Last: 5, Count: 5}, {First: 1, Last: 5, Count: 1}, {First: 2, Last: 4, Count: 3}, {First: 4, Last: 5, Count: 2},
		{First: 5, Last: 5, Count: 4},
	}}
	if got := score.StayedOfSeries(s, axis); got != (score.StayedBlocks{1, 2, 0, 4}) || got.Total() != 7 {
		t.Errorf("followed: %v", got)
	}
	s.Followed = false
	if got := score.StayedOfSeries(s, axis); got != (score.StayedBlocks{4, 1, 0, 2}) {
		t.Errorf("counted: %v", got)
	}
	if got := score.StayedOfSeries(&score.Series{Count: []int64{1}}, axis); !got.IsZero() {
		t.Errorf("one snapshot: %v", got)
	}
	if w := (score.RunRetention{Stayed: score.StayedBlocks{4, 2, 0, 9}, PartLengths: score.PartLengthsOf(axis)}); w.SteadyPerUnit() != 1 {
		t.Errorf("steady %v", w.SteadyPerUnit())
	}
}

func ExampleOnsetOf() {
	quiet := score.RunRetention{LogOdds: -6, Stayed: score.StayedBlocks{2, 0, 0, 1}, PartLengths: hours}
	leaking := score.RunRetention{LogOdds: 1.2, Stayed: score.StayedBlocks{38, 41, 35, 40}, PartLengths: hours}
	o := score.OnsetOf([]score.RunRetention{leaking}, []score.RunRetention{quiet, quiet, quiet}, 30)
	fmt.Printf("%.0f times as many blocks stay; certain %v\n", o.Factor, o.Certain)
	// Output: 26 times as many blocks stay; certain true
}
