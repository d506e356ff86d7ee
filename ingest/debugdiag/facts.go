package debugdiag

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// A place is where a label means something: everywhere, if its topic is topicNone.
type place struct {
	topic
	label string
}

// facts are the labels outside of modules, functions and samples.
var facts = map[place]func(d *draft, value string){
	{topicNone, "machine name"}:       func(d *draft, value string) { d.c.Process.Machine = value },
	{topicNone, "process id"}:         (*draft).processID,
	{topicNone, "process image"}:      (*draft).processImage,
	{topicNone, "dump time"}:          (*draft).takenAt,
	{topicNone, "dump creation time"}: (*draft).takenAt,

	{topicNone, "size of largest free vm block"}: func(d *draft, value string) {
		d.sized(&d.largestFree,
			"the largest free block", value)
	},
	{topicNone, "free memory"}: func(d *draft, value string) { d.sized(&d.free, "free memory", value) },
	{topicSpaceTotals, "reserved memory"}: func(d *draft, value string) {
		d.sized(&d.reserved,
			"reserved memory", value)
	},
	{topicSpaceTotals, "committed memory"}: func(d *draft, value string) {
		d.sized(&d.committed,
			"committed memory", value)
	},
	{topicNone, "largest free block at"}: (*draft).largestFreeAt,

	{topicVirtual, "reserved memory"}: func(d *draft, value string) {
		d.sized(&d.virtual.reserved,
			"reserved virtual memory", value)
	},
	{topicVirtual, "committed memory"}: func(d *draft, value string) {
		d.sized(&d.virtual.committed,
			"committed virtual memory", value)
	},
	{topicVirtual, "mapped memory"}: func(d *draft, value string) {
		d.sized(&d.mapped.committed,
			"mapped memory", value)
	},
	{topicVirtual, "reserved block count"}:  func(d *draft, value string) { d.virtual.count(value) },
	{topicVirtual, "committed block count"}: func(d *draft, value string) { d.virtual.count(value) },
	{topicVirtual, "mapped block count"}:    func(d *draft, value string) { d.mapped.count(value) },
	{topicImages, "number of modules"}:      func(d *draft, value string) { d.images.count(value) },
	{topicImages, "total reserved memory"}: func(d *draft, value string) {
		d.sized(&d.images.reserved,
			"memory of modules", value)
	},
	{topicImages, "total committed memory"}: func(d *draft, value string) {
		d.sized(&d.images.committed,
			"memory of modules", value)
	},
	{topicThreads, "number of threads"}: func(d *draft, value string) { d.stacks.count(value) },
	{topicThreads, "total reserved memory"}: func(d *draft, value string) {
		d.sized(&d.stacks.reserved,
			"memory of stacks", value)
	},
	{topicThreads, "total committed memory"}: func(d *draft, value string) {
		d.sized(&d.stacks.committed,
			"memory of stacks", value)
	},
	{topicHeapTotals, "number of heaps"}: func(d *draft, value string) { d.heaps.count(value) },
	{topicHeapTotals, "total reserved memory"}: func(d *draft, value string) {
		d.sized(&d.heaps.reserved,
			"memory of heaps", value)
	},
	{topicHeapTotals, "total committed memory"}: func(d *draft, value string) {
		d.sized(&d.heaps.committed,
			"memory of heaps", value)
	},

	{topicHeapDetails, "heap name"}:        func(d *draft, value string) { d.heap().Name = value },
	{topicHeapDetails, "heap description"}: func(d *draft, value string) { d.heap().Note = value },
	{topicHeapDetails, "reserved memory"}: func(d *draft, value string) {
		d.heapSize(&d.heap().Reserved, value)
	},
	{topicHeapDetails, "committed memory"}: func(d *draft, value string) {
		d.heapSize(&d.heap().Committed, value)
	},
	{topicHeapDetails, "number of heap segments"}: func(d *draft, value string) {
		d.counted(&d.heap().Segments, value)
	},
	{topicHeapDetails, "number of uncommitted ranges"}: func(d *draft, value string) {
		d.counted(&d.heap().UncommittedRanges, value)
	},
	{topicHeapDetails, "size of largest uncommitted range"}: func(d *draft, value string) {
		d.heapSize(&d.heap().LargestUncommitted, value)
	},

	{topicNone, "number of allocations"}: func(d *draft, value string) { d.counted(&d.total.count, value) },
	{topicNone, "total size of allocations"}: func(d *draft, value string) {
		d.sized(&d.total.size,
			"all allocations", value)
	},
	{topicNone, "total outstanding handle count"}: func(d *draft, value string) { d.counted(&d.total.handles, value) },
	{topicNone, "tracking duration"}:              func(d *draft, value string) { d.tracked = value },
}

// processFacts are facts of the process that are told as they are printed, where no section says that all of its facts
// are.
var processFacts = map[string]bool{
	"operating system": true, "command line": true, "number of processors": true, "system up-time": true,
	"process up-time":            true,
	"type of analysis performed": true, "operating system service pack": true,
}

// fact takes a row of labels and values, side by side.
func (r *report) fact(row *row) {
	d := r.here()
	for i := 0; i+1 < len(row.cells); i += 2 {
		name, value := label(row.cells[i].text), row.cells[i+1]
		if name == "" || value.text == "" || d.member(name, value, r.topic() == topicLeakHandles) {
			continue
		}
		at := r.topic()
		take := facts[place{at, name}]
		if take == nil {
			take = facts[place{topicNone, name}]
		}
		switch {
		case take != nil:
			take(d, value.text)
			d.hasFacts = true
		case at == topicDump && len(row.cells) == 2 || processFacts[name]:
			d.note(capture.TopicProcess, strings.Trim(row.cells[i].text, " :")+": "+value.text)
			d.hasFacts = true
			if strings.Contains(name, "bitness") || strings.Contains(name, "architecture") && strings.Contains(name, "process") {
				d.bits(value.text)
			}
		}
	}
}

func (d *draft) processID(value string) {
	if n, _, ok := parseCount(value); ok && n == int64(uint32(n)) {
		d.c.Process.PID = uint32(n)
	}
}

// processImage takes the path; Process has the name, and the path is a note.
func (d *draft) processImage(value string) {
	d.c.Process.Name = value[strings.LastIndexAny(value, `\/`)+1:]
	if d.c.Process.Name != value {
		d.note(capture.TopicProcess, "Process Image: "+value)
	}
}

func (d *draft) takenAt(value string) {
	if t, ok := parseClock(value); ok {
		d.writtenAt = t
	}
}

// bits takes what a fact says of the process.
func (d *draft) bits(value string) {
	switch value = strings.ToLower(value); {
	case strings.Contains(value, "64"):
		d.c.Process.Bits = 64
	case strings.Contains(value, "32") || strings.Contains(value, "86"):
		d.c.Process.Bits = 32
	}
}

// address takes what an address says of the process: one beyond 4 GiB is of 64 bits, and 8 digits are of 32.
func (d *draft) address(at uint64, digits int) {
	d.wide = d.wide || at >= space32
	d.narrow = d.narrow || digits == 8
}

func (d *draft) largestFreeAt(value string) {
	if at, width, ok := parseAddress(value); ok {
		d.freeAt = capture.Address(at)
		d.address(at, width)
	}
}

// counted reads a count into n.
func (d *draft) counted(n *int64, value string) {
	if v, _, ok := parseCount(value); ok {
		*n = v
		return
	}
	d.misread(value)
}

// sized reads a size, which no address space may be smaller than.
func (d *draft) sized(s *span, what, value string) {
	v, ok := parseSize(value)
	if !ok {
		d.misread(value)
		return
	}
	*s = v
	d.sizes = append(d.sizes, namedSize{what, v})
}

// misread counts a figure that was not understood.
func (d *draft) misread(value string) {
	if d.malformed++; d.malformed == 1 {
		d.malformedFirst = fmt.Sprintf("%.60q", value)
	}
}
