package score

import (
	"math"

	"heapdrift/ingest/capture/allocations"
)

// The judgement on traces.
const (
	// settleShare and settleLifetimes give the settle time: blocks younger than that are not judged, because most blocks that
	// are freed at all live that long. settleMost of the window is its limit.
	settleShare     = 0.02
	settleLifetimes = 1.5
	settleQuantile  = 0.99
	settleMost      = 0.5
	// traceBins is how many bins of births are compared, and in how many of them, and with how many blocks, something must
	// have survived before anything may be called a leak.
	traceBins     = 16
	leastBins     = 4
	leastBlocks   = 3
	lateFrees     = 0.7 // weight of frees of older blocks in the second half
	leastFactor   = 0.5 // of each discount, for the rule that users see
	plateauExpect = 0.6 // of the judged survivors the never-freed ones must make up before the veto begins
	// turnoverWindows is for how many windows more the blocks must be expected to stay, turnoverExpect how many of them.
	turnoverWindows = 2
	turnoverExpect  = 0.6
	ownShare        = 0.5 // of a bin's exposure that follows the site's own allocations; the rest follows time
)

// A traceView is all that is known of one site over a window.
type traceView struct {
	window    float64 // ns
	born      int64
	left      int64
	leftBytes int64
	settle    float64 // ns
	judged    int     // of the stretches of Survival, those old enough
	idle      int     // of those, the ones in which the process did next to nothing
	span      float64 // ns that they cover
	births    int64   // in them
	survivors int64
	bytes     int64 // of the survivors
	bins      int   // of traceBins, those with survivors
	last      int   // of traceBins, the last one with survivors
	shape     shape
	plateau   plateau
	veto      float64 // 1 where the plateau confirms the survivors
	turnover  float64 // 1 where old blocks are not freed
	late      float64 // discount for late frees of older blocks
	lateFrees int64
	raw       float64
	// dispersion is that of the survivors in stretches.
	dispersion float64
}

// Trace judges one site over a window of a trace. Like Snapshots it makes no texts; ExplainTrace does.
func Trace(v *allocations.Survival, idle *Idle) Result {
	t, ok := viewTrace(v, idle)
	if !ok {
		return Result{Class: Unknown}
	}
	return t.result()
}

// ExplainTrace is Trace with a Clause for each condition of the rule.
func ExplainTrace(v *allocations.Survival, idle *Idle) Result {
	t, ok := viewTrace(v, idle)
	if !ok {
		return Result{Class: Unknown, Clauses: []Clause{{Rule: "window", Text: "the window is empty"}}}
	}
	r := t.result()
	r.Clauses = t.clauses(&r)
	return r
}

// An Idle says in which stretches of a Survival the whole process did next to nothing. Who stops the work and lets the trace run
// on must not make a leak look like growth that came to its end. Nil is none.
type Idle [allocations.SurvivalBins]bool

// working lists the first n stretches without those that are idle; with all of them where hardly any would be left.
func (idle *Idle) working(n int) []int {
	list := make([]int, 0, allocations.SurvivalBins)
	for i := range n {
		if idle == nil || !idle[i] {
			list = append(list, i)
		}
	}
	if len(list) < traceBins && idle != nil {
		return (*Idle)(nil).working(n)
	}
	return list
}

func viewTrace(v *allocations.Survival, idle *Idle) (t traceView, ok bool) {
	t.window = float64(v.Over) - float64(v.From)
	if t.window <= 0 {
		return t, false
	}
	for i := range v.Born {
		t.born += bounded(v.Born[i])
		t.left += bounded(v.Left[i])
		t.leftBytes += bounded(v.LeftBytes[i])
	}
	t.lateFrees = bounded(v.LateUnknownFrees)
	t.settle = settleTime(&v.Ended, t.window)
	const stretches = allocations.SurvivalBins
	t.judged = max(0, min(stretches, int(stretches*(1-t.settle/t.window)+1e-9)))
	t.span = t.window * float64(t.judged) / stretches
	for i := range t.judged {
		t.births += bounded(v.Born[i])
		t.survivors += bounded(v.Left[i])
		t.bytes += bounded(v.LeftBytes[i])
	}
	var d, own, e [traceBins]float64
	working := idle.working(t.judged)
	t.idle = t.judged - len(working)
	for k, i := range working {
		bin := k * traceBins / len(working)
		d[bin] += float64(bounded(v.Left[i]))
		own[bin] += float64(bounded(v.Born[i]))
		e[bin] += 1 / float64(len(working))
	}
	for i := range d {
		if d[i] > 0 {
			t.bins++
			t.last = i
		}
		if t.births > 0 {
			// What was freed tells how busy the site was. What was not is what is to be explained, and explains nothing.
			share := ownShare * max(0, 1-float64(t.survivors)/float64(t.births))
			e[i] = (1-share)*e[i] + share*own[i]/float64(t.births)
		}
	}
	if t.survivors < leastBlocks || t.bins < leastBins {
		return t, true
	}
	t.shape = judge(d[:], e[:])
	t.dispersion = dispersion(d[:], e[:])
	t.plateau = kaplanMeier(v)
	t.veto = min(1, t.plateau.forever*float64(t.births)/(plateauExpect*float64(t.survivors)))
	t.late = max(0, 1-lateFrees*float64(t.lateFrees)/(float64(t.survivors)/2))
	t.turnover = min(1, math.Exp(-turnoverWindows*t.plateau.hazard)/turnoverExpect)
	t.raw = t.shape.leak * t.veto * t.turnover * t.late
	return t, true
}

func (t *traceView) result() Result {
	r := Result{Class: t.class(), Model: t.raw, Score: calibrateTrace(t.raw)}
	r.Class = r.Class.decided(r.Score, true)
	r.Certain = r.Class == Leak && r.Score >= CertainScore && t.ruleHolds()
	if t.survivors > 0 && t.span > 0 {
		r.Rate = t.rate()
	}
	return r
}

func (t *traceView) class() Class {
	switch {
	case t.left == 0 && t.born == 0:
		return Stable
	case t.left == 0 || t.survivors == 0:
		return Transient
	case t.survivors < leastBlocks || t.bins <= 2:
		return OneTime
	case t.bins < leastBins && t.last < traceBins/2: // and nothing since
		return OneTime
	case t.bins < leastBins:
		return Growing
	case t.veto < leastFactor || t.turnover < leastFactor:
		return Transient
	}
	switch max(t.shape.leak, t.shape.fill, t.shape.once, t.shape.recent) {
	case t.shape.leak:
		return Leak
	case t.shape.fill:
		return Cache
	case t.shape.once:
		return OneTime
	}
	return Transient
}

// ruleHolds is the rule that users see: survivors enough, from all over the window, of which most are never freed.
func (t *traceView) ruleHolds() bool {
	return t.survivors >= leastBlocks && t.bins >= leastBins && t.veto >= leastFactor && t.turnover >= leastFactor && t.late >= leastFactor
}

// bounded keeps counts from overflowing when they are added up, and what is below nothing out.
func bounded(n int64) int64 { return min(max(n, 0), 1<<54) }

// nanosecondsPerHour makes a trace's rates comparable with those of snapshots.
const nanosecondsPerHour = 3600e9

func (t *traceView) rate() *Rate {
	hours := t.span / nanosecondsPerHour
	low, high := poissonInterval(t.survivors)
	size := float64(t.bytes) / float64(t.survivors)
	r := &Rate{Unit: "hour", Count: float64(t.survivors) / hours, CountLow: low / hours, CountHigh: high / hours}
	r.Bytes, r.BytesLow, r.BytesHigh = r.Count*size, r.CountLow*size, r.CountHigh*size
	r.Over, r.Dispersion = hours, max(1, t.dispersion)
	return r
}

// settleTime is how old a block must be to be judged.
func settleTime(ended *[allocations.LifetimeBuckets]int64, window float64) float64 {
	var all int64
	for _, n := range ended {
		all += bounded(n)
	}
	settle := settleShare * window
	below := int64(math.Ceil(settleQuantile * float64(all)))
	var sum int64
	for b, n := range ended {
		if n <= 0 {
			continue
		}
		if sum += bounded(n); sum >= below { // where in the bucket, by rank
			within := min(1, float64(n-(sum-below))/float64(n))
			settle = max(settle, settleLifetimes*lifetime(float64(b)+within))
			break
		}
	}
	return min(settle, settleMost*window)
}

// lifetime is the lower bound of a bucket of lifetimes, in ns.
func lifetime(bucket float64) float64 { return math.Exp2(bucket / 2) }
