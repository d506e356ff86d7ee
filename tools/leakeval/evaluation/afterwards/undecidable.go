package afterwards

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("map viewer: tile cache with room for several times the tiles of the run",
		"Tiles stay until the cache is full; the run ends before that, so that nothing shows that there is a bound.",
		mapTiles),
	behaviour.NewUndecidable("dock driver's helper: device nodes of two to four dockings are still held",
		"Each docking adds nodes that may be new devices or lost ones; so few dockings do not tell which.", dockings),
	behaviour.NewUndecidable("sign-on service: tokens are valid for hours",
		"Tokens are freed when they expire; the run is too short beside their lives to show that they are.", tokens),
	behaviour.NewUndecidable("open-world game: interned asset paths of a world that is not all explored",
		"Each path is interned once for good; the run does not see the vocabulary's end.", assetPaths),
}

func mapTiles(s *behaviour.Stack) {
	c := &cache{s: s}
	instants := s.Requests(s.LogUniform(80, 2000))
	// The bound is never reached.
	c.bound = int(float64(len(instants)+1) * s.Uniform(1.3, 5))
	bytes, hits := sizes(s, 4000, 130_000), s.Uniform(0, 0.7)
	for _, at := range instants {
		if !s.Chance(hits) {
			c.put(at, bytes(), s.IntN)
		}
	}
}

func dockings(s *behaviour.Stack) {
	bytes, nodes, stay := sizes(s, 60, 2500), s.LogUniform(8, 200), s.Uniform(0.5, 1)
	pass(s, s.Requests(s.LogUniform(20, 1000)), bytes, lives(s, 0.0005, 0.01), none)
	for _, begin := range spread(s, s.UniformInt(2, 4), 0.02*s.Seconds, 0.95*s.Seconds) {
		instants := s.Instants(nodes, begin, begin+s.Seconds*s.LogUniform(0.001, 0.02))
		pass(s, instants, bytes, lives(s, 0.001, 0.01), func(int) bool { return s.Chance(stay) })
	}
}

func tokens(s *behaviour.Stack) {
	bytes, expiry := sizes(s, 200, 4000), s.Seconds*s.LogUniform(0.3, 2)
	for _, at := range s.Requests(s.LogUniform(60, 1500)) {
		s.AllocFor(at, expiry*s.Uniform(0.98, 1.02), bytes())
	}
}

func assetPaths(s *behaviour.Stack) {
	n := s.LogUniform(200, 4000)
	words, skew := n*s.LogUniform(1, 10), s.Uniform(1, 2.5)
	bytes, known := sizes(s, 40, 300), map[int]bool{}
	for _, at := range s.Requests(n) {
		if word := int(words * math.Pow(s.Float64(), skew)); !known[word] {
			known[word] = true
			s.Alloc(at, bytes())
		}
	}
}
