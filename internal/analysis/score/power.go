package score

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"heapdrift/ingest/capture/allocations"
)

// A Power is the smallest steady leak that evidence would have shown: one of that rate, or a faster one, is called a
// leak in 9 of 10 runs. Smaller leaks may show as well.
type Power struct {
	Unit  string  `json:"unit"`  // "hour", or the name of the work counter
	Count float64 `json:"count"` // blocks per Unit; 0 where nothing would have been called a leak
	Bytes float64 `json:"bytes"` // bytes per Unit, for blocks of the given size
}

// String says it in a sentence: "Would detect a steady leak of 110 blocks/hour or faster with 90 % probability."
func (p Power) String() string {
	if !(p.Count > 0) {
		return "Would detect no leak."
	}
	s := fmt.Sprintf("Would detect a steady leak of %s blocks/%s", significant(p.Count), p.Unit)
	if p.Bytes > 0 {
		s += fmt.Sprintf(" (about %s/%s)", size(p.Bytes), p.Unit)
	}
	return s + " or faster with 90 % probability."
}

// The growth by which a leak is found in 9 of 10 runs, from simulated Poisson leaks and rounded up. TestPower simulates
// it again.
const (
	// powerTrace is how many survivors are to be expected.
	powerTrace = 20
	// powerLate is how many more for each late free of an older block.
	powerLate = 14
)

// powerSnapshots is the growth that is needed over all snapshots, from so many of them on: blocks for a leak without
// noise, and blocks for each block of noise (standard deviation about the line). With fewer no leak is certain, however
// fast it is.
var powerSnapshots = []struct {
	from          int
	blocks, noise float64
}{{ManySnapshots, 110, 4}, {15, 100, 1}}

// mostGap is the share of the axis' range that an interval may take: with a longer one fewer than nine of ten leaks of
// the same rate are found.
const mostGap = 0.4

// SnapshotPower is the power of snapshots at the instants of the axis; block is the size of a block in bytes, and noise
// is CountNoise. It is growth ≥ blocks + noise·σ, divided by the axis' range. followed says that snapshots list blocks
// by address. why is "" or says in words why no leak would have been certain.
func SnapshotPower(a *Axis, followed bool, noise float64, block int64) (p Power, why string) {
	p = Power{Unit: a.Unit}
	ones := make([]int64, len(a.At))
	points, span, ok := clean(&Series{Count: ones, Bytes: ones}, a)
	switch {
	case !ok || points.n < 2 || !(span > 0) || !(noise >= 0) || math.IsInf(noise, 0):
		return p, ""
	case !followed:
		return p, "no leak can be certain without block addresses"
	case points.n < powerSnapshots[0].from:
		return p, fmt.Sprintf("no leak can be certain with fewer than %d snapshots", powerSnapshots[0].from)
	case slices.Max(differences(points.x[:points.n])) > mostGap:
		return p, "one interval between snapshots is too long to say which leaks would be detected"
	}
	need := powerSnapshots[0]
	for _, n := range powerSnapshots {
		if n.from <= points.n {
			need = n
		}
	}
	return p.of((need.blocks+need.noise*noise)/span, block), ""
}

// TracePower is the power of a trace's window for one site with blocks of the given size in bytes. The site's lifetimes
// decide how long blocks must be left to settle; late frees of older blocks of its heap count against it. It is the
// rate at which as many survivors are expected in the judged part as are needed.
func TracePower(v *allocations.Survival, block int64) Power {
	p := Power{Unit: "hour"}
	window := float64(v.Over) - float64(v.From)
	if window <= 0 {
		return p
	}
	judged := window - settleTime(&v.Ended, window)
	need := powerTrace + powerLate*float64(max(0, v.LateUnknownFrees))
	return p.of(need/(judged/nanosecondsPerHour), block)
}

func (p Power) of(rate float64, block int64) Power {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return p
	}
	p.Count, p.Bytes = rate, rate*float64(max(0, block))
	if math.IsInf(p.Bytes, 0) {
		p.Bytes = 0
	}
	return p
}

// significant prints two digits, rounded up: a power must not be overstated.
func significant(v float64) string {
	if v <= 0 {
		return "0"
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	v = math.Ceil(v/scale-1e-9) * scale
	if v >= 100 {
		return decimal(v)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// size prints bytes in the units of quantity.Bytes, as significant does: with two digits, rounded up.
func size(bytes float64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	i := 0
	for ; bytes >= 999.5 && i < len(units)-1; i++ {
		bytes /= 1024
	}
	return significant(bytes) + " " + units[i]
}
