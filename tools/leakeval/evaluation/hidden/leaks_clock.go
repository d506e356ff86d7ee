package hidden

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// leaksByClock lose blocks at times that have little to do with the load.
var leaksByClock = []behaviour.Behaviour{
	behaviour.NewLeak("backup agent: an hourly job makes a catalogue, frees it and leaves a few of its nodes",
		"Nodes of files that are locked are skipped when the catalogue is freed, in each job.", hourlyJob),
	behaviour.NewLeak("monitoring agent: samples are freed after some minutes, one a minute stays once a remote view was opened",
		"The remote view keeps a copy of one sample a minute and nobody ever removes any.", minuteSamples),
	behaviour.NewLeak("log service: buffers are freed at each rotation of the log, the handle record of the old file is not",
		"Each rotation opens a file and makes a record for it; the records of the old files stay.", rotationHandles),
}

// hourlyJob leaves a few of very many nodes at each run. Short runs have a job with a shorter period.
func hourlyJob(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	period := 3600.0
	if s.Seconds < 7*period {
		period = s.Seconds / s.Uniform(7, 13)
	}
	nodes, length, size := s.LogUniformInt(15, 1200), min(s.Seconds/100, period/4), sizes(s, 40, 2000)
	least := s.UniformInt(2, 5)
	for _, from := range s.Every(period, 0.05) {
		length := length * s.Uniform(0.5, 1)
		lost := s.Picked(nodes, s.UniformInt(least, least+2))
		for i := range nodes {
			node := s.Alloc(from+length*s.Float64(), size())
			if !lost[i] {
				s.Free(node, from+length*s.Uniform(1, 1.2))
			}
		}
	}
}

// minuteSamples keep one block a minute from some time on.
func minuteSamples(s *behaviour.Stack) {
	size, many, minutes := sizes(s, 64, 2000), s.UniformInt(2, 20), s.UniformInt(1, 4)
	from := s.Uniform(0, 0.5) * s.Seconds
	for _, at := range s.Every(60, 0.1) {
		for range many {
			s.AllocFor(at+s.Float64(), 60*float64(minutes)*s.Uniform(0.9, 1.1), size())
		}
		if at >= from {
			s.Alloc(at, size())
		}
	}
}

// rotationHandles stay while the buffers of each file go.
func rotationHandles(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	rotations := append(bouts(s, 13, 45, 0, 1), s.Seconds*1.01)
	buffers, size := s.LogUniformInt(20, 250), sizes(s, 80, 4000)
	from := 0.0
	for _, end := range rotations {
		if end <= s.Seconds {
			s.Alloc(end, size())
		}
		for range buffers {
			at := from + (end-from)*s.Float64()
			s.Free(s.Alloc(at, size()), end+s.Uniform(0, 0.1))
		}
		from = end
	}
}
