package undname_test

import (
	"testing"

	"heapdrift/internal/symbols/undname"
)

// benchmarkNames undecorates the names one after the other, without allocating a string for each.
func benchmarkNames(b *testing.B, names []string, flags undname.Flags) {
	b.Helper()
	var bytes int64
	for _, name := range names {
		bytes += int64(len(name))
	}
	b.SetBytes(bytes)
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		for _, name := range names {
			buf = undname.AppendUndecorate(buf[:0], name, flags)
		}
	}
	b.ReportMetric(float64(len(names))*float64(b.N)/b.Elapsed().Seconds(), "names/s")
}

func BenchmarkInvented(b *testing.B) {
	b.Run("complete", func(b *testing.B) { benchmarkNames(b, invented(b), undname.Complete) })
	b.Run("name", func(b *testing.B) { benchmarkNames(b, invented(b), undname.NameOnly) })
}

// BenchmarkPDB undecorates the names of functions in real PDBs; string literals would make the figures better.
func BenchmarkPDB(b *testing.B) {
	var names []string
	for _, row := range rows(b, "msvc-pdb-pairs.tsv") {
		names = append(names, row[0])
	}
	b.Run("complete", func(b *testing.B) { benchmarkNames(b, names, undname.Complete) })
	b.Run("name", func(b *testing.B) { benchmarkNames(b, names, undname.NameOnly) })
}
