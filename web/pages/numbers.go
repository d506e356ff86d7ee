package pages

import (
	"strconv"
	"time"

	"heapdrift/internal/analysis"
)

// exactBytes is a size to the byte, for where the short form is not enough.
func exactBytes(n int64) string { return analysis.Count(n) + " B" }

// A change is a growth as tables show it: a glyph, so that it does not rest on colour alone, and a sign.
type change struct {
	class string // up, down or flat
	text  string
	exact string
}

func bytesChange(n *int64) change {
	if n == nil {
		return change{"flat", "–", "nothing to compare with"}
	}
	return changeOf(*n, analysis.Bytes(*n), exactBytes(*n))
}

func countChange(n *int64) change {
	if n == nil {
		return change{"flat", "–", "nothing to compare with"}
	}
	return changeOf(*n, analysis.Count(*n), analysis.Count(*n)+" blocks")
}

func changeOf(n int64, text, exact string) change {
	switch {
	case n > 0:
		return change{"up", "▲ +" + text, "+" + exact}
	case n < 0:
		return change{"down", "▼ " + text, exact}
	}
	return change{"flat", "= " + text, exact}
}

// growthOf is a growth in bytes, nil where there is nothing to compare with.
func growthOf(a analysis.Amounts) *int64 {
	if a.Growth == nil {
		return nil
	}
	return &a.Growth.Bytes
}

// counted is "1 block" or "1,024 blocks".
func counted[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return analysis.Count(int64(n)) + " " + word + "s"
}

// moment is an instant as pages show it.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") }

// machine is the instant for <time>.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

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

// orDash stands a dash where there is nothing to say.
func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
