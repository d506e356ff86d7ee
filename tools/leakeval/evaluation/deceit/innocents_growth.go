package deceit

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var growthThatEnds = []behaviour.Behaviour{
	behaviour.NewInnocent("mail server: routes to a finite set of domains, the rarest of which come up late",
		"A route is kept for each domain that its users write to; after most of the work all of them were seen.",
		domainRoutes),
	behaviour.NewInnocent("CAD: first use of each tool loads what it keeps for good",
		"Three to eight tools each leave their tables behind when first used, and none is new in the end.", firstTools),
	behaviour.NewInnocent("file synchroniser: peers that hear of each other until everybody knows everybody",
		"News of peers spread like an epidemic: slowly, fast, slowly, and then every peer has its record.", peersHeardOf),
	behaviour.NewInnocent("browser: first pass over the bookmarks, with records that are renewed later on",
		"Each bookmark gets a record in an even pass over most of the work; later only records replace records.", firstPass),
	behaviour.NewInnocent("database: pool of row buffers that follows the highest peak so far",
		"A peak that is higher than all before enlarges the pool; the last such is over well before the end.", poolOfPeaks),
	behaviour.NewInnocent("trading gateway: buffers of sessions that grow to the largest message of each",
		"A buffer is reallocated for a message that does not fit; in the end each has had the largest there is.",
		largestMessages),
	behaviour.NewInnocent("device control: texts of faults that are looked up when a fault first occurs",
		"Faults come together and bring texts which are kept; every kind of fault has occurred before the end.", faultTexts),
}

func domainRoutes(s *behaviour.Stack) {
	size, last := sizes(s, 40, 3000), s.Uniform(0.6, 0.85)
	for _, at := range firstUses(s, s.LogUniformInt(80, 1800), s.Uniform(2, 6)/last, last) {
		s.Alloc(s.WhenDone(at), size())
	}
	if s.Chance(0.6) {
		beside(s, 100, 5000, size)
	}
}

func firstTools(s *behaviour.Stack) {
	size, typical := sizes(s, 50, 30000), s.LogUniform(6, 120)
	for _, share := range shares(s, s.UniformInt(3, 8), 0, 0.8) {
		at := s.WhenDone(share)
		// Loading goes on for a while, since parts of a tool are used first some time after the tool.
		span := (s.WhenDone(min(share+0.03, 0.8)) - at) * s.LogUniform(0.01, 1)
		s.Burst(s.Size(typical, 0.7), at, span, size)
	}
	beside(s, 150, 4000, size)
}

func peersHeardOf(s *behaviour.Stack) {
	size, middle, width := sizes(s, 100, 2500), s.Uniform(0.35, 0.6), s.Uniform(0.03, 0.09)
	for range s.LogUniformInt(80, 1800) {
		p := s.Uniform(0.0005, 0.9995)
		if at := middle + width*math.Log(p/(1-p)); at > 0 && at < 0.85 {
			s.Alloc(s.WhenDone(at), size())
		}
	}
	if s.Chance(0.7) {
		beside(s, 100, 4000, size)
	}
}

func firstPass(s *behaviour.Stack) {
	size, last, renewals := sizes(s, 80, 6000), s.Uniform(0.6, 0.85), s.Uniform(0.05, 0.6)
	for range s.LogUniformInt(150, 2500) {
		at := last * s.Float64()
		record := s.Alloc(s.WhenDone(at), size())
		for {
			at += s.Exponential(1 / renewals)
			if at > 1 {
				break
			}
			s.Free(record, s.WhenDone(at))
			record = s.Alloc(s.WhenDone(at), size())
		}
	}
}

func poolOfPeaks(s *behaviour.Stack) {
	size, top := sizes(s, 200, 60000), s.LogUniform(60, 1200)
	last := s.Uniform(0.6, 0.8)
	peaks := shares(s, s.UniformInt(4, 9), 0, last)
	heights := make([]float64, len(peaks))
	for i := range heights {
		heights[i] = top * s.Uniform(0.15, 1)
	}
	slices.Sort(heights)
	pool := 0.0
	for i, share := range peaks {
		span := last / float64(len(peaks)) * s.Uniform(0.1, 0.9)
		for ; pool < heights[i]; pool++ {
			at := share + span*min(max(s.NormFloat64()/6, -0.5), 0.5)
			// Nothing is added when most of the work is done.
			s.Alloc(s.WhenDone(min(max(at, 0), 0.84)), size())
		}
	}
	if s.Chance(0.5) {
		beside(s, 100, 3000, size)
	}
}

func largestMessages(s *behaviour.Stack) {
	last, most := s.Uniform(0.6, 0.85), s.LogUniform(4000, 2e6)
	opening := s.Uniform(0.02, 0.3)
	for range s.LogUniformInt(10, 150) {
		opened := opening * s.Float64()
		growths := make([]float64, s.UniformInt(2, 8))
		for i := range growths {
			growths[i] = s.Uniform(opened, last)
		}
		slices.Sort(growths)
		bytes := most * s.LogUniform(0.002, 0.1)
		buffer := s.Alloc(s.WhenDone(opened), int(bytes))
		for i, at := range growths {
			if i == len(growths)-1 {
				bytes = most
			} else {
				bytes += (most - bytes) * s.Uniform(0.02, 0.6)
			}
			buffer = s.Resize(buffer, s.WhenDone(at), int(bytes))
		}
	}
}

func faultTexts(s *behaviour.Stack) {
	size, kinds := sizes(s, 40, 900), s.LogUniformInt(40, 500)
	storms := shares(s, s.UniformInt(4, 8), 0, 0.8)
	popularity := s.Uniform(0.3, 1.5)
	for i := range kinds {
		// The rarer a fault is the more storms pass without it, but the last one brings what is left.
		rarity := math.Pow(float64(i+1)/float64(kinds), popularity)
		storm := min(int(s.Exponential(0.7*rarity*float64(len(storms)))), len(storms)-1)
		s.Alloc(s.WhenDone(storms[storm]+0.02*s.Float64()), size())
	}
	life := s.Seconds * s.LogUniform(0.002, 0.05)
	for _, share := range append(storms, s.Uniform(0.83, 0.97), s.Uniform(0.83, 0.97)) {
		for range s.LogUniformInt(20, 200) {
			at := s.WhenDone(share + 0.02*s.Float64())
			s.AllocFor(at, s.Exponential(life), size())
		}
	}
}
