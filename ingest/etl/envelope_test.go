package etl_test

import (
	"slices"
	"testing"

	"heapdrift/ingest/etl"
)

// rareEvents are envelopes that few or no real traces have, in the order of time.
func rareEvents() [][]byte {
	// PERFINFO with a PEBS index and two counters before the payload.
	perf := perfInfo(0x02, 98, 0x8202, 2000, words(0xEE, 0xC1, 0xC2, 0x10000, 0x2000, 42|0x3000<<32))
	// A WPP message without a time stamp, and one with a sequence number, a GUID and a time stamp.
	silent := []byte{16, 0, 0, 0x90, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	message := append([]byte{36, 0, 0, 0x90, 8, 0, 1 | 2 | 8, 0, 9, 0, 0, 0}, make([]byte, 16)...)
	message = append(message, words(2002)...)
	// A heap allocation in the envelope of a class GUID, 32 bits.
	full := make([]byte, 0x30)
	full[2], full[3], full[4] = 0x0A, 0xC0, 33
	le.PutUint16(full[6:], 2)
	le.PutUint32(full[8:], 7)
	le.PutUint32(full[12:], 42)
	le.PutUint64(full[16:], 2003)
	copy(full[0x18:], []byte{0xab, 0x62, 0x29, 0x22, 0x80, 0x61, 0x88, 0x4b, 0xa8, 0x25, 0x34, 0x6b,
		0x75, 0xf2, 0xa2, 0x4a})
	for _, v := range []uint32{0x10000, 24, 0xC0, 2} {
		full = le.AppendUint32(full, v)
	}
	le.PutUint16(full, uint16(len(full)))
	// A manifest event with its stack in an extended item, behind another item.
	manifest := make([]byte, 0x50)
	manifest[2], manifest[3], manifest[4] = 0x13, 0xC0, 1
	le.PutUint64(manifest[16:], 2004)
	manifest = slices.Concat(manifest, []byte{16, 0, 1, 0, 1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8},
		[]byte{32, 0, 6, 0, 0, 0, 24, 0}, words(0x55, 0x77001, 0x77002), []byte{0xDD})
	le.PutUint16(manifest, uint16(len(manifest)))
	return [][]byte{perf, silent, message, full, manifest}
}

// TestEnvelopes reads events in every envelope.
func TestEnvelopes(t *testing.T) {
	trace := open(t, newTiny(nil).add(0, 1, rareEvents()...).file)
	seen := map[etl.HeaderType]int{}
	if err := trace.Events(t.Context(), func(e *etl.Event) error {
		seen[e.Header]++
		switch e.Header {
		case etl.HeaderPerfInfo64:
			if v, ok := e.VirtualMemory(); !ok ||
				v != (etl.VirtualMemory{Base: 0x10000, Size: 0x2000, PID: 42, Flags: etl.VirtualCommit | etl.VirtualReserve}) {
				t.Errorf("%+v", v)
			}
		case etl.HeaderMessage:
			if want := map[uint16]int64{7: 2000, 8: 2002}[e.ID]; e.Stamp != want {
				t.Errorf("message %d at %d", e.ID, e.Stamp)
			}
		case etl.HeaderFull32:
			if a, ok := e.HeapAlloc(); !ok || e.Kind != etl.KindHeapAlloc ||
				a != (etl.HeapAlloc{Heap: 0x10000, Size: 24, Address: 0xC0, Source: etl.FromLFH}) {
				t.Errorf("kind %d: %+v", e.Kind, a)
			}
		case etl.HeaderEvent64:
			if string(e.Payload) != "\xDD" {
				t.Errorf("payload %x", e.Payload)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if seen[etl.HeaderMessage] != 2 || seen[etl.HeaderPerfInfo64] != 1 || seen[etl.HeaderFull32] != 1 ||
		seen[etl.HeaderEvent64] != 1 {
		t.Errorf("seen %v", seen)
	}
}

// TestShared checks traces whose CPUs share buffers: events lie out of order inside buffers and across them.
func TestShared(t *testing.T) {
	file := newTiny(func(t *tinyTrace) { t.mode = 0x10000000 }).
		add(0, 1, alloc(2000, 1), alloc(2002, 3), alloc(2001, 2), alloc(2005, 6)).
		add(0, 2, alloc(2004, 5), alloc(2003, 4), alloc(2006, 7)).file
	trace := open(t, file)
	if got := addresses(t, trace); !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("%d", got)
	}
	if l := trace.Info().Files[0].Losses; l.Disordered != 0 {
		t.Errorf("%+v", l)
	}
}

// TestLate checks that an event which comes too late for its time is delivered and counted. What was known before stays
// as it was.
func TestLate(t *testing.T) {
	trace := open(t, newTiny(nil).add(0, 1, alloc(2000, 1)).add(0, 2, alloc(9000, 3), alloc(1500, 2)).file)
	before := trace.Info()
	if got := addresses(t, trace); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("%d", got)
	}
	if l := trace.Info().Files[0].Losses; l.Disordered != 1 || len(trace.Warnings()) != 1 {
		t.Errorf("%+v", l)
	}
	if l := before.Files[0].Losses; l.Disordered != 0 {
		t.Errorf("before the pass: %+v", l)
	}
}

// TestClocks checks the time of an event that lies 1000 stamps behind the start, by each clock.
func TestClocks(t *testing.T) {
	for _, test := range []struct {
		clock     uint32
		frequency uint64
		want      int64
	}{
		{1, 10_000_000, 100_000},
		{1, 3_513_594, 284_608}, // 1000 / 3.513594 MHz
		{1, 1, 1_000_000_000_000},
		{2, 0, 100_000},
		{3, 0, 333}, // 3 GHz
	} {
		trace := open(t, newTiny(func(t *tinyTrace) { t.clock, t.frequency = test.clock, test.frequency }).add(0,
			1, alloc(2000, 1)).file)
		var got int64
		if err := trace.Events(t.Context(), func(e *etl.Event) error { got = e.Time; return nil }); err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("clock %d at %d Hz: %d ns, want %d", test.clock, test.frequency, got, test.want)
		}
	}
}

// TestSilentMessages reads large buffers of messages without a time stamp: a message takes the time of the next event
// in its buffer, or else that of the buffer before.
func TestSilentMessages(t *testing.T) {
	many := slices.Repeat([][]byte{{8, 0, 0, 0x90, 7, 0, 0, 0}}, 100_000)
	large := newTiny(func(t *tinyTrace) { t.bufferSize = 0x100000 })
	trace := open(t, large.add(0, 1, append(slices.Clone(many), alloc(5000, 1))...).add(0, 2, many...).file)
	at := map[int64]int{}
	if err := trace.Events(t.Context(), func(e *etl.Event) error {
		if e.Header == etl.HeaderMessage {
			at[e.Stamp]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(at) != 2 || at[5000] != 100_000 || at[1000] != 100_000 {
		t.Errorf("messages by time stamp: %v", at)
	}
}
