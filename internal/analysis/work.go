package analysis

import (
	"cmp"

	"heapdrift/ingest/capture"
)

// hour is the unit of growth where nobody counts work.
const hour = "hour"

// perSnapshot is the unit of growth where clocks do not tell either.
const perSnapshot = "snapshot"

// defaultWork is what work is called where nobody names it.
const defaultWork = "unit of work"

// work is the counter at each instant; nil where some evidence does not tell, or where it did not rise.
func (s *series) work(unit string) *Work {
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
			"the work counter does not rise from snapshot to snapshot: growth counts by time instead")
		return nil
	}
	return w
}
