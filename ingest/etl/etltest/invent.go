package etltest

import "math/rand/v2"

// ScenarioSize says how much happens in a scenario that Invent makes up. Zero fields get small defaults.
type ScenarioSize struct {
	Steps  int // of each process: about as many blocks
	Stacks int // distinct ones of each process
	CPUs   int // processors
	Bits   int // of the machine: 32 or 64; 0 for 64. It must be that of Format.Bits
}

// Invent makes up a scenario: two processes that were there, a 64-bit and a 32-bit application, and a short-lived one
// whose process id comes back. Blocks come and go, grow where they are and move; addresses are used again; heaps are
// destroyed; pages are committed and given back. The same seed and size give the same one.
//
// No two events of a thread are nearer than a microsecond, so that every clock tells them apart.
func Invent(seed uint64, size ScenarioSize) *Scenario {
	for _, f := range []struct{ field, value *int }{{&size.Steps, new(400)}, {&size.Stacks, new(12)}, {&size.CPUs, new(4)},
		{&size.Bits, new(64)}} {
		if *f.field == 0 {
			*f.field = *f.value
		}
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &Scenario{
		Start: 133_500_000_000_000_000, CPUs: size.CPUs, Processes: cast(size.Bits),
		Volumes: []Volume{{`\Device\HarddiskVolume3`, "C:"}, {`\Device\HarddiskVolume5`, "D:"}},
	}
	native := application(rng, 5128, size.Bits, "battery.exe")
	native.Package = "MadeUp.Battery_1.0.0.0_x64__abcdef"
	native.Started = 20_000_000
	emulated := application(rng, 7260, 32, "meter32.exe") // was there before the trace
	brief := application(rng, 9000, size.Bits, "brief.exe")
	brief.Started = 30_000_000
	again := application(rng, 9000, size.Bits, "again.exe")
	first := len(s.Processes)
	s.Processes = append(s.Processes, native, emulated, brief, again)
	for i := first; i < len(s.Processes); i++ {
		p := &s.Processes[i]
		if i == first+3 {
			p.Started = s.Processes[i-1].Ended + 5_000_000
		}
		l := life{s: s, rng: rng, process: i, now: max(p.Started, 1_000_000) + 2_000_000, stacks: len(s.Stacks)}
		for k := range size.Stacks {
			stack := p.walk(rng, 5+rng.IntN(40))
			if k%4 == 3 { // of virtual memory: both parts
				kernel := s.Processes[0].Images[0].Base
				stack.Kernel = []uint64{kernel + 0x345678 + uint64(k)*16, kernel + 0x1000}
			}
			s.Stacks = append(s.Stacks, stack)
		}
		l.run(size.Steps)
		if i == first+2 {
			p.Ended = l.now + 1_000_000
		}
		s.End = max(s.End, l.now+10_000_000, p.Ended)
	}
	return s
}

// A life is how Invent fills a process.
type life struct {
	s       *Scenario
	rng     *rand.Rand
	process int
	stacks  int // the first of its own
	now     int64
	live    []int // blocks
	places  map[int][]uint64
	tops    map[int]uint64
	steps   int
}

func (l *life) run(steps int) {
	l.places, l.tops = make(map[int][]uint64), make(map[int]uint64)
	heaps := []int{l.heap(0x100000), l.heap(0x20000000)}
	for l.steps = range steps {
		l.tick()
		switch pick := l.rng.IntN(100); {
		case pick < 50:
			l.live = append(l.live, l.alloc(heaps[l.rng.IntN(len(heaps))], 0))
		case pick < 78:
			l.free()
		case pick < 86:
			l.resize()
		case pick < 92:
			l.move()
		case pick < 97:
			l.region()
		case pick < 99:
			p := &l.s.Processes[l.process]
			noise := heapNoise(p.Bits, l.s.Heaps[heaps[0]].Handle, p.PID)
			l.s.Extras = append(l.s.Extras,
				Extra{Time: l.now, By: l.call(false), Process: l.process, Event: noise[l.rng.IntN(len(noise))]})
		case l.steps > steps/2 && len(heaps) == 2:
			l.destroy(heaps[1])
			heaps = heaps[:1]
		}
	}
	l.tick()
}

// tick lets time pass.
func (l *life) tick() { l.now += int64(5+l.rng.IntN(2000)) * 1000 }

// call makes up who does something; some stacks come late, and some on another CPU.
func (l *life) call(virtual bool) Caller {
	own := (len(l.s.Stacks) - l.stacks) / 4
	stack := l.rng.IntN(own) * 4
	if virtual {
		stack += 3
	} else {
		stack += l.rng.IntN(3)
	}
	c := Caller{Thread: l.s.Processes[l.process].Threads[l.rng.IntN(2)].TID, CPU: l.rng.IntN(l.s.CPUs),
		Stack: l.stacks + stack + 1}
	if l.rng.IntN(20) == 0 {
		c.Late = int64(l.rng.IntN(400_000)) * 1000
	}
	c.Roams = l.rng.IntN(25) == 0
	return c
}

func (l *life) heap(at uint64) int {
	p := &l.s.Processes[l.process]
	if p.Bits == 64 {
		at += 0x1D000000000
	}
	h := Heap{Process: l.process, Handle: at, Flags: 2}
	if p.Started != 0 {
		l.tick()
		h.Created, h.By = l.now, l.call(false)
	}
	l.s.Heaps = append(l.s.Heaps, h)
	return len(l.s.Heaps) - 1
}

// alloc makes a block, sometimes where another was; from is the index plus one of the one that moves there.
func (l *life) alloc(heap, from int) int {
	h := &l.s.Heaps[heap]
	b := Block{Heap: heap, Size: uint64(1 + l.rng.IntN(4096)), Source: uint32(1 + l.rng.IntN(4)), Allocated: l.now,
		By: l.call(false), MovedFrom: from}
	if l.rng.IntN(50) == 0 {
		b.Size = 0
	}
	if places := l.places[heap]; len(places) > 0 && l.rng.IntN(3) > 0 {
		b.Address, l.places[heap] = places[len(places)-1], places[:len(places)-1]
	} else {
		l.tops[heap] += 0x2010
		b.Address = h.Handle + l.tops[heap]
	}
	l.s.Blocks = append(l.s.Blocks, b)
	return len(l.s.Blocks) - 1
}

// take picks a live block and removes it from the list.
func (l *life) take() (int, bool) {
	if len(l.live) == 0 {
		return 0, false
	}
	at := l.rng.IntN(len(l.live))
	block := l.live[at]
	l.live[at] = l.live[len(l.live)-1]
	l.live = l.live[:len(l.live)-1]
	return block, true
}

func (l *life) free() {
	if i, ok := l.take(); ok {
		l.end(i, l.call(false))
	}
}

// end frees a block now.
func (l *life) end(i int, by Caller) {
	if l.rng.IntN(2) == 0 {
		by.Stack = 0 // few sessions record the stacks of frees
	}
	b := &l.s.Blocks[i]
	b.Freed, b.FreedBy = l.now, by
	l.places[b.Heap] = append(l.places[b.Heap], b.Address)
}

func (l *life) resize() {
	if i, ok := l.take(); ok {
		l.s.Blocks[i].Resizes = append(l.s.Blocks[i].Resizes, Resize{l.now, uint64(1 + l.rng.IntN(8192)), l.call(false)})
		l.live = append(l.live, i)
	}
}

// move reallocates a block to another address: it is freed a microsecond after the new one is there.
func (l *life) move() {
	i, ok := l.take()
	if !ok {
		return
	}
	l.live = append(l.live, l.alloc(l.s.Blocks[i].Heap, i+1))
	by := l.s.Blocks[len(l.s.Blocks)-1].By
	by.Stack = 0
	l.now += 1000
	l.end(i, by)
}

// destroy ends a heap with what is in it.
func (l *life) destroy(heap int) {
	l.s.Heaps[heap].Destroyed = l.now
	l.s.Heaps[heap].By = l.call(false)
	kept := l.live[:0]
	for _, i := range l.live {
		if l.s.Blocks[i].Heap != heap {
			kept = append(kept, i)
		}
	}
	l.live = kept
}

// region reserves addresses, at once or later commits them, and may give them back.
func (l *life) region() {
	const page = 0x1000
	g := Region{Process: l.process, Base: 0x30000000 + uint64(len(l.s.Regions))*0x100000, Size: 16 * page,
		Reserved: l.now, By: l.call(true)}
	if l.rng.IntN(2) == 0 {
		g.Commits = append(g.Commits, Commit{Base: g.Base, Size: g.Size, Committed: l.now, By: g.By})
	} else {
		for i := range uint64(1 + l.rng.IntN(3)) {
			l.tick()
			g.Commits = append(g.Commits,
				Commit{Base: g.Base + i*4*page, Size: page * uint64(1+l.rng.IntN(4)), Committed: l.now, By: l.call(true)})
		}
		if l.rng.IntN(2) == 0 {
			l.tick()
			g.Commits[0].Decommitted, g.Commits[0].DecommittedBy = l.now, l.call(true)
		}
	}
	if l.rng.IntN(2) == 0 {
		l.tick()
		g.Released, g.ReleasedBy = l.now, l.call(true)
	}
	l.s.Regions = append(l.s.Regions, g)
}
