package etltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/ingest/etl/xpress"
)

// rawEvent is an event as a walk over the bytes finds it.
type rawEvent struct {
	kind, group, op byte
	version         uint16
	cpu             int
	pid, tid        uint32
	raw             int64
	payload         []byte
}

func (e *rawEvent) name() string {
	return fmt.Sprintf("%02x/%d.%d v%d", e.kind, e.group, e.op, e.version)
}

// walk reads what this package writes, by the offsets of the format's description, and fails where it does not fit.
func walk(t testing.TB, file []byte) []rawEvent {
	t.Helper()
	var all []rawEvent
	le := binary.LittleEndian
	buffers, length := Buffers(file), 0
	for i, b := range buffers {
		length += len(b)
		body, filled, cpu := b[bufferHeader:], int(le.Uint32(b[0x30:])), int(le.Uint16(b[0x28:]))
		flags := le.Uint16(b[0x34:])
		if flags&flagProcIndex == 0 {
			cpu &= 0xFF
		}
		if (le.Uint16(b[0x36:]) == typeHeader) != (i == 0) {
			t.Fatalf("buffer %d is of type %d", i, le.Uint16(b[0x36:]))
		}
		if flags&flagCompressed != 0 {
			out := make([]byte, filled-bufferHeader)
			if _, err := xpress.Decode(out, body); err != nil {
				t.Fatal(err)
			}
			body = out
		}
		body = body[:filled-bufferHeader]
		for len(body) > 0 {
			var e rawEvent
			size := le.Uint16(body)
			head := 0x30
			e.kind, e.cpu = body[2], cpu
			switch {
			case body[3] != 0xC0:
				t.Fatalf("buffer %d: header begins % x", i, body[:8])
			case e.kind <= 2:
				size, e.op, e.group, e.version, head = le.Uint16(body[4:]), body[6], body[7], le.Uint16(body), 0x20
			case e.kind == 0x10 || e.kind == 0x11:
				size, e.op, e.group, e.version, head = le.Uint16(body[4:]), body[6], body[7], le.Uint16(body), 0x10
				e.raw = int64(le.Uint64(body[8:]))
			default:
				e.op, e.version = body[4], le.Uint16(body[6:])
			}
			if head > 0x10 {
				e.tid, e.pid, e.raw = le.Uint32(body[8:]), le.Uint32(body[12:]), int64(le.Uint64(body[16:]))
			}
			e.payload = body[head:size]
			all = append(all, e)
			body = body[(int(size)+7)&^7:]
		}
	}
	if length != len(file) {
		t.Fatalf("buffers have %d bytes of %d", length, len(file))
	}
	return all
}

// census counts events by what they are.
func census(all []rawEvent) map[string]int {
	counts := make(map[string]int)
	for i := range all {
		counts[all[i].name()]++
	}
	return counts
}

// formats are ways to record a scenario.
var formats = map[string]Format{
	"plain":         {},
	"compressed":    {Compressed: true},
	"keyed":         {Keys: 6},
	"keyed small":   {Keys: 2, Compressed: true, BufferSize: 0x2000},
	"Windows 7":     {Build: 7601, Frequency: 2_338_525},
	"Windows 8":     {Build: 9200, Keys: 100, BufferSize: 0x100000},
	"Windows 11":    {Build: 26200},
	"native":        {Native: true},
	"Windows 7, 32": {Build: 7601, Bits: 32, Native: true, Keys: 6},
	"system time":   {Clock: SystemTime},
	"cycles":        {Clock: Cycles, Frequency: 2_400_000_000},
	"one stream":    {OneStream: true},
	"unfinished":    {Unfinished: true},
	"late":          {NoStartRundown: true},
	"memory":        {MemoryRundown: true},
}

// However a scenario is recorded, its heap events are the same and every stack leads to its event.
func TestFormats(t *testing.T) {
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			s := Invent(1, ScenarioSize{Bits: f.Bits})
			all := walk(t, s.File(f))
			f = f.filled()
			last, targets := map[int]int64{}, map[string]bool{}
			for i := range all {
				e := &all[i]
				if e.raw < last[e.cpu] {
					t.Fatalf("event %d: %s is older than the one before it", i, e.name())
				}
				last[e.cpu] = e.raw
				tid := e.tid
				if e.kind >= 0x10 && e.group == groupMemory {
					tid = 0
				}
				targets[fmt.Sprint(e.raw, tid)] = true
			}
			stacks := 0
			for i := range all {
				e := &all[i]
				if e.group != groupStack || e.op != StackPlain && e.op != StackKeyKernel && e.op != StackKeyUser {
					continue
				}
				stacks++
				target := int64(binary.LittleEndian.Uint64(e.payload))
				tid := binary.LittleEndian.Uint32(e.payload[12:])
				if !targets[fmt.Sprint(target, tid)] && !targets[fmt.Sprint(target, 0)] {
					t.Fatalf("stack at %d has no event", e.raw)
				}
				if e.raw <= target {
					t.Fatalf("stack at %d comes before its event", e.raw)
				}
			}
			if stacks < 1000 {
				t.Fatalf("%d stacks", stacks)
			}
		})
	}
}

// Every kind of event fits every pointer width, and a walk can pass events of kinds that it does not decode.
func TestKinds(t *testing.T) {
	for _, f := range []Format{{}, {Bits: 32, Build: 7601}, {Relogged: true}} {
		s := Invent(6, ScenarioSize{Steps: 20})
		p := &s.Processes[2]
		kinds := f.HarmlessEvents(p, 0x1D000100000)
		for i, e := range kinds {
			s.Extras = append(s.Extras, Extra{Time: s.End - int64(len(kinds)-i)*1000, Process: 2, Event: e})
		}
		for i, b := range Buffers(s.File(f)) {
			at, end := bufferHeader, int(binary.LittleEndian.Uint32(b[0x30:]))
			for at < end {
				size := binary.LittleEndian.Uint16(b[at:])
				if k := b[at+2]; b[at+3]&0x40 != 0 && (k <= 4 || k == 0x10 || k == 0x11) {
					size = binary.LittleEndian.Uint16(b[at+4:])
				}
				if b[at+3]&0x80 == 0 || size < 8 {
					t.Fatalf("buffer %d: no event at %#x: % x", i, at, b[at:at+8])
				}
				at += (int(size) + 7) &^ 7
			}
			if at != end {
				t.Fatalf("buffer %d: events end at %#x of %#x", i, at, end)
			}
		}
	}
}

// Sizes of payloads are those of the MOF classes.
func TestPayloadSizes(t *testing.T) {
	size := func(op byte, pointers int, numbers ...uint32) [2]int {
		return [2]int{len(HeapEvent(64, op, make([]uint64, pointers), numbers...).Payload),
			len(HeapEvent(32, op, make([]uint64, pointers), numbers...).Payload)}
	}
	both := func(event func(bits int) Event) [2]int { return [2]int{len(event(64).Payload), len(event(32).Payload)} }
	for name, c := range map[string][2][2]int{
		"Create 2":     {both(func(bits int) Event { return HeapCreateEvent(bits, 2, 1, 2) }), {12, 8}},
		"Create 3":     {both(func(bits int) Event { return HeapCreateEvent(bits, 3, 1, 2) }), {36, 20}},
		"Alloc":        {size(HeapAlloc, 3, 1), {28, 16}},
		"ReAlloc":      {size(HeapReAlloc, 5, 1), {44, 24}},
		"Free":         {size(HeapFree, 2, 1), {20, 12}},
		"Expand 2":     {both(func(bits int) Event { return HeapExpandEvent(bits, 2, HeapExpand, 1, 2, 3) }), {52, 28}},
		"Expand 3":     {both(func(bits int) Event { return HeapExpandEvent(bits, 3, HeapExpand, 1, 2, 3) }), {60, 32}},
		"SnapShot 2":   {both(func(bits int) Event { return HeapSnapshotEvent(bits, 2, 1, 2, 3) }), {56, 36}},
		"SnapShot 3":   {both(func(bits int) Event { return HeapSnapshotEvent(bits, 3, 1, 2, 3) }), {64, 40}},
		"VirtualAlloc": {both(func(bits int) Event { return VirtualEvent(bits, VirtualAlloc, 1, 2, 3, 4) }), {24, 16}},
		"VirtualRundown": {both(func(bits int) Event {
			return VirtualRundownEvent(bits, VirtualAllocDCEnd, 1,
				2, 3, 4, 5)
		}), {32, 20}},
		"ProcessMemInfo1": {both(func(bits int) Event { return ProcessMemInfoEvent(bits, 1, make([]Counters, 1)) }),
			{4 + 36, 4 + 20}},
		"ProcessMemInfo2": {both(func(bits int) Event { return ProcessMemInfoEvent(bits, 2, make([]Counters, 1)) }),
			{4 + 68, 4 + 36}},
	} {
		if c[0] != c[1] {
			t.Errorf("%s has %v bytes, want %v", name, c[0], c[1])
		}
	}
}

// Keys lead to the frames that plain stacks have: a reference waits for the next definition of its key.
func TestKeys(t *testing.T) {
	s := Invent(2, ScenarioSize{})
	inOrder := func(f Format) []rawEvent {
		all := walk(t, s.File(f))
		slices.SortStableFunc(all, func(a, b rawEvent) int { return int(a.raw - b.raw) })
		return all
	}
	target := func(e *rawEvent, part []byte) string { return fmt.Sprintf("%x %v", e.payload[:16], part[7] == 0xFF) }
	plain, keyed := map[string]string{}, map[string]string{}
	for _, e := range inOrder(Format{}) {
		if e.group == groupStack {
			plain[target(&e, e.payload[16:])] = string(e.payload[16:])
		}
	}
	waiting := map[string][]rawEvent{}
	for _, e := range inOrder(Format{Keys: 3}) {
		if e.group != groupStack {
			continue
		}
		switch e.op {
		case StackKeyKernel, StackKeyUser:
			at := fmt.Sprintf("%d %x", e.op, e.payload[16:])
			waiting[at] = append(waiting[at], e)
		default:
			frames := e.payload[8:]
			op := byte(StackKeyUser)
			if frames[7] == 0xFF {
				op = StackKeyKernel
			}
			at := fmt.Sprintf("%d %x", op, e.payload[:8])
			for _, r := range waiting[at] {
				keyed[target(&r, frames)] = string(frames)
			}
			delete(waiting, at)
		}
	}
	if len(waiting) > 0 || !maps.Equal(plain, keyed) {
		t.Fatalf("%d keys undefined, %d stacks of %d", len(waiting), len(keyed), len(plain))
	}
}

// The two files of a pair hold the same events as one merged file, except those that the merge adds.
func TestPair(t *testing.T) {
	s := Invent(3, ScenarioSize{})
	want := census(walk(t, s.File(Format{Native: true})))
	kernel, heap := s.Pair(Format{})
	got := census(append(walk(t, kernel), walk(t, heap)...))
	for _, header := range []string{"02/0.0 v2", "02/0.80 v2"} {
		want[header]++
	}
	if !maps.Equal(got, want) {
		t.Fatalf("pair has\n%v\none file\n%v", got, want)
	}
	if counts := census(walk(t, heap)); counts["11/3.3 v4"] > 0 || counts["02/16.33 v2"] == 0 {
		t.Fatalf("the heap's session has %v", counts)
	}
}

// A ring holds the last buffers, the newest written over the oldest.
func TestRing(t *testing.T) {
	s := Invent(4, ScenarioSize{Steps: 2000})
	whole := Buffers(s.File(Format{Native: true, BufferSize: 0x4000}))
	ring := Buffers(s.File(Format{Native: true, BufferSize: 0x4000, Ring: 5}))
	seq := func(b []byte) int { return int(binary.LittleEndian.Uint64(b[0x18:])) }
	newest := seq(whole[len(whole)-1])
	if len(ring) != 6 || newest < 20 || newest%5 == 0 {
		t.Fatalf("%d buffers of %d", len(ring), newest)
	}
	for slot, b := range ring[1:] {
		if n := seq(b); (n-1)%5 != slot || n <= newest-5 || !bytes.Equal(b, whole[n]) {
			t.Errorf("slot %d holds %d of %d", slot, n, newest)
		}
	}
}

// Buffers that are lost are counted, and marked in the one that follows.
func TestLosses(t *testing.T) {
	f := Format{BufferSize: 0x4000, DropBuffers: []int{3, 4}, EventsLost: 77}
	file := Invent(5, ScenarioSize{}).File(f)
	buffers, le := Buffers(file), binary.LittleEndian
	if n := le.Uint64(buffers[3][0x18:]); n != 5 || le.Uint16(buffers[3][0x34:])&flagBufferLost == 0 ||
		le.Uint16(buffers[2][0x34:])&flagEventsLost == 0 {
		t.Fatalf("buffer %d", n)
	}
	head := walk(t, file)[0].payload
	if events, lost, written := le.Uint32(head[0x30:]), le.Uint32(head[0x114:]), le.Uint32(head[0x24:]); events != 77 ||
		lost != 2 || int(written) != len(buffers) {
		t.Fatalf("%d events and %d buffers lost, %d written", events, lost, written)
	}
}

// The truth of a large trace describes its events.
func TestLarge(t *testing.T) {
	for name, f := range map[string]Format{"plain": {}, "keyed": {Keys: 50, Compressed: true}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "large.etl")
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			truth, err := Large(out, 1, f, LargeSize{Allocs: 20_000, Live: 500, Stacks: 90})
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			live, events := map[uint64]uint64{}, 0
			all := walk(t, file)
			slices.SortStableFunc(all, func(a, b rawEvent) int { return int(a.raw - b.raw) })
			for _, e := range all {
				switch {
				case e.group == groupHeap && e.op == HeapAlloc:
					live[binary.LittleEndian.Uint64(e.payload[16:])] = binary.LittleEndian.Uint64(e.payload[8:])
				case e.group == groupHeap:
					delete(live, binary.LittleEndian.Uint64(e.payload[8:]))
				case e.group != groupStack:
					continue
				}
				events++
			}
			sum := Sum{Count: len(live)}
			for _, size := range live {
				sum.Bytes += size
			}
			if sum != truth.Outstanding || events != truth.Events || len(Buffers(file)) != truth.Buffers+1 {
				t.Fatalf("%v outstanding after %d events, want %v, %d", sum, events, truth.Outstanding, truth.Events)
			}
		})
	}
}

func BenchmarkLarge(b *testing.B) {
	for name, f := range map[string]Format{"plain": {}, "keyed": {Keys: 1024}, "compressed": {Compressed: true}} {
		b.Run(name, func(b *testing.B) {
			n, events := counter(0), 0
			for b.Loop() {
				n = 0
				truth, err := Large(&n, 1, f, LargeSize{Allocs: 100_000, Live: 10_000})
				if err != nil {
					b.Fatal(err)
				}
				events = truth.Events
			}
			b.SetBytes(int64(n))
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.WriterAt = (*memory)(nil)
