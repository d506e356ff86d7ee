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

// A hypothesis is one of those of a shape.
type hypothesis int

const (
	steadily hypothesis = iota // like a leak
	filling
	inBursts
	recently
)

// tie is by how much a hypothesis must be more probable than another to be told from it: sums round.
const tie = 1e-9

// likeliest is the most probable hypothesis; of several the one that is named first.
func (s *shape) likeliest() hypothesis {
	list := [...]float64{steadily: s.leak, filling: s.fill, inBursts: s.once, recently: s.recent}
	best := steadily
	for h, p := range list {
		if p > list[best]+tie {
			best = hypothesis(h)
		}
	}
	return best
}

// Constants of the hypotheses.
const (
	// mixing is what each hypothesis leaves to all others, so that a single stray block does not refute it.
	mixing = 0.02
	// flatTail is the share of the exposure that has to be left without growth for a ramp to have ended.
	flatTail = 0.15
	// threeBursts is how many bins it takes to look for three bursts: of fewer they would be most.
	threeBursts = 5
	// maxTotal is how many blocks are told apart: beyond it only the proportions matter, and differences of ln Γ lose
	// digits.
	maxTotal = 1e6
	// leastShare keeps the logarithms of intervals without any length finite.
	leastShare = 1e-12
)

// concentrations are the burstiness averaged over, for each bin: from "half of a block decides" to "as even as
// Poisson".
var concentrations = [...]float64{0.5, 2, 8, 50}

// A decline is a rate that falls over the whole, for a cache that fills, from those that fall to a fourth and to a
// hundredth.
type decline struct {
	of func(fourth, hundredth float64) float64
}

// declines fall to a fourth, a sixteenth and a hundredth.
var declines = [...]decline{
	{func(fourth, _ float64) float64 { return fourth }},
	{func(fourth, _ float64) float64 { return fourth * fourth }},
	{func(_, hundredth float64) float64 { return hundredth }},
}

// mostSteps is how many onsets and endings are tried at most: between them the shapes differ by little.
const mostSteps = 4

// A shaper compares hypotheses about one series of increments.
type shaper struct {
	d, e  [maxBins]float64 // increments, and exposure as shares of 1
	until [maxBins]float64 // share of the exposure up to the middle of each bin
	// fourth and hundredth are rates that fall to that over the whole, at the middle of each bin.
	fourth, hundredth [maxBins]float64
	m                 int
	total             float64
	p                 [maxBins]float64 // the hypothesis looked at; 0 where nothing should have come
	// By concentration: the factor of each bin in which nothing should have come, and what all together are divided by.
	stray [len(concentrations)][maxBins]product
	whole [len(concentrations)]product
}

// judge says how probable each hypothesis is for increments d with exposures e. All are shares of nothing where nothing
// grew.
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
		s.fourth[i], s.hundredth[i] = math.Exp(-s.until[i]*math.Ln2*2), math.Exp(-s.until[i]*math.Ln10*2)
		sum += s.e[i]
	}
	if s.total > maxTotal {
		for i := range s.m {
			s.d[i] *= maxTotal / s.total
		}
		s.total = maxTotal
	}
	for k, concentration := range concentrations {
		a := concentration * float64(s.m)
		s.whole[k].log = -lnRising(a, s.total)
		s.whole[k].rest = 1
		for i := range s.m {
			s.stray[k][i] = one
			s.stray[k][i].timesRising(a*max(mixing*s.e[i], leastShare), s.d[i])
		}
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
	list, n := steps(0, min(s.m/2, s.m-1))
	for _, onset := range list[:n] {
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
	for _, q := range declines {
		for i := range s.m {
			s.p[i] = s.e[i] * q.of(s.fourth[i], s.hundredth[i])
		}
		s.addTo(&m)
	}
	last := 0
	for end := 1; end < s.m && 1-s.until[end]+s.e[end]/2 >= flatTail; end++ {
		last = end
	}
	list, n := steps(1, last)
	for _, end := range list[:n] {
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
	list, n := steps(1, (s.m+1)/2)
	for _, last := range list[:n] {
		for i := range s.m {
			s.p[i] = s.e[i]
			if i < s.m-last {
				s.p[i] = 0
			}
		}
		s.addTo(&m)
	}
	for i := range s.m {
		q := 1 / s.fourth[i]
		s.p[i] = s.e[i] * q * q * q // rises 64-fold
	}
	s.addTo(&m)
	return m.log()
}

// once averages over all bins, all pairs and all triples of bins: one burst, two and three have the same weight. The
// likelihood of bins that burst is a product of one factor for each, so that the sums over pairs and triples are
// elementary symmetric sums.
func (s *shaper) once() float64 {
	var bursts [3]mean // one, two, three
	for k, concentration := range concentrations {
		a := concentration * float64(s.m)
		none := s.whole[k]
		for i := range s.m {
			none.times(&s.stray[k][i])
		}
		for n := range bursts {
			degree := n + 1
			if degree == 3 && s.m < threeBursts {
				break
			}
			var factors [maxBins]product // of a bin that is all of the growth, half of it or a third
			for i := range s.m {
				factors[i] = one
				factors[i].timesRising(a*(mixing*s.e[i]+(1-mixing)/float64(degree)), s.d[i])
				factors[i].over(&s.stray[k][i])
			}
			sum, sets := symmetric(factors[:s.m], degree), s.m
			for i := 1; i < degree; i++ {
				sets = sets * (s.m - i) / (i + 1)
			}
			sum.times(&none)
			bursts[n].addAll(k, &sum, sets)
		}
	}
	if s.m < 3 { // two bursts would explain whatever there is
		return bursts[0].log()
	}
	var all mean
	for i := range bursts {
		if bursts[i].n > 0 {
			all.add(0, &product{bursts[i].log(), 1})
		}
	}
	return all.log()
}

// symmetric is the sum, over all sets of degree of the factors, of their products.
func symmetric(factors []product, degree int) product {
	top := math.Inf(-1)
	for i := range factors {
		top = max(top, factors[i].log)
	}
	if math.IsInf(top, -1) {
		return product{top, 1}
	}
	var sums [4]float64
	sums[0] = 1
	for i := range factors {
		x := factors[i].relativeTo(top)
		for k := degree; k > 0; k-- {
			sums[k] += x * sums[k-1]
		}
	}
	return product{float64(degree) * top, sums[degree]}
}

// steps are at most mostSteps whole numbers from one to another, both of them and evenly between, the first n of the
// list; none where the last is less.
func steps(from, to int) (list [mostSteps]int, n int) {
	n = max(min(to-from+1, mostSteps), 0)
	for i := range n {
		list[i] = from
		if n > 1 {
			list[i] = from + i*(to-from)/(n-1)
		}
	}
	return list, n
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
	for k, concentration := range concentrations {
		a := concentration * float64(s.m)
		l := s.whole[k]
		for i := range s.m {
			switch {
			case !(s.d[i] > 0):
			case s.p[i] == 0:
				l.times(&s.stray[k][i])
			default:
				l.timesRising(a*max((1-mixing)*s.p[i]/sum+mixing*s.e[i], leastShare), s.d[i])
			}
		}
		m.add(k, &l)
	}
}

// A mean averages likelihoods. It sums them by concentration: those of one have the same logarithm and differ by their
// rests, mostly.
type mean struct {
	sums [len(concentrations)]product
	n    int
}

func (m *mean) add(concentration int, l *product) { m.addAll(concentration, l, 1) }

// addAll adds n likelihoods whose sum is given.
func (m *mean) addAll(concentration int, l *product, n int) {
	m.n += n
	m.sums[concentration].plus(l)
}

func (m *mean) log() float64 {
	var all product
	for i := range m.sums {
		all.plus(&m.sums[i])
	}
	if m.n == 0 {
		return math.Inf(-1)
	}
	return all.ln() - math.Log(float64(m.n))
}
