package debugdiag

import (
	"time"

	"heapdrift/ingest/capture"
)

// A draft is what a report says of one dump, as far as it was read.
type draft struct {
	c         *capture.Capture
	memory    *capture.Memory
	name      dumpName
	writtenAt time.Time // when the dump was written, by the facts
	wide      bool      // an address is beyond 4 GiB
	narrow    bool      // an address has 8 digits
	hasFacts  bool      // there was a fact, a function or a row of the summary
	begun     bool      // its section was met
	ended     bool      // and its end
	rule      *string   // whose sections are read: several rules may report the same

	largestFree, free, reserved, committed span
	freeAt                                 capture.Address
	virtual, mapped, images, stacks, heaps part
	spaceUses                              map[capture.UseName]span
	sizes                                  []namedSize

	heapAt     map[capture.Address]int // in memory.Heaps
	openHeap   int                     // −1 for none
	heapGroups map[heapSize]*capture.BlockGroup

	leakTrack string // version of LeakTrack.dll
	tracked   string // duration, as printed
	total     totals
	managers  map[string]*managedMemory

	modules   []module
	functions []function
	open      factTarget
	frames    int64               // of samples, in all
	known     map[[2]string]frame // by name and source, as printed
	dropped   int64               // samples and frames beyond the bounds

	malformed      int64
	malformedFirst string
}

// totals are what the report says of all outstanding allocations; −1 where it says nothing.
type totals struct {
	count, handles int64
	size           span
	byModule       int64 // allocations in the graph of modules; −1 for no graph
	byHandles      int64
	byType         int64 // handles
}

// A part is what the report counts of one use of the address space.
type part struct {
	regions             int64
	reserved, committed span
}

func (p *part) count(value string) {
	if n, _, ok := parseCount(value); ok && p.regions < maxSize {
		p.regions += n
	}
}

func (p *part) known() bool { return p.regions != 0 || p.reserved != span{} || p.committed != span{} }

// A namedSize is a size that is checked against the address space.
type namedSize struct {
	what string
	span
}

// managedMemory is the memory that a memory manager gave.
type managedMemory struct {
	count int64 // −1 unknown
	size  span
	at    int // order of the report
}

func newDraft(dump string) *draft {
	return &draft{
		c: &capture.Capture{Kind: Kind}, memory: &capture.Memory{}, name: parseDumpName(dump), openHeap: -1,
		heapAt: map[capture.Address]int{}, heapGroups: map[heapSize]*capture.BlockGroup{},
		managers:  map[string]*managedMemory{},
		spaceUses: map[capture.UseName]span{}, known: map[[2]string]frame{},
		total: totals{count: -1, handles: -1, byModule: -1, byHandles: -1, byType: -1}, open: factTarget{module: -1},
	}
}

func (d *draft) note(topic, text string) {
	d.memory.Notes = append(d.memory.Notes, capture.Note{Topic: topic, Text: text})
}
