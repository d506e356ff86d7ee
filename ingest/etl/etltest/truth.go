package etltest

// An Ending says what ended a life.
type Ending byte

// What ends a life.
const (
	StillHeld Ending = iota // nothing within the trace
	Freed                   // a free of the block, a decommit of the pages
	Moved                   // a reallocation
	Destroyed               // of the whole heap, a release of the whole region
	Exited                  // the process's end
)

// A Lifetime is what a reader must find out about a block, or about pages that were committed. Times are those of the
// scenario; see Format.Seen for what a recording shows of them.
type Lifetime struct {
	Process  int // index into Scenario.Processes
	Heap     int // index into Scenario.Heaps; −1 for committed pages
	Address  uint64
	Size     uint64 // bytes at its end
	From, To int64  // ns since the trace's start. From 0: before the trace; To 0: still held at its end
	Ending   Ending
	Stack    int // that made it: index into Scenario.Stacks plus one
}

// Lifetimes returns the lifetime of every block, in the order of Scenario.Blocks. It supposes that no event was lost.
func (s *Scenario) Lifetimes() []Lifetime {
	moved := make(map[int]bool)
	for i := range s.Blocks {
		if from := s.Blocks[i].MovedFrom; from != 0 {
			moved[from-1] = true
		}
	}
	all := make([]Lifetime, 0, len(s.Blocks))
	for i := range s.Blocks {
		b := &s.Blocks[i]
		h := &s.Heaps[b.Heap]
		l := Lifetime{Process: h.Process, Heap: b.Heap, Address: b.Address, Size: b.size(),
			From: b.Allocated, Stack: b.By.Stack}
		l.end(b.Freed, Freed)
		if moved[i] && l.Ending == Freed {
			l.Ending = Moved
		}
		l.end(h.Destroyed, Destroyed)
		l.end(s.Processes[h.Process].Ended, Exited)
		all = append(all, l)
	}
	return all
}

// Commits returns the lifetime of every commit, in the order of Scenario.Regions and their Commits.
func (s *Scenario) Commits() []Lifetime {
	var all []Lifetime
	for i := range s.Regions {
		g := &s.Regions[i]
		for _, c := range g.Commits {
			l := Lifetime{Process: g.Process, Heap: -1, Address: c.Base, Size: c.Size, From: c.Committed, Stack: c.By.Stack}
			l.end(c.Decommitted, Freed)
			l.end(g.Released, Destroyed)
			l.end(s.Processes[g.Process].Ended, Exited)
			all = append(all, l)
		}
	}
	return all
}

// end ends a life at a time, unless something did before; 0 is never.
func (l *Lifetime) end(at int64, by Ending) {
	if at != 0 && (l.To == 0 || at < l.To) {
		l.To, l.Ending = at, by
	}
}

// A Sum counts lifetimes and their bytes.
type Sum struct {
	Count int
	Bytes uint64
}

func (s *Sum) add(l *Lifetime) {
	s.Count++
	s.Bytes += l.Size
}

// WindowUsage sums the lifetimes of a window by the columns of Windows Performance Analyzer: allocated inside or
// outside (before), freed inside or outside (after, or never).
type WindowUsage struct{ AIFO, AIFI, AOFO, AOFI Sum }

// Window sums the lifetimes of a window of time, both ends within. Stacks has the sums by Lifetime.Stack.
func Window(all []Lifetime, from, to int64) (total WindowUsage, stacks map[int]WindowUsage) {
	stacks = make(map[int]WindowUsage)
	for i := range all {
		l := &all[i]
		stack := stacks[l.Stack]
		for _, share := range []*WindowUsage{&total, &stack} {
			freed := l.To != 0 && l.To <= to
			switch {
			case l.From > to || l.To != 0 && l.To < from:
			case l.From >= from && freed:
				share.AIFI.add(l)
			case l.From >= from:
				share.AIFO.add(l)
			case freed:
				share.AOFI.add(l)
			default:
				share.AOFO.add(l)
			}
		}
		if stack != (WindowUsage{}) {
			stacks[l.Stack] = stack
		}
	}
	return total, stacks
}

// Outstanding sums what is held at an instant: what begins then is counted, what ends then is not.
func Outstanding(all []Lifetime, at int64) (sum Sum) {
	for i := range all {
		if l := &all[i]; l.From <= at && (l.To == 0 || l.To > at) {
			sum.add(l)
		}
	}
	return sum
}
