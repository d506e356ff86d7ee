package shopd

import (
	"slices"

	"heapdrift/ingest/etl/etltest"
)

// The trace is of one minute of the last build, with all its allocations: what leaks, what fills, what comes and goes.
const (
	traceScenario = "trace-60s"
	minute        = 60 * second
	second        = 1_000_000_000
	mainThread    = 4248
	worker        = 4252
)

// Sites that only a trace shows, because nothing of them is left.
var (
	parse = site{0x3001, 0x2C0, newed +
		`shopd!Http::Parser::Header+0x00000039~(c:\src\shopd\http\parser.cpp,~203) shopd!Http::Worker::Read+0x00000033~(c:\src\shopd\http\worker.cpp,~101)` + request, always(6000)}
	page = site{0x3002, 0x10000, newed + `shopd!Render::Page+0x000000B8~(c:\src\shopd\render\page.cpp,~77)` + request,
		always(300)}
	rebuild = site{0x3003, 0xA00000, virtual +
		`shopd!SearchIndex::Rebuild+0x000001F0~(c:\src\shopd\search\search_index.cpp,~81) shopd!Scheduler::Tick+0x0000005D~(c:\src\shopd\scheduler.cpp,~46)` + threads, always(5)}
	arena = site{0x3004, 0x100000, virtual + `shopd!Catalog::Grow+0x00000047~(c:\src\shopd\catalog\catalog.cpp,~131)` +
		request, always(4)}
)

const virtual = "ntdll!NtAllocateVirtualMemory+0x00000015 kernel32!VirtualAlloc+0x0000001F "

// trace is the recording of the build's process.
func (b build) trace(images []image) *etltest.Scenario {
	s := &etltest.Scenario{
		Start: uint64(b.at.Unix()+11_644_473_600) * 10_000_000, End: minute + second, CPUs: 4,
		Volumes: []etltest.Volume{{NT: `\Device\HarddiskVolume3`, DOS: "C:"}},
		Processes: []etltest.Process{{
			PID: uint32(b.pid), Parent: 612, Session: 1, Bits: 32, Name: "shopd.exe",
			Key: 0xFFFFE00100000080, Started: second / 20,
			CommandLine: `"C:\Program Files (x86)\Shop\shopd.exe" --soak`,
			Threads:     []etltest.Thread{{TID: mainThread}, {TID: worker}},
		}},
		Heaps: []etltest.Heap{{Handle: heapHandle, Flags: 2, Created: second / 10, By: etltest.Caller{Thread: mainThread}}},
	}
	for i := range images {
		m := &images[i]
		s.Processes[0].Images = append(s.Processes[0].Images, etltest.Image{
			Path: `\Device\HarddiskVolume3` + m.path[len("C:"):], Base: m.base, Size: m.size, PDB: m.pdbName, GUID: m.guid,
			Age: m.age, Loaded: second / 15,
		})
	}
	r := recorder{Scenario: s, images: images, next: firstBlock}
	for _, site := range b.sites {
		r.grow(&site)
	}
	r.churn(&parse, second/50)
	r.churn(&page, second/5)
	r.commit(&rebuild, 9*second, 2*second)
	r.commit(&arena, 3*second, 0)
	slices.SortStableFunc(s.Blocks, func(x, y etltest.Block) int { return int(x.Allocated - y.Allocated) })
	return s
}

// A recorder writes down what sites allocate.
type recorder struct {
	*etltest.Scenario
	images []image
	next   uint64 // address
	region uint64
}

// stack is the site's stack, as a call takes it.
func (r *recorder) stack(s *site) etltest.Caller {
	var frames []uint64
	for _, c := range s.calls() {
		at := slices.IndexFunc(r.images, func(m image) bool { return m.name() == c.module })
		frames = append(frames, r.images[at].starts[c.function]+uint64(c.offset))
	}
	r.Stacks = append(r.Stacks, etltest.Stack{User: frames})
	call := etltest.Caller{Thread: worker, CPU: len(r.Stacks) % r.CPUs, Stack: len(r.Stacks)}
	if s.id < 0x1004 {
		call.Thread = mainThread
	}
	return call
}

func (r *recorder) block(s *site, at, freed int64, by etltest.Caller) {
	r.Blocks = append(r.Blocks, etltest.Block{Address: r.next, Size: uint64(s.size), Source: 2, Allocated: at,
		Freed: freed, By: by, FreedBy: etltest.Caller{Thread: by.Thread, CPU: by.CPU}})
	r.next += uint64(s.size+overhead+15) &^ 15
}

// grow allocates what the site holds at each snapshot of the soak: the first in the first second, the others spread
// over equal parts of the minute.
func (r *recorder) grow(s *site) {
	by := r.stack(s)
	at, step := int64(second/2), int64(second/2)
	have := 0
	for k := range snapshots {
		more := s.blocks(k) - have
		for i := range more {
			r.block(s, at+int64(i)*step/int64(more)+int64(s.id%97)*1000, 0, by)
		}
		have += max(0, more)
		step = (minute - second) / (snapshots - 1)
		at = second + int64(k)*step
	}
}

// churn allocates the site's blocks over the whole minute and frees each after a while.
func (r *recorder) churn(s *site, keep int64) {
	by := r.stack(s)
	n := s.blocks(0)
	for i := range n {
		at := 2*second + int64(i)*(minute-3*second)/int64(n) + int64(s.id%97)*1000 // no two of a thread at one instant
		r.block(s, at, at+keep, by)
	}
}

// commit commits the site's memory every so often, and releases each region after a while; 0 is never.
func (r *recorder) commit(s *site, every, keep int64) {
	by := r.stack(s)
	for i := range int64(s.blocks(0)) {
		at := every/2 + i*every
		g := etltest.Region{Base: 0x20000000 + r.region, Size: uint64(s.size), Reserved: at, By: by}
		if keep > 0 {
			g.Released, g.ReleasedBy = at+keep, etltest.Caller{Thread: by.Thread, CPU: by.CPU}
		}
		g.Commits = []etltest.Commit{{Base: g.Base, Size: g.Size, Committed: at, By: by}}
		r.Regions = append(r.Regions, g)
		r.region += uint64(s.size)
	}
}
