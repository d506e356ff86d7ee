package ingest_test

import (
	"io"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/etltest"
)

// BenchmarkUnpack reports bytes that come out.
func BenchmarkUnpack(b *testing.B) {
	whole := etltest.Invent(1, etltest.ScenarioSize{Steps: 20000}).File(etltest.Format{})
	kernel, heap := pair()
	for name, test := range map[string]struct {
		data []byte
		size int
	}{
		"gz": {gz(whole), len(whole)}, "zst": {zst(whole), len(whole)}, "zip": {zipped(file{"a.etl", whole}), len(whole)},
		"7z-stored":      {sevenZipped(file{"a.etl", whole}), len(whole)},
		"7z-lzma2-small": {testdata(b, "pair-solid-lzma2.7z"), len(kernel) + len(heap)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(test.size))
			for b.Loop() {
				err := ingest.Unpack(b.Context(), source(name, test.data), func(m ingest.Member) error {
					_, err := io.Copy(io.Discard, m)
					return err
				}, nil)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
