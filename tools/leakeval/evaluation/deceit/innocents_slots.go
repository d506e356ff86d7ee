package deceit

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var slotsThatTurnOver = []behaviour.Behaviour{
	behaviour.NewInnocent("browser: decoded pictures in slots that are chosen by a hash",
		"Slots fill like the albums of collectors, the last of them late, while the first are replaced already.",
		hashedSlots),
	behaviour.NewInnocent("database: pages of a cache, some of which are hardly ever asked to make room",
		"The cache is full after most of the work; popular places change hands, and unpopular ones grow old.", skewedSlots),
	behaviour.NewInnocent("device control: ring of samples that is full only after half of the run",
		"Samples fill a ring of fixed length, and from then on each new one replaces the oldest.", sampleRing),
	behaviour.NewInnocent("mail client: connections that are renewed at their own pace among short requests",
		"Each folder has one connection, opened when first used and replaced each time it expires.", renewedConnections),
	behaviour.NewInnocent("virus scanner: table that grows with the files open and shrinks under a quarter",
		"Segments are added when too full and freed when all but empty, the last time before the end.", tableWithHysteresis),
}

// turnOver fills a slot at a share of the work and replaces what is in it so many times a run.
func turnOver(s *behaviour.Stack, first, rate float64, size func() int) {
	for at := first; at < 1; {
		b := s.Alloc(s.WhenDone(at), size())
		if at += s.Exponential(1 / rate); at < 1 {
			s.Free(b, s.WhenDone(at))
		}
	}
}

func hashedSlots(s *behaviour.Stack) {
	size, slots, last := sizes(s, 500, 90000), s.LogUniformInt(30, 600), s.Uniform(0.55, 0.85)
	rate := math.Log(float64(slots)/s.Uniform(0.2, 2)) / last
	for range slots {
		if first := s.Exponential(1 / rate); first < last {
			turnOver(s, first, rate, size)
		}
	}
}

func skewedSlots(s *behaviour.Stack) {
	size, last, skew := sizes(s, 500, 9000), s.Uniform(0.5, 0.8), s.Uniform(0.8, 1.6)
	typical := s.LogUniform(1, 5)
	for range s.LogUniformInt(40, 700) {
		rate := min(s.LogNormal(typical, skew), 80)
		// A cache looks for an empty place first, so that even unpopular ones are taken once.
		turnOver(s, last*math.Pow(s.Float64(), 0.8), rate, size)
	}
}

func sampleRing(s *behaviour.Stack) {
	size, n := sizes(s, 60, 3000), s.LogUniform(150, 4000)
	times := s.Requests(n)
	if s.Chance(0.5) {
		times = s.Instants(n, 0, s.Seconds)
	}
	length := int(float64(len(times)) * s.Uniform(0.4, 0.7))
	for i, at := range times {
		sample := s.Alloc(at, size())
		if i+length < len(times) {
			s.Free(sample, times[i+length])
		}
	}
}

func renewedConnections(s *behaviour.Stack) {
	size, last := sizes(s, 300, 20000), s.Uniform(0.4, 0.8)
	for range s.LogUniformInt(25, 300) {
		pace := s.Seconds * s.LogUniform(0.02, 0.13)
		for at := s.WhenDone(last * s.Float64()); at < s.Seconds; {
			life := pace * s.Uniform(0.5, 1.1)
			s.AllocFor(at, life, size())
			at += life
		}
	}
	beside(s, 200, 6000, size)
}

func tableWithHysteresis(s *behaviour.Stack) {
	size, top := sizes(s, 500, 66000), s.LogUniform(40, 900)
	// Peaks and troughs take turns. Peaks get higher, and most troughs are not deep enough to shrink the table.
	knots := []float64{0}
	for waves, i := s.UniformInt(3, 7), 1; i <= waves; i++ {
		peak := top * float64(i) / float64(waves) * s.Uniform(0.8, 1)
		knots = append(knots, peak, peak*s.Uniform(0.1, 0.8))
	}
	ebb, steps := s.Uniform(0.86, 0.95), s.UniformInt(300, 900)
	knots[len(knots)-1] = knots[len(knots)-2] * s.Uniform(0.03, 0.15)
	var table []behaviour.Block
	for i := range steps {
		at := (float64(i) + s.Float64()) / float64(steps)
		place := min(at/ebb, 0.9999) * float64(len(knots)-1)
		from, to := knots[int(place)], knots[int(place)+1]
		demand := int(from + (to-from)*(1-math.Cos(math.Pi*(place-math.Floor(place))))/2)
		for len(table) < demand {
			table = append(table, s.Alloc(at*s.Seconds, size()))
		}
		if demand < len(table)/4 {
			s.FreeAll(table[2*demand:], at*s.Seconds)
			table = table[:2*demand]
		}
	}
}
