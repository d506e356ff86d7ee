package score

import "math"

// A product is e^log × rest. Factors are multiplied into rest, because logarithms and powers are most of the cost of a
// judgement; small counts need none. The zero value is 0.
type product struct{ log, rest float64 }

var one = product{rest: 1}

const (
	// mostFactors is the largest d for which timesRising multiplies factor by factor.
	mostFactors = 16
	// mostRest bounds rest: unless it is 0, it stays within [1/mostRest, mostRest]. Then neither the factors of one
	// step nor the product of three rests overflow or underflow.
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
	p.normalise()
}

func (p *product) times(o *product) {
	p.log += o.log
	p.rest *= o.rest
	p.normalise()
}

func (p *product) over(o *product) {
	p.log -= o.log
	p.rest /= o.rest
	p.normalise()
}

func (p *product) plus(o *product) {
	switch {
	case o.rest == 0:
	case p.rest == 0:
		*p = *o
	case p.log == o.log:
		p.rest += o.rest
	case p.log > o.log:
		p.rest += o.relativeTo(p.log)
	default:
		p.log, p.rest = o.log, o.rest+p.relativeTo(o.log)
	}
}

// relativeTo is p divided by e^log.
func (p *product) relativeTo(log float64) float64 {
	if p.log == log {
		return p.rest
	}
	return p.rest * math.Exp(p.log-log)
}

// normalise moves rest into log when it is too large or too small.
func (p *product) normalise() {
	if p.rest != 0 && (p.rest > mostRest || p.rest < 1/mostRest) {
		p.log, p.rest = p.log+math.Log(p.rest), 1
	}
}

// ln is the logarithm of the product.
func (p *product) ln() float64 { return p.log + math.Log(p.rest) }

// lnRising is ln Γ(x+d)/Γ(x), for positive x and d of 0 or more.
func lnRising(x, d float64) float64 {
	l := one
	l.timesRising(x, d)
	return l.ln()
}

// lgamma is ln Γ(x) for positive x: Stirling's series for x ≥ 8; below 8, Γ(x+1) = xΓ(x) raises x to 8 or more first.
// Its error is below 1e-10, and it is several times as fast as math.Lgamma, which is most of what a judgement costs.
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
