package classic

import "heapdrift/tools/leakeval/evaluation/behaviour"

// leaks lose blocks for as long as the process does its work.
var leaks = []pattern{
	{"steady", behaviour.Leaks, func(m *maker) {
		for _, t := range m.times(m.between(30, 3000), 0, 1) {
			m.leak(t)
		}
	}},
	{"error path, in bursts", behaviour.Leaks, func(m *maker) {
		mean := m.between(2, 50)
		for _, t := range m.times(m.between(5, 25), 0, 1) {
			for range m.geometric(mean) {
				m.leak(t + 1e-4*m.Float64())
			}
		}
	}},
	{"slow, 8 to 30 blocks", behaviour.Leaks, func(m *maker) {
		n := 8 + m.IntN(23)
		for range n {
			m.leak(m.when(m.Float64()))
		}
	}},
	{"per unit of work", behaviour.Leaks, func(m *maker) {
		n := int(m.between(10, 400))
		each := 1 + m.IntN(4)
		for i := range n {
			t := m.when((float64(i) + 0.5*m.Float64()) / float64(n))
			for range each {
				m.leak(t)
			}
		}
	}},
	{"late onset", behaviour.Leaks, func(m *maker) {
		for _, t := range m.times(m.between(30, 2000), m.within(0.1, 0.45), 1) {
			m.leak(t)
		}
	}},
	{"big and rare", behaviour.Leaks, func(m *maker) {
		m.typical, m.spread = m.between(1<<20, 64<<20), 0
		for _, t := range m.times(m.between(10, 40), 0, 1) {
			m.leak(t)
		}
	}},
	{"some of many that are freed", behaviour.Leaks, func(m *maker) {
		share, life := m.between(0.02, 0.7), m.between(1e-5, 0.03)
		for _, t := range m.times(m.between(20, 500)/share, 0, 1) {
			if m.Float64() < share {
				m.leak(t)
			} else {
				m.allocate(t, life*m.ExpFloat64())
			}
		}
	}},
	{"over a queue in flight", behaviour.Leaks, func(m *maker) {
		inflight(m, m.between(100, 4000), m.between(0.001, 0.02))
		for _, t := range m.times(m.between(30, 600), 0, 1) {
			m.leak(t)
		}
	}},
}

// undecidable are caches and tables that are still growing when the run ends.
var undecidable = []pattern{
	{"cache not full yet", behaviour.Undecidable, func(m *maker) {
		for _, t := range m.times(m.between(30, 3000), 0, 1) {
			m.leak(t)
		}
	}},
	{"cache not full yet, beside short lives", behaviour.Undecidable, func(m *maker) {
		life := m.between(1e-5, 0.01)
		for _, t := range m.times(m.between(100, 3000), 0, 1) {
			if m.Float64() < 0.5 {
				m.leak(t)
			} else {
				m.allocate(t, life*m.ExpFloat64())
			}
		}
	}},
	{"interning that hardly slows down", behaviour.Undecidable, func(m *maker) {
		for _, t := range m.times(m.between(100, 3000), 0, 1) {
			if m.Float64() < 1/(1+2*t) {
				m.leak(t)
			}
		}
	}},
	{"pool that doubles when it is used up", behaviour.Undecidable, func(m *maker) {
		for at, n := m.within(0.005, 0.05), 1; at < 1; at, n = 2*at, 2*n {
			burst(m, at, n)
		}
	}},
}
