package footprint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/score"
)

// An Outlook says how long a limited resource lasts if memory keeps growing at the measured rate.
type Outlook struct {
	Resource string `json:"of"`              // ResourceAddressSpace or ResourceCommit
	Limit    int64  `json:"limit,omitempty"` // bytes; 0 where the evidence has none
	Used     int64  `json:"used,omitempty"`  // bytes in use, at the last instant with that number; 0 for none
	// BytesPerHour is the measured growth, 0 where none was measured. Instants counts the instants with the number of
	// bytes in use, OverNS is the time in ns between the first and the last of them.
	BytesPerHour float64 `json:"per_hour,omitempty"`
	Instants     int     `json:"instants,omitempty"`
	OverNS       int64   `json:"over_ns,omitempty"`
	// LeftNS is the time in ns, from the last of these instants on, until Used reaches Limit; nil where it is unknown.
	// Why has the reason.
	LeftNS *int64 `json:"left_ns,omitempty"`
	// LeastNS and MostNS are the ends of the 95 % confidence interval of LeftNS, in ns: the limit is reached after
	// LeastNS at the earliest and after MostNS at the latest. Both are nil with fewer than five instants. MostNS is
	// also nil where memory may not grow at all.
	LeastNS *int64 `json:"left_least_ns,omitempty"`
	MostNS  *int64 `json:"left_most_ns,omitempty"`
	Why     string `json:"why,omitempty"` // why LeftNS is nil, as a clause
}

// The limited resources: the addresses of a 32-bit program, and the memory that the machine can commit to all
// processes.
const (
	ResourceAddressSpace = "address space"
	ResourceCommit       = "commit of the machine"
)

// leastGrowth is the least growth from the first instant to the last that gets a forecast, in bytes. Heaps commit by
// the megabyte: less may be a single commit.
const leastGrowth = 1 << 20

// instantsToBound is how many instants the rate needs to have an interval.
const instantsToBound = 5

// mostAhead is how far a forecast goes. Beyond it, no process lives that long.
const mostAhead = 10 * 365 * 24 * time.Hour

// outlooks has a row for each limit that a program of this width has.
func outlooks(c *MemoryHistory) (list []Outlook) {
	last := c.lastSpace(func(*Instant) bool { return true })
	if last == nil {
		return nil
	}
	if last.Bits == 32 {
		taken := func(at *Instant) *int64 { return at.Taken }
		limit, used := last.Limit, int64(0)
		if s := c.lastSpace(func(at *Instant) bool { return taken(at) != nil }); s != nil {
			limit, used = s.Limit, UsedBelowLimit(s)
		}
		list = append(list, outlook(ResourceAddressSpace, limit, used, c, taken))
	}
	if last.Bits == 64 || last.MachineCommitLimit > 0 {
		list = append(list, outlook(ResourceCommit, last.MachineCommitLimit, last.MachineCommit, c, c.figure().of))
	}
	return list
}

// lastSpace is the last known address space of the process; nil where none is known.
func (c *MemoryHistory) lastSpace(has func(*Instant) bool) *capture.Space {
	for i := len(c.Instants) - 1; i >= 0; i-- {
		if at := &c.Instants[i]; at.space != nil && !at.OtherLife && has(at) {
			return at.space
		}
	}
	return nil
}

// outlook measures how a figure grows over the memory history, and how long the limit lasts at that rate.
func outlook(of string, limit, used int64, c *MemoryHistory, figure func(*Instant) *int64) Outlook {
	o := Outlook{Resource: of, Limit: limit}
	if limit > 0 {
		o.Used = used
	}
	var at, values []float64
	var ns []int64
	for i := range c.Instants {
		if n := figure(&c.Instants[i]); n != nil && !c.Instants[i].OtherLife {
			ns, at, values = append(ns, c.Instants[i].AtNS), append(at, float64(c.Instants[i].AtNS)/float64(time.Hour)),
				append(values, float64(*n))
		}
	}
	o.Instants = len(ns)
	switch {
	case len(ns) == 0:
		o.Why = "the evidence does not show how much is used"
		return o
	case len(ns) == 1:
		o.Why = "only one snapshot has this number"
		return o
	case !c.Timed:
		o.Why = "a snapshot has no time"
		return o
	case ns[len(ns)-1] <= ns[0]:
		o.Why = "all snapshots have the same time"
		return o
	}
	o.OverNS = ns[len(ns)-1] - ns[0]
	rate, slowest, fastest := score.TheilSen(at, values)
	if values[len(values)-1]-values[0] < leastGrowth || rate <= 0 {
		o.Why = "it did not grow"
		return o
	}
	o.BytesPerHour = rate
	if limit <= 0 {
		o.Why = "the evidence does not show its limit"
		return o
	}
	left := func(rate float64) *int64 {
		return new(int64(min(max(0, float64(limit-used))/rate*float64(time.Hour), float64(mostAhead))))
	}
	o.LeftNS = left(rate)
	if len(ns) >= instantsToBound {
		o.LeastNS = left(fastest)
		if slowest > 0 {
			o.MostNS = left(slowest)
		}
	}
	return o
}

// interval is the time left at the bounds of the rate, as in " (2 hours to 5 hours)"; "" for too few instants.
func (o *Outlook) interval() string {
	if o.LeastNS == nil {
		return ""
	}
	least := quantity.LongDuration(time.Duration(*o.LeastNS))
	if o.MostNS == nil || time.Duration(*o.MostNS) >= mostAhead {
		return fmt.Sprintf(" (%s or more)", least)
	}
	return fmt.Sprintf(" (%s to %s)", least, quantity.LongDuration(time.Duration(*o.MostNS)))
}

// soon is the longest time left that a verdict mentions.
const soon = 7 * 24 * time.Hour

// DescribeFirstLimit names the limit that is reached first, and when; "" where none is reached soon. h may be nil.
func (c *MemoryHistory) DescribeFirstLimit() string {
	var first *Outlook
	if c != nil {
		for i := range c.Outlooks {
			if o := &c.Outlooks[i]; o.LeftNS != nil && (first == nil || *o.LeftNS < *first.LeftNS) {
				first = o
			}
		}
	}
	switch {
	case first == nil || time.Duration(*first.LeftNS) > soon:
		return ""
	case *first.LeftNS == 0:
		return fmt.Sprintf("the %s is used up", first.Resource)
	}
	return fmt.Sprintf("the %s is used up in %s%s, at %s per hour", first.Resource,
		quantity.LongDuration(time.Duration(*first.LeftNS)), first.interval(), quantity.Bytes(int64(first.BytesPerHour)))
}

// Sentence says in a sentence how long the resource lasts.
func (o *Outlook) Sentence() string {
	var facts []string
	switch {
	case o.Used > 0:
		facts = append(facts, fmt.Sprintf("Used: %s of %s", quantity.Bytes(o.Used), quantity.Bytes(o.Limit)))
	case o.Limit > 0:
		facts = append(facts, "Limit: "+quantity.Bytes(o.Limit))
	}
	if o.BytesPerHour > 0 {
		facts = append(facts, fmt.Sprintf("growth: %s per hour (%d snapshots over %s)", quantity.Bytes(int64(o.BytesPerHour)),
			o.Instants, quantity.LongDuration(time.Duration(o.OverNS))))
	}
	used := ""
	if facts != nil {
		s := strings.Join(facts, "; ")
		used = " " + strings.ToUpper(s[:1]) + s[1:] + "."
	}
	if o.LeftNS == nil {
		return fmt.Sprintf("No forecast for the %s: %s.%s", o.Resource, o.Why, used)
	}
	ends := "is used up in " + quantity.LongDuration(time.Duration(*o.LeftNS)) + o.interval()
	switch {
	case time.Duration(*o.LeftNS) >= mostAhead:
		ends = "lasts more than ten years"
	case *o.LeftNS == 0:
		ends = "is used up"
	}
	note := "Growth of other processes is not included."
	if o.Resource == ResourceAddressSpace {
		note = "Allocations larger than the largest free block fail earlier."
	}
	return fmt.Sprintf("The %s %s.%s %s", o.Resource, ends, used, note)
}

// Sentences describe the growth, the unexplained bytes, and how long limited resources last; none for what is unknown.
func (c *MemoryHistory) Sentences() (list []string) {
	for _, s := range []string{c.DescribeGrowth(), c.DescribeUnexplained()} {
		if s != "" {
			list = append(list, s)
		}
	}
	for i := range c.Outlooks {
		list = append(list, c.Outlooks[i].Sentence())
	}
	return list
}

// DescribeGrowth names the growth of the total, of its largest parts, and of the unexplained rest. It is "" where the
// growth is unknown.
func (c *MemoryHistory) DescribeGrowth() string {
	_, _, growth, by, ok := c.Growth()
	if !ok {
		return ""
	}
	over := "from the first snapshot to the last"
	if growth.AtNS > 0 {
		over = "over " + quantity.LongDuration(time.Duration(growth.AtNS))
	}
	changed := "did not change"
	if n := *growth.Total; n > 0 {
		changed = "grew by " + quantity.Bytes(n)
	} else if n < 0 {
		changed = "shrank by " + quantity.Bytes(-n)
	}
	measure := c.Measure
	s := fmt.Sprintf("%s%s%s %s %s", strings.ToUpper(measure[:1]), measure[1:], by, changed, over)
	parts := slices.Clone(growth.Parts)
	sorting.Stable(parts, func(a, b Part) int { return cmp.Compare(magnitude(b.Bytes), magnitude(a.Bytes)) })
	told := 0
	for _, p := range parts {
		if p.Bytes == 0 || told == 4 {
			break
		}
		s += fmt.Sprintf("%s%s %s", map[bool]string{true: ": ", false: ", "}[told == 0],
			NamesOfUse(p.Use).Title, grownBy(p.Bytes))
		told++
	}
	if growth.Unexplained != nil && *growth.Unexplained != 0 {
		s += fmt.Sprintf("%sunexplained %s", map[bool]string{true: ": ", false: ", "}[told == 0],
			grownBy(*growth.Unexplained))
	}
	return s + "."
}

// DescribeUnexplained names the private bytes that no evidence explains, at the last instant with that number; "" for
// none.
func (c *MemoryHistory) DescribeUnexplained() string {
	which := "last snapshot"
	for _, at := range slices.Backward(c.Instants) {
		switch {
		case at.OtherLife || at.Total == nil:
		case at.Unexplained == nil:
			which = "last snapshot with both counts"
		case *at.Unexplained > 0:
			return fmt.Sprintf("Unexplained: %s of %s private bytes (%s). They include page tables, and written pages of images and mapped files.",
				quantity.Bytes(*at.Unexplained), quantity.Bytes(*at.Total), which)
		case *at.Unexplained < 0:
			return fmt.Sprintf("No private bytes are unexplained (%s): the regions sum to %s more than the system's count.", which,
				quantity.Bytes(-*at.Unexplained))
		}
	}
	return ""
}

func magnitude(n int64) int64 { return max(n, -n) }

func grownBy(n int64) string {
	if n > 0 {
		return "+" + quantity.Bytes(n)
	}
	return quantity.Bytes(n)
}
