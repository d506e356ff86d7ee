package causes

import (
	"math"
	"slices"
	"testing"
)

// A ratio is one of small numbers that the totals have nearly.
func TestRatioOf(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		p, q int
	}{
		{100, 500, 1, 5}, {500, 100, 5, 1}, {500, 200, 5, 2},
		{400, 500, 4, 5}, {500, 600, 0, 0}, // mostOfLeast
		{100, 25_600, 1, 256}, {100, 25_700, 0, 0}, // mostBlocks
		{10_000, 10_100, 1, 1}, {10_000, 10_101, 0, 0}, // mostOff
		{100, 102, 1, 1}, {100, 103, 0, 0}, // objectsInFlight
		{8, 8, 1, 1}, {7, 7, 0, 0}, // leastObjects
	} {
		p, q, ok := ratioOf(&shape{total: c.a}, &shape{total: c.b})
		if ok != (c.p > 0) || ok && (p != c.p || q != c.q) {
			t.Errorf("%d and %d: %d : %d, %v, want %d : %d", c.a, c.b, p, q, ok, c.p, c.q)
		}
	}
}

// A fifth of the blocks may come in the wrong interval, and no more.
func TestIsClose(t *testing.T) {
	for want, lists := range map[bool][2][]int64{true: {{8, 10}, {10, 8}}, false: {{7, 10}, {10, 7}}} {
		if isClose(lists[0], lists[1], 1, 1) != want {
			t.Errorf("%v: want %v", lists, want)
		}
	}
	if !isClose([]int64{10, 20}, []int64{50, 100}, 1, 5) {
		t.Error("an exact ratio is not close")
	}
}

// Two leaks share their deviations from a clock where they differ by half as much at most.
func TestIsShared(t *testing.T) {
	for _, c := range []struct {
		a, b   []int64
		coarse float64
		want   bool
	}{
		{[]int64{12, 8}, []int64{11, 9}, 0, true}, {[]int64{15, 5}, []int64{12, 8}, 0, false},
		{[]int64{12, 8}, []int64{11, 9}, 0.1, false}, // the clock may be wrong by as much
		{[]int64{10, 10}, []int64{10, 10}, 0, true}, {[]int64{10, 10}, []int64{11, 9}, 0, false},
	} {
		if isShared(c.a, c.b, 1, 1, nil, c.coarse) != c.want {
			t.Errorf("%v and %v: want %v", c.a, c.b, c.want)
		}
	}
	if isShared([]int64{15, 5}, []int64{15, 6}, 1, 1, []float64{0.75, 0.25}, 0) {
		t.Error("the clock explains both")
	}
}

// Objects come in bursts where their pace swings by half of itself, by every clock that tells.
func TestBursts(t *testing.T) {
	bursts := func(run Run, load func() []float64, came ...int64) bool {
		g := grouping{run: run, list: []Leak{{StayedByInterval: came, Load: load}}, shapes: []shape{shapeOf(came)}}
		return g.bursts(0, 1)
	}
	even := func() []float64 { return []float64{0.5, 0.5} }
	uneven := func() []float64 { return []float64{0.8, 0.2} }
	for name, c := range map[string]struct{ got, want bool }{
		"just below":                {bursts(Run{}, even, 1_490_000, 510_000), false},
		"just above":                {bursts(Run{}, even, 1_510_000, 490_000), true},
		"nobody tells the load":     {bursts(Run{}, nil, 1_510_000, 490_000), false},
		"the work tells it":         {bursts(Run{Work: even()}, nil, 1_510_000, 490_000), true},
		"the load explains them":    {bursts(Run{}, uneven, 1_510_000, 490_000), false},
		"the work explains them":    {bursts(Run{Work: uneven()}, even, 1_510_000, 490_000), false},
		"the time explains them":    {bursts(Run{Time: uneven()}, even, 1_510_000, 490_000), false},
		"chance explains them":      {bursts(Run{}, even, 4, 1), false},
		"more than chance explains": {bursts(Run{}, even, 20, 3), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

// The owner of two parts is within two calls of both together.
func TestOwnerReach(t *testing.T) {
	at := func(n int) []string {
		list := []string{"1", "2", "3", "4", "5"}
		list[n] = "owner"
		return list
	}
	for _, c := range []struct {
		a, b int
		want bool
	}{{0, 2, true}, {2, 0, true}, {1, 1, true}, {0, 0, true}, {1, 2, false}, {2, 1, false}, {0, 3, false}, {3, 0, false}} {
		a, b := at(c.a), at(c.b)
		for i := range b {
			if b[i] != "owner" {
				b[i] += "b"
			}
		}
		came := []int64{100, 120, 90, 110, 130, 70}
		groups, err := Find(t.Context(), []Leak{{StayedByInterval: came, Frames: a}, {StayedByInterval: came, Frames: b}}, Run{})
		if err != nil || (len(groups) == 1) != c.want {
			t.Errorf("%d and %d: %v, %v", c.a, c.b, groups, err)
		}
	}
}

// What is lost in four intervals is too little, in five enough.
func TestLeastIntervals(t *testing.T) {
	frames := []string{"owner", "1", "2", "3", "4"}
	for n, want := range map[int]int{4: 0, 5: 1} {
		came := slices.Repeat([]int64{100, 120, 90, 110, 130}, 1)[:n]
		groups, err := Find(t.Context(), []Leak{{StayedByInterval: came, Frames: frames}, {StayedByInterval: came, Frames: frames}}, Run{})
		if err != nil || len(groups) != want {
			t.Errorf("%d intervals: %v, %v", n, groups, err)
		}
	}
}

// All pairs that may be one cause share one chance.
func TestLimitOf(t *testing.T) {
	for want, buckets := range map[float64][][]int{math.Log(0.01): {{1, 2}, {3}}, math.Log(0.0025): {{1, 2, 3}, {1, 2}}} {
		if got := limitOf(buckets); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %f, want %f", buckets, got, want)
		}
	}
}

// The chance of an exact division is the product of the binomial probabilities, but for the interval with most blocks.
func TestLogChance(t *testing.T) {
	a := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}
	if got, want := logChance(a, a, 1, 1), 10*math.Log(0.5); math.Abs(got-want) > 1e-6 {
		t.Errorf("%f, want %f", got, want)
	}
	b := []int64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 18}
	if got, want := logChance(a, b, 1, 2), 10*math.Log(3*1.0/3*4/9); math.Abs(got-want) > 1e-6 {
		t.Errorf("%f, want %f", got, want)
	}
	off, near := slices.Repeat([]int64{100, 100}, 30), slices.Repeat([]int64{109, 91}, 30)
	if got := logChance(near, off, 1, 1); !(got < -2) { // 0.39 and 0.42 of what chance makes
		t.Errorf("%f", got)
	}
	near[0], near[1], near[2], near[3] = 125, 75, 125, 75
	if got := logChance(near, off, 1, 1); got != 0 {
		t.Errorf("%f", got)
	}
}
