package evaluation

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis/score"
)

// TestFloors keeps what docs/method.md promises from rotting, on the first 24 of the 750 processes that it publishes figures for.
// So few have an error of 0.02 by chance, and others of their number can lie below the floors: where this fails after a
// change, run leakeval before believing it.
func TestFloors(t *testing.T) {
	all, err := Run(context.Background(), Options{Seeds: EvaluationSeeds[:1], Processes: 24, Snapshots: []int{6, 12}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		c := &all[i]
		floor := Quality{Precision: 0.95, Recall: 0.85}
		if c.Snapshots == 0 {
			floor = Quality{Precision: 0.97, Recall: 0.88}
		}
		if got := c.Quality(IsLeak); got.Precision < floor.Precision || got.Recall < floor.Recall {
			t.Errorf("%s: %+v, and no less than %+v was promised", c.Name, got, floor)
		}
		if got := c.Quality(IsCertain); got.Precision < 0.97 {
			t.Errorf("%s: of what may fail a gate %.3f leaks", c.Name, got.Precision)
		}
		for _, b := range c.Calibration() {
			if b.Low >= 0.5 && b.Cases >= 100 && math.Abs(b.Mean-b.Real) > 0.1 {
				t.Errorf("%s: of %d with a score of %.2f on average %.2f leak", c.Name, b.Cases, b.Mean, b.Real)
			}
		}
	}
}

func TestSeedsAreApart(t *testing.T) {
	for _, seed := range EvaluationSeeds {
		if slices.Contains(TuningSeeds, seed) {
			t.Errorf("seed %d was used for tuning", seed)
		}
	}
}

func TestTheSameSeedIsTheSameProcess(t *testing.T) {
	o := Options{Seeds: []uint64{101}, Processes: 3, Snapshots: []int{5}}
	a, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(context.Background(), o)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ (%v)", err)
	}
}

// TestSnapshotsSeeWhatIsThere counts by hand.
func TestSnapshotsSeeWhatIsThere(t *testing.T) {
	s := site{blocks: []block{
		{born: 0, died: never, size: 10, address: 0},    // before all
		{born: 0.3, died: 0.7, size: 10, address: 1},    // seen in the second and the third
		{born: 0.72, died: never, size: 10, address: 1}, // at the same address afterwards: nobody can tell
		{born: 0.3, died: 0.55, size: 10, address: 2},   // in the second only
		{born: 0.9, died: never, size: 10, address: 3},  // in the last only
		{born: 0.6, died: never, size: 10, address: 4},  // survives
	}}
	got := s.series([]float64{0.2, 0.5, 0.75, 1}, make([]uint32, 5))
	if want := (score.Series{Count: []int64{1, 3, 3, 4}, Bytes: []int64{10, 30, 30, 40}, Survivors: 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestTracesSeeWhatIsThere looks at the window of an attached trace: older blocks are seen as frees of their heap only.
func TestTracesSeeWhatIsThere(t *testing.T) {
	p := &process{hours: 1, attached: 0.2, sites: []site{{blocks: []block{
		{born: 0.1, died: never, size: 10},
		{born: 0.1, died: 0.9, size: 10},
		{born: 0.3, died: 0.4, size: 10},
		{born: 0.5, died: never, size: 10},
		{born: 0.95, died: never, size: 10},
	}}}}
	got, err := p.trace(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	born, left := got[0].Total()
	if born != 3 || left.Count != 2 || left.Bytes != 20 || got[0].LateUnknownFrees != 1 {
		t.Errorf("%d born, %+v left, %d late frees", born, left, got[0].LateUnknownFrees)
	}
}

// TestAddressesAreUsedAgain says that no two blocks that live at one time have one address.
func TestAddressesAreUsedAgain(t *testing.T) {
	p := newProcess(101, 1)
	busy := map[uint32][]block{}
	n := 0
	for _, s := range p.sites {
		for _, b := range s.blocks {
			busy[b.address] = append(busy[b.address], b)
			n++
		}
	}
	if len(busy) >= n {
		t.Error("no address was used again")
	}
	for address, list := range busy {
		slices.SortFunc(list, func(a, b block) int {
			if a.born < b.born {
				return -1
			}
			return 1
		})
		for i := 1; i < len(list); i++ {
			if list[i].born < list[i-1].died {
				t.Fatalf("address %d is taken twice: %+v and %+v", address, list[i-1], list[i])
			}
		}
	}
}

func TestMeasures(t *testing.T) {
	result := func(s float64, class score.Class) score.Result { return score.Result{Score: s, Class: class} }
	c := &Cases{List: []Case{
		{Leaks: true, Result: result(0.95, score.Leak)},
		{Leaks: false, Result: result(0.9, score.Leak)},
		{Leaks: true, Result: result(0.8, score.Growing)},
		{Leaks: false, Result: result(0.1, score.Cache)},
		{NotFull: true, Result: result(1, score.Leak)},
	}}
	if q := c.Quality(IsLeak); q != (Quality{0.5, 0.5}) {
		t.Errorf("%+v", q)
	}
	if got, want := c.AveragePrecision(), (1+2.0/3)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("average precision %v, want %v", got, want)
	}
	if bins := c.Calibration(); bins[9].Cases != 2 || bins[9].Real != 0.5 || bins[8].Cases != 1 {
		t.Errorf("%+v", bins)
	}
}

// TestFitFindsWhatMadeTheCases draws cases of which the square of the model's probability leaks.
func TestFitFindsWhatMadeTheCases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var c Cases
	for range 20000 {
		p := r.Float64()
		c.List = append(c.List, Case{Leaks: r.Float64() < p*p, Result: score.Result{Model: p}})
	}
	before := Knot{}
	for _, k := range FitCalibration(c) {
		if math.Abs(k.Real-k.Model*k.Model) > 0.06 || k.Model <= before.Model || k.Real < before.Real {
			t.Errorf("%+v after %+v", k, before)
		}
		before = k
	}
	if knots := FitCalibration(Cases{}); len(knots) != 0 {
		t.Errorf("%v from nothing", knots)
	}
}

func TestPrint(t *testing.T) {
	all, err := Run(context.Background(), Options{Seeds: []uint64{101}, Processes: 2, Snapshots: []int{3}})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Print(&text, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 snapshots", "trace", "calibration", "innocent: interning", "leak: steady", "undecidable: cache not full yet"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Options{Seeds: []uint64{101}, Processes: 3}); err == nil {
		t.Error("a cancelled run says nothing")
	}
}
