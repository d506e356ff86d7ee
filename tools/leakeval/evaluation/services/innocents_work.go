package services

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentWork is memory of work under way: it comes with jobs, outages and peaks and goes with them.
var innocentWork = []behaviour.Behaviour{
	behaviour.NewInnocent("batch converter: the arena of a document is freed as a whole when it is done",
		"Slabs are only added while a document is converted and all go together at its end.", documentArenas),
	behaviour.NewInnocent("log shipper: records pile up while the collector is away and drain when it is back",
		"The retry queue is sent in order after each outage and is empty long before the end.", retryQueue),
	behaviour.NewInnocent("trading: open orders of the book until they are filled or withdrawn",
		"Every order ends; how many are open follows how busy the market is.", openOrders),
	behaviour.NewInnocent("scheduler: job objects at the daily peaks of the plan",
		"Many jobs wait at the full hours and are gone before the next peak.", plannedPeaks),
	behaviour.NewInnocent("simulator: particles whose rate of birth rises all through the run",
		"Each particle dies after a short life, so there are more only because more is simulated.", risingParticles),
	behaviour.NewInnocent("market data: connection buffers are made anew when a line drops for all clients",
		"A reconnect frees the old buffers of each client; the number of clients stays about the same.", reconnectStorms),
	behaviour.NewInnocent("build agent: stages of a pipeline hold their state until the next stage begins",
		"Each stage builds up its own tables and frees them at its end, and so does the last one.", pipelineStages),
	behaviour.NewInnocent("data acquisition: the event vector of a batch grows by doubling and is freed with the batch",
		"It starts small again in each batch, so it is only ever as large as a batch.", eventVectors),
	behaviour.NewInnocent("indexer: postings in memory until a segment is full and is written",
		"A full segment is written to disk and its postings are freed; then the next one begins.", segments),
	behaviour.NewInnocent("remote management: sessions of administrators expire when they are idle",
		"A session's state is freed after an idle time that is short beside the run.", idleSessions),
}

func documentArenas(s *behaviour.Stack) {
	slabs, slab := s.LogUniform(3, 120), 1<<s.UniformInt(10, 16)
	if s.Chance(0.3) {
		s.UseHeap(s.UniformInt(1, 3))
	}
	for _, document := range windows(s, int(s.LogUniform(20, 200)), 0, s.Seconds, 0.3, 1) {
		for _, at := range s.Instants(s.LogNormal(slabs, 0.3), document.from, document.to) {
			s.Free(s.Alloc(at, slab), document.to)
		}
	}
}

func retryQueue(s *behaviour.Stack) {
	outages := windows(s, s.UniformInt(2, 14), s.Seconds*0.05, s.Seconds*s.Uniform(0.6, 0.8), 0.05, 0.7)
	records := requests(s, 200, 9000)
	size, takes, drains := s.LogUniform(120, 4000), s.LogUniform(0.01, 3), s.Uniform(0.02, 0.6)
	for _, at := range records {
		b := s.Alloc(at, s.Size(size, 0.5))
		s.Free(b, at+s.Exponential(takes))
		for _, outage := range outages {
			if outage.from <= at && at <= outage.to {
				// What came first in the outage is sent first, at a multiple of the rate at which it came.
				s.Free(b, outage.to+drains*(at-outage.from)*0.5+s.Exponential(takes))
			}
		}
	}
}

func openOrders(s *behaviour.Stack) {
	orders := requests(s, 200, 12000)
	lasts := min(s.LogUniform(s.Seconds/5000, s.Seconds/25), 500*s.Seconds/float64(1+len(orders)))
	patient := s.Uniform(0, 0.2) // share of orders that stay three times as long
	size := s.Size(s.LogUniform(96, 500), 0)
	for _, at := range orders {
		life := s.Exponential(lasts)
		if s.Chance(patient) {
			life *= 3
		}
		s.AllocFor(at, min(life, s.Seconds/5), size)
	}
}

func plannedPeaks(s *behaviour.Stack) {
	period := s.Seconds / s.Uniform(6, 30)
	jobs, size := s.LogUniform(5, 300), s.LogUniform(80, 2500)
	rush, takes := period*s.LogUniform(0.002, 0.1), period*s.LogUniform(0.005, 0.12)
	for _, peak := range s.Every(period, 0) {
		for range s.Poisson(jobs) {
			at := peak + s.Exponential(rush)
			s.AllocFor(at, min(s.Exponential(takes), period/2), s.Size(size, 0.4))
		}
	}
	s.Churn(requests(s, 20, 1500), takes, s.Sizes(size, 0.4))
}

func risingParticles(s *behaviour.Stack) {
	n, rise := s.LogUniform(200, 15000), s.Uniform(1, 3)
	life := min(s.LogUniform(s.Seconds/5000, s.Seconds/30), 600*s.Seconds/n)
	size := 16 * s.UniformInt(2, 24)
	for range s.Poisson(n) {
		// The rate is 1 + rise × time, so this is where a share of all births is reached.
		at := (math.Sqrt(1+s.Float64()*rise*(2+rise)) - 1) / rise * s.Seconds
		s.AllocFor(at, s.Exponential(life), size)
	}
}

func reconnectStorms(s *behaviour.Stack) {
	buffers := s.UniformInt(1, 3)
	sizes := []int{1 << s.UniformInt(10, 15), s.Size(300, 0.5), s.Size(90, 0.5)}[:buffers]
	storms := windows(s, s.UniformInt(3, 22), s.Seconds*0.02, s.Seconds, 0, 0.05)
	calm := s.LogUniform(s.Seconds/20, s.Seconds) // mean time until a client reconnects by itself
	spread := s.LogUniform(0.5, s.Seconds/200)
	connects := float64(buffers) * (float64(len(storms)) + s.Seconds/calm)
	for range int(s.LogUniform(8, min(300, 24000/connects))) {
		at, i := s.Seconds*0.02*s.Float64(), 0
		for at < s.Seconds {
			ends := at + max(s.Exponential(calm), 1)
			for i < len(storms) && storms[i].from <= at {
				i++
			}
			if i < len(storms) {
				ends = min(ends, storms[i].from)
			}
			for _, bytes := range sizes {
				s.Free(s.Alloc(at, bytes), ends)
			}
			at = max(ends, at) + s.Exponential(spread)
		}
	}
}

func pipelineStages(s *behaviour.Stack) {
	entries, size := s.LogUniform(20, 800), s.LogUniform(40, 3000)
	stages := windows(s, s.UniformInt(5, 16), 0, s.Seconds*s.Uniform(0.8, 0.97), 0.6, 1)
	for _, stage := range stages {
		for _, at := range s.Instants(min(s.LogNormal(entries, 0.6), 2500), stage.from, stage.to) {
			b := s.Alloc(at, s.Size(size, 0.8))
			if s.Chance(0.2) {
				s.Free(b, at+s.Exponential(stage.length()/20))
			} else {
				s.Free(b, stage.to)
			}
		}
	}
}

func eventVectors(s *behaviour.Stack) {
	vectors, first := s.UniformInt(1, 4), 1<<s.UniformInt(6, 9)
	full := s.UniformInt(3, 9)
	for _, batch := range windows(s, int(s.LogUniform(15, 400)), 0, s.Seconds, 0.4, 1) {
		for range vectors {
			b := s.Alloc(batch.from, first)
			for doubling := range max(1, full-s.IntN(3)) {
				// Twice as many events take twice the time.
				share := math.Pow(2, float64(doubling-full)) * s.Uniform(0.9, 1)
				b = s.Resize(b, batch.from+share*batch.length(), first<<(doubling+1))
			}
			s.Free(b, batch.to)
		}
	}
}

func segments(s *behaviour.Stack) {
	postings := requests(s, 600, 15000)
	full := int(s.LogUniform(20, min(2000, float64(len(postings))/15)))
	writes := s.LogUniform(0.5, s.Seconds/200)
	s.UseHeap(s.UniformInt(0, 1))
	sizes := []int{24, 32, 48, 64, 96}[:s.UniformInt(1, 5)]
	for segment := range slices.Chunk(postings, full) {
		written := behaviour.Never
		if len(segment) == full {
			written = segment[full-1] + writes*s.Uniform(0.5, 1)
		}
		for _, at := range segment {
			s.Free(s.Alloc(at, sizes[s.IntN(len(sizes))]), written)
		}
	}
}

func idleSessions(s *behaviour.Stack) {
	sessions, parts := requests(s, 60, 2500), s.UniformInt(1, 5)
	expiry := s.LogUniform(s.Seconds/200, s.Seconds/14)
	used, size := s.LogUniform(1, s.Seconds/30), s.LogUniform(50, 3000)
	sweeps := clock(s, 60, 3000, 0.05)
	for _, at := range sessions {
		ends := behaviour.NextOrNever(sweeps, at+s.Exponential(used)+expiry)
		for range parts {
			s.Free(s.Alloc(at, s.Size(size, 0.7)), ends)
		}
	}
}
