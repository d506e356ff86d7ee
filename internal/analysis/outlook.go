package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis/score"
)

// An Outlook says how long a limited resource lasts, if memory goes on growing at the measured rate.
type Outlook struct {
	Of    string `json:"of"`              // OfAddressSpace or OfCommit
	Limit int64  `json:"limit,omitempty"` // bytes; 0 where the evidence does not tell
	Used  int64  `json:"used,omitempty"`  // bytes of it, at the last instant that tells; 0 where none does
	// PerHour is the growth in bytes, 0 where none was measured; Instants is how many tell it, and OverNS over how long.
	PerHour  float64 `json:"per_hour,omitempty"`
	Instants int     `json:"instants,omitempty"`
	OverNS   int64   `json:"over_ns,omitempty"`
	// LeftNS is the time that is left; nil where it is not known, for the reason in Why.
	LeftNS *int64 `json:"left_ns,omitempty"`
	// LeastNS and MostNS are the bounds of LeftNS with 95 %; nil where fewer than five instants tell the growth, MostNS also
	// where it may be none.
	LeastNS *int64 `json:"left_least_ns,omitempty"`
	MostNS  *int64 `json:"left_most_ns,omitempty"`
	Why     string `json:"why,omitempty"`
}

// What is limited: the addresses of a 32-bit program, and what the machine can promise to all of its processes.
const (
	OfAddressSpace = "address space"
	OfCommit       = "commit of the machine"
)

// leastGrowth is the least growth, in bytes from the beginning to the end, that is worth a forecast: heaps commit by
// the megabyte, so that less may be a single commit.
const leastGrowth = 1 << 20

// instantsToBound is how many instants it takes for the rate to have an interval.
const instantsToBound = 5

// mostAhead is how far a forecast goes. Beyond it, no process lives that long.
const mostAhead = 10 * 365 * 24 * time.Hour

// outlooks are those of the limits that a program of its width has.
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
		list = append(list, outlook(OfAddressSpace, limit, used, c, taken))
	}
	if last.Bits == 64 || last.MachineCommitLimit > 0 {
		list = append(list, outlook(OfCommit, last.MachineCommitLimit, last.MachineCommit, c, c.figure().of))
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
	o := Outlook{Of: of, Limit: limit}
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
		o.Why = "the evidence does not tell how much is used"
		return o
	case len(ns) == 1:
		o.Why = "one instant shows no growth"
		return o
	case !c.Timed:
		o.Why = "not all of the evidence says when it was taken"
		return o
	case ns[len(ns)-1] <= ns[0]:
		o.Why = "all of the evidence was taken at one time"
		return o
	}
	o.OverNS = ns[len(ns)-1] - ns[0]
	rate, slowest, fastest := score.TheilSen(at, values)
	if values[len(values)-1]-values[0] < leastGrowth || rate <= 0 {
		o.Why = "no growth was measured"
		return o
	}
	o.PerHour = rate
	if limit <= 0 {
		o.Why = "the evidence does not tell the limit"
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

// interval is when the limit is reached at the bounds of the rate, in words, as in " (2 hours to 5 hours)"; "" where
// too few instants tell.
func (o *Outlook) interval() string {
	if o.LeastNS == nil {
		return ""
	}
	least := figures.Lasting(time.Duration(*o.LeastNS))
	if o.MostNS == nil || time.Duration(*o.MostNS) >= mostAhead {
		return fmt.Sprintf(" (%s or more)", least)
	}
	return fmt.Sprintf(" (%s to %s)", least, figures.Lasting(time.Duration(*o.MostNS)))
}

// soon is how much time is left at most where a verdict tells of it.
const soon = 7 * 24 * time.Hour

// describeFirstLimit says which limit is reached first, and when, where that is soon; "" where none is.
func describeFirstLimit(r *Report) string {
	var first *Outlook
	if r.MemoryHistory != nil {
		for i := range r.MemoryHistory.Outlooks {
			if o := &r.MemoryHistory.Outlooks[i]; o.LeftNS != nil && (first == nil || *o.LeftNS < *first.LeftNS) {
				first = o
			}
		}
	}
	switch {
	case first == nil || time.Duration(*first.LeftNS) > soon:
		return ""
	case *first.LeftNS == 0:
		return fmt.Sprintf("the %s is used up", first.Of)
	}
	return fmt.Sprintf("at %s per hour the %s is used up in %s%s", figures.Bytes(int64(first.PerHour)), first.Of,
		figures.Lasting(time.Duration(*first.LeftNS)), first.interval())
}

// Sentence writes the outlook as a sentence.
func (o *Outlook) Sentence() string {
	limit := "its limit"
	if o.Limit > 0 {
		limit = "the limit of " + figures.Bytes(o.Limit)
		if o.Used > 0 {
			limit += fmt.Sprintf(", of which %s are used,", figures.Bytes(o.Used))
		}
	}
	if o.LeftNS == nil {
		s := fmt.Sprintf("When the %s reaches %s is unknown: %s", o.Of, limit, o.Why)
		if o.PerHour > 0 {
			s += fmt.Sprintf("; it grows by %s per hour", figures.Bytes(int64(o.PerHour)))
		}
		return s + "."
	}
	basis := fmt.Sprintf("as measured between two instants %s apart", figures.Lasting(time.Duration(o.OverNS)))
	if o.Instants > 2 {
		basis = fmt.Sprintf("as measured at %d instants over %s", o.Instants, figures.Lasting(time.Duration(o.OverNS)))
	}
	left := "in " + figures.Lasting(time.Duration(*o.LeftNS)) + o.interval()
	switch {
	case time.Duration(*o.LeftNS) >= mostAhead:
		left = "in more than ten years"
	case *o.LeftNS == 0:
		left = "now"
	}
	s := fmt.Sprintf("At %s per hour, %s, the %s reaches %s %s.", figures.Bytes(int64(o.PerHour)), basis, o.Of, limit, left)
	if o.Of == OfAddressSpace {
		return s + " An allocation that is larger than the largest free block fails before."
	}
	return s + " What other processes commit is not counted in."
}

// Sentences describe the memory history: what grew, what nothing explains, and how long limited resources last.
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

// DescribeGrowth tells what grew: the total, its largest parts, and the rest that nothing explains. It is "" where growth
// cannot be told.
func (c *MemoryHistory) DescribeGrowth() string {
	_, _, growth, by, ok := c.Growth()
	if !ok {
		return ""
	}
	over := ""
	if growth.AtNS > 0 {
		over = " over " + figures.Lasting(time.Duration(growth.AtNS))
	}
	changed := "changed by " + grownBy(*growth.Total)
	if *growth.Total == 0 {
		changed = "did not change"
	}
	s := fmt.Sprintf("From the first instant to the last%s, %s%s %s", over, c.Measure, by, changed)
	parts := slices.Clone(growth.Parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(magnitude(b.Bytes), magnitude(a.Bytes)) })
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
		s += fmt.Sprintf("%s%s unexplained", map[bool]string{true: ": ", false: ", "}[told == 0],
			grownBy(*growth.Unexplained))
	}
	return s + "."
}

// DescribeUnexplained names what no evidence accounts for at the last instant of the process that tells it; "" where none
// does.
func (c *MemoryHistory) DescribeUnexplained() string {
	which := "at the last instant"
	for _, at := range slices.Backward(c.Instants) {
		switch {
		case at.OtherLife || at.Total == nil:
		case at.Unexplained == nil:
			which = "at the last instant that tells it"
		case *at.Unexplained > 0:
			return fmt.Sprintf("Unexplained: %s of %s of private bytes that no evidence accounts for %s. Pages of images and mapped files that were written to, and page tables, are among them.",
				figures.Bytes(*at.Unexplained), figures.Bytes(*at.Total), which)
		case *at.Unexplained < 0:
			return fmt.Sprintf("Nothing is unexplained %s: the regions have %s more than the system's own count.", which,
				figures.Bytes(-*at.Unexplained))
		}
	}
	return ""
}

func magnitude(n int64) int64 { return max(n, -n) }

func grownBy(n int64) string {
	if n > 0 {
		return "+" + figures.Bytes(n)
	}
	return figures.Bytes(n)
}
