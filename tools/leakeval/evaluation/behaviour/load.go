package behaviour

import (
	"math"
	"math/rand/v2"
	"slices"
)

// loadSteps is how finely a Load is known.
const loadSteps = 1024

// A Load is how busy a process is over its run: requests, documents, whatever it does for others.
type Load struct {
	seconds float64
	done    [loadSteps + 1]float64 // share of all work that is done up to each instant
}

// NewLoad draws the load of a run of so many seconds: even, swinging, by day and night, in phases, with pauses, rising,
// falling or erratic.
func NewLoad(r *rand.Rand, seconds float64) *Load {
	l := &Load{seconds: seconds}
	kind, depth, swings, phase := r.IntN(9), 0.2+0.7*r.Float64(), 0.5+6*r.Float64(), r.Float64()
	edges := make([]float64, 1+r.IntN(4))
	for i := range edges {
		edges[i] = r.Float64()
	}
	slices.Sort(edges)
	levels := make([]float64, len(edges)+1)
	for i := range levels {
		levels[i] = math.Exp(2 * (r.Float64() - 0.5) * math.Log(4))
	}
	walk := 0.0
	for i := range loadSteps {
		t := (float64(i) + 0.5) / loadSteps
		rate := 1.0
		switch kind {
		case 0, 1: // even
		case 2:
			rate = 1 + depth*math.Sin(2*math.Pi*(swings*t+phase))
		case 3: // day and night
			rate = 0.05 + math.Pow(max(0, math.Sin(2*math.Pi*(t*seconds/43200/2+phase))), 1.5)
		case 4:
			at, _ := slices.BinarySearch(edges, t)
			rate = levels[at]
		case 5: // pauses
			if math.Mod(swings*2*t+phase, 1) < depth/2 {
				rate = 0.03
			}
		case 6:
			rate = 1 + 5*depth*t
		case 7:
			rate = 1 + 3*depth*(1-t)
		case 8:
			walk = 0.97*walk + 0.25*r.NormFloat64()
			rate = math.Exp(walk)
		}
		l.done[i+1] = l.done[i] + rate
	}
	for i := range l.done {
		l.done[i] /= l.done[loadSteps]
	}
	return l
}

// Seconds is the length of the run.
func (l *Load) Seconds() float64 { return l.seconds }

// Work is the share of the run's work, from 0 to 1, that is done at an instant in seconds.
func (l *Load) Work(at float64) float64 {
	x := min(max(at/l.seconds, 0), 1) * loadSteps
	i := min(int(x), loadSteps-1)
	return l.done[i] + (x-float64(i))*(l.done[i+1]-l.done[i])
}

// At is the instant in seconds at which a share of the work, from 0 to 1, is done.
func (l *Load) At(work float64) float64 {
	i, _ := slices.BinarySearch(l.done[:], work)
	i = min(max(i, 1), loadSteps)
	within := (work - l.done[i-1]) / max(l.done[i]-l.done[i-1], 1e-12)
	return (float64(i-1) + min(max(within, 0), 1)) / loadSteps * l.seconds
}
