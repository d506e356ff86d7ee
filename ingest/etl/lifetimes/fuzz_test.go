package lifetimes

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// fuzzed reads events from bytes, 26 for each: addresses are small enough to collide, and one bit makes them as large
// as possible.
func fuzzed(data []byte) []Event {
	le := binary.LittleEndian
	var events []Event
	var at int64
	for ; len(data) >= 26; data = data[26:] {
		at += int64(int8(data[1])) << (data[2] & 63)
		e := Event{
			Op: EventKind(data[0]), Time: at, Process: uint32(data[3] & 3), Stack: uint32(data[4]), Heap: uint64(data[5]) << 12,
			Flags: uint32(data[6]) << 8, Address: uint64(le.Uint32(data[7:])), OldAddress: uint64(le.Uint32(data[11:])),
			Size: uint64(le.Uint32(data[15:])), OldSize: uint64(le.Uint16(data[19:])), Committed: uint64(le.Uint32(data[21:])),
		}
		if data[25]&1 != 0 {
			e.Size <<= 33
		}
		if data[25]&2 != 0 {
			e.Address, e.Process = e.Address<<32|e.Address, ^e.Process
		}
		events = append(events, e)
	}
	return events
}

// Sums, sites and rows agree, whatever the events are.
func FuzzTracker(f *testing.F) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		data := make([]byte, 26*40)
		for i := range data {
			data[i] = byte(r.UintN(256))
		}
		for i := 0; i < len(data); i += 26 {
			data[i] %= byte(ProcessEnd) + 1
			data[i+2], data[i+3], data[i+5] = 0, data[i+3]&1, data[i+5]&3
			data[i+10], data[i+14], data[i+18], data[i+24], data[i+25] = 0, 0, 0, 0, 0
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sink := &rowCollector{}
		tr := New(sink)
		for _, e := range fuzzed(data) {
			if err := tr.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.Finish(); err != nil {
			t.Fatal(err)
		}
		checkSums(t, tr, sink.rows)
		for _, h := range tr.Heaps() {
			if n := len(h.Timeline); n > 0 && h.Timeline[n-1].LastBytes != h.Usage.Outstanding().Bytes {
				t.Fatalf("heap %+v", h)
			}
		}
	})
}
