package dump

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
)

// runtimes are the modules that bring a garbage collector, by file name in lower case.
var runtimes = map[string]string{
	"coreclr.dll": ".NET", "clr.dll": ".NET Framework 4", "mscorwks.dll": ".NET Framework 2.0",
	"mscorsvr.dll": ".NET Framework 1.1 (server)",
}

// segmentHeader is what a segment of the collector begins with, all pointers (heap_segment of gcpriv.h in
// dotnet/runtime, which is public): allocated, committed, reserved, used, and where the objects begin.
const segmentHeader = 5

// regionsRange is the least that .NET 7 and later reserve at once for the regions of all heaps; nothing else reserves
// as much.
const regionsRange = 64 << 30

// managed finds the memory of the garbage collector by its content: a dump does not say, and the runtime's own tables
// need a library of its version. It returns nothing where no runtime is loaded.
func (p *process) managed(taken []mark) (marks []mark, heaps []capture.ManagedHeap, notes []capture.Note) {
	var loaded []string
	for _, m := range p.modules {
		if name, ok := runtimes[strings.ToLower(fileName(m.Path))]; ok {
			loaded = append(loaded, fmt.Sprintf("%s %s (%s)", fileName(m.Path), m.FileVersion, name))
		}
	}
	if len(loaded) == 0 {
		return nil, nil, nil
	}
	heaps = p.findSegments(taken, &marks)
	text := strings.Join(loaded, ", ") +
		" is loaded: memory of the garbage collector is recognised by what it looks like, which is a guess"
	if len(heaps) == 0 {
		text = strings.Join(loaded, ", ") +
			" is loaded, and no memory of its garbage collector was recognised: it is counted as virtual memory"
	}
	return marks, heaps, []capture.Note{{Topic: capture.TopicManaged, Text: text,
		Advice: "WinDbg's !eeheap -gc gives the true figures: add its output to the run"}}
}

func (p *process) findSegments(taken []mark, marks *[]mark) []capture.ManagedHeap {
	busy := make([]span, len(taken))
	for i, m := range taken {
		busy[i] = m.span
	}
	segments := capture.ManagedHeap{Name: "segments", Guess: true}
	regions := capture.ManagedHeap{Name: "regions", Guess: true}
	for i := 0; i < len(p.regions); {
		first := p.regions[i]
		whole, committed := span{first.AllocationBase, 0}, uint64(0)
		for ; i < len(p.regions) && p.regions[i].AllocationBase == first.AllocationBase &&
			p.regions[i].State != minidump.MemFree; i++ {
			whole.size = p.regions[i].Base + p.regions[i].Size - whole.address
			if p.regions[i].State == minidump.MemCommit {
				committed += p.regions[i].Size
			}
		}
		if first.State == minidump.MemFree {
			i++
			continue
		}
		if first.Type != minidump.MemPrivate || first.Base != first.AllocationBase || inside(busy, whole.address) {
			continue
		}
		switch allocated, ok := p.isSegment(whole); {
		case ok:
			segments.Segments++
			segments.Bytes += int64(allocated)
			*marks = append(*marks, mark{whole, capture.UseManaged})
		case p.bits() == 64 && whole.size >= regionsRange:
			regions.Segments++
			regions.Bytes += int64(committed)
			*marks = append(*marks, mark{whole, capture.UseManaged})
		}
	}
	var heaps []capture.ManagedHeap
	for _, h := range []capture.ManagedHeap{segments, regions} {
		if h.Segments > 0 {
			heaps = append(heaps, h)
		}
	}
	return heaps
}

// isSegment reports whether a reservation begins as a segment does, and how much of it is allocated.
func (p *process) isSegment(whole span) (allocated uint64, ok bool) {
	m := pointers{p.memory, p.bits()}
	var v [segmentHeader]uint64
	for i := range v {
		if v[i], ok = m.at(whole.address + uint64(i)*m.width()); !ok {
			return 0, false
		}
	}
	const leastSegment = 1 << 20
	end, objects := v[0], v[4]
	ok = whole.size >= leastSegment && objects > whole.address && objects-whole.address <= 2*pageBytes && objects <= end &&
		end <= v[1] && v[1] <= v[2] &&
		v[2] > whole.address && v[2] <= whole.end() && v[3] >= objects && v[3] <= v[2]
	return end - objects, ok
}
