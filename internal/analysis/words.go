package analysis

import (
	"math"
	"strconv"
	"time"

	"heapdrift/ingest/capture"
)

// Where names a site in a sentence: its blame frame, with file and line where known.
func (s *Site) Where() string { return where(s.Blame, s.Kind) }

// Where names a finding in a sentence, as that of a site.
func (f *Finding) Where() string { return where(f.blamed(), f.Kind) }

// blamed is Blame, also for a finding whose names are not filled in yet.
func (f *Finding) blamed() *Blame {
	if f.from != nil {
		return f.from.frames.blamed(f.from.stack)
	}
	return f.Blame
}

func where(b *Blame, kind string) string {
	if b == nil && kind == capture.KindVirtual.String() {
		return "virtual memory without a stack"
	}
	return b.where()
}

func (b *Blame) where() string {
	if b == nil {
		return "allocations without a stack"
	}
	f := Frame{Module: b.Module, Function: b.Function, Offset: b.Offset, File: b.File, Line: b.Line}
	switch {
	case b.Module == "" && b.Function == "":
		return "outside every module"
	case b.File == "":
		return f.Name()
	}
	return f.Name() + " (" + f.Place() + ")"
}

func blocks(n int64) string { return Plural(n, "block") }

// Plural prints how many there are of something, "1 block", "2,041 blocks".
func Plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Count(n) + " " + word + "s"
}

// Count prints a number with thousands separated by commas and a true minus sign.
func Count(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "−"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Number prints a number that is no whole count, such as blocks per hour: with three significant digits, and whole from
// 100 on, never with an exponent.
func Number(x float64) string {
	if math.Abs(x) >= 99.95 && math.Abs(x) < 1e15 {
		return Count(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// spanUnits are the units of durations; one is told by the first that it has two of.
var spanUnits = []struct {
	unit        time.Duration
	name, short string
}{{24 * time.Hour, "day", "d"}, {time.Hour, "hour", "h"}, {time.Minute, "minute", "min"}, {time.Second, "second", "s"}}

// Lasting prints a duration in a sentence: "2.5 hours".
func Lasting(d time.Duration) string {
	value, name, _ := spanOf(d)
	if value == "1" {
		return value + " " + name
	}
	return value + " " + name + "s"
}

// Span prints a duration beside a figure: "2.5 h".
func Span(d time.Duration) string {
	value, _, short := spanOf(d)
	return value + " " + short
}

func spanOf(d time.Duration) (value, name, short string) {
	u := spanUnits[len(spanUnits)-1]
	for _, larger := range spanUnits {
		if d >= 2*larger.unit {
			u = larger
			break
		}
	}
	return Number(float64(d) / float64(u.unit)), u.name, u.short
}

// Bytes prints a size with three significant digits, 1 KB = 1,024 bytes as Windows tools count.
func Bytes(n int64) string {
	v, unit, sign := float64(n), 0, ""
	if n < 0 {
		v, sign = -v, "−"
	}
	if v < 1024 {
		return Count(n) + " B"
	}
	for v >= 999.5 && unit < 4 {
		v /= 1024
		unit++
	}
	decimals := 2
	if v >= 99.95 {
		decimals = 0
	} else if v >= 9.995 {
		decimals = 1
	}
	return sign + strconv.FormatFloat(v, 'f', decimals, 64) + " " + [...]string{"B", "KB", "MB", "GB", "TB"}[unit]
}

// hasBlame reports whether there is a frame to blame.
func (f *Finding) hasBlame() bool { return f.Blame != nil || f.from != nil && f.from.blamed }
