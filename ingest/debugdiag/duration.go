package debugdiag

import (
	"strconv"
	"time"
)

// durationParts are days, hours, minutes and seconds of the first duration in a text, as digits; days may be "".
func durationParts(text string) (parts [4]string, ok bool) {
	for i := range len(text) {
		s := scan{rest: text[i:]}
		dated := s
		days := dated.digits(1, 6)
		if dated.word(" day"); !dated.failed {
			dated.option("s")
			dated.option("(s)")
			dated.word(" ")
		}
		for _, from := range []struct {
			scan
			days string
		}{{dated, days}, {s, ""}} {
			parts = [4]string{from.days, from.digits(1, 2)}
			from.word(":")
			parts[2] = from.digits(2, 2)
			from.word(":")
			if parts[3] = from.digits(2, 2); !from.failed {
				return parts, true
			}
		}
	}
	return parts, false
}

// parseDuration reads "1 day(s) 02:30:25". The number of days is rounded, not cut off: from 12:00:00 on it counts the
// day that has only begun. Of exactly 12:00:00, which is rounded to the even number, it cannot be told; doubtful says
// that it may be a day more.
func parseDuration(text string) (d time.Duration, doubtful, ok bool) {
	parts, ok := durationParts(text)
	if !ok {
		return 0, false, false
	}
	n := [4]int64{}
	for i := range n {
		n[i], _ = strconv.ParseInt("0"+parts[i], 10, 64) // digits, few
	}
	days, hours, minutes, seconds := n[0], n[1], n[2], n[3]
	if hours > 23 || minutes > 59 || seconds > 59 {
		return 0, false, false
	}
	if hours >= 12 && days >= 1 {
		doubtful = hours == 12 && minutes == 0 && seconds == 0 && days%2 == 0
		days--
	}
	return time.Duration(((days*24+hours)*60+minutes)*60+seconds) * time.Second, doubtful, true
}
