package pe_test

import (
	"bytes"
	"fmt"
	"testing"

	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/pe/petest"
)

// BenchmarkIdentity is what an upload costs: headers and reference to the PDB.
func BenchmarkIdentity(b *testing.B) {
	data, err := library(petest.X64).Bytes()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := pe.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		if _, ok, err := f.CodeView(); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// lookups asks f for addresses of the code, one after the other.
func lookups(b *testing.B, unit string, ask func(rva uint32)) {
	b.Helper()
	b.ReportAllocs()
	var rva uint32
	for b.Loop() {
		ask(0x1010 + rva%0x500)
		rva++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), unit)
}

func BenchmarkCallSite(b *testing.B) {
	f := opened(b, library(petest.X64))
	lookups(b, "sites/s", func(rva uint32) { f.CallSite(rva) })
}

func BenchmarkFunction(b *testing.B) {
	f := opened(b, library(petest.X64))
	lookups(b, "lookups/s", func(rva uint32) { _, _, _, _ = f.FunctionBounds(rva) })
}

func BenchmarkNearestExport(b *testing.B) {
	f := opened(b, library(petest.X64))
	lookups(b, "lookups/s", func(rva uint32) { f.NearestExport(rva) })
}

// BenchmarkExports reads a table of 1,000 names.
func BenchmarkExports(b *testing.B) {
	i := library(petest.X64)
	i.Sections[1].Size, i.Sections[2].RVA = 0x10000, 0x12000
	for n := range uint32(1000) {
		i.Exports = append(i.Exports, petest.Export{Name: fmt.Sprintf("Export%d", n), RVA: 0x1000 + n})
	}
	data, err := i.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := pe.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Exports(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(i.Exports))/b.Elapsed().Seconds(), "exports/s")
}
