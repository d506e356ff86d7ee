package score

import "heapdrift/ingest/capture/allocations"

// Parts is how many stretches of a run Stayed divides it into.
const Parts = 4

// Stayed counts, by stretch of a run, the blocks that came in it and were there at the end. A steady leak leaves blocks
// in every stretch; whatever else came and stayed only adds to them. So the stretch with the fewest bounds a leak.
type Stayed [Parts]int64

// IsZero reports whether nothing came and stayed.
func (k Stayed) IsZero() bool { return k == Stayed{} }

// Total is how many blocks stayed in all.
func (k Stayed) Total() (n int64) {
	for _, s := range k {
		n += s
	}
	return n
}

// Plus adds the blocks of another part of the same leak in the same run.
func (k Stayed) Plus(o Stayed) Stayed {
	for i := range k {
		k[i] += o[i]
	}
	return k
}

// Stretches are the lengths of the stretches of a run, in the unit of its axis.
type Stretches struct {
	Unit string         `json:"unit"` // "hour", "snapshot", or the name of the work counter
	Over [Parts]float64 `json:"over"`
}

// Sum is the length of the run.
func (s *Stretches) Sum() (sum float64) {
	for _, o := range s.Over {
		sum += o
	}
	return sum
}

// StretchesOf divides an axis. A stretch may be empty where there are fewer intervals than Parts.
func StretchesOf(a *Axis) Stretches {
	s := Stretches{Unit: a.Unit}
	for i := 1; i < len(a.At); i++ {
		s.Over[stretchOf(a.At, i)] += a.At[i] - a.At[i-1]
	}
	return s
}

// stretchOf is the stretch of the interval that ends with the snapshot i: that of its middle.
func stretchOf(at []float64, i int) int {
	span := at[len(at)-1] - at[0]
	if !(span > 0) {
		return 0
	}
	middle := (at[i]/2 + at[i-1]/2 - at[0]) / span
	return min(Parts-1, max(0, int(middle*Parts)))
}

// StayedBySeries counts the blocks of a series that came and stayed. Where blocks are not followed the rises of their
// number stand for them: at least as many came.
func StayedBySeries(s *Series, a *Axis) (k Stayed) {
	n := min(len(s.Count), len(a.At))
	if n < 2 {
		return k
	}
	at := a.At[:n]
	if s.Followed {
		for _, p := range s.Spans {
			if p.First > 0 && int(p.Last) == n-1 {
				k[stretchOf(at, int(p.First))] += p.Count
			}
		}
		return k
	}
	for i := 1; i < n; i++ {
		k[stretchOf(at, i)] += max(0, s.Count[i]-s.Count[i-1])
	}
	return k
}

// StayedBySurvival counts the blocks of a site of a trace that came and stayed.
func StayedBySurvival(v *allocations.Survival) (k Stayed) {
	for i, left := range v.Left {
		k[i*Parts/len(v.Left)] += bounded(left)
	}
	return k
}

// StretchesOfTrace divides the window of a trace, in hours.
func StretchesOfTrace(nanoseconds int64) Stretches {
	s := Stretches{Unit: "hour"}
	for i := range s.Over {
		s.Over[i] = float64(nanoseconds) / nanosecondsPerHour / Parts
	}
	return s
}

// CameBySeries counts, by the interval between snapshots, the blocks that came in it and stayed. Of blocks that are
// followed those of the last interval are left out, which had no time to be freed; of others the rises of their number
// stand for them.
func CameBySeries(s *Series) []int64 {
	n := len(s.Count)
	if n < 2 {
		return nil
	}
	came := make([]int64, n-1)
	if s.Followed {
		for _, p := range s.Spans {
			if p.First > 0 && int(p.Last) == n-1 && int(p.First) < n-1 {
				came[p.First-1] += p.Count
			}
		}
		return came[:n-2]
	}
	for i := range came {
		came[i] = max(0, s.Count[i+1]-s.Count[i])
	}
	return came
}

// unsettledBins are the last bins of a trace, whose blocks had no time to be freed.
const unsettledBins = allocations.SurvivalBins / 16

// CameBySurvival counts, by the bin of the window of a trace, the blocks of a site that came in it and stayed. The last
// bins are left out, whose blocks had no time to be freed.
func CameBySurvival(v *allocations.Survival) []int64 {
	came := make([]int64, allocations.SurvivalBins-unsettledBins)
	for i := range came {
		came[i] = bounded(v.Left[i])
	}
	return came
}
