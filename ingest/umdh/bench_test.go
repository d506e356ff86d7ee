package umdh_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/umdh"
	"heapdrift/ingest/umdh/umdhtest"
)

// large is a raw log of about 2,000,000 blocks.
func large(b *testing.B) []byte {
	b.Helper()
	p := umdhtest.Invent(1, umdhtest.ProcessSize{Modules: 120, Stacks: 20_000, Blocks: 2_000_000})
	var log bytes.Buffer
	if err := p.WriteSnapshot(&log, p.Snapshot(0)); err != nil {
		b.Fatal(err)
	}
	return log.Bytes()
}

// BenchmarkReadRaw reads a raw log from memory.
func BenchmarkReadRaw(b *testing.B) {
	log := large(b)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := umdh.Read(b.Context(), bytes.NewReader(log), umdh.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCountLines is the limit: it looks for line ends and does nothing with the lines.
func BenchmarkCountLines(b *testing.B) {
	log := large(b)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		for rest := log; ; {
			at := bytes.IndexByte(rest, '\n')
			if at < 0 {
				break
			}
			rest = rest[at+1:]
		}
	}
}

// BenchmarkReadDiff reads a difference of 20,000 stacks.
func BenchmarkReadDiff(b *testing.B) {
	p := umdhtest.Invent(1, umdhtest.ProcessSize{Modules: 120, Stacks: 20_000, Blocks: 200_000})
	var log bytes.Buffer
	if err := p.WriteDiff(&log, p.Snapshot(0), p.Snapshot(1), umdhtest.Hex); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := umdh.Read(b.Context(), bytes.NewReader(log.Bytes()), umdh.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
