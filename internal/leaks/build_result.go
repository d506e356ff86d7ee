package leaks

import (
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A ComparedRun is one run of a build's result.
type ComparedRun struct {
	ID     int64
	Status analysis.VerdictStatus
	Trace  bool // of a trace
	Lossy  bool // its evidence has losses
	// Suffices says that the evidence lost nothing and is enough for growth to be judged.
	Suffices bool
	Power    *analysis.Power // nil where its evidence could not have shown any leak
}

// AddRun adds the facts of a run to a build's result. Of several runs with one unit, the power of the run that would
// have shown the smallest leak counts.
func AddRun(side *compare.BuildResult, r ComparedRun) {
	side.RunIDs, side.Statuses = append(side.RunIDs, r.ID), append(side.Statuses, r.Status)
	side.Trace, side.Lossy, side.Suffices = side.Trace || r.Trace, side.Lossy || r.Lossy, side.Suffices || r.Suffices
	if r.Power != nil && (side.Power == nil || r.Power.Unit == side.Power.Unit && r.Power.Bytes < side.Power.Bytes) {
		side.Power = r.Power
	}
}

// A ComparedFinding is a finding of a run, with the leak that it is part of.
type ComparedFinding struct {
	RunID  int64 // id
	LeakID int64 // id of the leak's signature
	compare.Finding
}

// MergeFindings merges findings into one for each leak: its parts in one run are added, and of several runs the largest
// counts. Findings of one run must be adjacent.
func MergeFindings(list []ComparedFinding) []compare.Finding {
	var merged []compare.Finding
	at := map[int64]int{} // place in merged, by leak
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(f ComparedFinding) bool { return f.RunID != list[0].RunID })
		if n < 0 {
			n = len(list)
		}
		for _, f := range sumsOfRun(list[:n]) {
			if k, ok := at[f.LeakID]; ok {
				merged[k] = larger(merged[k], f.Finding)
				continue
			}
			at[f.LeakID] = len(merged)
			merged = append(merged, f.Finding)
		}
		list = list[n:]
	}
	return merged
}

// sumsOfRun adds the parts of each leak in one run up.
func sumsOfRun(list []ComparedFinding) []ComparedFinding {
	sums := make([]ComparedFinding, 0, len(list))
	at := make(map[int64]int, len(list))
	for _, f := range list {
		if k, ok := at[f.LeakID]; ok {
			sums[k].Finding = joined(sums[k].Finding, f.Finding)
			continue
		}
		at[f.LeakID] = len(sums)
		sums = append(sums, f)
	}
	return sums
}

// judged gives a finding the graver of two judgements.
func judged(into, a, b *compare.Finding) {
	into.AtExit = atExitAlone(a, b) && atExitAlone(b, a)
	into.Class, into.Score, into.Certain, into.Onset = a.Class, a.Score, a.Certain || b.Certain, a.Onset
	into.Immaterial, into.Risk = a.Immaterial && b.Immaterial, a.Risk.Or(b.Risk)
	if b.Onset != nil && (a.Onset == nil || b.Onset.Probability > a.Onset.Probability) {
		into.Onset = b.Onset
	}
	if b.Class.Gravity() > a.Class.Gravity() {
		into.Class = b.Class
	}
	into.Listed = slices.Concat(a.Listed, b.Listed)
	if analysis.CompareScores(b.Score, a.Score) > 0 {
		into.Score = b.Score
	}
}

// atExitAlone reports whether a finding is one of lists of leaks at exit, or no leak beside another that is.
func atExitAlone(f, other *compare.Finding) bool {
	return f.AtExit || !f.Class.IsSuspect() && other.AtExit
}

// joined are two parts of one leak in one run.
func joined(a, b compare.Finding) compare.Finding {
	f := a
	judged(&f, &a, &b)
	f.Outstanding = a.Outstanding.Plus(b.Outstanding)
	f.Growth, f.Risk = grown(a.Growth, b.Growth), a.Risk.And(b.Risk)
	if a.Allocated >= 0 && b.Allocated >= 0 {
		f.Allocated += b.Allocated
	} else {
		f.Allocated = max(a.Allocated, b.Allocated)
	}
	switch a.RateUnit {
	case "":
		takeRate(&f, &b)
	case b.RateUnit:
		f.RateBytes, f.RateCount, f.Dispersion = a.RateBytes+b.RateBytes, a.RateCount+b.RateCount,
			max(a.Dispersion, b.Dispersion)
		f.Unbounded = a.Unbounded || b.Unbounded
	}
	return f
}

// larger are the larger figures of one leak in two runs.
func larger(a, b compare.Finding) compare.Finding {
	f := a
	judged(&f, &a, &b)
	if b.Outstanding.Bytes > a.Outstanding.Bytes {
		f.Outstanding = b.Outstanding
	}
	f.Allocated = max(a.Allocated, b.Allocated)
	// Growth is that of the run with the rate: growth of one in the time of another never was.
	isFaster := a.RateUnit == "" && b.RateUnit != "" || a.RateUnit == b.RateUnit && b.RateBytes > a.RateBytes
	if isFaster {
		takeRate(&f, &b)
	}
	if b.Growth != nil && (isFaster || a.Growth == nil || a.RateUnit == "" && b.Growth.Bytes > a.Growth.Bytes) {
		f.Growth = b.Growth
	}
	return f
}

func takeRate(into, from *compare.Finding) {
	into.RateUnit, into.RateBytes, into.RateCount, into.Unbounded = from.RateUnit, from.RateBytes, from.RateCount,
		from.Unbounded
	into.Exposure, into.Dispersion, into.Length = from.Exposure, from.Dispersion, from.Length
}
