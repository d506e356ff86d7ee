package score

import "heapdrift/ingest/capture/allocations"

// RunParts is how many parts StayedBlocks and PartLengths divide a run into.
const RunParts = 4

// StayedBlocks counts, for each part of a run, the blocks that were allocated in it and still held at the end. A steady
// leak leaves blocks in every part. Other blocks that stayed only add to them. So the part with the fewest bounds a
// leak.
type StayedBlocks [RunParts]int64

// IsZero reports whether no blocks stayed.
func (k StayedBlocks) IsZero() bool { return k == StayedBlocks{} }

// Total is how many blocks stayed in all.
func (k StayedBlocks) Total() (n int64) {
	for _, s := range k {
		n += s
	}
	return n
}

// Plus adds the blocks of another part of the same leak in the same run.
func (k StayedBlocks) Plus(o StayedBlocks) StayedBlocks {
	for i := range k {
		k[i] += o[i]
	}
	return k
}

// PartLengths are the lengths of the parts of a run, in the unit of its axis.
type PartLengths struct {
	Unit string            `json:"unit"` // "hour", "snapshot", or the name of the work counter
	Over [RunParts]float64 `json:"over"` // length of each part, in Unit
}

// Sum is the length of the run.
func (s *PartLengths) Sum() (sum float64) {
	for _, o := range s.Over {
		sum += o
	}
	return sum
}

// PartLengthsOf divides an axis into RunParts parts. A part may be empty where there are fewer intervals.
func PartLengthsOf(a *Axis) PartLengths {
	s := PartLengths{Unit: a.Unit}
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
	return min(RunParts-1, max(0, int(middle*RunParts)))
}

// StayedOfSeries counts the blocks of a series that came and stayed. Where blocks are not followed the rises of their
// number stand for them: at least as many came.
func StayedOfSeries(s *Series, a *Axis) (k StayedBlocks) {
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

// StayedOfSurvival counts the blocks of a site of a trace that came and stayed.
func StayedOfSurvival(v *allocations.Survival) (k StayedBlocks) {
	for i, left := range v.Left {
		k[i*RunParts/len(v.Left)] += bounded(left)
	}
	return k
}

// PartLengthsOfTrace divides the window of a trace, which is so many ns long, into RunParts parts of equal length in
// hours.
func PartLengthsOfTrace(nanoseconds int64) PartLengths {
	s := PartLengths{Unit: "hour"}
	for i := range s.Over {
		s.Over[i] = float64(nanoseconds) / nanosecondsPerHour / RunParts
	}
	return s
}

// ArrivalsOfSeries counts, for each interval between snapshots, the blocks that came in it and stayed. Where blocks are
// followed, those of the last interval are left out, which had no time to be freed; elsewhere the rises of their number
// stand for them.
func ArrivalsOfSeries(s *Series) []int64 {
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

// ArrivalsOfSurvival counts, for each bin of the window of a trace, the blocks of a site that came in it and stayed.
// The last bins are left out, whose blocks had no time to be freed.
func ArrivalsOfSurvival(v *allocations.Survival) []int64 {
	came := make([]int64, allocations.SurvivalBins-unsettledBins)
	for i := range came {
		came[i] = bounded(v.Left[i])
	}
	return came
}
