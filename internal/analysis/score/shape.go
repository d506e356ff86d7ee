package score

import "math"

// maxBins is how many intervals or bins a shape may have: 7 intervals of snapshots, 16 bins of a trace.
const maxBins = 16

// A shape is the probability of each hypothesis about when growth happened, all equally likely beforehand.
type shape struct {
	leak   float64 // as fast as the exposure, from the beginning or from an onset in the first half
	fill   float64 // falls off, or ends
	once   float64 // in one burst, two or three
	recent float64 // only at the end, or ever faster
}

// Constants of the hypotheses.
const (
	// mixing is what each hypothesis leaves to all others, so that a single stray block does not refute it.
	mixing = 0.02
	// flatTail is the share of the exposure that has to be left without growth for a ramp to have ended.
	flatTail = 0.15
	// acceleration is by how much growth rises over the whole that is recent without beginning anywhere.
	acceleration = 64
	// threeBursts is how many bins it takes to look for three bursts: of fewer they would be most.
	threeBursts = 5
	// maxTotal is how many blocks are told apart: beyond it only the proportions matter, and differences of ln Γ lose digits.
	maxTotal = 1e6
	// leastShare keeps the logarithms of intervals without any length finite.
	leastShare = 1e-12
)

// concentrations are the burstiness averaged over, for each bin: from "half of a block decides" to "as even as Poisson".
var concentrations = [...]float64{0.5, 2, 8, 50}

// declines are by how much the rate falls over the whole, for a cache that fills.
var declines = [...]float64{4, 8, 16, 40, 100}

// A shaper compares hypotheses about one series of increments.
type shaper struct {
	d, e  [maxBins]float64 // increments, and exposure as shares of 1
	until [maxBins]float64 // share of the exposure up to the middle of each bin
	m     int
	total float64
	p     [maxBins]float64 // the hypothesis looked at
}

// judge says how probable each hypothesis is for increments d with exposures e. All are shares of nothing where nothing grew.
func judge(d, e []float64) shape {
	s := shaper{m: min(len(d), maxBins)}
	var exposure float64
	for i := range s.m {
		s.d[i], s.e[i] = d[i], e[i]
		s.total += d[i]
		exposure += e[i]
	}
	if s.m == 0 || !(s.total > 0) || !(exposure > 0) {
		return shape{}
	}
	sum := 0.0
	for i := range s.m {
		s.e[i] /= exposure
		s.until[i] = sum + s.e[i]/2
		sum += s.e[i]
	}
	if s.total > maxTotal {
		for i := range s.m {
			s.d[i] *= maxTotal / s.total
		}
		s.total = maxTotal
	}
	leak, fill, once, recent := s.leak(), s.fill(), s.once(), s.recent()
	top := max(leak, fill, once, recent)
	leak, fill, once, recent = math.Exp(leak-top), math.Exp(fill-top), math.Exp(once-top), math.Exp(recent-top)
	all := leak + fill + once + recent
	return shape{leak / all, fill / all, once / all, recent / all}
}

// leak averages over the onsets of the first half.
func (s *shaper) leak() float64 {
	var m mean
	for onset := 0; onset <= s.m/2 && onset < s.m; onset++ {
		for i := range s.m {
			s.p[i] = s.e[i]
			if i < onset {
				s.p[i] = 0
			}
		}
		s.addTo(&m)
	}
	return m.log()
}

// fill averages over changes, and over ramps that end.
func (s *shaper) fill() float64 {
	var m mean
	for _, decline := range declines {
		for i := range s.m {
			s.p[i] = s.e[i] * math.Pow(decline, -s.until[i])
		}
		s.addTo(&m)
	}
	for end := 1; end < s.m; end++ {
		if tail := 1 - s.until[end] + s.e[end]/2; tail < flatTail {
			break
		}
		for i := range s.m {
			s.p[i] = s.e[i]
			if i >= end {
				s.p[i] = 0
			}
		}
		s.addTo(&m)
	}
	return m.log()
}

// recent averages over beginnings in the second half, and growth that accelerates.
func (s *shaper) recent() float64 {
	var m mean
	for last := 1; last <= (s.m+1)/2; last++ {
		for i := range s.m {
			s.p[i] = s.e[i]
			if i < s.m-last {
				s.p[i] = 0
			}
		}
		s.addTo(&m)
	}
	for i := range s.m {
		s.p[i] = s.e[i] * math.Pow(acceleration, s.until[i])
	}
	s.addTo(&m)
	return m.log()
}

// once averages over all bins, all pairs and all triples of bins: one burst, two and three have the same weight. The terms of a
// bin that is no burst, a third of the growth, half of it and all of it are computed once for each, so that the others cost sums.
func (s *shaper) once() float64 {
	var single, pairs, triples mean
	for _, concentration := range concentrations {
		a := concentration * float64(s.m)
		var third, half, whole [maxBins]float64
		none := 0.0
		for i := range s.m {
			stray := lnRising(a*max(mixing*s.e[i], leastShare), s.d[i])
			none += stray
			third[i] = lnRising(a*(mixing*s.e[i]+(1-mixing)/3), s.d[i]) - stray
			half[i] = lnRising(a*(mixing*s.e[i]+(1-mixing)/2), s.d[i]) - stray
			whole[i] = lnRising(a*(mixing*s.e[i]+(1-mixing)), s.d[i]) - stray
		}
		none -= lnRising(a, s.total)
		for i := range s.m {
			single.add(none + whole[i])
			for j := range i {
				pairs.add(none + half[i] + half[j])
				if s.m < threeBursts {
					continue
				}
				for k := range j {
					triples.add(none + third[i] + third[j] + third[k])
				}
			}
		}
	}
	if s.m < 3 { // two bursts would explain whatever there is
		return single.log()
	}
	var all mean
	all.add(single.log())
	all.add(pairs.log())
	if triples.n > 0 {
		all.add(triples.log())
	}
	return all.log()
}

// addTo adds the likelihood of s.p under each concentration: Dirichlet–multinomial,
// Γ(A)/Γ(A+D) · Π Γ(a·p+d)/Γ(a·p).
func (s *shaper) addTo(m *mean) {
	sum := 0.0
	for i := range s.m {
		sum += s.p[i]
	}
	if !(sum > 0) {
		return
	}
	for i := range s.m {
		s.p[i] = (1-mixing)*s.p[i]/sum + mixing*s.e[i]
	}
	for _, concentration := range concentrations {
		a := concentration * float64(s.m)
		log := -lnRising(a, s.total)
		for i := range s.m {
			if s.d[i] > 0 {
				log += lnRising(a*max(s.p[i], leastShare), s.d[i])
			}
		}
		m.add(log)
	}
}

// A mean averages likelihoods that are given as logarithms.
type mean struct {
	top, sum float64 // sum counts in units of e^top
	n        int
}

func (m *mean) add(log float64) {
	if m.n++; m.n == 1 {
		m.top, m.sum = log, 1
		return
	}
	if log > m.top {
		m.sum, m.top = m.sum*math.Exp(m.top-log)+1, log
		return
	}
	if log > m.top-40 { // less than the rounding of the sum
		m.sum += math.Exp(log - m.top)
	}
}

func (m *mean) log() float64 {
	if m.n == 0 {
		return math.Inf(-1)
	}
	return m.top + math.Log(m.sum/float64(m.n))
}
