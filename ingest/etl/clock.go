package etl

import (
	"math"
	"math/bits"
)

const second = 1_000_000_000 // ns

// A clock turns time stamps into nanoseconds since the trace's start.
type clock struct {
	start     int64  // time stamp of the start
	frequency uint64 // stamps per second
	factor    int64  // ns per stamp where that is a whole number, or 0
}

func newClock(start, frequency int64) clock {
	c := clock{start: start, frequency: uint64(frequency)}
	if second%frequency == 0 {
		c.factor = second / frequency
	}
	return c
}

// ns is the time of a stamp. Stamps further away than an int64 of nanoseconds reaches, 292 years, are clamped. Neither
// stamps nor the start are negative.
func (c *clock) ns(stamp int64) int64 {
	d := stamp - c.start
	if c.factor != 0 && d < 1<<32 && d > -1<<32 {
		return d * c.factor
	}
	negative := stamp < c.start
	size := uint64(d)
	if negative {
		size = uint64(c.start) - uint64(stamp)
	}
	high, low := bits.Mul64(size, second)
	ns := uint64(math.MaxInt64)
	if high < c.frequency {
		ns, _ = bits.Div64(high, low, c.frequency)
		ns = min(ns, math.MaxInt64)
	}
	if negative {
		return -int64(ns)
	}
	return int64(ns)
}

// stampFrequency is how many time stamps of a log file make a second, or 0.
func (l *LogFile) stampFrequency() int64 {
	switch l.Clock {
	case 0, ClockQPC: // 0 before Windows Vista
		return max(0, l.Frequency)
	case ClockSystem:
		return 10_000_000
	case ClockCycles:
		return int64(l.CPUSpeed) * 1_000_000
	}
	return 0
}
