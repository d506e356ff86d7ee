package score_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// counted is a series without addresses.
func counted(counts ...int64) *score.Series {
	s := &score.Series{Count: counts}
	for _, c := range counts {
		s.Bytes = append(s.Bytes, 64*c)
	}
	return s
}

// stays is a series in which every block stays; counts do not fall.
func stays(counts ...int64) *score.Series {
	s, last, before := counted(counts...), int32(len(counts)-1), int64(0)
	s.Followed = true
	for i, c := range counts {
		if c > before {
			s.Spans = append(s.Spans, capture.Span{First: int32(i), Last: last, Count: c - before})
		}
		before = c
	}
	return s
}

// passes is a series in which no block is in two snapshots.
func passes(counts ...int64) *score.Series {
	s := counted(counts...)
	s.Followed = true
	for i, c := range counts {
		if c > 0 {
			s.Spans = append(s.Spans, capture.Span{First: int32(i), Last: int32(i), Count: c})
		}
	}
	return s
}

// together is the sum of two series.
func together(a, b *score.Series) *score.Series {
	s := &score.Series{Followed: a.Followed && b.Followed, Spans: capture.MergeSpans(a.Spans, b.Spans)}
	for i := range a.Count {
		s.Count, s.Bytes = append(s.Count, a.Count[i]+b.Count[i]), append(s.Bytes, a.Bytes[i]+b.Bytes[i])
	}
	return s
}

func TestSnapshotClasses(t *testing.T) {
	for name, c := range map[string]struct {
		series *score.Series
		want   score.Class
	}{
		"nothing":               {counted(), score.ClassUnknown},
		"one snapshot":          {counted(5), score.ClassUnknown},
		"constant":              {stays(64, 64, 64, 64, 64, 64), score.ClassStable},
		"shrinks":               {counted(90, 70, 65, 50, 20, 3), score.ClassStable},
		"steady":                {stays(10, 60, 110, 161, 209, 260, 311, 360, 412, 460), score.ClassLeak},
		"steady from the third": {stays(0, 0, 0, 50, 100, 150, 200, 250, 300, 350), score.ClassLeak},
		"steady, few snapshots": {stays(10, 60, 110, 160), score.ClassGrowing},
		"steady beside what passes": {together(stays(10, 60, 110, 161, 209, 260, 311, 360, 412, 460),
			passes(900, 400, 700, 650, 800, 500, 900, 300, 700, 350)), score.ClassLeak},
		"fills":                      {stays(0, 500, 800, 950, 990, 1000, 1000, 1000, 1000, 1000), score.ClassCache},
		"ramp, then flat":            {stays(0, 100, 200, 300, 400, 400, 400, 400, 400, 400), score.ClassCache},
		"one burst":                  {stays(3, 3, 3, 200, 200, 200, 200), score.ClassOneTime},
		"lazy initialisation of two": {counted(0, 3, 3), score.ClassOneTime},
		"all in flight":              {passes(10, 60, 110, 161, 209, 260, 311, 360, 412, 460), score.ClassTransient},
		"now one, now two":           {counted(1, 2, 1, 1), score.ClassStable},
	} {
		if got := score.JudgeSnapshots(c.series, even(len(c.series.Count), 2), nil); got.Class != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, got.Class, c.want,
				score.ExplainSnapshots(c.series, even(len(c.series.Count), 2), nil))
		}
	}
}

// TestThreeSnapshotsRank judges series of the lab's programs: all are undecided, and every leak ranks above all other
// stacks.
func TestThreeSnapshotsRank(t *testing.T) {
	rank(t, even(3, 0.5), map[string]*score.Series{"samples": stays(507, 1050, 1594), "status text": stays(51, 105, 160)},
		map[string]*score.Series{"startup": stays(400, 400, 400), "cache": stays(64, 64, 64), "lazy": stays(0, 3, 3)})
	at := []float64{0, 0.1, 0.3, 0.4}
	rank(t, &score.Axis{Unit: "hour", At: at, Hours: at}, map[string]*score.Series{"shadow records": stays(0, 0, 37, 111)},
		map[string]*score.Series{"startup": stays(12, 12, 12, 12), "recursion": counted(1, 2, 1, 1)})
}

func rank(t *testing.T, a *score.Axis, leaks, others map[string]*score.Series) {
	t.Helper()
	for leak, s := range leaks {
		l := score.JudgeSnapshots(s, a, nil)
		if l.Class != score.ClassGrowing || l.Certain {
			t.Errorf("%s: %+v", leak, l)
		}
		for other, s := range others {
			if o := score.JudgeSnapshots(s, a, nil); o.Score >= l.Score || o.Class == score.ClassLeak {
				t.Errorf("%s %+v is not above %s %+v", leak, l, other, o)
			}
		}
	}
}

// From ManySnapshots on a why-line counts the intervals that left nothing behind.
func TestGaplessClause(t *testing.T) {
	for _, c := range []struct {
		name   string
		series *score.Series
		want   string
	}{
		{"nine snapshots", stays(0, 20, 40, 60, 80, 100, 120, 140, 160), ""},
		{"ten", stays(0, 20, 40, 60, 80, 100, 120, 140, 160, 180), "Blocks stayed from each of 9 intervals."},
		{"in two bursts", stays(0, 0, 0, 40, 40, 40, 40, 80, 80, 80),
			"No block stayed from 7 of 9 intervals (0 expected at the pace of the work)."},
		{"few blocks", stays(0, 1, 1, 2, 2, 3, 3, 4, 4, 5),
			"No block stayed from 4 of 9 intervals (5.2 expected at the pace of the work)."},
	} {
		got := ""
		for _, clause := range score.ExplainSnapshots(c.series, even(len(c.series.Count), 1), nil).Clauses {
			if clause.Rule == string(score.ConditionGapless) {
				got = clause.Text
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Blocks that stay are evidence of a leak from leastBlocks on.
func TestLeastBlocks(t *testing.T) {
	for n, want := range map[int64]bool{2: false, 3: true, 4: true} {
		s := passes(50, 50, 50, 50, 50, 50, 50, 50)
		for i := range n {
			s = together(s, stays(0, b(i < 1), b(i < 2), b(i < 3), b(i < 4), b(i < 5), 1, 1))
		}
		if got := score.JudgeSnapshots(s, even(8, 1), nil); (got.Evidence != nil) != want {
			t.Errorf("of %d blocks that stay: %+v", n, got)
		}
	}
}

func b(there bool) int64 {
	if there {
		return 1
	}
	return 0
}

// Nothing is called a leak before SnapshotsToJudge snapshots.
func TestSnapshotsToJudge(t *testing.T) {
	counts := []int64{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200}
	for n := 2; n <= len(counts); n++ {
		r := score.JudgeSnapshots(stays(counts[:n]...), even(n, 1), nil)
		if n < score.SnapshotsToJudge && (r.Class != score.ClassGrowing || r.Certain) {
			t.Errorf("%d snapshots: %+v", n, r)
		}
		if n >= 8 && r.Class != score.ClassLeak {
			t.Errorf("%d snapshots: %+v", n, r)
		}
	}
}

// Fewer snapshots than it takes to judge give a rate without an interval.
func TestUnboundedRate(t *testing.T) {
	counts := []int64{100, 190, 320, 390, 520, 590}
	for n, want := range map[int]bool{2: true, 3: true, 4: true, 5: false, 6: false} {
		if r := score.JudgeSnapshots(counted(counts[:n]...), even(n, 2), nil).Rate; r.Unbounded != want {
			t.Errorf("%d snapshots: %+v, want unbounded: %v", n, r, want)
		}
	}
}

func TestRateIsPerUnit(t *testing.T) {
	r := score.JudgeSnapshots(counted(100, 200, 300, 400, 500, 600), even(6, 2), nil)
	if r.Rate == nil || math.Abs(r.Rate.Count-250) > 1e-9 || math.Abs(r.Rate.Bytes-64*250) > 1e-6 ||
		r.Rate.Unit != "hour" {
		t.Fatalf("%+v", r.Rate)
	}
	noisy := score.JudgeSnapshots(counted(100, 190, 320, 390, 520, 590, 710), even(7, 2), nil).Rate
	if noisy.CountLow > noisy.Count || noisy.CountHigh < noisy.Count || noisy.CountLow == noisy.CountHigh {
		t.Errorf("%+v", noisy)
	}
}

// TestAnySeries judges series that no program makes: results are numbers, probabilities are between 0 and 1, texts are
// made, and explaining a result does not change it.
func TestAnySeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, 0, 1, 2, 3, 10, 1000, 1e6, 1e12, math.MaxInt64, math.MinInt64, -1}
	steps := []float64{0, 1e-300, 1e-9, 0.1, 1, 1, 1, 60, 1e9, 1e300}
	for range 1500 {
		n := r.IntN(12)
		if r.IntN(20) == 0 {
			n = 60 + r.IntN(200)
		}
		s, a, at := &score.Series{Followed: r.IntN(2) == 0}, &score.Axis{Unit: "hour"}, 0.0
		for range n {
			s.Count = append(s.Count, values[r.IntN(len(values))])
			s.Bytes = append(s.Bytes, values[r.IntN(len(values))])
			at += steps[r.IntN(len(steps))]
			a.At = append(a.At, at)
		}
		if r.IntN(2) == 0 {
			a.Hours = a.At
		}
		for range r.IntN(12) {
			s.Spans = append(s.Spans,
				capture.Span{First: r.Int32N(14) - 1, Last: r.Int32N(14) - 1, Count: values[r.IntN(len(values))]})
		}
		var load []float64
		for range n - 1 {
			load = append(load, r.Float64()/float64(n))
		}
		got := score.JudgeSnapshots(s, a, load)
		explained := score.ExplainSnapshots(s, a, load)
		if !sane(&got) || !sane(&explained) || got.Class != explained.Class || got.Score != explained.Score ||
			len(explained.Clauses) == 0 {
			t.Fatalf("%+v at %v: %+v", s, a.At, explained)
		}
		if noise := score.CountNoise(s, a); !(noise >= 0) {
			t.Fatalf("%v at %v: a noise of %v", s, a.At, noise)
		}
	}
}

func sane(r *score.Result) bool {
	ok := r.Score >= 0 && r.Score <= 1 && r.Class != ""
	if rate := r.Rate; rate != nil {
		for _, v := range []float64{rate.Count, rate.CountLow, rate.CountHigh, rate.Bytes, rate.BytesLow, rate.BytesHigh} {
			ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
	}
	if e := r.Evidence; e != nil {
		for _, v := range append(e.Conditions, e.LogOdds) {
			ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
	}
	for _, c := range r.Clauses {
		ok = ok && c.Rule != "" && c.Text != "" && !strings.Contains(c.Text, "NaN") && !strings.Contains(c.Text, "Inf") &&
			!strings.Contains(c.Text, "%!")
	}
	return ok
}

// TestUnitsDoNotMatter scales time and bytes.
func TestUnitsDoNotMatter(t *testing.T) {
	s := stays(10, 70, 100, 171, 209, 260, 333)
	want := score.JudgeSnapshots(s, even(7, 1), nil)
	for i := range s.Bytes {
		s.Bytes[i] *= 4096
	}
	got := score.JudgeSnapshots(s, even(7, 1<<20), nil)
	if math.Abs(got.Score-want.Score) > 1e-9 || got.Class != want.Class {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAxisThatIsNone(t *testing.T) {
	for name, at := range map[string][]float64{
		"descending": {3, 2, 1, 0, -1}, "not a number": {0, 1, math.NaN(), 3, 4}, "endless": {0, 1, 2, 3, math.Inf(1)},
		"an instant": {1, 1, 1, 1, 1},
	} {
		r := score.ExplainSnapshots(counted(1, 2, 3, 4, 5), &score.Axis{Unit: "hour", At: at}, nil)
		if r.Class != score.ClassUnknown || r.Score != 0 || len(r.Clauses) == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A leak that follows the work of the process grows steadily by the load, though not by the clock.
func TestLoadIsAClock(t *testing.T) {
	s := stays(0, 200, 400, 420, 430, 440, 450, 650, 850, 860, 870, 880)
	load := []float64{200, 200, 20, 10, 10, 10, 200, 200, 10, 10, 10}
	for i := range load {
		load[i] /= 880
	}
	without, with := score.JudgeSnapshots(s, even(12, 1), nil), score.JudgeSnapshots(s, even(12, 1), load)
	if with.Class != score.ClassLeak || with.Score <= without.Score {
		t.Errorf("%+v, without the load %+v", with, without)
	}
}

// Blocks that come as steadily as one clock of several come in no bursts, whatever the others say.
func TestDispersionByTheSteadiestClock(t *testing.T) {
	load := []float64{0.4, 0.3, 0.1, 0.05, 0.05, 0.02, 0.02, 0.02, 0.02, 0.01, 0.01}
	byTime := stays(0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220)
	byLoad, bursts := stays(0, 400, 700, 800, 850, 900, 920, 940, 960, 980, 990, 1000), stays(0, 2, 90, 92, 94, 96, 180, 182, 184, 186, 188, 190)
	for name, test := range map[string]struct {
		series  *score.Series
		atMost1 bool
	}{"as time": {byTime, true}, "as the load": {byLoad, true}, "as neither": {bursts, false}} {
		r := score.JudgeSnapshots(test.series, even(12, 1), load)
		if r.Rate == nil || (r.Rate.Dispersion <= 1) != test.atMost1 {
			t.Errorf("%s: %+v", name, r.Rate)
		}
	}
}

func BenchmarkSnapshots(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	a := even(12, 1)
	var list []*score.Series
	for range 256 { // one in eight grows
		s := stays(100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
		if len(list)%8 == 0 {
			s = noisyLeak(r, a, 200, 2, 64)
		}
		list = append(list, s)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		score.JudgeSnapshots(list[n%len(list)], a, nil)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sites/s")
}

func BenchmarkSnapshotsAllGrow(b *testing.B) {
	a := even(12, 1)
	s := noisyLeak(rand.New(rand.NewPCG(3, 4)), a, 200, 2, 64)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		score.JudgeSnapshots(s, a, nil)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sites/s")
}

// Blocks that came in one interval only are called one-time, whichever interval it is. With fewer snapshots than
// SnapshotsToJudge, a step in the last interval may go on.
func TestOneStep(t *testing.T) {
	for _, n := range []int{score.SnapshotsToJudge - 1, score.SnapshotsToJudge, score.SnapshotsToJudge + 1, 13} {
		for step := 1; step < n; step++ {
			counts := make([]int64, n)
			for i := range counts {
				if counts[i] = 5; i >= step {
					counts[i] = 500
				}
			}
			want := score.ClassOneTime
			if n < score.SnapshotsToJudge && step == n-1 {
				want = score.ClassGrowing
			}
			for name, s := range map[string]*score.Series{"followed": stays(counts...), "counted": counted(counts...)} {
				if got := score.JudgeSnapshots(s, even(n, 1), nil).Class; got != want {
					t.Errorf("%s, up in interval %d of %d: %s, want %s", name, step, n-1, got, want)
				}
			}
		}
	}
}

// Two snapshots have one interval. It tells growth, and neither its course nor a score: generated programs were never
// judged by two.
func TestTwoSnapshotsHaveNoScore(t *testing.T) {
	for n, want := range map[int]bool{1: false, 2: false, 3: true, 5: true} {
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = 100 * int64(i+1)
		}
		for name, s := range map[string]*score.Series{"counted": counted(counts...), "followed": stays(counts...)} {
			if r := score.JudgeSnapshots(s, even(n, 1), nil); r.Scored() != want {
				t.Errorf("%s, %d snapshots: %+v", name, n, r)
			}
		}
	}
	r := score.ExplainSnapshots(stays(140, 705), even(2, 1), nil)
	var said []string
	for _, c := range r.Clauses {
		said = append(said, c.Text)
	}
	if got := strings.Join(said, "\n"); r.Class != score.ClassGrowing || got != "2 snapshots (a leak needs 5).\n"+
		"From 140 to 705 blocks; rose in 1 of 1 interval.\n"+
		score.StillFilling {
		t.Errorf("%s:\n%s", r.Class, got)
	}
}

// The steadiest leak is certain from SnapshotsToBeCertain snapshots on.
func TestSnapshotsToBeCertain(t *testing.T) {
	for n, want := range map[int]bool{score.SnapshotsToJudge: false, score.SnapshotsToBeCertain - 1: false,
		score.SnapshotsToBeCertain: true, score.SnapshotsToBeCertain + 1: true} {
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = 400 * int64(i+1)
		}
		if r := score.JudgeSnapshots(stays(counts...), even(n, 1), nil); r.Certain != want {
			t.Errorf("%d snapshots: %+v", n, r)
		}
	}
}
