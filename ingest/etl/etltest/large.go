package etltest

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// LargeSize says how large a trace Large writes. A field that is 0 gets the default that stands behind it; together the
// defaults make a gigabyte.
type LargeSize struct {
	Allocs int // allocations; default 3,500,000: with their stacks and frees 10.5 million events
	Live   int // blocks held at any time, beside those that leak; default 100,000
	Stacks int // distinct ones; default 4,000
	Frames int // frames of each stack; default 27
	Leaks  int // one allocation in so many is never freed; default 100
}

// LargeTruth is what a reader must find in what Large wrote.
type LargeTruth struct {
	PID           uint32
	Events        int         // events of the heap and of stacks
	Allocs, Frees int         // how many
	Outstanding   Sum         // what is held at the end
	ByStack       map[int]Sum // Outstanding by the index of the stack in Stacks
	Stacks        [][]uint64  // return addresses, innermost first
	Buffers       int         // buffers in the file behind the header's
}

// Large writes a long heap trace of one process, holding in memory no more than what lives and one buffer per CPU.
// Where w can be written to in place, as a file can, the header is completed at the end; elsewhere it is that of a
// session that was never stopped. Format.Native, Ring, Disorder and OneStream are not for it.
func Large(w io.Writer, seed uint64, f Format, size LargeSize) (*LargeTruth, error) {
	for _, d := range []struct {
		field *int
		value int
	}{{&size.Allocs, 3_500_000}, {&size.Live, 100_000}, {&size.Stacks, 4000}, {&size.Frames, 27}, {&size.Leaks, 100}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	f = f.filled()
	if _, ok := w.(io.WriterAt); !ok {
		f.Unfinished = true
	}
	rng := rand.New(rand.NewPCG(seed, 11))
	app := application(rng, 5128, 64, "large.exe")
	s := &Scenario{Start: 133_500_000_000_000_000, CPUs: 4, Processes: append(cast(64), app),
		Volumes: []Volume{{`\Device\HarddiskVolume3`, "C:"}}}
	truth := &LargeTruth{PID: app.PID, ByStack: make(map[int]Sum)}
	for range size.Stacks {
		truth.Stacks = append(truth.Stacks, app.walk(rng, size.Frames).User)
	}
	s.End = int64(size.Allocs)*step + 1_000_000_000
	l := largeTrace{
		f: f, rng: rng, truth: truth, app: &app, live: make([]place, size.Live),
		out: newRecorder(w, f, s.Start, s.End, s.CPUs), last: f.raw(0, s.Start),
	}
	if f.Keys > 0 {
		l.keys = newStackCache(f.Keys, 0xFFFFB48100010000)
	}
	all, put := s.records(f), func(r *record) { l.out.put(r.cpu, &r.event, r.pid, r.tid, r.raw) }
	for len(all) > 0 && all[0].raw <= l.last {
		put(&all[0])
		all = all[1:]
	}
	for i := range size.Allocs {
		l.step(i, f.raw(int64(i+1)*step, s.Start), i%size.Leaks == 0)
	}
	if l.keys != nil {
		l.keys.rundown(func(key uint64, stack int) {
			e := keyEvent(64, StackKeyRundown, key, truth.Stacks[stack])
			l.last++
			l.out.put(0, &e, 0, 0, l.last)
			truth.Events++
		})
	}
	for i := range all {
		put(&all[i])
	}
	for _, b := range l.live {
		if b.size > 0 {
			l.keep(b)
		}
	}
	if err := l.out.close(); err != nil {
		return nil, fmt.Errorf("etltest: large trace: %w", err)
	}
	truth.Buffers = int(l.out.seq)
	return truth, nil
}

const step = 10_000 // nanoseconds from one allocation to the next

// A place is where blocks of a large trace live one after another; size 0 is an empty one.
type place struct {
	size  uint64
	stack int32
}

// largeTrace is a large trace while it is written.
type largeTrace struct {
	f       Format
	rng     *rand.Rand
	truth   *LargeTruth
	app     *Process
	live    []place
	out     *recorder
	keys    *stackCache
	last    int64 // raw time of the last event
	leaked  uint64
	payload payload
}

// step frees what lives in a place, and allocates there; or it allocates where nothing is ever freed.
func (l *largeTrace) step(i int, raw int64, leak bool) {
	const heap, room = 0x1D000000000, 0x1000
	cpu := i & 3
	tid := l.app.Threads[cpu&1].TID
	put := func(e *Event, at int64) {
		l.out.put(cpu, e, l.app.PID, tid, at)
		l.last = at
		l.truth.Events++
	}
	stacks := len(l.truth.Stacks)
	stack := min(l.rng.IntN(stacks), l.rng.IntN(stacks)) // some are seen more often than others
	b := place{size: 16 + uint64(l.rng.Uint32()&0x3F0), stack: int32(stack)}
	at := uint64(heap + 0x100000000)
	p := &l.payload
	p.bits = 64
	if leak {
		at += uint64(len(l.live))*room + l.leaked*room
		l.leaked++
	} else {
		slot := l.rng.IntN(len(l.live))
		at += uint64(slot) * room
		if l.live[slot].size > 0 {
			p.b = p.b[:0]
			p.ptr(heap, at)
			p.u32(3)
			put(&Event{Group: groupHeap, Op: HeapFree, Version: 2, Payload: p.b}, raw)
			l.truth.Frees++
		}
		l.live[slot] = b
	}
	raw += 10
	p.b = p.b[:0]
	p.ptr(heap, b.size, at)
	p.u32(3)
	put(&Event{Group: groupHeap, Op: HeapAlloc, Version: 2, Payload: p.b}, raw)
	l.truth.Allocs++
	if leak {
		l.keep(b)
	}
	frames, op := l.truth.Stacks[stack], byte(StackPlain)
	if l.keys != nil {
		key, evicted := l.keys.key(stack)
		if evicted >= 0 {
			gone := keyEvent(64, StackKeyDelete, key, l.truth.Stacks[evicted])
			put(&gone, raw+usual-1)
		}
		frames, op = []uint64{key}, StackKeyUser
	}
	p.b = p.b[:0]
	p.u64(uint64(raw))
	p.u32(l.app.PID, tid)
	p.ptr(frames...)
	put(&Event{Envelope: PerfInfoHeader, Group: groupStack, Op: op, Version: 2, Payload: p.b}, raw+usual)
}

// keep counts a block that lives at the end.
func (l *largeTrace) keep(b place) {
	sum := l.truth.ByStack[int(b.stack)]
	sum.Count++
	sum.Bytes += b.size
	l.truth.ByStack[int(b.stack)] = sum
	l.truth.Outstanding.Count++
	l.truth.Outstanding.Bytes += b.size
}
