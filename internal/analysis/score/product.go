package score

import "math"

// A product is e^log times rest, of which nearly all factors are in rest: logarithms and powers are most of what a
// judgement costs, and of small counts none is needed. The zero value is 0.
type product struct{ log, rest float64 }

var one = product{rest: 1}

const (
	// mostFactors is up to how many factors are multiplied out.
	mostFactors = 16
	// mostRest bounds rest, and its inverse: what is multiplied with it in one step, and the product of three, neither
	// overflows nor vanishes.
	mostRest = 1e80
)

// timesRising multiplies by Γ(x+d)/Γ(x), for x from 1e-12 to 1e6 and d of 0 or more.
func (p *product) timesRising(x, d float64) {
	if d > mostFactors || d != math.Trunc(d) {
		p.log += lgamma(x+d) - lgamma(x)
		return
	}
	for ; d > 0; d-- {
		p.rest *= x
		x++
	}
	p.bound()
}

func (p *product) times(o *product) {
	p.log += o.log
	p.rest *= o.rest
	p.bound()
}

func (p *product) over(o *product) {
	p.log -= o.log
	p.rest /= o.rest
	p.bound()
}

func (p *product) plus(o *product) {
	switch {
	case o.rest == 0:
	case p.rest == 0:
		*p = *o
	case p.log == o.log:
		p.rest += o.rest
	case p.log > o.log:
		p.rest += o.in(p.log)
	default:
		p.log, p.rest = o.log, o.rest+p.in(o.log)
	}
}

// in is how often e^log it is.
func (p *product) in(log float64) float64 {
	if p.log == log {
		return p.rest
	}
	return p.rest * math.Exp(p.log-log)
}

// bound moves what is large or small of rest to log.
func (p *product) bound() {
	if p.rest != 0 && (p.rest > mostRest || p.rest < 1/mostRest) {
		p.log, p.rest = p.log+math.Log(p.rest), 1
	}
}

// value is the logarithm of the product.
func (p *product) value() float64 { return p.log + math.Log(p.rest) }

// lnRising is ln Γ(x+d)/Γ(x), for positive x and d of 0 or more.
func lnRising(x, d float64) float64 {
	l := one
	l.timesRising(x, d)
	return l.value()
}

// lgamma is ln Γ(x) for positive x: Stirling's series above 8, by recurrence to there below. Its error is below 1e-10,
// and it is several times as fast as math.Lgamma, which is most of what a judgement costs.
func lgamma(x float64) float64 {
	shift := 1.0
	for x < 8 {
		shift *= x
		x++
	}
	r := 1 / x
	r2 := r * r
	sum := (x-0.5)*math.Log(x) - x + 0.9189385332046727 + r*(1.0/12-r2*(1.0/360-r2*(1.0/1260-r2/1680)))
	if shift != 1 {
		sum -= math.Log(shift)
	}
	return sum
}
