// Package quantity prints counts, sizes and durations. In come numbers, out go their texts: the same in messages,
// reports and on pages.
package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Plural prints a count with its noun: "1 block", "2,041 blocks", "2 entries".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if plain, isY := strings.CutSuffix(noun, "y"); isY && !strings.ContainsAny(plain[max(0, len(plain)-1):], "aeou") {
		return Count(int64(n)) + " " + plain + "ies"
	}
	return Count(int64(n)) + " " + noun + "s"
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

// Score prints a probability from 0 to 1 with two decimals; with up to four, where two would round it to 0 or 1.
func Score(p float64) string {
	for decimals := 2; decimals <= 4; decimals++ {
		if text := strconv.FormatFloat(p, 'f', decimals, 64); strings.Trim(text[1:], ".0") != "" || p == 0 || p == 1 {
			return text
		}
	}
	if p < 0.5 {
		return "<0.0001"
	}
	return ">0.9999"
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

// LongDuration prints a duration in a sentence: "2.5 hours".
func LongDuration(d time.Duration) string {
	value, name, _ := spanOf(d)
	if value == "1" {
		return value + " " + name
	}
	return value + " " + name + "s"
}

// ShortDuration prints a duration beside a figure: "2.5 h".
func ShortDuration(d time.Duration) string {
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
