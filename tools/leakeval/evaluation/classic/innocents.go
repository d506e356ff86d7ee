package classic

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocents allocate and do not leak, however they look for a while.
var innocents = []pattern{
	{"LRU cache that fills", behaviour.Innocent, func(m *maker) {
		n := m.between(60, 4000)
		cache(m, m.times(n, 0, 1), max(3, int(n*m.within(0.05, 0.6))), m.IntN(2) == 0)
	}},
	{"LRU cache, full from the start", behaviour.Innocent, func(m *maker) {
		n := m.between(60, 2000)
		capacity := max(3, int(n*m.between(0.01, 0.6)))
		var arrivals []float64
		for i := range capacity {
			arrivals = append(arrivals, 0.01*float64(i)/float64(capacity))
		}
		arrivals = append(arrivals, m.times(n, 0.01, 1)...)
		cache(m, arrivals, capacity, m.IntN(2) == 0)
	}},
	{"interning", behaviour.Innocent, func(m *maker) {
		decay := math.Log(m.between(5, 1000))
		for _, t := range m.times(m.between(60, 4000), 0, 1) {
			if m.Float64() < math.Exp(-decay*t) {
				m.leak(t)
			}
		}
	}},
	{"lazy initialisation", behaviour.Innocent, func(m *maker) {
		n := int(m.between(1, 200))
		for range 1 + m.IntN(3) {
			burst(m, m.Float64(), n)
		}
	}},
	{"one burst", behaviour.Innocent, func(m *maker) { burst(m, m.Float64(), int(m.between(3, 2000))) }},
	{"thread pool", behaviour.Innocent, func(m *maker) {
		each, until := 1+m.IntN(12), m.within(0.1, 0.75)
		for range 2 + m.IntN(12) {
			burst(m, until*m.Float64()*m.Float64(), each)
		}
	}},
	{"queue in flight", behaviour.Innocent, func(m *maker) { inflight(m, m.between(50, 5000), m.between(1e-4, 0.05)) }},
	{"sessions", behaviour.Innocent, func(m *maker) { inflight(m, m.between(50, 1500), m.between(0.02, 0.2)) }},
	{"batches", behaviour.Innocent, func(m *maker) { sawtooth(m, m.between(3, 60), 0) }},
	{"freed by a collector", behaviour.Innocent, func(m *maker) { sawtooth(m, m.between(4, 100), m.within(0.05, 0.4)) }},
	{"periodic flush", behaviour.Innocent, func(m *maker) { sawtooth(m, m.between(2, 20), m.within(0, 0.1)) }},
	{"start-up", behaviour.Innocent, func(m *maker) {
		for range int(m.between(3, 3000)) {
			m.leak(0.02 * m.Float64())
		}
	}},
	{"start-up, then short lives", behaviour.Innocent, func(m *maker) {
		for range int(m.between(3, 300)) {
			m.leak(0.02 * m.Float64())
		}
		inflight(m, m.between(50, 5000), m.between(1e-6, 1e-3))
	}},
	{"ramp, then flat", behaviour.Innocent, func(m *maker) {
		for _, t := range m.times(m.between(30, 2000), 0, m.within(0.1, 0.75)) {
			m.leak(t)
		}
	}},
	{"short lives, addresses used again", behaviour.Innocent, func(m *maker) {
		m.spread = 0
		inflight(m, m.between(200, 6000), m.between(1e-4, 5e-3))
	}},
	{"buffer that is resized to what it holds", behaviour.Innocent, func(m *maker) {
		usual, t := m.typical, 0.0
		for _, next := range append(m.times(m.between(3, 40), 0, 1), forever) {
			m.allocate(t, next-t)
			m.typical = usual * m.between(0.5, 2)
			t = next
		}
	}},
	{"history of the last N", behaviour.Innocent, func(m *maker) {
		n := m.between(60, 3000)
		cache(m, m.times(n, 0, 1), max(3, int(n*m.within(0.05, 0.7))), true)
	}},
	{"connections that come and go", behaviour.Innocent, func(m *maker) {
		each := 1 + m.IntN(8)
		for range int(m.between(5, 120)) {
			born, life := m.Float64(), m.between(0.01, 0.3)*m.ExpFloat64()
			for range each {
				m.allocate(m.when(born), life)
			}
		}
	}},
	{"now one block, now two", behaviour.Innocent, func(m *maker) {
		m.leak(0)
		for range int(m.between(2, 30)) {
			m.allocate(m.Float64(), 0.1*m.Float64())
		}
	}},
}

// cache keeps up to a capacity and then makes room for each new block: for the oldest one, or for any.
func cache(m *maker, arrivals []float64, capacity int, oldest bool) {
	var held []behaviour.Block
	for _, t := range arrivals {
		if t >= 1 {
			continue
		}
		if len(held) >= capacity {
			i := 0
			if !oldest {
				i = m.IntN(len(held))
			}
			m.free(held[i], t)
			if oldest {
				held = held[1:]
			} else {
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
			}
		}
		held = append(held, m.leak(t))
	}
}

// burst makes n blocks that stay, within a thousandth of the run.
func burst(m *maker, at float64, n int) {
	for range n {
		m.leak(at + 1e-3*m.Float64())
	}
}

// inflight makes about n blocks that live for life on average, some ten times as long.
func inflight(m *maker, n, life float64) {
	spread := m.within(0, 1.2)
	for _, t := range m.times(n, 0, 1) {
		m.allocate(t, life*math.Exp(spread*m.NormFloat64()-spread*spread/2))
	}
}

// sawtooth collects blocks and frees them together, but for a share that waits for the next time.
func sawtooth(m *maker, periods, survive float64) {
	phase := m.Float64()
	for _, t := range m.times(m.between(100, 4000), 0, 1) {
		end := (math.Floor(t*periods+phase) + 1 - phase) / periods
		for m.Float64() < survive {
			end += 1 / periods
		}
		m.allocate(t, end-t)
	}
}
