package score

import (
	"math"
	"sync"
)

// betaRegularized is I_x(a, b), the regularized incomplete beta function, for positive a and b: a continued fraction in
// the modified Lentz form (Abramowitz & Stegun 26.5.8). It is a probability for whatever it is given.
func betaRegularized(x, a, b float64) float64 {
	switch {
	case !(x > 0):
		return 0
	case x >= 1:
		return 1
	}
	front := math.Exp(lgamma(a+b) - lgamma(a) - lgamma(b) + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return probability(front * betaFraction(x, a, b) / a)
	}
	return probability(1 - front*betaFraction(1-x, b, a)/b)
}

func betaFraction(x, a, b float64) float64 {
	const tiny, accuracy = 1e-300, 1e-12
	away := func(v float64) float64 { // from zero, by which Lentz's method would divide
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	sum := d
	for i := 1; i <= 500; i++ { // some tens are enough; hundreds only for counts beyond a million
		m := float64(i)
		for _, step := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 / away(1+step*d)
			c = away(1 + step/c)
			sum *= c * d
		}
		if math.Abs(c*d-1) < accuracy {
			break
		}
	}
	return sum
}

// studentCDF is the probability that Student's t with the given degrees of freedom is at most t.
func studentCDF(t, degrees float64) float64 {
	switch {
	case math.IsInf(t, 1):
		return 1
	case math.IsInf(t, -1):
		return 0
	}
	tail := betaRegularized(degrees/(degrees+t*t), degrees/2, 0.5) / 2
	if t < 0 {
		return tail
	}
	return 1 - tail
}

// gammaRegularized is P(a, x), the probability that a gamma variable of shape a and scale 1 is at most x: the series
// and the continued fraction of Abramowitz & Stegun 6.5.29 and 6.5.31.
func gammaRegularized(a, x float64) float64 {
	if !(x > 0) {
		return 0
	}
	front := math.Exp(a*math.Log(x) - x - lgamma(a))
	if x < a+1 {
		sum, term := 1/a, 1/a
		for i := 1; i <= 1000 && term > sum*1e-13; i++ {
			term *= x / (a + float64(i))
			sum += term
		}
		return probability(front * sum)
	}
	b := x + 1 - a
	c, d := math.Inf(1), 1/b
	h := d
	for i := 1; i <= 1000; i++ {
		n := float64(i)
		step := -n * (n - a)
		b += 2
		d = 1 / (step*d + b)
		c = b + step/c
		h *= c * d
		if math.Abs(c*d-1) < 1e-13 {
			break
		}
	}
	return probability(1 - front*h)
}

// poissonInterval is the exact interval of 95 % for the mean of a Poisson count, by the gamma distribution; above 100
// it is Byar's approximation, which differs by less than 1 in 1,000 there.
func poissonInterval(k int64) (low, high float64) {
	const z = 1.959964
	n := float64(k)
	if k > mostExact {
		cube := func(v float64) float64 { return v * v * v }
		return n * cube(1-1/(9*n)-z/(3*math.Sqrt(n))), (n + 1) * cube(1-1/(9*(n+1))+z/(3*math.Sqrt(n+1)))
	}
	bounds := poissonBounds()[max(k, 0)]
	return bounds[0], bounds[1]
}

// mostExact is the largest count whose interval is exact.
const mostExact = 100

// poissonBounds are the exact intervals by count. Each takes as long as judging a site otherwise.
var poissonBounds = sync.OnceValue(func() *[mostExact + 1][2]float64 {
	var bounds [mostExact + 1][2]float64
	for k := range bounds {
		n := float64(k)
		if k > 0 {
			bounds[k][0] = invert(func(x float64) float64 { return gammaRegularized(n, x) }, 0.025)
		}
		bounds[k][1] = invert(func(x float64) float64 { return gammaRegularized(n+1, x) }, 0.975)
	}
	return &bounds
})

// invert finds where a rising function of non-negative numbers reaches p, by bisection.
func invert(f func(float64) float64, p float64) float64 {
	low, high := 0.0, 1.0
	for range 64 {
		if f(high) >= p {
			break
		}
		low, high = high, high*2
	}
	for range 50 {
		middle := (low + high) / 2
		if f(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// probability keeps rounding from leaving [0, 1]; what is not a number is no evidence.
func probability(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return min(p, 1)
}
