package debugdiag

import (
	"strconv"
	"strings"
	"time"
)

// A dumpNameParts is the name that DebugDiag gives to a dump that it writes:
// leakyapp.exe__PID__4660__Date__03_14_2024__Time_10_22_07AM__511__Manual Dump.dmp
type dumpNameParts struct {
	image, pid string
	clock      [6]string // month, day, year, hour, minute, second; "" where the name has none
	half       string    // AM, PM or ""
}

// dumpNamePartsOf takes a name apart.
func dumpNamePartsOf(name string) (p dumpNameParts, ok bool) {
	for i := 1; i < len(name); i++ {
		s := scan{rest: name[i:]}
		if s.word("__PID__"); s.failed {
			continue
		}
		p.pid = s.digits(1, 10)
		if s.word("__"); s.failed {
			continue
		}
		p.image = name[:i]
		parts := []struct {
			before      string
			least, most int
		}{{"Date__", 1, 2}, {"_", 1, 2}, {"_", 4, 4}, {"__Time_", 1, 2}, {"_", 2, 2}, {"_", 2, 2}}
		for n, part := range parts {
			s.word(part.before)
			p.clock[n] = s.digits(part.least, part.most)
		}
		if s.failed {
			p.clock = [6]string{}
			return p, !strings.Contains(p.image, "\n")
		}
		if s.rest != "" && strings.Contains(" \t\n\f\r", s.rest[:1]) {
			s.rest = s.rest[1:]
		}
		for _, half := range []string{"AM", "PM"} {
			if s.option(half) {
				p.half = half
				break
			}
		}
		return p, !strings.Contains(p.image, "\n")
	}
	return p, false
}

// A dumpName is what the name of a dump says.
type dumpName struct {
	image string
	pid   uint32
	taken time.Time // local wall clock
}

func parseDumpName(name string) dumpName {
	name = name[strings.LastIndexAny(name, `\/`)+1:]
	parts, ok := dumpNamePartsOf(name)
	if !ok {
		return dumpName{}
	}
	d := dumpName{image: parts.image}
	if pid, err := strconv.ParseUint(parts.pid, 10, 32); err == nil {
		d.pid = uint32(pid)
	}
	n := [6]int{}
	for i := range n {
		n[i], _ = strconv.Atoi("0" + parts.clock[i]) // digits, few
	}
	month, day, year, hour, minute, second := n[0], n[1], n[2], n[3], n[4], n[5]
	switch half := parts.half; {
	case half != "" && (hour < 1 || hour > 12):
		return d
	case half == "PM" && hour < 12:
		hour += 12
	case half == "AM" && hour == 12:
		hour = 0
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if year > 0 && t.Month() == time.Month(month) && t.Day() == day && hour < 24 && minute < 60 && second < 60 {
		d.taken = t
	}
	return d
}

// clocks are the ways in which facts print an instant. The order of day and month is that of the machine: only those in
// which it cannot be mistaken, and the American one with AM or PM.
var clocks = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "1/2/2006 3:04:05 PM", "Mon Jan 2 15:04:05 2006",
	"Monday, January 2, 2006 3:04:05 PM"}

func parseClock(text string) (time.Time, bool) {
	for _, layout := range clocks {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
