package analysis

import (
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// stretches divides what is judged; nil where it shows one instant.
func (j *judge) stretches(r *Report) *score.PartLengths {
	switch {
	case j.trace && !isAbsent(r) && !isInstant(r):
		trace, window := r.Trace.capture(), r.Window.capture()
		traced := min(trace.WorkEnd(window), trace.To) - trace.TracedFrom(window, capture.KindHeap)
		return new(score.PartLengthsOfTrace(traced))
	case !j.trace && j.last-j.first >= 2:
		return new(score.PartLengthsOf(&j.axis))
	}
	return nil
}

// mostHeld is how many blocks of a sample were held at the instant at which most were; of a trace, those at its end.
func (j *judge) mostHeld(s *sample) int64 {
	if j.trace || j.last-j.first < 1 {
		return s.amounts.Outstanding.Count
	}
	return slices.Max(j.series(s).Count)
}

// stayed counts the blocks of a sample that came and stayed, by stretch.
func (j *judge) stayed(s *sample) score.StayedBlocks {
	switch {
	case j.trace && s.survival != nil:
		return score.StayedOfSurvival(s.survival)
	case j.trace || j.last-j.first < 2:
		return score.StayedBlocks{}
	}
	return score.StayedOfSeries(j.series(s), &j.axis)
}
