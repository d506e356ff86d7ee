package leaks

import (
	"cmp"
	"math"
	"slices"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// A RunSighting is what one run shows of a leak.
type RunSighting struct {
	BuildID    int64 // id
	ScenarioID int64 // id
	// Absent says that the run does not show the leak although its callers ran. Of the fields below, only Watched is
	// set then.
	Absent bool
	Class  analysis.Class
	// Tools are the tools whose lists of leaks at exit have it, also as blocks that the program still had pointers to.
	Tools []string
	// Certain says that it is a leak that may fail a gate.
	Certain bool
	// Doubtful says that, compared with the runs before, the site may have begun to leak.
	Doubtful bool
	// Began says that the site certainly began to leak in the run, or in a run since those it is compared with.
	Began bool
	// Suffices says that the evidence of the run lost nothing and is enough to judge growth.
	Suffices bool
	Rate     *score.Rate        // nil where it does not grow
	Watched  score.RunRetention // of the run alone; LogOdds is NaN where nothing could be a leak
}

// With adds another part of the leak in the same run.
func (s RunSighting) With(part RunSighting) RunSighting {
	if part.Class.Gravity() > s.Class.Gravity() {
		s.Class = part.Class
	}
	if s.Rate == nil || part.Rate != nil && part.Rate.Count > s.Rate.Count {
		s.Rate = part.Rate
	}
	if !(part.Watched.LogOdds <= s.Watched.LogOdds) && !math.IsNaN(part.Watched.LogOdds) {
		s.Watched.LogOdds = part.Watched.LogOdds
	}
	s.Tools = slices.Concat(s.Tools, part.Tools)
	s.Certain, s.Doubtful, s.Began = s.Certain || part.Certain, s.Doubtful || part.Doubtful, s.Began || part.Began
	s.Watched.Stayed = s.Watched.Stayed.Plus(part.Watched.Stayed)
	return s
}

// cleanShare is the part of the slowest leak that a clean run must exclude: what leaks a third as fast is not fixed.
const cleanShare = 0.25

// cleanOdds are the log odds up to which a run is clean of a leak whose rate is not known in its unit.
const cleanOdds = -2

// A SlowestRate is the lowest rate of a leak, in one scenario and unit. A clean run must exclude it.
type SlowestRate struct {
	BlocksPerUnit float64 // blocks for each unit
	BytesPerBlock float64 // for each block
	Dispersion    float64 // variance of the blocks over their mean, 1 for independent blocks
}

// rateKey is what a Pace holds for.
type rateKey struct {
	scenario int64
	unit     string
}

// SlowestRates are the lowest rates of one leak, by scenario and unit.
type SlowestRates map[rateKey]SlowestRate

// SlowestRatesOf are the lowest rates of a leak by the runs in which it leaked; if it never did, by those in which it
// grew.
func SlowestRatesOf(list []RunSighting) SlowestRates {
	class := analysis.ClassGrowing
	if slices.ContainsFunc(list, func(s RunSighting) bool { return s.Class == analysis.ClassLeak && !s.Absent }) {
		class = analysis.ClassLeak
	}
	paces := SlowestRates{}
	for i := range list {
		s := &list[i]
		if s.Class != class || s.Absent {
			continue
		}
		key, here, ok := s.pace()
		if !ok {
			continue
		}
		if pace, known := paces[key]; known {
			if pace.BlocksPerUnit <= here.BlocksPerUnit {
				here.BlocksPerUnit, here.BytesPerBlock = pace.BlocksPerUnit, pace.BytesPerBlock
			}
			here.Dispersion = max(pace.Dispersion, here.Dispersion)
		}
		paces[key] = here
	}
	return paces
}

// pace is how slowly the leak may have leaked in a run that shows it: what stayed in the stretch with the fewest,
// because the rest may be in flight or fill a cache, or all of the growth where nothing stayed in one.
func (s *RunSighting) pace() (key rateKey, p SlowestRate, ok bool) {
	key, p.Dispersion = rateKey{s.ScenarioID, s.Watched.Unit}, 1
	if s.Watched.Sum() > 0 {
		if p.BlocksPerUnit = s.Watched.SteadyPerUnit(); p.BlocksPerUnit == 0 {
			p.BlocksPerUnit = float64(s.Watched.Stayed.Total()) / s.Watched.Sum()
		}
	}
	if r := s.Rate; r != nil && !r.Unbounded && r.Count > 0 {
		if p.BlocksPerUnit == 0 || r.Unit == key.unit {
			if p.BlocksPerUnit == 0 || r.Count < p.BlocksPerUnit {
				p.BlocksPerUnit = r.Count
			}
			key.unit = r.Unit
		}
		p.BytesPerBlock, p.Dispersion = r.Bytes/r.Count, max(1, r.Dispersion)
	}
	return key, p, p.BlocksPerUnit > 0
}

// mostGathered is how many runs on end are clean together at most: older builds may be rather different programs.
const mostGathered = 4

// A CleanBound is what a clean run excludes, alone or with those directly before it: with 90 % probability the leak
// grows by less.
type CleanBound struct {
	Unit          string  `json:"unit"`
	BlocksPerUnit float64 `json:"count"` // blocks for each unit
	BytesPerUnit  float64 `json:"bytes"`
}

// A judgedRun is what a run tells of a leak with known paces.
type judgedRun struct {
	Judgement
	absent bool        // nothing shows the leak although its callers ran for long enough
	bound  *CleanBound // nil where the run is not clean, or its length or the pace of the leak is not known
	little bool        // alone it excludes the leak as slow as it ever was: such runs add up
}

// judge says what a run tells of a leak. before are runs directly before it that show as little of the leak, in the
// same scenario and unit.
func (s *RunSighting) judge(paces SlowestRates, before []score.RunRetention) judgedRun {
	if !s.Absent && (s.Class == analysis.ClassLeak || s.Class == analysis.ClassLeftAtExit && s.Certain) {
		return judgedRun{Judgement: JudgedLeaking}
	}
	var j judgedRun
	pace, known := paces[s.key()]
	excludes := !known || s.Watched.Sum() <= 0
	if !excludes {
		b := s.Watched.Bound(pace.Dispersion).Count
		if j.little = b <= pace.BlocksPerUnit; j.little && len(before) > 0 {
			together := s.Watched
			for i := range before {
				together = together.Plus(&before[i])
			}
			b = min(b, together.Bound(pace.Dispersion).Count)
		}
		excludes = b <= cleanShare*pace.BlocksPerUnit
		j.bound = &CleanBound{s.Watched.Unit, b, b * pace.BytesPerBlock}
	}
	odds, suspect := s.Watched.LogOdds, s.Class.IsSuspect()
	switch {
	case s.Absent:
		j.absent = excludes
	case odds > 0, s.Doubtful, !s.Suffices, s.Class == analysis.ClassUnknown:
		j.little = false
	case excludes && (j.bound != nil || !suspect && !(odds > cleanOdds)):
		j.Judgement = JudgedClean
	}
	if j.Judgement != JudgedClean && !j.absent {
		j.bound = nil
	}
	if j.Judgement != JudgedClean && !s.Absent && suspect {
		j.Judgement = JudgedGrowing
	}
	return j
}

func (s *RunSighting) key() rateKey { return rateKey{s.ScenarioID, s.Watched.Unit} }

// isUnclear reports whether the run tells neither that the site leaks nor that it does not.
func (s *RunSighting) isUnclear() bool {
	return !s.Absent && (s.Class == analysis.ClassUnknown || !s.Suffices && !s.Class.IsSuspect())
}

// judgeInOrder judges the runs of a line, given oldest first.
func judgeInOrder(runs []*RunSighting, paces SlowestRates) []judgedRun {
	list, little := make([]judgedRun, len(runs)), map[rateKey][]score.RunRetention{}
	for i, r := range runs {
		key := r.key()
		list[i] = r.judge(paces, little[key])
		switch {
		case r.isUnclear():
		case list[i].little:
			little[key] = append(little[key], r.Watched)
			little[key] = little[key][max(0, len(little[key])-(mostGathered-1)):]
		default:
			for k := range little {
				if k.scenario == r.ScenarioID {
					delete(little, k)
				}
			}
		}
	}
	return list
}

// fastShare is the part of the slowest leak from which growth that was not decided counts as the leak in hindsight.
const fastShare = 0.5

// isAsFast reports whether about as much stays as the leak leaves, as far as its pace is known in the unit of the run.
func (s *RunSighting) isAsFast(paces SlowestRates) bool {
	pace, known := paces[s.key()]
	return !known || s.Class == analysis.ClassLeak || s.Class == analysis.ClassLeftAtExit ||
		float64(s.Watched.Stayed.Total()) >= fastShare*pace.BlocksPerUnit*s.Watched.Sum()
}

// SightingsOn is what each build of a line says of a leak in each scenario, ordered by build. runs name builds by their
// ids. Of several runs of a build the gravest counts, and one that shows the leak before one that does not.
func SightingsOn(line *BuildLine, runs []RunSighting, paces SlowestRates) []Sighting {
	type key struct {
		build    int
		scenario int64
	}
	at := map[key]int{}
	// Nothing bounds how fast a block that is resized may grow, and in one run it may not have been: such a leak is clean
	// nowhere, and gone where no run shows it although its callers ran.
	resized := slices.ContainsFunc(runs, func(r RunSighting) bool { return r.Class == analysis.ClassGrowingBlock })
	order := make([]*RunSighting, 0, len(runs))
	atExit := OnlyAtExit(runs)
	for i := range runs {
		if line.IndexOf(runs[i].BuildID) >= 0 && (!atExit || !runs[i].isSilentAtExit()) {
			order = append(order, &runs[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *RunSighting) int { return line.IndexOf(a.BuildID) - line.IndexOf(b.BuildID) })
	var list []Sighting
	for i, judged := range judgeInOrder(order, paces) {
		r := order[i]
		s := Sighting{BuildIndex: line.IndexOf(r.BuildID), ScenarioID: r.ScenarioID, Certain: r.Certain, Began: r.Began,
			Judgement: judged.Judgement, Absent: judged.absent, Bound: judged.bound}
		if resized && s.Judgement == JudgedClean {
			s.Judgement = JudgedUndecided
		}
		s.AsFastAsLeak = s.Judgement.IsBad() && r.isAsFast(paces)
		if r.Absent && !s.Absent {
			continue // the run is too short to tell
		}
		k, there := at[key{s.BuildIndex, s.ScenarioID}]
		switch {
		case !there:
			at[key{s.BuildIndex, s.ScenarioID}] = len(list)
			list = append(list, s)
		case list[k].Absent && !s.Absent, list[k].Absent == s.Absent && s.Judgement > list[k].Judgement:
			s.Certain, s.Began = s.Certain || list[k].Certain, s.Began || list[k].Began
			list[k] = s
		default:
			list[k].Certain, list[k].Began = list[k].Certain || s.Certain, list[k].Began || s.Began
		}
	}
	sorting.Stable(list, func(a, b Sighting) int {
		return cmp.Or(a.BuildIndex-b.BuildIndex, cmp.Compare(a.ScenarioID, b.ScenarioID))
	})
	return list
}
