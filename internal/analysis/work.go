package analysis

import (
	"cmp"

	"heapdrift/ingest/capture"
)

// hour is the unit of growth where no upload counts work.
const hour = "hour"

// perSnapshot is the unit of growth of evidence without times.
const perSnapshot = "snapshot"

// defaultWork is the unit of work where no upload names it.
const defaultWork = "unit of work"

// work is the counter at each instant; nil where some evidence has none, or where the counter did not rise.
func (s *series) work(unit string) *Work {
	if work := s.parts[0].Work; unit == "" && work != nil {
		unit = work.Unit
	}
	w := &Work{Unit: cmp.Or(unit, defaultWork)}
	for _, at := range s.instants {
		p := s.parts[at.part]
		if p.work == nil || len(p.Snapshots) != 1 {
			return nil
		}
		w.At = append(w.At, *p.work)
	}
	if len(w.At) < 2 {
		return nil
	}
	if !ascends(w.At) {
		s.doubt(capture.ClockDisorder,
			"Check the work counter of the uploads: it does not rise from snapshot to snapshot. Growth counts by time instead.")
		return nil
	}
	return w
}

// workOf is the work at a capture: what whoever gave the evidence says, else what the evidence says itself.
func workOf(in *Input, c *capture.Capture) *float64 {
	if in.Work == nil && c.Work != nil {
		return &c.Work.Count
	}
	return in.Work
}
