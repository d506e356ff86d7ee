package leaks_test

import (
	"math"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// ranFor is what a run of four hours shows: so many blocks stayed in each of them.
func ranFor(build int64, class analysis.Class, odds float64, each int64) leaks.RunSighting {
	return leaks.RunSighting{BuildID: build, ScenarioID: 1, Class: class, Suffices: true, Watched: score.RunRetention{LogOdds: odds,
		Stayed: score.StayedBlocks{each, each, each, each}, PartLengths: score.PartLengths{Unit: "hour", Over: [score.RunParts]float64{1, 1, 1, 1}}}}
}

// leaksBy is a run that shows a leak of so many blocks an hour.
func leaksBy(build, each int64) leaks.RunSighting {
	s := ranFor(build, leak, 3, each)
	s.Certain = true
	s.Rate = &score.Rate{Unit: "hour", Count: float64(each), Bytes: float64(100 * each), Over: 4, Dispersion: 1}
	return s
}

func TestWhatIsClean(t *testing.T) {
	with := func(s leaks.RunSighting, change func(*leaks.RunSighting)) leaks.RunSighting { change(&s); return s }
	absent := func(hours float64) leaks.RunSighting {
		s := ranFor(2, "", math.NaN(), 0)
		s.Absent = true
		s.Watched.Over = [score.RunParts]float64{hours / 4, hours / 4, hours / 4, hours / 4}
		return s
	}
	undecided, clean, growing := leaks.JudgedUndecided, leaks.JudgedClean, leaks.JudgedGrowing
	for _, test := range []struct {
		name   string
		shows  leaks.RunSighting
		says   leaks.Judgement
		absent bool
		bound  bool
	}{
		{"nothing stays", ranFor(2, stable, -6, 0), clean, false, true},
		// One block in each of four hours: at most 2.29 an hour; a leak of 10 is excluded up to 2.5.
		{"little stays", ranFor(2, stable, -6, 1), clean, false, true},
		{"as much as a third of the leak", ranFor(2, stable, -6, 3), undecided, false, false},
		{"it grows too slowly to be the leak", ranFor(2, grows, -4, 0), clean, false, true},
		{"it grows by as much", ranFor(2, grows, -4, 8), growing, false, false},
		{"the evidence speaks for a leak", ranFor(2, cache, 0.01, 0), undecided, false, false},
		{"the evidence speaks for neither", ranFor(2, cache, 0, 0), clean, false, true},
		{"it may have begun", with(ranFor(2, cache, -1, 0), func(s *leaks.RunSighting) { s.Doubtful = true }), undecided, false, false},
		{"the evidence does not suffice", with(ranFor(2, stable, -6, 0), func(s *leaks.RunSighting) { s.Suffices = false }),
			undecided, false, false},
		{"nobody judged it", ranFor(2, unknown, math.NaN(), 0), undecided, false, false},
		{"its callers ran for long", absent(4), undecided, true, true},
		{"its callers ran for a minute", absent(1.0 / 60), undecided, false, false},
		{"another unit, far from a leak", with(ranFor(2, stable, -2, 9), func(s *leaks.RunSighting) { s.Watched.Unit = "order" }),
			clean, false, false},
		{"another unit, nearer to a leak", with(ranFor(2, stable, -1.9, 9), func(s *leaks.RunSighting) { s.Watched.Unit = "order" }),
			undecided, false, false},
	} {
		runs := []leaks.RunSighting{leaksBy(1, 10), test.shows}
		line := leaks.NewBuildLines(lined("m1 m2"), "").Of("main")
		list := leaks.SightingsOn(line, runs, leaks.SlowestRatesOf(runs))
		got := leaks.Sighting{}
		switch says := !test.shows.Absent || test.absent; {
		case len(list) == 2 != says:
			t.Errorf("%s: %+v", test.name, list)
			continue
		case says:
			got = list[1]
		}
		if got.Judgement != test.says || got.Absent != test.absent || (got.Bound != nil) != test.bound {
			t.Errorf("%s: %+v, want %v, absent %v, a bound %v", test.name, got, test.says, test.absent, test.bound)
		}
		if list[0].Judgement != leaks.JudgedLeaking || !list[0].Certain || !list[0].AsFastAsLeak {
			t.Errorf("%s: the leak is %+v", test.name, list[0])
		}
	}
}

// Of several runs of a build the gravest counts, and one that shows the leak before one that does not; runs of other
// lines do not count, and a block that is resized is clean nowhere.
func TestSightingsOfABuild(t *testing.T) {
	lines := leaks.NewBuildLines(lined("m1 m2 x1 m3"), "")
	gone := ranFor(2, "", math.NaN(), 0)
	gone.Absent = true
	runs := []leaks.RunSighting{leaksBy(4, 8), gone, ranFor(2, stable, -6, 0), ranFor(1, stable, -6, 0), leaksBy(1, 8), leaksBy(3, 8)}
	list := leaks.SightingsOn(lines.Of("main"), runs, leaks.SlowestRatesOf(runs))
	if len(list) != 3 || list[0].Judgement != leaks.JudgedLeaking || !list[0].Certain || list[1].Judgement != leaks.JudgedClean ||
		list[1].Absent || list[2].BuildIndex != 2 {
		t.Errorf("%+v", list)
	}
	runs = append(runs, ranFor(4, analysis.ClassGrowingBlock, math.NaN(), 0))
	if list = leaks.SightingsOn(lines.Of("main"), runs, leaks.SlowestRatesOf(runs)); list[1].Judgement != leaks.JudgedUndecided {
		t.Errorf("%+v", list)
	}
	both := ranFor(1, cache, -3, 1).With(leaksBy(1, 2))
	if both.Class != leak || !both.Certain || both.Rate == nil || both.Watched.Stayed.Total() != 12 || both.Watched.LogOdds != 3 {
		t.Errorf("two parts: %+v", both)
	}
}

// What grows before it is decided counts as the leak where about as much stays.
func TestGrowthInHindsight(t *testing.T) {
	for each, fast := range map[int64]bool{3: false, 4: true} { // half of 8
		runs := []leaks.RunSighting{ranFor(1, grows, -3, each), leaksBy(2, 8)}
		list := leaks.SightingsOn(leaks.NewBuildLines(lined("m1 m2"), "").Of("main"), runs, leaks.SlowestRatesOf(runs))
		if list[0].AsFastAsLeak != fast {
			t.Errorf("%d blocks an hour: %+v", each, list[0])
		}
	}
}

// Runs that show little of a leak, and each too much to be clean, are clean together.
func TestCleanAddsUp(t *testing.T) {
	few := func(build int64) leaks.RunSighting { // alone at most 2.96 an hour, two together 2.39; a leak of 10 is excluded up to 2.5
		s := ranFor(build, stable, -6, 0)
		s.Watched.Stayed = score.StayedBlocks{1, 2, 1, 2}
		return s
	}
	stays := func(build, last int64) leaks.RunSighting {
		s := few(build)
		s.Watched.Stayed = score.StayedBlocks{2, 2, 2, last}
		return s
	}
	gone := few(2)
	gone.Absent = true
	doubtful, elsewhere, unclear := few(3), few(2), ranFor(3, unknown, math.NaN(), 0)
	doubtful.Doubtful, elsewhere.ScenarioID = true, 2
	many, brief := ranFor(3, stable, -6, 9), ranFor(4, stable, -6, 0)
	brief.Watched.Over = [score.RunParts]float64{0.02, 0.02, 0.02, 0.02}
	for name, test := range map[string]struct {
		runs  []leaks.RunSighting // behind the leak of build 1
		clean bool                // the last
	}{
		"one":                     {[]leaks.RunSighting{few(2)}, false},
		"two":                     {[]leaks.RunSighting{few(2), few(3)}, true},
		"two of one build":        {[]leaks.RunSighting{few(2), few(2)}, true},
		"in another order":        {[]leaks.RunSighting{few(3), few(2)}, true},
		"callers that ran":        {[]leaks.RunSighting{gone, few(3)}, true},
		"one that tells nothing":  {[]leaks.RunSighting{few(2), unclear, few(4)}, true},
		"a brief one behind them": {[]leaks.RunSighting{few(2), few(3), brief}, false},
		// Seven blocks in each: 2.52 an hour by three runs, 2.40 by four. Of 38 blocks in five runs 2.49, of the last
		// 31 2.61.
		"three where it takes four":   {[]leaks.RunSighting{stays(2, 1), stays(2, 1), stays(3, 1)}, false},
		"four":                        {[]leaks.RunSighting{stays(2, 1), stays(2, 1), stays(3, 1), stays(4, 1)}, true},
		"five where it takes five":    {[]leaks.RunSighting{stays(2, 1), stays(2, 2), stays(3, 1), stays(3, 2), stays(4, 2)}, false},
		"of another scenario":         {[]leaks.RunSighting{elsewhere, few(3)}, false},
		"a leak between":              {[]leaks.RunSighting{few(2), leaksBy(3, 10), few(4)}, false},
		"doubt between":               {[]leaks.RunSighting{few(2), doubtful, few(4)}, false},
		"as much as the leak between": {[]leaks.RunSighting{few(2), many, few(4)}, false},
	} {
		runs := append([]leaks.RunSighting{leaksBy(1, 10)}, test.runs...)
		list := leaks.SightingsOn(leaks.NewBuildLines(lined("m1 m2 m3 m4"), "").Of("main"), runs, leaks.SlowestRatesOf(runs))
		if last := list[len(list)-1]; (last.Judgement == leaks.JudgedClean) != test.clean || (last.Bound != nil) != test.clean {
			t.Errorf("%s: %+v, want clean %v", name, last, test.clean)
		}
	}
}

// Of several runs of a build, and several parts of a leak in one run, one that tells that the leak began is enough.
func TestBeganInABuild(t *testing.T) {
	line := leaks.NewBuildLines(lined("m0 m1"), "").Of("main")
	at := line.BuildIDs[1]
	plain, began, slow := leaksBy(at, 30), leaksBy(at, 30), ranFor(at, grows, -1, 10)
	began.Began, slow.Began = true, true
	for name, runs := range map[string][]leaks.RunSighting{
		"the first run": {began, plain}, "the second": {plain, began}, "one that is not decided": {slow, plain},
		"a part": {plain.With(began)}, "the other part": {began.With(plain)},
	} {
		list := leaks.SightingsOn(line, runs, leaks.SlowestRatesOf(runs))
		if len(list) != 1 || !list[0].Began {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if list := leaks.SightingsOn(line, []leaks.RunSighting{plain}, nil); list[0].Began {
		t.Errorf("nothing tells that it began: %+v", list)
	}
}
