package debugdiag

import (
	"strconv"
	"strings"
	"time"
)

// dumpNames is how DebugDiag names the dumps it writes:
// leakyapp.exe__PID__4660__Date__03_14_2024__Time_10_22_07AM__511__Manual Dump.dmp
var dumpNames = lazy(`(?i)^(.+?)__PID__(\d{1,10})__(?:Date__(\d{1,2})_(\d{1,2})_(\d{4})__Time_(\d{1,2})_(\d{2})_(\d{2})\s?([AP]M)?)?`)

// A dumpName is what the name of a dump says.
type dumpName struct {
	image string
	pid   uint32
	taken time.Time // local wall clock
}

func parseDumpName(name string) dumpName {
	name = name[strings.LastIndexAny(name, `\/`)+1:]
	m := dumpNames().FindStringSubmatch(name)
	if m == nil {
		return dumpName{}
	}
	d := dumpName{image: m[1]}
	if pid, err := strconv.ParseUint(m[2], 10, 32); err == nil {
		d.pid = uint32(pid)
	}
	n := [6]int{}
	for i := range n {
		n[i], _ = strconv.Atoi("0" + m[i+3]) // digits, few
	}
	month, day, year, hour, minute, second := n[0], n[1], n[2], n[3], n[4], n[5]
	switch half := strings.ToUpper(m[9]); {
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
