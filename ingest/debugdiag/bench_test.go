package debugdiag_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

// BenchmarkRead reads a report of 5,000 functions with three samples each, as DebugDiag writes it and as a page.
func BenchmarkRead(b *testing.B) {
	r := debugdiagtest.Large(100, 50)
	for name, report := range map[string][]byte{"MIME": r.MIME(), "page": r.HTML()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(report)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := debugdiag.Read(b.Context(), bytes.NewReader(report)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSniff(b *testing.B) {
	head := debugdiagtest.Walkthrough().MIME()
	head = head[:min(len(head), 64<<10)]
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		if !debugdiag.Sniff(head) {
			b.Fatal("not recognised")
		}
	}
}
