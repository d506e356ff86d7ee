package deceit

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var freedInTime = []behaviour.Behaviour{
	behaviour.NewInnocent("database: cursors open while more and more clients are moved to a new server",
		"Each cursor is closed soon, but there are ever more of them, until the end of the run.", cursorsOfMovers),
	behaviour.NewInnocent("telephone exchange: registrations of which a heavy tail lasts until it expires",
		"Most phones sign off soon; the others are removed after a fixed time, a seventh of the run or less.", registrations),
	behaviour.NewInnocent("mail relay: messages that wait for a server which is down for hours, gone before the end",
		"What cannot be delivered piles up, and is delivered in whatever order once the server is back.", serverDown),
	behaviour.NewInnocent("mail filter: arenas of message parts, each pinned by the part that stays longest",
		"An arena is freed with the last of its parts, so that almost all live nearly as long as any part.", pinnedArenas),
	behaviour.NewInnocent("telephone billing: records of a season, freed with the season after it, as traffic rises",
		"Records of one season are settled and freed when the next is over; there are more in each season.", billingSeasons),
	behaviour.NewInnocent("game: effects that spawn effects, near to what would never die out",
		"Each effect spawns almost one other on average; a family is freed as a whole when all have faded.", spawnedEffects),
}

func cursorsOfMovers(s *behaviour.Stack) {
	size, n, bend := sizes(s, 200, 12000), s.LogUniform(300, 7000), s.Uniform(0.6, 3)
	life := lives(s, min(s.LogUniform(0.003, 0.06), 600/n)*s.Seconds, s.Seconds/s.Uniform(8, 12))
	for range s.Poisson(n) {
		at := s.Seconds * math.Pow(s.Float64(), 1/(1+bend))
		s.AllocFor(at, life(), size())
	}
}

func registrations(s *behaviour.Stack) {
	size, expiry := sizes(s, 150, 4000), s.Seconds/s.Uniform(7, 14)
	tail, shortest := s.Uniform(0.2, 1.1), expiry*s.LogUniform(0.001, 0.05)
	// A phone that never signs off would live a hundred times longer than it may.
	for _, at := range s.Requests(s.LogUniform(200, 6000)) {
		s.AllocFor(at, min(heavy(s, shortest, 100*expiry, tail), expiry), size())
	}
}

func serverDown(s *behaviour.Stack) {
	size := sizes(s, 300, 30000)
	down := s.Uniform(0.15, 0.45)
	up := down + s.Uniform(0.15, 0.35)
	drained := up + s.Uniform(0.03, 0.12)
	times := s.Requests(s.LogUniform(300, 4500))
	life := lives(s, s.Seconds*s.LogUniform(0.0005, 0.01), s.Seconds/12)
	var waiting []behaviour.Block
	for _, at := range times {
		message := s.AllocFor(at, life(), size())
		if at > down*s.Seconds && at < up*s.Seconds {
			waiting = append(waiting, message)
		}
	}
	switch s.IntN(3) {
	case 0: // the youngest first
		slices.Reverse(waiting)
	case 1: // in no order
		s.Shuffle(len(waiting), func(i, k int) { waiting[i], waiting[k] = waiting[k], waiting[i] })
	}
	for i, message := range waiting {
		s.Free(message, (up+(drained-up)*float64(i+1)/float64(len(waiting)))*s.Seconds)
	}
}

func pinnedArenas(s *behaviour.Stack) {
	size, longest := s.Size(65536, 1), s.Seconds/s.Uniform(7, 12)
	tail, shortest, parts := s.Uniform(0.4, 1.1), longest*s.LogUniform(0.0005, 0.01), s.UniformInt(8, 64)
	for _, at := range s.Requests(s.LogUniform(80, 2500)) {
		life := 0.0
		for range parts {
			life = max(life, heavy(s, shortest, longest, tail))
		}
		s.AllocFor(at, life, size)
	}
}

func billingSeasons(s *behaviour.Stack) {
	size, rise := sizes(s, 60, 1500), s.Uniform(0.5, 2.5)
	season := s.Seconds / s.Uniform(14, 32)
	phase := s.Float64()
	for range s.Poisson(s.LogUniform(300, 9000)) {
		at := s.Seconds * math.Pow(s.Float64(), 1/(1+rise))
		settled := (math.Floor(at/season+phase) + 2 - phase) * season
		s.AllocFor(at, settled+0.01*season*s.Float64()-at, size())
	}
}

func spawnedEffects(s *behaviour.Stack) {
	size, mean, most := sizes(s, 40, 3000), s.Uniform(0.85, 0.97), s.UniformInt(60, 500)
	life := lives(s, s.Seconds*s.LogUniform(0.0005, 0.004), s.Seconds/40)
	longest := s.Seconds / s.Uniform(8, 14)
	for _, from := range s.Requests(s.LogUniform(40, 350)) {
		// Effects are born at offsets from the first one; those still to come wait in a list.
		births, over := []float64{0}, 0.0
		for i := 0; i < len(births) && len(births) < most; i++ {
			fades := min(births[i]+life(), longest)
			over = max(over, fades)
			for range s.Poisson(mean) {
				births = append(births, fades)
			}
		}
		for _, birth := range births {
			if len(s.Allocations()) < 25000 {
				s.AllocFor(from+birth, over-birth, size())
			}
		}
	}
}
