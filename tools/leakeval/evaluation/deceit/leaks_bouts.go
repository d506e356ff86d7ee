package deceit

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfBouts = []behaviour.Behaviour{
	behaviour.NewLeak("virus scanner: full scans, each of which loses streams of nested archives",
		"Each of a few full scans opens hundreds of streams and does not close some within damaged archives.", fullScans),
	behaviour.NewLeak("build tool: graph of each build replaces the last but for nodes on cycles",
		"Reference counts free the graph of the build before, except for a few nodes that refer to each other.", buildGraphs),
	behaviour.NewLeak("file synchroniser: transfers waiting through outages, of two servers one of which loses some",
		"Transfers wait for the end of an outage; some that one of the servers half accepted are then forgotten.", outages),
	behaviour.NewLeak("media gateway: pool that grows over one mark and shrinks under another, losing its last",
		"The pool is trimmed each time the calls have ebbed away, and trimming misses a block or a few.", poolTrimmed),
}

func fullScans(s *behaviour.Stack) {
	size := sizes(s, 300, 20000)
	for _, at := range bouts(s, s.UniformInt(7, 12), s.Uniform(0, 0.2)) {
		span, lost := s.Seconds*s.LogUniform(0.003, 0.02), s.UniformInt(2, 7)
		streams := s.LogUniformInt(60, 600)
		isLost := s.Picked(streams, lost)
		for i := range streams {
			// An archive is closed after all that are within it.
			opened := span * s.Float64()
			stream := s.Alloc(at+opened, size())
			if !isLost[i] {
				s.Free(stream, at+2*span-opened*s.Float64())
			}
		}
	}
	beside(s, 200, 4000, size)
}

func buildGraphs(s *behaviour.Stack) {
	size, typical := sizes(s, 60, 2000), s.LogUniform(50, 700)
	starts := bouts(s, s.UniformInt(7, 12), 0)
	isGrowing := s.Chance(0.5)
	for i, at := range starts {
		replaced := afterEnd(s)
		if i+1 < len(starts) {
			replaced = starts[i+1]
		}
		nodes := int(min(max(s.LogNormal(typical, 0.6), 30), 2000))
		if isGrowing {
			nodes += int(typical * float64(i) / 6)
		}
		isLost, span := s.Picked(nodes, s.UniformInt(2, 9)), s.Seconds*s.LogUniform(0.001, 0.02)
		for k := range nodes {
			node := s.Alloc(at+span*s.Float64(), size())
			if !isLost[k] {
				s.Free(node, replaced+span*s.Float64())
			}
		}
	}
}

func outages(s *behaviour.Stack) {
	size := sizes(s, 200, 9000)
	for server, starts := range [][]float64{bouts(s, s.UniformInt(7, 12), 0), bouts(s, s.UniformInt(5, 15), 0)} {
		for _, at := range starts {
			waiting, span, lost := s.LogUniformInt(15, 250), s.Seconds*s.LogUniform(0.004, 0.04), 0
			if server == 0 {
				lost = s.UniformInt(2, 5)
			}
			isLost := s.Picked(waiting, lost)
			for i := range waiting {
				transfer := s.Alloc(at+span*s.Float64(), size())
				if !isLost[i] {
					s.Free(transfer, at+span*(1+0.3*s.Float64()))
				}
			}
		}
	}
	beside(s, 1500, 14000, size)
}

func poolTrimmed(s *behaviour.Stack) {
	size := sizes(s, 500, 50000)
	edges, most := cycles(s, s.UniformInt(10, 22), 0.4, 1), s.LogUniform(25, 300)
	swing, phase := s.Uniform(0.3, 0.9), s.Float64()
	for range s.UniformInt(0, int(most)) {
		s.Alloc(s.Seconds*0.03*s.Float64(), size())
	}
	for i, from := range edges[:len(edges)-1] {
		span, share := edges[i+1]-from, float64(i)/float64(len(edges))
		height := int(most * s.Uniform(0.6, 1) * (1 + swing*math.Sin(2*math.Pi*(share+phase))))
		lost := s.UniformInt(1, 3)
		for k := range height + lost {
			grown := s.Uniform(0, 0.45)
			b := s.Alloc(from+span*grown, size())
			if k >= lost {
				// The youngest go first.
				s.Free(b, from+span*(1-grown*s.Uniform(0.6, 1)))
			}
		}
	}
}
