package causes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/internal/analysis/causes"
)

// framesOf is a signature below a function that opens sessions, or one of its own.
func framesOf(name, owner string) []string {
	return []string{"app!" + name, "app!" + owner, "app!Server::Run", "app!Pool::Work", "app!main"}
}

// poisson draws how many events happen in each interval under a load.
func poisson(r *rand.Rand, load []float64, mean float64) []int64 {
	out := make([]int64, len(load))
	for i, l := range load {
		n, product, limit := int64(0), r.Float64(), math.Exp(-mean*l*float64(len(load)))
		for ; product > limit; n++ {
			product *= r.Float64()
		}
		out[i] = n
	}
	return out
}

func even(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 / float64(n)
	}
	return out
}

func times(came []int64, by int64) []int64 {
	out := slices.Clone(came)
	for i := range out {
		out[i] *= by
	}
	return out
}

// late moves a block of a part into the next interval, in every other one.
func late(came []int64, by int64) []int64 {
	out := slices.Clone(came)
	for i := 0; i+1 < len(out); i += 2 {
		if out[i] >= by {
			out[i], out[i+1] = out[i]-by, out[i+1]+by
		}
	}
	return out
}

func find(t testing.TB, list ...causes.Leak) []causes.Group {
	t.Helper()
	groups, err := causes.Find(t.Context(), list, causes.Run{})
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func leak(name, owner string, came []int64) causes.Leak {
	return causes.Leak{StayedByInterval: came, Frames: framesOf(name, owner), Load: func() []float64 { return even(len(came)) }}
}

// The objects of a test come in 11 intervals, as evenly as chance has it.
var sessions = []int64{19, 23, 16, 20, 27, 18, 22, 14, 21, 25, 17}

// bursts are objects that come in some intervals only.
var bursts = []int64{0, 31, 0, 0, 18, 0, 52, 0, 9, 24, 0}

func TestFind(t *testing.T) {
	few := []int64{1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0}
	r := rand.New(rand.NewPCG(1, 2))
	other := poisson(r, even(11), 20)
	for name, c := range map[string]struct {
		list  []causes.Leak
		want  string
		owner string
	}{
		"exact, of one function": {[]causes.Leak{leak("Session", "Open", sessions), leak("Name", "Open", times(sessions, 5)),
			leak("Node", "Open", times(sessions, 2))}, "[0 1 2] [1 5 2]", "app!Open"},
		"exact, of different functions": {[]causes.Leak{leak("Session", "Open", sessions),
			leak("Name", "Close", times(sessions, 5))}, "", ""},
		"blocks in flight": {[]causes.Leak{leak("Session", "Open", sessions), leak("Name", "Open", late(times(sessions, 5), 5))},
			"[0 1] [1 5]", "app!Open"},
		"neither has one block": {[]causes.Leak{leak("Name", "Open", times(sessions, 5)), leak("Node", "Open", times(sessions, 2))},
			"[0 1] [5 2]", "app!Open"},
		"independent, of one function": {[]causes.Leak{leak("Session", "Open", sessions), leak("Name", "Open", other)}, "", ""},
		"independent, as steady as each other": {[]causes.Leak{leak("Session", "Open", times(even1(11), 100)),
			leak("Name", "Close", times(even1(11), 200))}, "", ""},
		"bursts, of different functions": {[]causes.Leak{leak("Session", "Open", bursts), leak("Name", "Close", times(bursts, 3))},
			"[0 1] [1 3]", "app!Server::Run"},
		"bursts that the load explains": {[]causes.Leak{busy("Session", "Open", bursts), busy("Name", "Close", times(bursts, 3))},
			"", ""},
		"bursts, and nobody tells the load": {[]causes.Leak{{StayedByInterval: bursts, Frames: framesOf("Session", "Open")},
			{StayedByInterval: bursts, Frames: framesOf("Name", "Close")}}, "", ""},
		"two timers": {[]causes.Leak{leak("Session", "Open", []int64{4, 4, 6, 4, 4, 4, 4, 4, 6, 4, 4, 4, 4, 6, 4}),
			leak("Name", "Open", []int64{2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 3})}, "", ""},
		"one timer": {[]causes.Leak{leak("Session", "Open", times(even1(21), 2)), leak("Name", "Open", even1(21))},
			"[0 1] [2 1]", "app!Open"},
		"few events": {[]causes.Leak{leak("Session", "Open", few), leak("Name", "Open", times(few, 5))}, "", ""},
		"one interval": {[]causes.Leak{leak("Session", "Open", []int64{0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0}),
			leak("Name", "Open", []int64{0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0})}, "", ""},
		"of one thread only": {[]causes.Leak{
			{StayedByInterval: sessions, Frames: []string{"app!Session", "app!main"}}, {StayedByInterval: sessions, Frames: []string{"app!Name", "app!main"}}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			groups, got, owner := find(t, c.list...), "", ""
			if len(groups) > 0 {
				got, owner = fmt.Sprint(groups[0].LeakIndexes, " ", groups[0].Ratio), groups[0].CommonFrame
			}
			if len(groups) > 1 || got != c.want || owner != c.owner {
				t.Errorf("%v", groups)
			}
		})
	}
}

// busy is a leak that comes with the work of the process.
func busy(name, owner string, came []int64) causes.Leak {
	l := leak(name, owner, came)
	load, sum := make([]float64, len(came)), 0.0
	for _, n := range came {
		sum += float64(n)
	}
	for i, n := range came {
		load[i] = float64(n) / sum
	}
	l.Load = func() []float64 { return load }
	return l
}

func even1(n int) []int64 { return slices.Repeat([]int64{1}, n) }

// A frame that much of the program runs through owns nothing.
func TestTrunk(t *testing.T) {
	list := []causes.Leak{leak("Session", "Open", sessions), leak("Name", "Open", times(sessions, 5))}
	groups, err := causes.Find(t.Context(), list,
		causes.Run{IsTrunk: func(frame string) bool { return frame == "app!Open" || frame == "app!Server::Run" }})
	if err != nil || len(groups) > 0 {
		t.Errorf("%v, %v", groups, err)
	}
}

// Of independent leaks that come at random under one load, and of one function, next to none are grouped: in no more
// than 1 of 100 runs.
func TestIndependent(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	wrong, runs := 0, 4000
	for range runs {
		load, sum := even(11+r.IntN(2)*49), 0.0
		for i := range load {
			load[i] = math.Exp(1.5 * r.NormFloat64())
			sum += load[i]
		}
		for i := range load {
			load[i] /= sum
		}
		mean := math.Exp(r.Float64() * math.Log(100))
		var list []causes.Leak
		for k := range 6 {
			list = append(list, leak(fmt.Sprint("Place", k), "Open", times(poisson(r, load, mean), 1+r.Int64N(3))))
		}
		if len(find(t, list...)) > 0 {
			wrong++
		}
	}
	if wrong > runs/100 {
		t.Errorf("%d of %d runs have a group", wrong, runs)
	}
}

// Of objects that are lost at random under one load nearly all are found from 100 on in 11 intervals, in 60 from 60 on.
func TestRecall(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		intervals int
		mean      float64
		share     float64
	}{{11, 2, 0.2}, {11, 5, 0.9}, {11, 20, 0.99}, {60, 0.5, 0.9}, {60, 1, 0.99}, {60, 10, 0.99}} {
		found, runs := 0, 300
		for range runs {
			came := poisson(r, even(c.intervals), c.mean)
			groups := find(t, leak("Session", "Open", came), leak("Name", "Open", times(came, 1+r.Int64N(5))))
			if len(groups) == 1 {
				found++
			}
		}
		if float64(found) < c.share*float64(runs) {
			t.Errorf("%d intervals of %g objects: %d of %d", c.intervals, c.mean, found, runs)
		}
		t.Logf("%d intervals of %g objects: %d of %d", c.intervals, c.mean, found, runs)
	}
}

// many are leaks of a large program, a tenth of which are pairs; so many are of each function.
func many(n, intervals, each int) []causes.Leak {
	r := rand.New(rand.NewPCG(3, 3))
	list := make([]causes.Leak, n)
	for i := range list {
		if i%10 == 1 {
			list[i] = leak(fmt.Sprint("Part", i), fmt.Sprint("Owner", i/each), times(list[i-1].StayedByInterval, 2))
			continue
		}
		list[i] = leak(fmt.Sprint("Place", i), fmt.Sprint("Owner", i/each), poisson(r, even(intervals), 40))
	}
	return list
}

func TestManyLeaks(t *testing.T) {
	groups := find(t, many(20_000, 11, 10)...)
	for _, g := range groups {
		if len(g.LeakIndexes) != 2 || g.LeakIndexes[0]+1 != g.LeakIndexes[1] || g.LeakIndexes[1]%10 != 1 {
			t.Fatalf("%v", g)
		}
	}
	if len(groups) < 1900 {
		t.Errorf("%d of 2000 pairs", len(groups))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := causes.Find(ctx, many(20, 11, 10), causes.Run{}); !errors.Is(err, why) {
		t.Error(err)
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		for _, each := range []int{10, n} {
			for _, intervals := range []int{11, 60} {
				list := many(n, intervals, each)
				b.Run(fmt.Sprintf("leaks=%d/of-one-function=%d/intervals=%d", n, each, intervals), func(b *testing.B) {
					for b.Loop() {
						find(b, list...)
					}
				})
			}
		}
	}
}
