package deceit

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("web portal: sessions that expire after a good part of the run",
		"Most sessions are signed off, the rest expire. The run has fewer than three expiry times, so that it does not show whether all that stay do expire.",
		slowExpiry),
	behaviour.NewUndecidable("search engine: words of an open vocabulary, of which more are new to the very end",
		"New words become rarer and do not stop coming. The run does not show whether there is an end to them, or whether they are ever dropped.",
		openVocabulary),
	behaviour.NewUndecidable("mail relay: messages for a server that comes back only after the recording",
		"Messages for one server wait from somewhere in the run on. They are sent later, but the run does not show that anybody still knows of them.",
		stillDown),
	behaviour.NewUndecidable("CAD: imports, each of which leaves some blocks, two to four times in all",
		"Each import keeps tables of its format. So few imports do not tell whether every further one keeps some as well or only the first of each format.",
		fewImports),
}

func slowExpiry(s *behaviour.Stack) {
	size, expiry := sizes(s, 200, 6000), s.Seconds*s.Uniform(0.36, 0.95)
	tail, shortest := s.Uniform(0.3, 0.8), s.Seconds*s.LogUniform(0.001, 0.01)
	for _, at := range s.Requests(s.LogUniform(150, 3000)) {
		s.AllocFor(at, min(heavy(s, shortest, 50*s.Seconds, tail), expiry*s.Uniform(0.9, 1.1)), size())
	}
}

func openVocabulary(s *behaviour.Stack) {
	size := sizes(s, 24, 500)
	for _, at := range firstUses(s, s.LogUniformInt(150, 3000), s.Uniform(0.3, 1), 1) {
		s.Alloc(s.WhenDone(at), size())
	}
	if s.Chance(0.5) {
		beside(s, 100, 4000, size)
	}
}

func stillDown(s *behaviour.Stack) {
	size, down := sizes(s, 300, 30000), s.Seconds*s.Uniform(0.1, 0.6)
	life := lives(s, s.Seconds*s.LogUniform(0.0005, 0.01), s.Seconds/12)
	share := s.LogUniform(0.04, 1)
	for _, at := range s.Requests(s.LogUniform(600, 3500)) {
		message := s.AllocFor(at, life(), size())
		if at > down && s.Chance(share) {
			s.Free(message, afterEnd(s))
		}
	}
}

func fewImports(s *behaviour.Stack) {
	size, left := sizes(s, 60, 9000), s.LogUniform(5, 80)
	for _, at := range bouts(s, s.UniformInt(2, 4), 0) {
		span := s.Seconds * s.LogUniform(0.002, 0.02)
		s.Burst(s.Size(left, 0.3), at, span, size)
		for range s.LogUniformInt(30, 500) {
			s.AllocFor(at+span*s.Float64(), span*s.Uniform(1, 2), size())
		}
	}
	beside(s, 100, 3000, size)
}
