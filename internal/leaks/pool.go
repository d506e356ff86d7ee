package leaks

import (
	"cmp"
	"math"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// changedRate is the least certainty that a leak became faster or slower from which on its older builds count as
// another leak.
const changedRate = 0.99

// A Rating is the class and score of a signature in a run, given by that run alone or by several runs together.
type Rating struct {
	Class   analysis.Class `json:"class"`
	Score   *float64       `json:"score"`   // probability of a leak; nil where nothing can be said
	Certain bool           `json:"certain"` // a leak that may fail a gate
}

// A RunRating is the rating that one run alone gives a signature, and what the rating rests on.
type RunRating struct {
	Rating
	Evidence *score.Evidence    // nil where it cannot be a leak, or was not judged
	Rate     *score.Rate        // nil where it does not grow
	Stayed   score.StayedBlocks // blocks that stayed, by part of the run
	Held     int64              // most blocks held at once
	Lost     int64              // blocks that lists of leaks at exit show as lost; 0 where none does
}

// leastOdds are the log odds up to which a finding that one run does not suspect counts in a pool as one that cannot be
// a leak. The difference is small, and nearly all findings of a run are of this kind.
const leastOdds = -6

// CountsInPools reports whether a run's evidence about a signature of this class is stored for pools. e may be nil.
// Evidence that no model judged has no log odds.
func CountsInPools(class analysis.Class, e *score.Evidence) bool {
	return e != nil && !math.IsInf(e.LogOdds, 0) && !math.IsNaN(e.LogOdds) && (class.IsSuspect() || e.LogOdds > leastOdds)
}

// isSuspect reports whether the signature leaks or grows in the run.
func (s *RunRating) isSuspect() bool { return s.Class.IsSuspect() }

// isPoolable reports whether the rating can be pooled with those of other runs. It cannot where one resized block is
// judged by its bytes, where blocks are judged by the pointers to them or by a list of leaks at exit, or where the
// counts did not suffice for a judgement.
func (s *RunRating) isPoolable() bool {
	return s.Class != analysis.ClassUnknown && s.Class != analysis.ClassGrowingBlock &&
		s.Class != analysis.ClassUnreferenced && s.Class != analysis.ClassLeftAtExit && (s.Evidence != nil || !s.isSuspect())
}

// LeastPoolLogOdds are the log odds from which several runs together may find a leak that one run alone does not
// suspect.
const LeastPoolLogOdds = -3

// leansToLeak reports whether several runs together may find a leak that this run alone does not suspect.
func (s *RunRating) leansToLeak() bool { return s.odds() >= LeastPoolLogOdds }

// isQuiet reports whether the run tells that the site did not leak: what may have leaked then is no measure of what
// the site does otherwise.
func (s *RunRating) isQuiet() bool {
	return s.isPoolable() && s.Class != analysis.ClassLeak && s.odds() < 0
}

// Representative returns which of two findings of one leak in one run stands for the run: a suspect one before others,
// then one that can be pooled, then the one with the higher odds of a leak.
func Representative(a, b *RunRating) *RunRating {
	if cmp.Or(compareBools(b.isSuspect(), a.isSuspect()), compareBools(b.isPoolable(), a.isPoolable()),
		cmp.Compare(b.odds(), a.odds()), cmp.Compare(b.Class.Gravity(), a.Class.Gravity())) > 0 {
		return b
	}
	return a
}

// odds are the log odds of a leak, less than all others where they are not known.
func (s *RunRating) odds() float64 {
	if s.Evidence == nil {
		return math.Inf(-1)
	}
	return s.Evidence.LogOdds
}

// A Pool has what the runs of a scenario, along a line of builds, say of one leak.
type Pool struct {
	Runs        PoolRuns
	RatingByRun []*RunRating // in the order of Runs; nil where the run does not show the leak
	// Absent names the builds in which no run shows the leak although its callers ran.
	Absent map[string]bool
	// FixedRank is the rank of the build that has the fix, as the team says; nil for none.
	FixedRank BuildRank
	// Judge judges runs together: score.JudgeTogether.
	Judge func(runs []*score.Evidence) (score.PooledResult, bool)
}

// A PooledRating is the judgement on several runs of a scenario together, and what it rests on.
type PooledRating struct {
	score.PooledResult          // zero where one run stands for itself
	Builds             []string `json:"builds"` // names of the builds over which about the same stayed, oldest first
	// Leaking, Growing and Clean count the runs by their own ratings.
	Leaking int `json:"leaking,omitempty"`
	Growing int `json:"growing,omitempty"`
	Clean   int `json:"clean,omitempty"`
	// Onset compares those builds with the ones before; nil where there are none.
	Onset *score.Onset `json:"onset,omitempty"`
	// Work compares runs of this build with different work, for leaks at exit; nil of others, and where it tells nothing.
	Work *WorkComparison `json:"work,omitempty"`
	// After is the build directly before the first of Builds, where there is an Onset.
	After string `json:"after,omitempty"`
}

// Rate judges the leak in the run at an index of Runs together with the other runs of its line. own is the finding to
// judge; each finding of a run is judged by itself. Where other runs add nothing, the result is own's rating and nil.
//
// Runs over which about the same stayed are judged together by the mean of their odds. Those before, in which less
// stayed, tell whether the leak began: a site that began to keep much more is a leak by less evidence than one of which
// nothing is known, and a site that keeps what it always kept is none by more.
func (p *Pool) Rate(at int, own *RunRating) (Rating, *PooledRating) {
	if c := p.compareWork(at, own); c != nil {
		return c.rating(own), &PooledRating{Builds: []string{}, Work: c,
			PooledResult: score.PooledResult{Leaks: c.Grows, Certain: c.Grows && own.Certain}}
	}
	if !own.isPoolable() || !own.isSuspect() && !own.leansToLeak() {
		return own.Rating, nil
	}
	pooled := &PooledRating{Builds: []string{}}
	rating, together := own.Rating, false
	e := p.episode(at, own)
	if len(e.pool) > 1 {
		if pooled.PooledResult, together = p.Judge(p.evidence(e.pool, at, own)); together {
			pooled.Certain = pooled.Certain && pooled.Leaks
			rating = pooled.rating(own)
		}
	}
	for _, i := range e.pool {
		pooled.count(p.shown(i, at, own), p.Runs[i].Build)
	}
	if p.Runs[at].PartLengths.Sum() > 0 {
		pooled.Onset = score.OnsetOf(p.watched(e.since, at, own), p.watched(e.before, at, own), p.Runs[at].HoldingSites)
	}
	if o := pooled.Onset; o != nil {
		pooled.After = p.Runs[e.before[len(e.before)-1]].Build
		rating = began(rating, o)
	}
	switch {
	case !together && pooled.Onset == nil,
		!own.isSuspect() && rating.Class != analysis.ClassLeak && (pooled.Onset == nil || !pooled.Onset.Doubtful):
		return own.Rating, nil
	case !together:
		pooled.PooledResult, pooled.Leaking, pooled.Growing, pooled.Clean = score.PooledResult{}, 0, 0, 0
	}
	return rating, pooled
}

// rating is the judgement of the runs together on what one of them shows.
func (p *PooledRating) rating(own *RunRating) Rating {
	switch {
	case p.Leaks && (own.isSuspect() || own.odds() >= 0):
		return Rating{analysis.ClassLeak, &p.Score, p.Certain}
	case own.isSuspect():
		return Rating{analysis.ClassGrowing, &p.Score, false}
	}
	return own.Rating
}

// began completes a rating by what the runs before say: what began to leak is a certain leak, and what stays as it was
// is no certain one, whatever it looks like.
func began(r Rating, o *score.Onset) Rating {
	switch {
	case o.Certain:
		return Rating{analysis.ClassLeak, new(max(o.Probability, scoreOf(r.Score))), true}
	case r.Certain && !o.Rises && o.Before >= levelBuilds:
		return Rating{analysis.ClassGrowing, r.Score, false}
	case r.Certain && !o.Rises:
		r.Certain = false
	}
	return r
}

// levelBuilds is how many runs before must have kept as much, and not leaked, for growth to be what the site always
// does.
const levelBuilds = 3

func scoreOf(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// An episode is the runs, by index, over which about the same stayed up to one run, and those before them.
type episode struct {
	since  []int // oldest first
	pool   []int // of since, those that are judged together
	before []int // those that did not leak
}

// episode goes back from the run at an index. Builds that do not show the leak say nothing unless its callers ran.
func (p *Pool) episode(at int, own *RunRating) (e episode) {
	rank := p.Runs[at].Rank
	first, to := p.Runs.RangeJudgedTogether(rank)
	begin, _ := p.Runs.build(rank)
	here := p.watch(at, at, own)
	pooling, oldest := true, begin // where the oldest runs begin that show as much
	for i := to - 1; i >= begin; i-- {
		if s := p.shown(i, at, own); s != nil && s.isPoolable() {
			e.since, e.pool = append(e.since, i), append(e.pool, i)
		}
	}
	for begin > first {
		older := p.Runs.older(first, begin)
		runs := p.RatingByRun[older:begin]
		fixed, told := p.wasFixed(p.Runs[older].Rank, rank), isTold(runs)
		alike := !told || p.isAlike(older, begin, &here)
		if fixed || !told && p.Absent[p.Runs[older].Build] {
			break
		}
		if !alike && !p.mayHaveBegun(first, older, begin, p.watched(e.since, at, own)) {
			break
		}
		pooling = pooling && alike && !isAnotherRate(own.Rate, runs)
		if told {
			oldest = older
		}
		for i := begin - 1; i >= older; i-- {
			if s := p.RatingByRun[i]; s != nil && s.isPoolable() {
				e.since = append(e.since, i)
				if pooling && len(e.pool) < MaxPooledRuns {
					e.pool = append(e.pool, i)
				}
			}
		}
		begin = older
	}
	slices.Reverse(e.since)
	slices.Reverse(e.pool)
	e.before = p.quiet(first, oldest)
	return e
}

// wasFixed reports whether the leak was fixed in a build between an older one and the one at rank, or in that.
func (p *Pool) wasFixed(older, rank BuildRank) bool {
	return p.FixedRank != nil && CompareRanks(older, p.FixedRank) < 0 && CompareRanks(rank, p.FixedRank) >= 0
}

// mayHaveBegun reports whether the leak may have begun in a run of a build, by the runs before it alone, and all runs
// since rise over those as well: doubt about a build lasts until a later one shows as little as the builds before.
func (p *Pool) mayHaveBegun(first, from, to int, since []score.RunRetention) bool {
	before := p.watched(p.quiet(first, from), -1, nil)
	for _, w := range since {
		if o := score.OnsetOf([]score.RunRetention{w}, before, 0); o == nil || !o.Rises {
			return false
		}
	}
	for i := from; i < to; i++ {
		if p.RatingByRun[i] == nil || p.Runs[i].PartLengths.Sum() <= 0 {
			continue
		}
		if o := score.OnsetOf(p.watched([]int{i}, -1, nil), before, p.Runs[i].HoldingSites); o != nil && o.Doubtful {
			return true
		}
	}
	return false
}

// quiet are the runs in a range that did not leak, and tell so; oldest first.
func (p *Pool) quiet(from, to int) (list []int) {
	for i := from; i < to; i++ {
		if s := p.RatingByRun[i]; p.Runs[i].PartLengths.Sum() > 0 && (s == nil || s.isQuiet()) {
			list = append(list, i)
		}
	}
	return list
}

// isAlike reports whether a run of a build shows about as much as the one that is judged.
func (p *Pool) isAlike(from, to int, here *score.RunRetention) bool {
	for i := from; i < to; i++ {
		if p.RatingByRun[i] == nil {
			continue
		}
		if there := p.watch(i, -1, nil); there.IsAlike(here) {
			return true
		}
	}
	return false
}

// shown is what the run at an index shows; own where it is the one that is judged.
func (p *Pool) shown(i, at int, own *RunRating) *RunRating {
	if i == at {
		return own
	}
	return p.RatingByRun[i]
}

// watch is what the run at an index shows as score takes it.
func (p *Pool) watch(i, at int, own *RunRating) score.RunRetention {
	w := score.RunRetention{LogOdds: math.NaN(), PartLengths: p.Runs[i].PartLengths}
	if s := p.shown(i, at, own); s != nil {
		w.Stayed, w.Held = s.Stayed, s.Held
		if s.Evidence != nil {
			w.LogOdds = s.Evidence.LogOdds
		}
	}
	return w
}

func (p *Pool) watched(runs []int, at int, own *RunRating) []score.RunRetention {
	list := make([]score.RunRetention, len(runs))
	for k, i := range runs {
		list[k] = p.watch(i, at, own)
	}
	return list
}

func (p *Pool) evidence(runs []int, at int, own *RunRating) []*score.Evidence {
	list := make([]*score.Evidence, len(runs))
	for k, i := range runs {
		list[k] = p.shown(i, at, own).Evidence
	}
	return list
}

func (p *PooledRating) count(s *RunRating, build string) {
	if n := len(p.Builds); n == 0 || p.Builds[n-1] != build {
		p.Builds = append(p.Builds, build)
	}
	switch {
	case s.Class == analysis.ClassLeak:
		p.Leaking++
	case s.isSuspect():
		p.Growing++
	default:
		p.Clean++
	}
}

// isTold reports whether a run of a build tells whether the leak was in that build.
func isTold(runs []*RunRating) bool {
	for _, s := range runs {
		if s != nil && s.Class != analysis.ClassUnknown {
			return true
		}
	}
	return false
}

// isAnotherRate reports whether a run of a build surely grew faster or slower than a rate.
func isAnotherRate(rate *score.Rate, runs []*RunRating) bool {
	for _, s := range runs {
		if rate == nil || s == nil || s.Rate == nil || s.Rate.Unit != rate.Unit || rate.Unbounded || s.Rate.Unbounded {
			continue
		}
		a, b := exposureOf(rate), exposureOf(s.Rate)
		if max(score.ProbabilityOfFaster(a, b), score.ProbabilityOfFaster(b, a)) >= changedRate {
			return true
		}
	}
	return false
}

// exposureOf converts a rate to the form that comparisons of builds use.
func exposureOf(r *score.Rate) score.Exposure {
	return score.Exposure{Count: r.Count * r.Over, Over: r.Over, Dispersion: r.Dispersion}
}
