package etl_test

import (
	"testing"

	"heapdrift/ingest/etl"
)

// FuzzTrace reads whatever comes as a trace. Its seeds are small traces in each way of storing them.
func FuzzTrace(f *testing.F) {
	for _, mode := range []uint32{0, compressed, 0x10000, 0x10000000} {
		f.Add(session(mode))
	}
	f.Add(newTiny(nil).add(0, 1, rareEvents()...).file)
	f.Fuzz(func(t *testing.T, file []byte) {
		trace, err := etl.Open(t.Context(), sources(file), etl.Options{Workers: 1})
		if err != nil {
			return
		}
		events := checkOrder(t, trace)
		counts, err := trace.Census(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counts {
			events -= c.Events
		}
		if events != 0 {
			t.Errorf("the census is off by %d", events)
		}
		joined, err := trace.Operations(t.Context(), etl.JoinOptions{Also: everything()},
			func(*etl.Operation) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for id := range joined.Stacks.Len() {
			joined.Stacks.Canonical(etl.StackID(id))
		}
		_ = trace.Warnings()
		_ = joined.Warnings()
	})
}

// FuzzPayload decodes whatever comes as the payload of every kind of event.
func FuzzPayload(f *testing.F) {
	f.Add(uint8(33), uint8(0x10), uint16(2), words(1, 2, 3, 4))
	f.Add(uint8(100), uint8(0x02), uint16(3), words(1, 0x2A, 1, 0, 0x1000, 0x1000))
	f.Add(uint8(125), uint8(0x02), uint16(1), words(2, 2, 3, 4, 5, 6, 7, 8, 9, 10))
	f.Add(uint8(3), uint8(0x03), uint16(4), append(words(1, 2, 3, 4, 0), text("a.exe")...))
	f.Add(uint8(10), uint8(0x03), uint16(3), append(words(1, 2, 3, 4, 5, 6, 7), text(`\Device\a.dll`)...))
	f.Fuzz(func(t *testing.T, op, group uint8, version uint16, payload []byte) {
		if len(payload) > 0x300 {
			return
		}
		large := newTiny(func(t *tinyTrace) { t.bufferSize = 0x800 })
		trace := open(t, large.add(0, 1, system(group, op, version, 2000, 7, 42, payload),
			perfInfo(group, op, version, 2001, payload)).file)
		if err := trace.Events(t.Context(), func(e *etl.Event) error {
			decodeAll(e)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// decodeAll takes the event for one of every kind: a decoder must not trust its caller.
func decodeAll(e *etl.Event) {
	for kind := range etl.Kind(64) {
		e.Kind = kind
		e.HeapCreate()
		e.HeapAlloc()
		e.HeapReAlloc()
		e.HeapFree()
		e.HeapDestroy()
		e.HeapSnapShot()
		e.HeapRange()
		if _, ranges, ok := e.HeapRangeRundown(); ok {
			for range ranges {
				continue
			}
		}
		e.VirtualMemory()
		e.Process()
		e.Image()
		e.ImageID()
		e.ImageRSDS()
		e.StackTarget()
		e.StackKey()
		e.Volume()
		e.SystemPaths()
	}
}
