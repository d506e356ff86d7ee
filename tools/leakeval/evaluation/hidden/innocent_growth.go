package hidden

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentGrowth stays for good and comes to its end well before the run does.
var innocentGrowth = []behaviour.Behaviour{
	behaviour.NewInnocent("application server: modules start in a few bursts over the run and keep what they make",
		"Each module is started once; all of them are there before the last fifth of the run.", startBursts),
	behaviour.NewInnocent("intranet portal: a profile for each of N users when he first logs in",
		"All of the users have logged in by then, and the number of profiles is theirs.", usersOnce),
	behaviour.NewInnocent("drawing client: each feature makes its tables when it is used for the first time",
		"The number of features is fixed, and the last of them is first used before 0.8 of the run.", firstUses),
	behaviour.NewInnocent("search server: words of a finite vocabulary are interned, rare ones late",
		"A word is stored once; all of the vocabulary has come long before the end.", vocabulary),
	behaviour.NewInnocent("chat client: a few phases of opening rooms, each keeps its layout, beside messages that come and go",
		"The user opens his rooms in some phases and stays in them; messages are freed when they scroll out.", chatPhases),
	behaviour.NewInnocent("TCP server: a buffer for each connection slot grows to the largest message that the slot had",
		"Slots are used again and messages have a maximum, so that all buffers have their final size in time.", slotBuffers),
	behaviour.NewInnocent("rule engine: hash tables double as rules are loaded, some shrink, scratch tables are freed",
		"The rules are loaded over the first part of the work; their tables then have their final size.", resizingTables),
}

// startBursts keep most of what each burst makes.
func startBursts(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	size, most, kept := sizes(s, 40, 8000), s.LogUniform(12, 700), s.Uniform(0.2, 0.9)
	for _, from := range phases(s, 3, 5) {
		length := s.Seconds * s.LogUniform(5e-4, 0.02)
		for range s.LogUniformInt(10, most) {
			at := from + length*s.Float64()
			if s.Chance(kept) {
				s.Alloc(at, size())
			} else {
				s.AllocFor(at, s.Exponential(length), size())
			}
		}
	}
}

// usersOnce is even growth which stops, and requests which do not.
func usersOnce(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	users, last := s.LogUniformInt(30, 2500), s.Uniform(0.6, 0.85)
	size, bend := sizes(s, 60, 4000), s.Uniform(1, 1.8)
	for range users {
		s.Alloc(s.WhenDone(last*math.Pow(s.Float64(), bend)), size())
	}
	if s.Chance(0.7) {
		n := s.LogUniformInt(float64(users)/2, 8000)
		churn(s, atWork(s, n, 0, 1), held(s, n, 200), size, nil)
	}
}

// firstUses leave a few blocks each, all over the run.
func firstUses(s *behaviour.Stack) {
	features, last := s.UniformInt(10, 70), s.Uniform(0.6, 0.79)
	size, most := sizes(s, 40, 20000), s.LogUniform(1.5, 40)
	for range features {
		at := early(s, last*s.Float64())
		for range s.LogUniformInt(1, most) {
			s.Alloc(at+s.Seconds*1e-4*s.Float64(), size())
		}
	}
	n := s.LogUniformInt(40, 3000)
	churn(s, atWork(s, n, 0, 1), held(s, n, 60), size, nil)
}

// vocabulary has words whose first use waits the longer, the rarer they are.
func vocabulary(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	words, last := s.LogUniformInt(60, 3600), s.Uniform(0.6, 0.85)
	skew, scale := s.Uniform(0.3, 1.6), s.Uniform(0.3, 1.5)
	size := sizes(s, 16, 200)
	for rank := range words {
		mean := scale * math.Pow(float64(rank+1)/float64(words), skew)
		first := s.Exponential(mean)
		if first >= 1 {
			first = s.Float64()
		}
		s.Alloc(s.WhenDone(last*first), size())
	}
}

// chatPhases keep some blocks of each phase beside churn of the same sizes.
func chatPhases(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, size, most := s.LogUniformInt(200, 7000), sizes(s, 60, 3000), s.LogUniform(6, 150)
	churn(s, waves(s, n), held(s, n, 400), size, nil)
	for _, from := range phases(s, 5, 8) {
		length := s.Seconds * s.LogUniform(2e-4, 0.015)
		s.Burst(s.LogUniformInt(5, most), from, length, size)
	}
}

// slotBuffers double until each slot had its largest message.
func slotBuffers(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	last, bend := s.Uniform(0.6, 0.85), s.Uniform(1, 2)
	first, most := s.LogUniformInt(256, 8192), s.UniformInt(2, 7)
	for range s.LogUniformInt(20, 900) {
		grows := atWork(s, s.UniformInt(1, most), 0, math.Pow(s.Float64(), 1/bend)*last)
		buffer, bytes := s.Alloc(grows[0], first), first
		for _, at := range grows[1:] {
			bytes *= 2
			buffer = s.Resize(buffer, at, bytes)
		}
	}
}

// resizingTables have tables that stay and scratch tables that do not.
func resizingTables(s *behaviour.Stack) {
	last, first := s.Uniform(0.6, 0.85), s.LogUniformInt(64, 2048)
	for range s.LogUniformInt(6, 150) {
		grows := atWork(s, s.UniformInt(3, 10), 0, last)
		table, bytes := s.Alloc(grows[0], first), first
		for _, at := range grows[1:] {
			if s.Chance(0.15) && bytes > first {
				bytes /= 2
			} else {
				bytes *= 2
			}
			table = s.Resize(table, at, bytes)
		}
	}
	n := s.LogUniformInt(30, 2500)
	mean := held(s, n, 200)
	for _, at := range atWork(s, n, 0, 1) {
		growAndFree(s, at, s.Exponential(mean), first, s.UniformInt(0, 7))
	}
}
