package score

import (
	"math"
	"testing"

	"heapdrift/ingest/capture"
)

// Single frees of old blocks do not end the age that blocks reach; from one in fifty of those that are as old on they
// do.
func TestEndedLeavesOutSingleFrees(t *testing.T) {
	at := make([]float64, 11)
	for i := range at {
		at[i] = float64(i) / 10
	}
	for _, c := range []struct {
		name        string
		old         int64 // blocks freed at eight tenths of the time
		left        int64 // blocks of nine tenths that are left
		age, beyond float64
	}{
		{"none freed", 0, 100, 0, 0},
		{"fewer than one in fifty", 1, 51, 0, 1},
		{"one in fifty", 1, 50, 0, 1},
		{"more", 1, 49, 0.8, 0},
		{"none left", 1, 0, 0.8, 0},
	} {
		spans := []capture.Span{{First: 1, Last: 9, Count: c.old}, {First: 1, Last: 10, Count: c.left}}
		of := cohortsOf(spans, at)
		age, beyond := of.ended()
		if math.Abs(age-c.age) > 1.0/ageSteps || beyond != c.beyond {
			t.Errorf("%s: %v, with %v beyond; want %v, with %v", c.name, age, beyond, c.age, c.beyond)
		}
	}
}

// Few snapshots tell ages to an interval only: there the oldest block that was freed counts.
func TestEndedOfFewSnapshots(t *testing.T) {
	for n, want := range map[int]float64{ManySnapshots - 1: 0.75, ManySnapshots: 0, ManySnapshots + 1: 0} {
		at := make([]float64, n)
		for i := range at {
			at[i] = float64(i) / float64(n-1)
		}
		last := int32(n - 1)
		of := cohortsOf([]capture.Span{{First: 0, Last: last * 3 / 4, Count: 1}, {First: 1, Last: last, Count: 100}}, at)
		if age, _ := of.ended(); math.Abs(age-want) > 0.01 {
			t.Errorf("%d snapshots: %v, want %v", n, age, want)
		}
	}
}

// An interval is a gap as far as the load lets expect a block of it.
func TestEmptyIntervals(t *testing.T) {
	even := []float64{0.25, 0.25, 0.25, 0.25}
	e := func(expected float64) float64 { return math.Exp(-expected) }
	for _, c := range []struct {
		name           string
		came, load     []float64
		expected, gaps float64
	}{
		{"none", []float64{5, 5, 5, 5}, even, 4 * e(5), 0},
		{"one of four", []float64{8, 0, 8, 8}, even, 4 * e(6), (1 - e(6)) / 4},
		{"few blocks", []float64{1, 0, 0, 0}, even, 4 * e(0.25), 3 * (1 - e(0.25)) / 4},
		{"without load", []float64{5, 0, 5, 0}, []float64{0.5, 0, 0.5, 0}, 2 + 2*e(5), 0},
		{"nothing came", []float64{0, 0, 0, 0}, even, 0, 0},
		{"no load", []float64{5, 0, 5, 0}, make([]float64, 4), 0, 0},
	} {
		if expected, gaps := emptyIntervals(c.came, c.load); math.Abs(expected-c.expected) > 1e-12 ||
			math.Abs(gaps-c.gaps) > 1e-12 {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, expected, gaps, c.expected, c.gaps)
		}
	}
}
