package run

import (
	"strconv"
	"time"
)

// localMoment is a wall clock of the traced machine, which names no zone; "" where the evidence has none.
func localMoment(taken string) string {
	t, err := time.Parse("2006-01-02T15:04:05", taken)
	if err != nil {
		return taken
	}
	return t.Format("2 Jan 2006 15:04")
}

// span is a duration in the one unit that fits it.
func span(d time.Duration) string {
	value, unit := d.Seconds(), "s"
	switch {
	case d >= 48*time.Hour:
		value, unit = d.Hours()/24, "d"
	case d >= 3*time.Hour:
		value, unit = d.Hours(), "h"
	case d >= 3*time.Minute:
		value, unit = d.Minutes(), "min"
	}
	return strconv.FormatFloat(float64(int64(value*10+0.5))/10, 'f', -1, 64) + " " + unit
}
