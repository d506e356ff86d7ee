package leaks_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// pooledFrom calls a mean of 1 a leak, and of 2 a certain one: the tests check which runs are judged together, not how.
func pooledFrom(runs []*score.Evidence) (p score.PooledResult, ok bool) {
	p.Runs = len(runs)
	for _, e := range runs {
		odds := -8.0
		if e != nil {
			odds = e.LogOdds
		}
		p.LogOdds += odds / float64(len(runs))
	}
	p.Score, p.Leaks, p.Certain = 0.9, p.LogOdds >= 1, p.LogOdds >= 2
	return p, true
}

func shown(class analysis.Class, odds float64) *leaks.RunRating {
	return &leaks.RunRating{Rating: leaks.Rating{Class: class, Score: new(0.5), Certain: class == leak},
		Evidence: &score.Evidence{LogOdds: odds}, Stayed: stayedBy[class]}
}

// stayedBy are blocks that stay of a class: where one leaks or grows much more than where it does neither.
var stayedBy = map[analysis.Class]score.StayedBlocks{leak: {40, 40, 40, 40}, grows: {40, 40, 40, 40}, cache: {10}}

// bare is the rating of a run without a look at the shape of its growth.
func bare(class analysis.Class) *leaks.RunRating {
	return &leaks.RunRating{Rating: leaks.Rating{Class: class, Score: new(0.5)}, Stayed: stayedBy[class]}
}

// as gives a rating the blocks that stay of another class.
func as(class analysis.Class, s *leaks.RunRating) *leaks.RunRating {
	s.Stayed = stayedBy[class]
	return s
}

// at gives a rating a growth of rate blocks an hour.
func at(rate float64, s *leaks.RunRating) *leaks.RunRating {
	s.Rate = &score.Rate{Unit: "hour", Count: rate, Over: 10, Dispersion: 1}
	return s
}

// unboundedAt is at, of a growth without an interval.
func unboundedAt(rate float64, s *leaks.RunRating) *leaks.RunRating {
	at(rate, s).Rate.Unbounded = true
	return s
}

// A poolCase holds what runs say of a leak, by "build" or "build/run".
type poolCase struct {
	name   string
	runs   []string
	shown  []*leaks.RunRating
	absent string // builds
	fixed  int64  // sequence of the build; 0 for none
	class  analysis.Class
	sure   bool
	builds string // that are judged together; "" for none
	says   string
}

func (c *poolCase) pool() *leaks.Pool {
	p := &leaks.Pool{Judge: pooledFrom, Absent: map[string]bool{}, RatingByRun: c.shown}
	for i, name := range c.runs {
		build, _, _ := strings.Cut(name, "/")
		p.Runs = append(p.Runs, leaks.PoolRun{RunID: int64(i), Build: build, Rank: placeOfBuild(build),
			PartLengths: score.PartLengths{Unit: "hour", Over: [score.RunParts]float64{1, 1, 1, 1}}})
	}
	for _, build := range strings.Fields(c.absent) {
		p.Absent[build] = true
	}
	if c.fixed > 0 {
		p.FixedRank = placeOfBuild(fmt.Sprint(c.fixed))
	}
	return p
}

func placeOfBuild(name string) leaks.BuildRank {
	sequence, _ := leaks.SequenceOfName(name)
	return leaks.RankBuilds([]leaks.Build{{Name: name, Sequence: &sequence}})[0]
}

// ran are the names of n builds, from 1.
func ran(n int) (runs []string) {
	for i := range n {
		runs = append(runs, fmt.Sprint(i+1))
	}
	return runs
}

// same gives n runs the same rating.
func same(n int, s *leaks.RunRating) []*leaks.RunRating {
	return slices.Repeat([]*leaks.RunRating{s}, n)
}

// The last run of each case is judged.
var poolCases = []poolCase{
	{name: "one run", runs: ran(1), shown: same(1, shown(leak, 4)), class: leak, sure: true},
	{name: "two that leak", runs: ran(2), shown: same(2, shown(leak, 4)), class: leak, sure: true, builds: "1 2",
		says: "Pooled over 2 runs of builds 1 and 2: leak in each. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "growth that adds up to a leak", runs: []string{"1", "1/b", "2"},
		shown: []*leaks.RunRating{shown(leak, 3), shown(grows, 1.9), shown(grows, 1.9)}, class: leak,
		sure: true, builds: "1 2",
		says: "Pooled over 3 runs of builds 1 and 2: leak in 1, growing in 2. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "a mean just below a leak", runs: ran(2), shown: same(2, shown(grows, 0.99)), class: grows, builds: "1 2",
		says: "Pooled over 2 runs of builds 1 and 2: growing in each (not decided). In tests on generated programs, 90 % of such sites were leaks."},
	{name: "a mean at a leak", runs: ran(2), shown: same(2, shown(grows, 1)), class: leak, builds: "1 2"},
	{name: "a mean just below certainty", runs: ran(2), shown: same(2, shown(leak, 1.99)), class: leak, builds: "1 2",
		says: "Pooled over 2 runs of builds 1 and 2: leak in each (too uncertain to fail a gate). In tests on generated programs, 90 % of such sites were leaks."},
	{name: "not borne out", runs: []string{"1/a", "1/b", "1/c"},
		shown: []*leaks.RunRating{bare(stable), shown(cache, -3), shown(leak, 4)}, class: grows, builds: "1",
		says: "Leaks in this run; 2 other runs of the scenario do not confirm it."},
	{name: "not borne out by one", runs: []string{"1/a", "1/b"}, shown: []*leaks.RunRating{bare(stable), shown(leak, 4)},
		class: grows, builds: "1",
		says: "Leaks in this run; the other run of the scenario does not confirm it."},
	{name: "a build that does not show it", runs: ran(3), shown: []*leaks.RunRating{shown(leak, 4), nil, shown(leak, 4)},
		class: leak, sure: true, builds: "1 3"},
	{name: "a build that cannot tell", runs: ran(3),
		shown: []*leaks.RunRating{shown(leak, 4), bare(unknown), shown(leak, 4)}, class: leak, sure: true, builds: "1 3"},
	{name: "growth that could not be judged", runs: ran(3),
		shown: []*leaks.RunRating{shown(leak, 4), bare(grows), shown(leak, 4)}, class: leak, sure: true, builds: "1 3"},
	{name: "a block that is resized among others", runs: ran(2),
		shown: []*leaks.RunRating{bare(analysis.ClassGrowingBlock), shown(leak, 4)}, class: leak, sure: true},
	{name: "a block that is resized", runs: ran(2), shown: same(2, shown(analysis.ClassGrowingBlock, -2)),
		class: analysis.ClassGrowingBlock},
	{name: "growth that could not be judged itself", runs: ran(2), shown: []*leaks.RunRating{shown(leak, 4), bare(grows)},
		class: grows},
	{name: "fixed between", runs: ran(3), shown: []*leaks.RunRating{shown(leak, 4), nil, shown(leak, 4)}, absent: "2",
		class: leak, sure: true, builds: "3", says: "Began to leak since build 3: 53 times as many blocks stay as in the run before."},
	{name: "fixed before it was there", runs: ran(3), shown: []*leaks.RunRating{nil, shown(leak, 4), shown(leak, 4)},
		absent: "1", class: leak, sure: true, builds: "2 3"},
	{name: "absent from a build that another run of shows it", runs: []string{"1", "2/a", "2/b", "3"},
		shown:  []*leaks.RunRating{shown(leak, 4), nil, shown(leak, 4), shown(leak, 4)},
		absent: "2", class: leak, sure: true, builds: "1 2 3"},
	{name: "fixed by the team's word", runs: ran(4), shown: same(4, shown(leak, 4)), fixed: 3, class: leak,
		sure: true, builds: "3 4"},
	{name: "fixed in this build", runs: ran(2), shown: same(2, shown(leak, 4)), fixed: 2, class: leak, sure: true},
	{name: "fixed later", runs: ran(2), shown: same(2, shown(leak, 4)), fixed: 3, class: leak, sure: true, builds: "1 2"},
	{name: "much less before", runs: ran(3), shown: []*leaks.RunRating{bare(stable), shown(cache, -1), shown(grows, 1.9)},
		class: leak, sure: true, builds: "3",
		says: "Began to leak since build 3: 12 times as many blocks stay as in any of the 2 runs before."},
	{name: "much less before, and it looks little like a leak", runs: ran(3),
		shown: []*leaks.RunRating{bare(stable), shown(cache, -1), shown(grows, -1)}, class: grows, builds: "3",
		says: "May have begun to leak since build 3: 12 times as many blocks stay as in any of the 2 runs before."},
	{name: "as much before", runs: ran(4), shown: []*leaks.RunRating{as(grows, bare(stable)), as(grows, bare(stable)),
		as(grows, bare(cache)), shown(leak, 4)}, class: grows, builds: "1 2 3 4",
		says: "Leaks in this run; 3 other runs of the scenario do not confirm it."},
	{name: "as much once, and less since", runs: ran(5), shown: []*leaks.RunRating{as(grows, bare(cache)), bare(stable),
		bare(stable), bare(stable), shown(leak, 4)}, class: grows, builds: "5",
		says: "About as many blocks stayed in one of the 4 runs before, without a leak."},
	{name: "as much once, three runs before", runs: ran(4), shown: []*leaks.RunRating{as(grows, bare(cache)),
		bare(stable), bare(stable), shown(leak, 4)}, class: grows, builds: "4"},
	{name: "as much once, two runs before", runs: ran(3), shown: []*leaks.RunRating{as(grows, bare(cache)), bare(stable),
		shown(leak, 4)}, class: leak, builds: "3"},
	{name: "as much once, twenty runs before", runs: ran(21), shown: slices.Concat([]*leaks.RunRating{as(grows, bare(cache))},
		same(19, bare(stable)), []*leaks.RunRating{shown(leak, 4)}), class: grows, builds: "21"},
	{name: "as much once, twenty-one runs before", runs: ran(22), shown: slices.Concat([]*leaks.RunRating{as(grows, bare(cache))},
		same(20, bare(stable)), []*leaks.RunRating{shown(leak, 4)}), class: leak, sure: true, builds: "22"},
	{name: "much less before two that grow", runs: ran(4),
		shown: []*leaks.RunRating{shown(grows, 1), bare(stable), shown(leak, 4), shown(leak, 4)}, class: leak,
		sure: true, builds: "3 4",
		says: "Pooled over 2 runs of builds 3 and 4: leak in each. In tests on generated programs, 90 % of such sites were leaks.\n" +
			"Began to leak since build 3: 53 times as many blocks stay as in the run before."},
	{name: "an absence among clean builds", runs: ran(3), shown: []*leaks.RunRating{bare(stable), nil, shown(leak, 4)},
		absent: "2", class: leak, sure: true, builds: "3",
		says: "Began to leak since build 3: 53 times as many blocks stay as in any of the 2 runs before."},
	{name: "clean behind growth", runs: ran(2), shown: []*leaks.RunRating{shown(leak, 4), as(stable, shown(cache, 0))},
		class: cache},
	{name: "clean, and near to a leak each time", runs: ran(3), shown: same(3, shown(cache, 1)),
		class: leak, builds: "1 2 3",
		says: "Pooled over 3 runs of builds 1, 2 and 3: clean in each. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "clean, and below even odds by itself", runs: ran(3),
		shown: []*leaks.RunRating{shown(cache, 4), shown(cache, 4), shown(cache, -0.01)}, class: cache},
	{name: "clean, at even odds, and all that is said of it", runs: ran(2),
		shown: []*leaks.RunRating{shown(cache, 1.99), shown(cache, 0)}, class: cache},
	{name: "clean beside a leak of the same build", runs: []string{"1/a", "1/b"},
		shown: []*leaks.RunRating{shown(leak, 4), shown(cache, 0)}, class: leak, sure: true, builds: "1",
		says: "Pooled over 2 runs of build 1: leak in 1, clean in 1. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "as fast as before", runs: ran(2), shown: []*leaks.RunRating{at(10, shown(leak, 4)), at(12, shown(leak, 4))},
		class: leak, sure: true, builds: "1 2"},
	{name: "twice as fast", runs: ran(3), shown: []*leaks.RunRating{at(20, shown(leak, 4)), at(10, shown(leak, 4)),
		at(20, shown(leak, 4))}, class: leak, sure: true},
	{name: "twice as fast, without an interval", runs: ran(2), shown: []*leaks.RunRating{
		unboundedAt(20, shown(leak, 4)), at(10, shown(leak, 4))}, class: leak, sure: true, builds: "1 2"},
	{name: "half as fast", runs: ran(2), shown: []*leaks.RunRating{at(20, shown(leak, 4)), at(10, shown(leak, 4))},
		class: leak, sure: true},
	{name: "twice as fast in a run of the same build", runs: []string{"1/a", "1/b"},
		shown: []*leaks.RunRating{at(10, shown(leak, 4)), at(20, shown(leak, 4))}, class: leak, sure: true, builds: "1"},
	{name: "eight", runs: ran(8), shown: same(8, shown(leak, 4)), class: leak, sure: true, builds: "1 2 3 4 5 6 7 8",
		says: "Pooled over 8 runs of 8 builds, 1 to 8: leak in each. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "nine", runs: ran(9), shown: same(9, shown(leak, 4)), class: leak, sure: true, builds: "2 3 4 5 6 7 8 9"},
	{name: "runs of an older build that fit", runs: []string{"1/a", "1/b", "2/a", "2/b", "2/c", "2/d", "2/e", "2/f",
		"2/g"}, shown: same(9, shown(leak, 4)), class: leak, sure: true, builds: "1 2",
		says: "Pooled over 8 runs of builds 1 and 2: leak in each. In tests on generated programs, 90 % of such sites were leaks."},
	{name: "all runs of a build", runs: []string{"1", "2/a", "2/b", "2/c", "2/d", "2/e", "2/f", "2/g", "2/h", "2/i"},
		shown: same(10, shown(leak, 4)), class: leak, sure: true, builds: "2",
		says: "Pooled over 9 runs of build 2: leak in each. In tests on generated programs, 90 % of such sites were leaks."},
}

func TestPool(t *testing.T) {
	for _, c := range poolCases {
		p := c.pool()
		last := len(p.Runs) - 1
		own := *p.RatingByRun[last]
		judged, pooled := p.Rate(last, p.RatingByRun[last])
		builds, says := "", []string{}
		if pooled != nil {
			builds = strings.Join(pooled.Builds, " ")
			for _, clause := range pooled.Clauses(own.Rating) {
				says = append(says, clause.Text)
			}
		}
		if judged.Class != c.class || judged.Certain != c.sure || builds != c.builds {
			t.Errorf("%s: %s, certain %t, by builds %q; want %s, %t, %q", c.name, judged.Class, judged.Certain, builds,
				c.class, c.sure, c.builds)
		}
		if got := strings.Join(says, "\n"); c.says != "" && got != c.says {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.says)
		}
		if pooled == nil && !reflect.DeepEqual(judged, own.Rating) {
			t.Errorf("%s: %+v without a reason, alone %+v", c.name, judged, own.Rating)
		}
	}
}

// A leak that is doubtful in its first build and shows another amount in the next began in the first; a build between
// them that shows as little as those before ends the doubt.
func TestDoubtLastsOverBuilds(t *testing.T) {
	stays := func(s *leaks.RunRating, stayed score.StayedBlocks) *leaks.RunRating { s.Stayed = stayed; return s }
	first := func(odds float64) *leaks.RunRating {
		return stays(shown(grows, odds), score.StayedBlocks{42, 233, 214, 64})
	}
	next := func() *leaks.RunRating { return stays(shown(grows, 0.9), score.StayedBlocks{5, 44, 30, 24}) }
	few := func() *leaks.RunRating { return stays(shown(cache, -5), score.StayedBlocks{2}) }
	before := []*leaks.RunRating{few(), nil, few(), few(), nil, few()}
	for name, test := range map[string]struct {
		since   []*leaks.RunRating
		builds  int // since the leak began
		certain bool
	}{
		"another amount":               {[]*leaks.RunRating{first(-1.7), next()}, 2, true},
		"a build that does not run it": {[]*leaks.RunRating{first(-1.7), nil, next()}, 2, true},
		"as little as before between":  {[]*leaks.RunRating{first(-1.7), few(), next()}, 1, false},
		"less than the doubt":          {[]*leaks.RunRating{first(-1.7), stays(shown(grows, 0.9), score.StayedBlocks{1, 1, 1, 1})}, 1, false},
		"no doubt about the first":     {[]*leaks.RunRating{first(-5), next()}, 1, false},
	} {
		c := poolCase{runs: ran(len(before) + len(test.since)), shown: slices.Concat(before, test.since)}
		p, last := c.pool(), len(before)+len(test.since)-1
		judged, pooled := p.Rate(last, p.RatingByRun[last])
		if pooled == nil || pooled.Onset == nil || pooled.Onset.Since != test.builds || judged.Certain != test.certain {
			t.Errorf("%s: %+v by %+v, want %d builds, certain %v", name, judged, pooled, test.builds, test.certain)
		}
	}
}

// Without a table of thresholds no run changes the judgement of another.
func TestPoolThatSaysNothing(t *testing.T) {
	p := (&poolCase{runs: ran(2), shown: same(2, shown(leak, 4))}).pool()
	p.Judge = func([]*score.Evidence) (score.PooledResult, bool) { return score.PooledResult{}, false }
	if judged, pooled := p.Rate(1, p.RatingByRun[1]); pooled != nil || judged.Class != leak {
		t.Errorf("%+v %+v", judged, pooled)
	}
}

// Runs together are certain of a leak only if they call it a leak, whatever table judges them.
func TestPoolIsCertainOfLeaksAlone(t *testing.T) {
	for _, says := range []score.PooledResult{{}, {Certain: true}, {Leaks: true}, {Leaks: true, Certain: true}} {
		p := (&poolCase{runs: ran(2), shown: same(2, shown(leak, 4))}).pool()
		p.Judge = func([]*score.Evidence) (score.PooledResult, bool) { return says, true }
		judged, pooled := p.Rate(1, p.RatingByRun[1])
		if want := says.Leaks && says.Certain; judged.Certain != want || pooled.Certain != want {
			t.Errorf("%+v: %+v %+v", says, judged, pooled.PooledResult)
		}
	}
}

// Around finds exactly the runs whose judgement a changed result may change.
func TestAroundFindsAllThatARunChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		var runs leaks.PoolRuns
		for build := range 1 + rng.IntN(12) {
			for range rng.IntN(4) {
				name := fmt.Sprint(build)
				runs = append(runs, leaks.PoolRun{RunID: int64(len(runs)), Build: name, Rank: placeOfBuild(name)})
			}
		}
		if len(runs) == 0 {
			continue
		}
		said := func() *leaks.RunRating {
			switch rng.IntN(6) {
			case 0:
				return nil
			case 1:
				return shown(cache, 2*rng.Float64()-1)
			case 2:
				return bare(stable)
			}
			return at(10, shown(leak, rng.Float64()*4))
		}
		before := leaks.Pool{Runs: runs, Judge: pooledFrom}
		for range runs {
			before.RatingByRun = append(before.RatingByRun, said())
		}
		// One run has another result, or is deleted.
		changed := rng.IntN(len(runs))
		after := before
		after.RatingByRun = slices.Clone(before.RatingByRun)
		after.RatingByRun[changed] = said()
		if rng.IntN(2) == 0 {
			after.Runs, after.RatingByRun = slices.Delete(slices.Clone(runs), changed, changed+1),
				slices.Delete(after.RatingByRun, changed, changed+1)
		}
		from, to := after.Runs.RangeToJudgeAnew(runs[changed].Rank)
		first, _ := after.Runs.RangeJudgedTogether(runs[changed].Rank)
		part := leaks.Pool{Runs: after.Runs[first:to], RatingByRun: after.RatingByRun[first:to], Judge: pooledFrom}
		for i, r := range after.Runs {
			if after.RatingByRun[i] == nil {
				continue
			}
			was := slices.IndexFunc(runs, func(old leaks.PoolRun) bool { return old.RunID == r.RunID })
			judged, pooled := after.Rate(i, after.RatingByRun[i])
			if i >= from && i < to { // what is read of them suffices
				partJudged, partPooled := part.Rate(i-first, after.RatingByRun[i])
				if !reflect.DeepEqual(judged, partJudged) || !reflect.DeepEqual(pooled, partPooled) {
					t.Fatalf("run %d of %v, read from %d to %d: %+v, want %+v", i, after.Runs, first, to, partPooled, pooled)
				}
				continue
			}
			old, oldPooled := before.Rate(was, before.RatingByRun[was])
			if !reflect.DeepEqual(judged, old) || !reflect.DeepEqual(pooled, oldPooled) {
				t.Fatalf("run %d changed with run %d of %v, and is not in %d to %d", r.RunID, changed, after.Runs, from, to)
			}
		}
	}
}
