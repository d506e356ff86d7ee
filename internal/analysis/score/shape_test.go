package score

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainLikelihood is the logarithm of the Dirichlet–multinomial likelihood of d under the proportions p, where 0 means
// that nothing should have come. Its sum is that of the whole exposure, as a few blocks may come anywhere.
func plainLikelihood(concentration float64, d, e, p []float64) float64 {
	a := concentration * float64(len(d))
	sum, total := 0.0, 0.0
	for i := range p {
		sum, total = sum+p[i], total+d[i]
	}
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	l := lgamma(a) - lgamma(a+total)
	for i := range p {
		w := mixing * e[i]
		if p[i] != 0 {
			w += (1 - mixing) * p[i] / sum
		}
		w = a * max(w, leastShare)
		l += lgamma(w+d[i]) - lgamma(w)
	}
	return l
}

// A plainShape computes a shape by the definitions, one likelihood after the other.
type plainShape struct{ d, e, until []float64 }

// average is the logarithm of the mean likelihood over hypotheses and concentrations, less the number of the latter.
func (s *plainShape) average(hypotheses [][]float64) float64 {
	sum := 0.0
	for _, p := range hypotheses {
		for _, c := range concentrations {
			sum += math.Exp(plainLikelihood(c, s.d, s.e, p))
		}
	}
	return sum / float64(len(hypotheses)*len(concentrations))
}

func (s *plainShape) where(holds func(i int) bool, rate func(i int) float64) []float64 {
	p := make([]float64, len(s.d))
	for i := range p {
		if holds(i) {
			p[i] = s.e[i] * rate(i)
		}
	}
	return p
}

// evenly are at most four whole numbers from one to another.
func evenly(from, to int) (list []int) {
	n := min(to-from+1, 4)
	for i := range max(n, 0) {
		at := from
		if n > 1 {
			at += i * (to - from) / (n - 1)
		}
		list = append(list, at)
	}
	return list
}

func (s *plainShape) shape() shape {
	m := len(s.d)
	always, evenRate := func(int) bool { return true }, func(int) float64 { return 1 }
	var leak, fill, recent [][]float64
	for _, onset := range evenly(0, min(m/2, m-1)) {
		leak = append(leak, s.where(func(i int) bool { return i >= onset }, evenRate))
	}
	for _, least := range []float64{1. / 4, 1. / 16, 1. / 100} { // what the rate has fallen to at the end
		fill = append(fill, s.where(always, func(i int) float64 { return math.Pow(least, s.until[i]) }))
	}
	last := 0
	for end := 1; end < m; end++ {
		if begins := s.until[end] - s.e[end]/2; 1-begins < flatTail {
			break
		}
		last = end
	}
	for _, end := range evenly(1, last) {
		fill = append(fill, s.where(func(i int) bool { return i < end }, evenRate))
	}
	for _, bins := range evenly(1, (m+1)/2) {
		recent = append(recent, s.where(func(i int) bool { return i >= m-bins }, evenRate))
	}
	recent = append(recent, s.where(always, func(i int) float64 { return math.Pow(64, s.until[i]) }))
	shares := []float64{s.average(leak), s.average(fill), s.bursts(), s.average(recent)}
	all := shares[0] + shares[1] + shares[2] + shares[3]
	return shape{shares[0] / all, shares[1] / all, shares[2] / all, shares[3] / all}
}

// bursts gives one burst, two and three the same weight, and within each every set of bins.
func (s *plainShape) bursts() float64 {
	m := len(s.d)
	sets := map[int][][]float64{}
	for bits := 1; bits < 1<<m; bits++ {
		p, n := make([]float64, m), 0
		for i := range m {
			if bits>>i&1 == 1 {
				p[i] = 1
				n++
			}
		}
		if n <= 3 {
			sets[n] = append(sets[n], p)
		}
	}
	kinds := []int{1}
	if m >= 3 {
		kinds = append(kinds, 2)
	}
	if m >= threeBursts {
		kinds = append(kinds, 3)
	}
	sum := 0.0
	for _, n := range kinds {
		sum += s.average(sets[n])
	}
	return sum / float64(len(kinds))
}

// judge computes what the definitions say, for all numbers of bins, and for growth that is steady, ends, bursts, or
// begins late.
func TestShapesByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for m := 1; m <= 9; m++ {
		for range 12 {
			s := plainShape{make([]float64, m), make([]float64, m), make([]float64, m)}
			exposures, exposure := make([]float64, m), 0.0
			for i := range m {
				exposures[i] = float64(1 + r.IntN(5))
				exposure += exposures[i]
			}
			from, to := r.IntN(m), 1+r.IntN(m)
			sum, grown := 0.0, 0.0
			for i := range m {
				s.e[i] = exposures[i] / exposure
				s.until[i] = sum + s.e[i]/2
				sum += s.e[i]
				if i >= from && i < to || r.IntN(4) == 0 {
					s.d[i] = float64(r.IntN(30))
				}
				grown += s.d[i]
			}
			if grown == 0 {
				continue
			}
			got, want := judge(s.d, exposures), s.shape()
			for _, pair := range [][2]float64{{got.leak, want.leak}, {got.fill, want.fill}, {got.once, want.once},
				{got.recent, want.recent}} {
				if math.Abs(pair[0]-pair[1]) > 1e-7 {
					t.Fatalf("increments %v, exposures %v: %+v, want %+v", s.d, exposures, got, want)
				}
			}
		}
	}
}

// Nothing that grew, no exposure and no bins are no shape; more bins than there is room for are left out, and many
// blocks count by their proportions.
func TestShapesAtTheEdges(t *testing.T) {
	if (judge(nil, nil) != shape{}) || (judge([]float64{0, 0}, []float64{1, 1}) != shape{}) ||
		(judge([]float64{1, 0}, []float64{0, 0}) != shape{}) || (judge([]float64{-1, 0}, []float64{1, 1}) != shape{}) {
		t.Error("nothing has a shape")
	}
	many, exposures := make([]float64, maxBins+1), make([]float64, maxBins+1)
	for i := range many {
		many[i], exposures[i] = float64(i%3+1), 1
	}
	if judge(many, exposures) != judge(many[:maxBins], exposures[:maxBins]) {
		t.Error("what is behind the last bin counts")
	}
	const three = maxTotal / 4
	at, above := judge([]float64{three, 2 * three, three}, []float64{1, 1, 1}),
		judge([]float64{4 * three, 8 * three, 4 * three}, []float64{1, 1, 1})
	if at != above {
		t.Errorf("of %v blocks %+v, of four times as many %+v", maxTotal, at, above)
	}
	if below := judge([]float64{three - 4, 2*three - 8, three - 4}, []float64{1, 1, 1}); below == at {
		t.Errorf("of less than %v blocks %+v, too", maxTotal, below)
	}
}

// The likeliest hypothesis is the first of those that are equal but for rounding.
func TestLikeliest(t *testing.T) {
	for s, want := range map[shape]hypothesis{
		{0.25, 0.25, 0.25, 0.25}:               steadily,
		{0.1, 0.7, 0.1, 0.1}:                   filling,
		{0.1, 0.1, 0.7, 0.1}:                   inBursts,
		{0.1, 0.1, 0.1, 0.7}:                   recently,
		{0.4, 0.4 + tie/2, 0.1, 0.1}:           steadily,
		{0.4, 0.4 + 2*tie, 0.1, 0.1}:           filling,
		{0.1, 0.1, 0.4, 0.4}:                   inBursts,
		{0.1, 0.3, 0.3 + tie/2, 0.3 + 2.5*tie}: recently,
	} {
		if got := s.likeliest(); got != want {
			t.Errorf("%+v: %d, want %d", s, got, want)
		}
	}
}

func TestSteps(t *testing.T) {
	for span, want := range map[[2]int][]int{
		{1, 0}: {}, {2, 0}: {}, {0, 0}: {0}, {1, 2}: {1, 2}, {1, 4}: {1, 2, 3, 4}, {0, 4}: {0, 1, 2, 4}, {1, 8}: {1, 3, 5, 8},
	} {
		list, n := steps(span[0], span[1])
		if n != len(want) {
			t.Errorf("%v: %d steps", span, n)
			continue
		}
		for i, w := range want {
			if list[i] != w {
				t.Errorf("%v: %v, want %v", span, list[:n], want)
			}
		}
	}
}

// A product keeps its value, however it is split between logarithm and rest.
func TestProducts(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }
	for _, x := range []float64{1e-12, 0.5, 3, 7.999, 8, 8.001, 1e6} {
		if want, _ := math.Lgamma(x); math.Abs(lgamma(x)-want) > 1e-10*max(1, math.Abs(want)) {
			t.Errorf("lgamma(%g) is %g, want %g", x, lgamma(x), want)
		}
		for _, d := range []float64{0, 1, 2.5, mostFactors, mostFactors + 1, 1000} {
			above, _ := math.Lgamma(x + d)
			below, _ := math.Lgamma(x)
			if got := lnRising(x, d); !near(got, above-below) {
				t.Errorf("Γ(%g+%g)/Γ(%[1]g): %g, want %g", x, d, got, above-below)
			}
		}
	}
	for _, a := range []product{{0, 2}, {5, 3}, {700, 1e70}, {-3, 1e-70}} {
		for _, b := range []product{{0, 7}, {5, 1}, {-900, 4}} {
			product, quotient, sum := a, a, a
			product.times(&b)
			quotient.over(&b)
			sum.plus(&b)
			if !near(product.ln(), a.ln()+b.ln()) || !near(quotient.ln(), a.ln()-b.ln()) {
				t.Errorf("%v and %v: product %v, quotient %v", a, b, product, quotient)
			}
			large, small := max(a.ln(), b.ln()), min(a.ln(), b.ln())
			if !near(sum.ln(), large+math.Log1p(math.Exp(small-large))) {
				t.Errorf("%v and %v: sum %v", a, b, sum)
			}
		}
	}
	var zero product
	if zero.plus(&one); zero != one {
		t.Errorf("0 and 1 are %v", zero)
	}
	if zero.plus(&product{800, 0}); zero != one {
		t.Errorf("1 and 0 are %v", zero)
	}
	if p := (product{0, 2 * mostRest}); true {
		if p.normalise(); p.rest != 1 || !near(p.log, math.Log(2*mostRest)) {
			t.Errorf("a large rest is left: %v", p)
		}
	}
	if p := (product{0, 0.5 / mostRest}); true {
		if p.normalise(); p.rest != 1 || !near(p.log, math.Log(0.5/mostRest)) {
			t.Errorf("a small rest is left: %v", p)
		}
	}
	for _, rest := range []float64{mostRest, 1, 0} {
		p := product{3, rest}
		if p.normalise(); p != (product{3, rest}) {
			t.Errorf("%g is moved: %v", rest, p)
		}
	}
}

// Symmetric sums of products, and of none that can be.
func TestSymmetric(t *testing.T) {
	factors := []product{{0, 2}, {math.Log(3), 1}, {0, 5}, {0, 7}}
	for degree, want := range []float64{1, 17, 101, 247} {
		if degree == 0 {
			continue
		}
		if sum := symmetric(factors, degree); math.Abs(sum.ln()-math.Log(want)) > 1e-12 {
			t.Errorf("degree %d: %g, want %g", degree, math.Exp(sum.ln()), want)
		}
	}
	never := product{math.Inf(-1), 1}
	if sum := symmetric([]product{never, never}, 2); !math.IsInf(sum.ln(), -1) {
		t.Errorf("of what cannot be: %v", sum)
	}
}
