package debugdiagtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count prints an integer with two digits at least, as the .NET format {0:0,0} does.
func (c Culture) Count(n int64) string {
	s := fmt.Sprintf("%02d", n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + c.Thousands + s[at:]
	}
	return s
}

// Size prints a size in the largest unit that it exceeds, rounded to two decimals.
func (c Culture) Size(bytes int64) string {
	x, unit := float64(bytes), "Bytes"
	for _, next := range []string{"KBytes", "MBytes", "GBytes", "TBytes"} {
		if x <= 1024 {
			break
		}
		x, unit = x/1024, next
	}
	x = math.RoundToEven(x*100) / 100
	return strings.Replace(strconv.FormatFloat(x, 'f', -1, 64), ".", c.Decimal, 1) + " " + unit
}

// coloured is a size as pages print it.
func (c Culture) coloured(bytes int64) string {
	s := c.Size(bytes)
	colour := "DarkGreen"
	for unit, name := range map[string]string{"TBytes": "Crimson", "GBytes": "DarkRed", "MBytes": "SaddleBrown"} {
		if strings.HasSuffix(s, unit) {
			colour = name
		}
	}
	return "<font color=" + colour + ">" + s + "</font>"
}

// Duration prints a time. As DebugDiag does, it rounds days half to even but prints hours modulo 24: 36 h is '2 day(s)
// 12:00:00'.
func Duration(d time.Duration) string {
	days := math.RoundToEven(d.Hours() / 24)
	clock := fmt.Sprintf("%02d:%02d:%02d", int(d.Hours())%24, int(d.Minutes())%60, int(d.Seconds())%60)
	if days >= 1 {
		return fmt.Sprintf("%d day(s) %s", int(days), clock)
	}
	return clock
}

func (c Culture) percent(x float64) string {
	return strings.Replace(fmt.Sprintf("%.2f%%", 100*x), ".", c.Decimal, 1)
}

// anchor is the id of a link's target: the address as .NET prints a double, with an exponent from 1e15 on.
func anchor(address uint64) string {
	if f := float64(address); f >= 1e15 {
		return strconv.FormatFloat(f, 'E', -1, 64)
	}
	return strconv.FormatUint(address, 10)
}
