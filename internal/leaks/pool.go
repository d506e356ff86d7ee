package leaks

import (
	"cmp"
	"math"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// changedRate is the least certainty that a leak became faster or slower from which on its older builds count as
// another leak.
const changedRate = 0.99

// A Rating is the class and score of a signature in a run, given by that run alone or by several runs together.
type Rating struct {
	Class   analysis.Class `json:"class"`
	Score   *float64       `json:"score"`
	Certain bool           `json:"certain"`
}

// IsUnconfirmedBy reports whether one run alone shows a certain leak that the runs together do not confirm as a certain
// leak. A nil Rating means that the run is judged alone.
func (j *Rating) IsUnconfirmedBy(f *Figure) bool {
	return j != nil && j.Class == analysis.ClassLeak && j.Certain && (f.Class != analysis.ClassLeak || !f.Certain)
}

// A RunRating is the rating that one run alone gives a signature, and what the rating rests on.
type RunRating struct {
	Rating
	Evidence *score.Evidence // nil of what cannot be a leak, or was not judged
	Rate     *score.Rate     // nil where it does not grow
}

// leastOdds are the log odds up to which a finding that one run does not suspect counts in a pool as one that cannot be
// a leak. The difference is small, and nearly all findings of a run are of this kind.
const leastOdds = -6

// CountsInPools reports whether the evidence of a run's judgement, nil for none, is worth keeping for pools. Evidence
// that no model judged has no log odds.
func CountsInPools(class analysis.Class, e *score.Evidence) bool {
	return e != nil && !math.IsInf(e.LogOdds, 0) && !math.IsNaN(e.LogOdds) && (class.IsSuspect() || e.LogOdds > leastOdds)
}

// isSuspect reports whether the signature leaks or grows in the run.
func (s *RunRating) isSuspect() bool { return s.Class.IsSuspect() }

// tells reports whether the rating can be pooled with those of other runs. It cannot where one resized block is judged
// by its bytes, where blocks are judged by the pointers to them, or where the counts did not suffice for a judgement.
func (s *RunRating) tells() bool {
	return s.Class != analysis.ClassUnknown && s.Class != analysis.ClassGrowingBlock &&
		s.Class != analysis.ClassUnreferenced && (s.Evidence != nil || !s.isSuspect())
}

// leansToLeak reports whether several runs together may find a leak that this run alone does not suspect: the model
// gives a leak at least even odds.
func (s *RunRating) leansToLeak() bool { return s.odds() >= 0 }

// Speaker returns which of two findings of one leak in one run stands for the run: a suspect one before others, then
// one that can be pooled, then the one with the higher odds of a leak.
func Speaker(a, b *RunRating) *RunRating {
	if cmp.Or(compareBools(b.isSuspect(), a.isSuspect()), compareBools(b.tells(), a.tells()),
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

// A Pool is what the runs of a scenario say of one leak.
type Pool struct {
	Runs  PoolRuns
	Shown []*RunRating // by run; nil where it does not show the leak
	// Absent are the builds in which no run shows the leak although its callers ran.
	Absent map[string]bool
	// Fixed is the build that has the fix, by the team's word; nil for none.
	Fixed Place
	// Judge judges runs together: score.Pool.
	Judge func(runs []*score.Evidence) (score.PooledResult, bool)
}

// A PooledRating is the judgement on several runs of a scenario together, and what it rests on.
type PooledRating struct {
	score.PooledResult          // zero where one run stands for itself
	Builds             []string `json:"builds"` // that the leak did not change over, oldest first
	// Leaking, Growing and Clean count the runs by their own ratings.
	Leaking int `json:"leaking,omitempty"`
	Growing int `json:"growing,omitempty"`
	Clean   int `json:"clean,omitempty"`
	// Before is how many builds directly before those show the signature and neither leak nor grow; Levelled says that
	// its memory reached a level in each of them.
	Before   int  `json:"before,omitempty"`
	Levelled bool `json:"levelled,omitempty"`
}

// Of judges the leak in the run at an index together with the runs that its build may be pooled with. own is the
// finding to judge; each finding of a run is judged by itself. Where other runs add nothing, the result is own's rating
// and nil.
func (p *Pool) Of(at int, own *RunRating) (Rating, *PooledRating) {
	if !own.tells() || !own.isSuspect() && !own.leansToLeak() {
		return own.Rating, nil
	}
	pooled := &PooledRating{Builds: []string{}}
	var ok bool
	if list := p.gather(at, own, pooled); len(list) > 1 {
		pooled.PooledResult, ok = p.Judge(list)
		pooled.Certain = pooled.Certain && pooled.Leaks
	}
	switch {
	case ok && pooled.Leaks:
		return Rating{analysis.ClassLeak, &pooled.Score, pooled.Certain}, pooled
	case !own.isSuspect() || !ok && pooled.Before == 0:
		return own.Rating, nil
	case ok:
		return Rating{analysis.ClassGrowing, &pooled.Score, false}, pooled
	default: // only what was before is worth a word
		pooled.PooledResult, pooled.Leaking, pooled.Growing, pooled.Clean = score.PooledResult{}, 0, 0, 0
		return own.Rating, pooled
	}
}

// gather returns the evidence of the pool's runs, the oldest first: the runs of the run's own build, and of older
// builds for as long as the leak did not change. It counts them in pooled.
func (p *Pool) gather(at int, own *RunRating, pooled *PooledRating) []*score.Evidence {
	place := p.Runs[at].Place
	first, to := p.Runs.Window(place)
	from, _ := p.Runs.build(place)
	shown := func(i int) *RunRating {
		if i == at {
			return own
		}
		return p.Shown[i]
	}
	suspect, begin := isSuspect(p.Shown[from:to]), from
	absent := false // in a build that was passed over
	for begin > first {
		older := p.Runs.older(first, begin)
		here := p.Shown[older:begin]
		if !isTold(here) {
			absent = absent || p.Absent[p.Runs[older].Build]
			begin = older
			continue
		}
		if isSuspect(here) != suspect {
			if suspect {
				pooled.Before, pooled.Levelled = p.cleanBefore(first, begin)
			}
			break
		}
		fixed := p.Fixed != nil && ComparePlaces(p.Runs[older].Place, p.Fixed) < 0 && ComparePlaces(place, p.Fixed) >= 0
		// Absences say something of what was bad before them alone: of others it depends on the order of uploads whether they
		// are known.
		if fixed || absent && suspect || isAnotherRate(own.Rate, here) {
			break
		}
		begin = older
	}
	var list []*score.Evidence
	for i := begin; i < to; i++ {
		s := shown(i)
		if s == nil || !s.tells() {
			continue
		}
		list = append(list, s.Evidence)
		pooled.count(s, p.Runs[i].Build)
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

// cleanBefore counts the builds before a given one, back to the first of the window, that show the signature and
// neither leak nor grow.
func (p *Pool) cleanBefore(first, before int) (builds int, levelled bool) {
	levelled = true
	for before > first {
		older := p.Runs.older(first, before)
		here := p.Shown[older:before]
		before = older
		if !isTold(here) {
			continue
		}
		if isSuspect(here) {
			break
		}
		builds++
		for _, s := range here {
			levelled = levelled && (s == nil || s.Class == analysis.ClassCache)
		}
	}
	return builds, levelled && builds > 0
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

// isSuspect reports whether the signature leaks or grows in a run of a build.
func isSuspect(runs []*RunRating) bool {
	for _, s := range runs {
		if s != nil && s.isSuspect() {
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
		if max(score.Worse(a, b), score.Worse(b, a)) >= changedRate {
			return true
		}
	}
	return false
}

// exposureOf converts a rate to the form that comparisons of builds use.
func exposureOf(r *score.Rate) score.Exposure {
	return score.Exposure{Count: r.Count * r.Over, Over: r.Over, Dispersion: r.Dispersion}
}
