package analysis_test

import (
	"math"
	"slices"
	"testing"

	"heapdrift/internal/analysis"
)

// The timeline runs from 0 to 2000, and its stretches are 10 long. A point is a time, the amount left and the highest
// amount.
func TestJumps(t *testing.T) {
	for _, test := range []struct {
		name   string
		points [][3]int64
		want   []analysis.Jump
	}{
		{"nothing", nil, nil},
		{"one level", [][3]int64{{0, 1000, 1000}, {500, 1000, 1000}}, nil},
		{"a start", [][3]int64{{0, 1000, 1000}}, nil},
		{"a spike inside of a stretch", [][3]int64{{0, 1000, 1000}, {500, 1000, 1500}, {510, 1000, 1000}},
			[]analysis.Jump{{true, 500, 500, 500}}},
		{"one of a ninth", [][3]int64{{0, 1000, 1000}, {500, 1000, 1112}}, []analysis.Jump{{true, 500, 500, 112}}},
		{"one of a tenth of the highest", [][3]int64{{0, 900, 900}, {500, 900, 1000}},
			[]analysis.Jump{{true, 500, 500, 100}}},
		{"one below a tenth", [][3]int64{{0, 901, 901}, {500, 901, 1000}}, nil},
		{"a spike of five stretches", [][3]int64{{0, 1000, 1000}, {500, 1500, 1500}, {545, 1000, 1500}},
			[]analysis.Jump{{true, 500, 545, 500}}},
		{"a hill of six", [][3]int64{{0, 1000, 1000}, {500, 1500, 1500}, {550, 1000, 1500}},
			[]analysis.Jump{{false, 500, 500, 500}}},
		{"a spike that leaves a fifth", [][3]int64{{0, 1000, 1000}, {500, 1500, 1500}, {520, 1100, 1500}},
			[]analysis.Jump{{true, 500, 520, 400}}},
		{"one that leaves more falls to where it is no step",
			[][3]int64{{0, 1000, 1000}, {500, 1500, 1500}, {520, 1101, 1500}}, nil},
		{"a step that keeps half", [][3]int64{{0, 1000, 1000}, {500, 1500, 1500}, {520, 1250, 1500}},
			[]analysis.Jump{{false, 500, 500, 500}}},
		{"a step", [][3]int64{{0, 1000, 1000}, {500, 1500, 1500}}, []analysis.Jump{{false, 500, 500, 500}}},
		{"a step in two stretches", [][3]int64{{0, 1000, 1000}, {508, 1250, 1250}, {512, 1500, 1500}},
			[]analysis.Jump{{false, 508, 512, 500}}},
		{"a step of a tenth of the highest", [][3]int64{{0, 900, 900}, {500, 1000, 1000}},
			[]analysis.Jump{{false, 500, 500, 100}}},
		{"one below", [][3]int64{{0, 901, 901}, {500, 1000, 1000}}, nil},
		{"steps two stretches apart", [][3]int64{{0, 1000, 1000}, {500, 1300, 1300}, {520, 1600, 1600}},
			[]analysis.Jump{{false, 500, 520, 600}}},
		{"steps a little more apart", [][3]int64{{0, 1000, 1000}, {500, 1300, 1300}, {521, 1600, 1600}},
			[]analysis.Jump{{false, 500, 500, 300}, {false, 521, 521, 300}}},
		{"a step with slower ends", [][3]int64{{0, 1000, 1000}, {500, 1042, 1042}, {512, 1600, 1600}, {525, 1642, 1642}},
			[]analysis.Jump{{false, 500, 525, 642}}},
		{"one whose ends are too slow", [][3]int64{{0, 1000, 1000}, {500, 1041, 1041}, {512, 1600, 1600},
			{525, 1641, 1641}}, []analysis.Jump{{false, 512, 512, 559}}},
		{"a step in four stretches", [][3]int64{{0, 1000, 1000}, {500, 1300, 1300}, {520, 1600, 1600}, {540, 1900, 1900}},
			[]analysis.Jump{{false, 500, 540, 900}}},
		{"one that takes longer", [][3]int64{{0, 1000, 1000}, {500, 1200, 1200}, {505, 1300, 1300}, {525, 1600, 1600},
			{541, 1900, 1900}}, []analysis.Jump{{false, 500, 525, 600}, {false, 541, 541, 300}}},
		{"a staircase", [][3]int64{{0, 1000, 1000}, {500, 1300, 1300}, {600, 1600, 1600}},
			[]analysis.Jump{{false, 500, 500, 300}, {false, 600, 600, 300}}},
		{"a slope", [][3]int64{{0, 1000, 1000}, {500, 1099, 1099}, {510, 1198, 1198}, {520, 1297, 1297},
			{530, 1396, 1396}}, nil},
		{"two spikes and a step", [][3]int64{{0, 100, 100}, {200, 100, 300}, {400, 300, 300}, {600, 300, 500},
			{610, 300, 300}}, []analysis.Jump{{true, 200, 200, 200}, {false, 400, 400, 200}, {true, 600, 600, 200}}},
		{"the end of the process", [][3]int64{{0, 1000, 1000}, {1900, 0, 1000}}, nil},
	} {
		for _, from := range []int64{0, 1005, -7} {
			var line analysis.Timeline
			for _, p := range test.points {
				line.AtNS, line.LastBytes, line.MaxBytes = append(line.AtNS, from+p[0]), append(line.LastBytes, p[1]), append(line.MaxBytes, p[2])
			}
			got := line.Jumps(from, from+2000)
			for i := range got {
				got[i].FromNS, got[i].ToNS = got[i].FromNS-from, got[i].ToNS-from
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, from %d: %+v, want %+v", test.name, from, got, test.want)
			}
		}
	}
}

// Impossible times, as damaged traces have them, cause no failure.
func TestJumpsOfDamagedTimes(t *testing.T) {
	line := analysis.Timeline{AtNS: []int64{math.MinInt64, -1, 0, math.MaxInt64}, LastBytes: []int64{0, math.MaxInt64, 0, 5},
		MaxBytes: []int64{0, math.MaxInt64, math.MaxInt64, 5}}
	for _, span := range [][2]int64{{0, 0}, {math.MinInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64}, {-5, 5}} {
		if list := line.Jumps(span[0], span[1]); len(list) > len(line.AtNS) {
			t.Errorf("%v: %+v", span, list)
		}
	}
}
