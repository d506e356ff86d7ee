package score

import (
	"math"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// At its thresholds a model calls a site a leak, or certain, and just below them it does not; without enough evidence
// it calls nothing a leak.
func TestModelThresholds(t *testing.T) {
	for i := range models {
		m := &models[i]
		for _, c := range []struct {
			name    string
			logOdds float64
			enough  bool
			leak    bool
			certain bool
		}{
			{"just below a leak", math.Nextafter(m.leak, math.Inf(-1)), true, false, false},
			{"at a leak", m.leak, true, !math.IsInf(m.leak, 1), m.leak >= m.certain && !math.IsInf(m.leak, 1)},
			{"just below certain", math.Nextafter(m.certain, math.Inf(-1)), true, m.certain > m.leak &&
				!math.IsInf(m.leak, 1), false},
			{"at certain", m.certain, true, !math.IsInf(m.certain, 1), !math.IsInf(m.certain, 1)},
			{"at certain, of too few snapshots", m.certain, false, false, false},
			{"excluded", never, true, false, false},
		} {
			if math.IsInf(c.logOdds, 1) {
				continue // no evidence reaches that
			}
			r := Result{Class: ClassGrowing}
			m.judge(&r, c.logOdds, c.enough)
			if (r.Class == ClassLeak) != c.leak || r.Certain != c.certain {
				t.Errorf("%s from %d on, %s: %+v", m.kind, m.from, c.name, r)
			}
		}
	}
}

// The table of models keeps these laws, whatever data it was fitted on.
func TestModelTable(t *testing.T) {
	for i := range models {
		m := &models[i]
		if len(m.penalties) != len(m.kind.Conditions()) || m.certain < m.leak || len(m.calibration) == 0 {
			t.Errorf("%s from %d on: %+v", m.kind, m.from, m)
		}
		for k, p := range m.penalties {
			for _, w := range p.weights {
				if w < 0 || p.scale <= 0 {
					t.Errorf("%s from %d on: breaking %s pays: %+v", m.kind, m.from, m.kind.Conditions()[k], p)
				}
			}
		}
		last := knot{math.Inf(-1), 0}
		for _, k := range m.calibration {
			if k.logOdds <= last.logOdds || k.leaked < last.leaked || k.leaked > 1 {
				t.Errorf("%s from %d on: the calibration does not rise at %+v", m.kind, m.from, k)
			}
			last = k
		}
	}
	for _, kind := range []Kind{KindFollowed, KindCounted} {
		for n := 3; n <= 30; n++ {
			if modelOf(kind, n) == nil {
				t.Errorf("no model for %d snapshots, %s", n, kind)
			}
		}
	}
	if modelOf(KindTraced, 0) == nil || modelOf(KindFollowed, 2) != nil {
		t.Error("traces have a model, and two snapshots have none")
	}
}

// A penalty rises as a value falls below each knot, and is zero above the highest.
func TestPenalty(t *testing.T) {
	p := penalty{knots: [3]float64{0, 1, 2}, scale: 1, weights: [3]float64{1, 10, 100}}
	for value, want := range map[float64]float64{3: 0, 2: 0, 1.5: 50, 1: 100, 0.5: 155, 0: 210, -1: 321,
		-4: 6*100 + 5*10 + 4, -100: 6 * 111} {
		if got := p.of(value); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v %v, want %v", value, got, want)
		}
	}
}

// The constants decide what is judged at all; the cases lie just below, at and just above each.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name  string
		holds func(v float64) bool
		below float64
		at    float64
	}{
		{"leastBlocks", func(v float64) bool { return v >= leastBlocks }, 2, 3},
		{"leastBins", func(v float64) bool { return v >= leastBins }, 3, 4},
		{"SnapshotsToJudge", func(v float64) bool { return v >= SnapshotsToJudge }, 4, 5},
		{"fewBlocks", func(v float64) bool { return v > fewBlocks }, 4, 5},
		{"growingLeastSnapshots", func(v float64) bool { return v >= growingLeastSnapshots }, 5, 6},
		{"growingRises", func(v float64) bool { return v >= growingRises }, 0.599, 0.6},
		{"growingFalls", func(v float64) bool { return v > growingFalls }, 0.05, 0.0501},
		{"growingLater", func(v float64) bool { return v >= growingLater }, 0.399, 0.4},
		{"growingSamples", func(v float64) bool { return v >= growingSamples }, 9, 10},
		{"growingAtLeast", func(v float64) bool { return v >= growingAtLeast }, 1.249, 1.25},
		{"Noticeable", func(v float64) bool { return v >= NoticeableFactor }, 1.249, 1.25},
		{"metBelow", func(v float64) bool { return v >= metBelow }, 0.999, 1},
		{"likely", func(v float64) bool { return v >= likely }, 0.499, 0.5},
		{"oldAge", func(v float64) bool { return v >= oldAge }, 0.249, 0.25},
		{"leastNew", func(v float64) bool { return v >= leastNew }, 2.99, 3},
		{"leastWitnesses", func(v float64) bool { return v >= leastOthers }, 2, 3},
	} {
		if c.holds(c.below) || !c.holds(c.at) {
			t.Errorf("%s is no longer between %v and %v", c.name, c.below, c.at)
		}
	}
}

// Runs judged together have thresholds for their number.
func TestPoolThresholds(t *testing.T) {
	for _, p := range poolings {
		for _, at := range []float64{p.leak - 1e-6, p.leak + 1e-6, p.certain - 1e-6, p.certain + 1e-6} {
			runs := make([]*Evidence, p.runs)
			for i := range runs {
				runs[i] = &Evidence{Kind: p.kind, LogOdds: at}
			}
			if got, ok := JudgeTogether(runs); !ok || got.Leaks != (at > p.leak) || got.Certain != (at > p.certain) {
				t.Errorf("%d runs, %s, at %v: %+v, leaks are from %v on, certain from %v", p.runs, p.kind,
					at, got, p.leak, p.certain)
			}
		}
	}
	if _, ok := JudgeTogether([]*Evidence{{LogOdds: 100}}); ok {
		t.Error("one run is no pool")
	}
}

// One odd run neither convicts nor acquits by itself.
func TestPoolIsBounded(t *testing.T) {
	odd, none := &Evidence{LogOdds: 1e9}, (*Evidence)(nil)
	high, _ := JudgeTogether([]*Evidence{odd, none, none})
	if high.Leaks || math.Abs(high.LogOdds-(poolMost+2*poolLeast)/3.0) > 1e-9 {
		t.Errorf("one bad run of three: %+v", high)
	}
	sure := &Evidence{LogOdds: poolMost}
	if low, ok := JudgeTogether([]*Evidence{sure, sure, {LogOdds: math.Inf(-1)}}); !ok || low.LogOdds < -8 {
		t.Errorf("one clean run of three: %+v", low)
	}
}

// Each class is a leak, only a suspect, or neither.
func TestKindsOfClasses(t *testing.T) {
	for class, want := range map[Class]string{
		ClassLeak: "leak suspect", ClassUnreferenced: "leak suspect", ClassLeftAtExit: "leak suspect", ClassGrowingBlock: "suspect", ClassGrowing: "suspect",
		ClassCache: "", ClassOneTime: "", ClassTransient: "", ClassStable: "", ClassUnknown: "",
	} {
		got := ""
		if class.IsLeak() {
			got = "leak "
		}
		if class.IsSuspect() {
			got += "suspect"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

// growingSeries is a followed series in which so many blocks come in each interval, and stay.
func growingSeries(t *testing.T, n int, step int64) snapshotView {
	t.Helper()
	s, a := &Series{Followed: true}, &Axis{Unit: "hour"}
	for i := range n {
		held := step * int64(i)
		s.Count, s.Bytes = append(s.Count, held), append(s.Bytes, 64*held)
		a.At, a.Hours = append(a.At, float64(i)), append(a.Hours, float64(i))
		if i > 0 {
			s.Spans = append(s.Spans, capture.Span{First: int32(i), Last: int32(n - 1), Count: step})
		}
	}
	v, ok := viewSnapshots(s, a, nil)
	if !ok {
		t.Fatal("no series")
	}
	return v
}

// Of too few snapshots nothing is called a leak, whatever a model says.
func TestEnoughSnapshots(t *testing.T) {
	for n, want := range map[int]bool{SnapshotsToJudge - 1: false, SnapshotsToJudge: true, SnapshotsToJudge + 1: true} {
		v := growingSeries(t, n, 100)
		v.model, v.logOdds = &model{kind: KindFollowed, leak: 1, certain: 2, calibration: calibration{{0, 0}, {2, 1}}}, 2
		if r := v.result("hour"); (r.Class == ClassLeak) != want || r.Certain != want {
			t.Errorf("%d snapshots: %s, certain %t", n, r.Class, r.Certain)
		}
	}
}

// Growth is transient if less than staysShare of it stays, or if old blocks are freed faster than turnover allows.
func TestComesAndGoes(t *testing.T) {
	for _, c := range []struct {
		name                 string
		stayed, deaths, risk float64
		want                 Class
	}{
		{"all stay", 180, 0, 1, ClassGrowing},
		{"two fifths of the growth stay", 72, 0, 1, ClassGrowing},
		{"just below", 71.9, 0, 1, ClassTransient},
		{"old blocks die, at the turnover", 180, 3, 2, ClassGrowing},
		{"just above", 180, 3.01, 2, ClassTransient},
		{"next to no old blocks, at it", 180, 1.5, 0.1, ClassGrowing},
		{"next to no old blocks, above", 180, 1.51, 0.1, ClassTransient},
	} {
		v := growingSeries(t, 11, 20) // 180 blocks before the last snapshot
		v.cohorts.stayed = [mostPoints]float64{1: c.stayed}
		v.cohorts.deaths, v.cohorts.risk = c.deaths, c.risk
		if got := v.class(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// For growth that stopped at an ending, the result is the number of standard deviations by which too few blocks came
// behind it.
func TestGoesOnSeesEachEnding(t *testing.T) {
	load := make([]float64, 100)
	for i := range load {
		load[i] = 1
	}
	for _, percent := range []int{50, 60, 70, 80, 87} {
		came := make([]float64, len(load))
		for i := range percent {
			came[i] = 1
		}
		expected := float64(percent) * float64(100-percent) / 100
		if got, want := goesOn(came, load), -expected/math.Sqrt(expected+1); math.Abs(got-want) > 1e-9 {
			t.Errorf("growth that stopped at %d percent: %v, want %v", percent, got, want)
		}
	}
}

// Blocks are judged from an age that is at least a small share of the window, and at most half of it.
func TestSettleTime(t *testing.T) {
	const window = 1e9 // ns
	for _, c := range []struct {
		name   string
		bucket int // in which 100 blocks were freed; negative for none
		want   float64
	}{
		{"none freed", -1, 0.02 * window},
		{"freed at once", 0, 0.02 * window},
		{"freed a while later", 50, 1.5 * math.Exp2(50.99/2)},
		{"freed at the end", 60, 0.5 * window},
	} {
		var ended [allocations.LifetimeBuckets]int64
		if c.bucket >= 0 {
			ended[c.bucket] = 100
		}
		if got := settleTime(&ended, window); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %v ns, want %v", c.name, got, c.want)
		}
	}
}

// Three blocks that come apart show when the process worked, and two do not; blocks still do with 80 % of them in one
// interval.
func TestShareOf(t *testing.T) {
	for _, c := range []struct {
		came []float64
		want bool
	}{{[]float64{1, 1}, false}, {[]float64{1, 1, 0.9}, false}, {[]float64{1, 1, 1}, true}, {[]float64{80, 20}, true},
		{[]float64{81, 19}, false}} {
		if s := ProfileOf(c.came); (s.count > 0) != c.want {
			t.Errorf("%v: %+v", c.came, s)
		}
	}
}

// Each late free of a block older than the trace raises the detectable rate by powerLate blocks.
func TestLateFreesCostPower(t *testing.T) {
	const hour = 3600e9
	for frees, blocks := range map[int64]float64{-1: 20, 0: 20, 1: 34, 2: 48} {
		v := &allocations.Survival{Over: hour, LateUnknownFrees: frees}
		if got, want := TracePower(v, 64).Count, blocks/0.98; math.Abs(got-want) > 1e-6 {
			t.Errorf("%d late frees: %v blocks per hour, want %v", frees, got, want)
		}
	}
}
