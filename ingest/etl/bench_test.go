package etl_test

import (
	"testing"

	"heapdrift/ingest/etl"
)

// large is a trace of about 100 MB: a million allocations on four CPUs, every second with a stack of 4 frames.
func large(mode uint32) []byte {
	t := newTiny(func(t *tiny) { t.mode, t.bufferSize = mode, 0x10000 })
	const perBuffer = 1000 // each takes 64 bytes
	var events [4][][]byte
	sequence := 0
	for i := range uint64(1_000_000) {
		cpu, at := int(i%4), 2000+10*i
		events[cpu] = append(events[cpu], alloc(at, 0x100000+0x40*i))
		if i%2 == 0 {
			frame := 0x7FF600000000 + i%1000*16
			events[cpu] = append(events[cpu], stack(at+5, at, frame, frame+1, frame+2, 0x77001))
		}
		if len(events[cpu]) >= perBuffer {
			sequence++
			t.add(cpu, sequence, events[cpu]...)
			events[cpu] = events[cpu][:0]
		}
	}
	return t.file
}

// benchmark runs a pass over the large trace, stored plain and compressed, and reports MB/s of decoded events and
// events per second.
func benchmark(b *testing.B, pass func(b *testing.B, t *etl.Trace)) {
	for name, mode := range map[string]uint32{"plain": 0, "compressed": compressed} {
		b.Run(name, func(b *testing.B) {
			trace := open(b, large(mode))
			var events int64
			if err := trace.Events(b.Context(), func(*etl.Event) error { events++; return nil }); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(trace.Info().Files[0].Bytes)
			b.ReportAllocs()
			for b.Loop() {
				pass(b, trace)
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	benchmark(b, func(b *testing.B, t *etl.Trace) {
		if err := t.Events(b.Context(), func(*etl.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkCensus(b *testing.B) {
	benchmark(b, func(b *testing.B, t *etl.Trace) {
		if _, err := t.Census(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOperations(b *testing.B) {
	benchmark(b, func(b *testing.B, t *etl.Trace) {
		if _, err := t.Operations(b.Context(), etl.JoinOptions{}, func(*etl.Operation) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
}
