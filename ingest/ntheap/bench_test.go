package ntheap_test

import (
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// walkAll walks all heaps once and counts the blocks.
func walkAll(b *testing.B, heaps *ntheap.SideHeaps) (blocks int) {
	b.Helper()
	for _, heap := range heaps.List {
		if _, err := heap.Walk(b.Context(), func(ntheap.Block) error { blocks++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	return blocks
}

func benchmark(b *testing.B, made *ntheaptest.Process) {
	b.Helper()
	heaps, err := ntheap.Open(b.Context(), process(made))
	if err != nil {
		b.Fatal(err)
	}
	var committed int64
	for _, heap := range heaps.List {
		committed += heap.Facts().Committed
	}
	b.SetBytes(committed)
	b.ReportAllocs()
	blocks := 0
	for b.Loop() {
		blocks = walkAll(b, heaps)
	}
	b.ReportMetric(float64(blocks)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mblocks/s")
}

// BenchmarkBackend walks 200,000 blocks of segments, from memory.
func BenchmarkBackend(b *testing.B) { benchmark(b, inMemory(b, false)) }

// BenchmarkStackTraces walks 200,000 blocks with stack traces, from memory.
func BenchmarkStackTraces(b *testing.B) { benchmark(b, inMemory(b, true)) }

// BenchmarkLFH walks a heap most of whose blocks are in the low-fragmentation heap.
func BenchmarkLFH(b *testing.B) {
	benchmark(b, ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, LFH: true, Segments: 8, Blocks: 200}))
}

// inMemory is a large heap whose bytes were made before.
func inMemory(b *testing.B, stacks bool) *ntheaptest.Process {
	b.Helper()
	large := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Stacks: stacks}, 200_000, 180)
	large.Memory = large.Memory.Map(func(_ uint64, bytes []byte) []byte { return bytes })
	return large.Process
}

// BenchmarkStack reads the stacks of traces.
func BenchmarkStack(b *testing.B) {
	heaps, err := ntheap.Open(b.Context(), process(inMemory(b, true)))
	if err != nil {
		b.Fatal(err)
	}
	var traces []uint64
	if _, err := heaps.List[0].Walk(b.Context(), func(block ntheap.Block) error {
		if len(traces) < 1024 {
			traces = append(traces, block.Trace)
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var stack []uint64
	for i := 0; b.Loop(); i++ {
		if stack = heaps.Stack(traces[i%len(traces)], stack[:0]); len(stack) == 0 {
			b.Fatal("no stack")
		}
	}
}
