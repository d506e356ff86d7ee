// Package footprint tells where the memory of a process goes, whatever allocated it: the uses of its address space
// over time, what is free inside its heaps, and when a limited resource is used up. It knows captures, and no sites,
// findings or reports.
package footprint

import (
	"math"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A MemoryHistory is the memory of the process over time, as all evidence of the run tells it together: dumps, VMMap
// and debuggers say what is committed and for what, UMDH, dumps and traces what the blocks of heaps hold.
type MemoryHistory struct {
	// Measure is what parts and totals count: MeasurePrivate, or MeasureCommitted where no evidence tells private bytes.
	Measure  string    `json:"measure"`
	Instants []Instant `json:"instants"` // in the order of time where Timed, else of the evidence
	// Timed says that every instant has a time.
	Timed bool `json:"timed"`
	// Outlooks say when limited resources are used up, or why that is not known.
	Outlooks []Outlook `json:"outlooks"`
}

// The measures of a memory history.
const (
	MeasurePrivate   = "private bytes"
	MeasureCommitted = "committed bytes"
)

// An Instant is what one piece of evidence tells about one instant. Facts that the evidence does not tell are nil.
type Instant struct {
	File    string `json:"file"`               // name of the file of the evidence
	Kind    string `json:"kind"`               // of the evidence: a capture.Kind
	TakenAt string `json:"taken_at,omitempty"` // local time of the traced machine, no zone
	AtNS    int64  `json:"at_ns"`              // ns since the first instant; 0 without times
	// OtherLife says that the process is another one than at the last instant with a total, such as after a restart: no
	// growth is computed between the two.
	OtherLife bool `json:"other_life,omitempty"`
	// Total is how many bytes the system charges the process, or the sum of the parts where the evidence does not tell
	// that.
	Total *int64 `json:"total,omitempty"`
	Parts []Part `json:"parts,omitempty"` // each use once, in the order of capture.UseNames
	// Unexplained is how many bytes the system charges the process beyond all parts; negative where the parts are more.
	Unexplained *int64 `json:"unexplained,omitempty"`
	// Blocks is how many requested bytes the blocks of heaps hold. SinceStart says that Blocks counts only blocks that
	// were allocated while the evidence was recorded.
	Blocks     *int64 `json:"blocks,omitempty"`
	SinceStart bool   `json:"since_start,omitempty"`
	// LowerBound says that the evidence of the instant ends early: the true amounts are at least those here.
	LowerBound bool `json:"lower_bound,omitempty"`
	// Taken is how many bytes of the address space that the program can use are not free.
	Taken *int64 `json:"taken,omitempty"`

	piece int // of those that the memory history is made of
	taken time.Time
	space *capture.Space
}

// A Part is the share of one use of memory in the total.
type Part struct {
	Use   capture.UseName `json:"use"`
	Bytes int64           `json:"bytes"`
}

// mostInstants is how many instants a memory history has at most, and mostOfTrace how many of those a trace gives.
const (
	mostInstants = 200
	mostOfTrace  = 13
)

// A NamedCapture is a capture and the name of its file.
type NamedCapture struct {
	*capture.Capture
	File string
}

// HistoryOf computes the memory over time from evidence in its order. It returns nil where fewer than two instants tell
// the memory, or none tells its uses: a report's snapshots show the blocks over time already. sameLife reports whether
// two captures may show one life of the process.
func HistoryOf(evidence []NamedCapture, sameLife func(a, b *capture.Capture) bool) *MemoryHistory {
	c := &MemoryHistory{Measure: measureOf(evidence)}
	for i, p := range evidence {
		for _, at := range instantsOf(p, c.Measure) {
			at.piece = i
			c.Instants = append(c.Instants, at)
		}
	}
	hasUses := slices.ContainsFunc(c.Instants, func(at Instant) bool { return at.Total != nil })
	if !hasUses || len(c.Instants) < 2 {
		return nil
	}
	c.order()
	c.thin()
	c.clock()
	c.markOtherLives(evidence, sameLife)
	c.Outlooks = outlooks(c)
	return c
}

// markOtherLives marks the instants whose process is not that of the last instant with a total.
func (c *MemoryHistory) markOtherLives(evidence []NamedCapture, sameLife func(a, b *capture.Capture) bool) {
	var last *capture.Capture
	for i := range c.Instants {
		if at := &c.Instants[i]; at.Total != nil {
			last = evidence[at.piece].Capture
		}
	}
	others := make([]bool, len(evidence))
	for i := range evidence {
		others[i] = !sameLife(evidence[i].Capture, last)
	}
	for i := range c.Instants {
		c.Instants[i].OtherLife = others[c.Instants[i].piece]
	}
}

// measureOf is the measure by which pieces of evidence can be compared.
func measureOf(evidence []NamedCapture) string {
	for _, p := range evidence {
		if p.Memory != nil && totalOf(p.Memory.Space, MeasurePrivate) != nil {
			return MeasurePrivate
		}
	}
	return MeasureCommitted
}

// partsOfSpace are the parts of the address space by use, in a measure.
func partsOfSpace(s *capture.Space, measure string) (list []Part, sum int64) {
	for i := range s.Uses {
		n := s.Uses[i].Committed
		if measure == MeasurePrivate {
			n = s.Uses[i].Private
		}
		if n > 0 {
			list, sum = append(list, Part{s.Uses[i].Name, n}), sum+min(n, math.MaxInt64-sum)
		}
	}
	return list, sum
}

// totalOf is the total of a measure, nil where the evidence does not tell it.
func totalOf(s *capture.Space, measure string) *int64 {
	if s == nil {
		return nil
	}
	_, sum := partsOfSpace(s, measure)
	if measure == MeasurePrivate && s.PrivateBytes > 0 {
		sum = s.PrivateBytes
	}
	if sum <= 0 {
		return nil
	}
	return &sum
}

// instantsOf are the instants of a capture that tell something.
func instantsOf(p NamedCapture, measure string) (list []Instant) {
	if p.Shape == capture.ShapeDifference { // it lists only what changed
		return nil
	}
	for k := range p.Snapshots {
		at := Instant{File: p.File, Kind: string(p.Kind), TakenAt: p.Snapshots[k].WallClock(),
			LowerBound: p.Snapshots[k].LowerBound, taken: p.Snapshots[k].TakenAt}
		if p.Memory != nil && k == len(p.Snapshots)-1 {
			at.takeSpace(p.Memory.Space, measure)
		}
		at.takeBlocks(p, k)
		if at.Total != nil || at.Blocks != nil {
			list = append(list, at)
		}
	}
	if p.Trace != nil {
		list = evenly(list, mostOfTrace)
	}
	return list
}

func (at *Instant) takeSpace(s *capture.Space, measure string) {
	at.Total = totalOf(s, measure)
	if at.Total == nil {
		return
	}
	at.space = s
	at.Parts, _ = partsOfSpace(s, measure)
	if _, rest, ok := Unexplained(s); ok && measure == MeasurePrivate {
		at.Unexplained = &rest
	}
	if taken := UsedBelowLimit(s); taken > 0 && !s.Partial {
		at.Taken = &taken
	}
}

// takeBlocks sums what the blocks of heaps hold: by the sites, or as the heaps count.
func (at *Instant) takeBlocks(p NamedCapture, snapshot int) {
	if p.Shape == capture.ShapeFacts {
		var sum int64
		for i := range p.Memory.Heaps {
			if !p.Memory.Heaps[i].CountsBusy() {
				return
			}
			sum += p.Memory.Heaps[i].Busy.Bytes
		}
		if len(p.Memory.Heaps) > 0 {
			at.Blocks = &sum
		}
		return
	}
	var sum int64
	for i := range p.Sites {
		if p.Sites[i].Kind == capture.KindHeap {
			sum += p.Sites[i].Usage[snapshot].Bytes
		}
	}
	at.Blocks, at.SinceStart = &sum, p.Trace != nil
}

// evenly keeps n of a list, among them the first and the last.
func evenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	kept := make([]T, n)
	for i := range kept {
		kept[i] = list[i*(len(list)-1)/(n-1)]
	}
	return kept
}

// thin bounds the length of a memory history that is in order of time. It prefers instants that tell the uses of
// memory to those that only count blocks.
func (c *MemoryHistory) thin() {
	if len(c.Instants) <= mostInstants {
		return
	}
	var told, others []int
	for i := range c.Instants {
		if c.Instants[i].Total != nil {
			told = append(told, i)
		} else {
			others = append(others, i)
		}
	}
	told = evenly(told, mostInstants)
	kept := told
	if room := mostInstants - len(told); room > 1 {
		kept = slices.Concat(told, evenly(others, room))
	}
	slices.Sort(kept)
	list := make([]Instant, len(kept))
	for i, at := range kept {
		list[i] = c.Instants[at]
	}
	c.Instants = list
}

// order sorts the instants by time, where all have one.
func (c *MemoryHistory) order() {
	c.Timed = !slices.ContainsFunc(c.Instants, func(at Instant) bool { return at.taken.IsZero() })
	if !c.Timed {
		return
	}
	sorting.Stable(c.Instants, func(a, b Instant) int { return a.taken.Compare(b.taken) })
}

// clock counts the time from the first instant that is kept.
func (c *MemoryHistory) clock() {
	if !c.Timed {
		return
	}
	for i := range c.Instants {
		c.Instants[i].AtNS = c.Instants[i].taken.Sub(c.Instants[0].taken).Nanoseconds()
	}
}

// A figure is a number by which the instants of a memory history are compared, and its name. Its value is nil where
// an instant does not tell it.
type figure struct {
	of   func(*Instant) *int64
	name string
}

// figure chooses a number that at least two instants tell: the system's own count, else the sum of the parts. The two
// are never compared with each other, because they differ although nothing grew.
func (c *MemoryHistory) figure() figure {
	bySystem := func(at *Instant) *int64 {
		if at.Unexplained == nil && len(at.Parts) > 0 { // the total is their sum
			return nil
		}
		return at.Total
	}
	byParts := func(at *Instant) *int64 {
		if len(at.Parts) == 0 {
			return nil
		}
		var sum int64
		for i := range at.Parts {
			sum += min(at.Parts[i].Bytes, math.MaxInt64-sum)
		}
		return &sum
	}
	n := 0
	for i := range c.Instants {
		if at := &c.Instants[i]; !at.OtherLife && bySystem(at) != nil {
			n++
		}
	}
	if n > 1 {
		return figure{bySystem, " by the system's count"}
	}
	return figure{byParts, " by the regions"}
}

// Growth is how the total, its parts and the unexplained rest changed from the first instant that tells them to the
// last, without those of another life. by is a clause that says which numbers are compared, such as " by the regions".
// ok is false where fewer than two instants tell them. A change is nil where one of the two instants does not tell the
// number, and there are no parts where one of them has none.
func (c *MemoryHistory) Growth() (from, to *Instant, growth Instant, by string, ok bool) {
	f := c.figure()
	for i := range c.Instants {
		at := &c.Instants[i]
		if f.of(at) == nil || at.OtherLife {
			continue
		}
		if to = at; from == nil {
			from = at
		}
	}
	if from == to {
		return nil, nil, growth, "", false
	}
	growth = Instant{AtNS: to.AtNS - from.AtNS, Total: new(*f.of(to) - *f.of(from))}
	for _, use := range capture.UseNames {
		if a, b := from.PartBytes(use), to.PartBytes(use); (a > 0 || b > 0) && len(from.Parts) > 0 && len(to.Parts) > 0 {
			growth.Parts = append(growth.Parts, Part{use, b - a})
		}
	}
	difference := func(a, b *int64) *int64 {
		if a == nil || b == nil {
			return nil
		}
		return new(*b - *a)
	}
	growth.Unexplained, growth.Blocks, growth.Taken = difference(from.Unexplained, to.Unexplained),
		difference(from.Blocks, to.Blocks), difference(from.Taken, to.Taken)
	return from, to, growth, f.name, true
}

// PartBytes is how many bytes of the total have the use, 0 for none.
func (at *Instant) PartBytes(use capture.UseName) int64 {
	for i := range at.Parts {
		if at.Parts[i].Use == use {
			return at.Parts[i].Bytes
		}
	}
	return 0
}
