package servers

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentConnections = []behaviour.Behaviour{
	behaviour.NewInnocent("web application: sessions with sliding expiry and a reaper",
		"Each session ends a fraction of the run after its user's last request.", webSessions),
	behaviour.NewInnocent("chat server: receive buffers through storms of reconnections",
		"After an outage all clients connect anew while their dead connections wait for the keep-alive to find out.",
		reconnections),
	behaviour.NewInnocent("front end: connections that grow in number all run long and end after a while",
		"More and more clients come, and every one of them goes again within a fraction of the run.", growingTraffic),
	behaviour.NewInnocent("authentication service: replay cache of tickets of the last minutes",
		"A ticket is remembered for as long as clocks may differ, and a purge frees older ones.", replayCache),
	behaviour.NewInnocent("application server: response buffer doubles while the body is written",
		"The buffer is reallocated as often as it takes and is freed when the response is sent.", responseBuffers),
	behaviour.NewInnocent("thread pool: per-thread arena, idle threads retire",
		"There are never more arenas than threads, and threads above the minimum end when they idle.", workerArenas),
	behaviour.NewInnocent("lock table: shards double until every object that exists has its slot",
		"Shards are rehashed as objects are first locked, and there is a finite number of objects.", shardedTable),
}

func webSessions(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n := s.LogUniform(300, 12000)
	at, who := visits(s, n, int(s.LogUniform(20, n)))
	e := expiry{seconds: min(s.LogUniform(60, 2400), s.Seconds/10), sliding: true,
		reaper: min(s.LogUniform(5, 300), s.Seconds/40)}
	e.play(s, at, who, sizes(s, 300, 12000))
}

func reconnections(s *behaviour.Stack) {
	clients, size := int(s.LogUniform(30, 1200)), sizes(s, 1024, 66000)
	keepAlive, arrive := min(s.LogUniform(20, 900), s.Seconds/30), s.Uniform(1, s.Seconds/8)
	storms := episodes(s, 2, 7)
	stay := s.Seconds * s.LogUniform(0.05, 1) // between storms, clients come and go
	for range clients {
		at := arrive * s.Float64()
		next := 0
		for at < s.Seconds {
			for next < len(storms) && storms[next] <= at {
				next++
			}
			end := at + s.Exponential(stay)
			b := s.Alloc(at, size())
			if next < len(storms) && end > storms[next] {
				s.Free(b, storms[next]+keepAlive*s.Uniform(0.5, 1))
				at = storms[next] + s.Exponential(keepAlive/3)
				continue
			}
			s.Free(b, end)
			at = end + s.Exponential(1+keepAlive/10)
		}
	}
}

func growingTraffic(s *behaviour.Stack) {
	n, size := s.LogUniform(200, 9000), sizes(s, 512, 40000)
	stay, growth := s.Seconds*s.LogUniform(0.001, 0.04), s.Uniform(1.3, 3)
	for range s.Poisson(n) {
		s.AllocFor(s.Seconds*math.Pow(s.Float64(), 1/growth), s.Exponential(stay), size())
	}
}

func replayCache(s *behaviour.Stack) {
	n, bytes := s.LogUniform(200, 8000), s.UniformInt(40, 200)
	skew, purge := min(s.LogUniform(60, 600), s.Seconds/12), min(s.LogUniform(1, 400), s.Seconds/24)
	for _, at := range s.Requests(n) {
		s.Free(s.Alloc(at, bytes), behaviour.NextTick(at+skew, purge))
	}
}

func responseBuffers(s *behaviour.Stack) {
	n := s.LogUniform(60, 3000)
	first, most, write := 1<<s.UniformInt(8, 13), s.UniformInt(1, 7), flight(s, n, 0.01, 20)
	for _, at := range s.Requests(n) {
		bytes := first
		b := s.Alloc(at, bytes)
		for range s.IntN(most + 1) {
			at, bytes = at+s.Exponential(write), 2*bytes
			b = s.Resize(b, at, bytes)
		}
		s.Free(b, at+s.Exponential(write))
	}
}

func workerArenas(s *behaviour.Stack) {
	n := s.LogUniform(1000, 15000)
	p := &pool{s: s, idle: min(s.LogUniform(5, 600), s.Seconds/12),
		least: s.UniformInt(1, 16), most: s.UniformInt(17, 300)}
	size, busy := sizes(s, 2000, 1<<20), s.LogUniform(4, 120) // so many threads are busy on average
	hold := min(busy*s.Seconds/n, s.Seconds/30)
	for _, at := range s.Requests(n) {
		p.take(at, s.Exponential(hold), size)
	}
	p.shutDown()
}

func shardedTable(s *behaviour.Stack) {
	shards := 1 << s.UniformInt(3, 7)
	objects := shards * s.UniformInt(6, 120)
	// A server that locks very many objects looks each of them up often enough to have seen nearly all by half of the run.
	at, who := visits(s, float64(objects)*s.Uniform(8, 12), objects)
	slot, first := s.UniformInt(8, 48), s.UniformInt(1, 8)
	tables, counts, rooms := make([]behaviour.Block, shards), make([]int, shards), make([]int, shards)
	seen := make([]bool, objects)
	for i, t := range at {
		if seen[who[i]] {
			continue
		}
		seen[who[i]] = true
		k := who[i] % shards
		switch counts[k]++; {
		case rooms[k] == 0:
			rooms[k] = first
			tables[k] = s.Alloc(t, first*slot)
		case counts[k] > rooms[k]:
			rooms[k] *= 2
			tables[k] = s.Resize(tables[k], t, rooms[k]*slot)
		}
	}
}
