package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// resultSites is how many sites the results of BenchmarkStoreResult have.
const resultSites = 20_000

// named is a report whose stacks of 24 frames consist of 20,000 functions, as PDBs name them. Runs with the same seed
// have the same stacks.
func named(b *testing.B, seed uint64) *analysis.Report {
	rng := rand.New(rand.NewPCG(seed, 8))
	return reportOf(b, func(c *capture.Capture, site, frame int) capture.FrameID {
		i := rng.IntN(20_000)
		return c.Stacks.AddText(capture.FrameText{Module: fmt.Sprintf("mod%03d", i%120),
			Function: fmt.Sprintf("Space%d::Class%d::Function%d", i%40, i%900, i), Offset: uint64(i % 512),
			File: fmt.Sprintf(`c:\src\file%d.cpp`, i%900), Line: uint32(i % 3000)}, 0)
	})
}

// unnamed is a report nearly all of whose frames are in one stack only, as addresses without symbols are.
func unnamed(b *testing.B, seed uint64) *analysis.Report {
	return reportOf(b, func(c *capture.Capture, site, frame int) capture.FrameID {
		return c.Stacks.AddText(capture.FrameText{Module: fmt.Sprintf("mod%03d", frame),
			Offset: seed<<32 | uint64(site*24+frame)*16}, 0)
	})
}

func reportOf(b *testing.B, frame func(c *capture.Capture, site, frame int) capture.FrameID) *analysis.Report {
	rng := rand.New(rand.NewPCG(7, 8))
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 64},
		Snapshots: make([]capture.Snapshot, 1), Heaps: []capture.Heap{{Handle: 1}}}
	for i := range resultSites {
		stack := make([]capture.FrameID, 24)
		for k := range stack {
			stack[k] = frame(c, i, k)
		}
		c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack(stack), Trace: uint64(i + 1),
			Usage: []capture.Usage{{Count: rng.Int64N(1000), Bytes: rng.Int64N(1 << 20)}}})
	}
	return report(b, c)
}

// BenchmarkStoreResult stores results of 20,000 sites: the first of a project, of a build after it, of a run that is
// analysed again, and of runs without names.
func BenchmarkStoreResult(b *testing.B) {
	type result struct {
		build  string
		report func() *analysis.Report
	}
	withNames := sync.OnceValue(func() *analysis.Report { return named(b, 1) })
	withoutNames := sync.OnceValue(func() *analysis.Report { return unnamed(b, 1) })
	for _, test := range []struct {
		name   string
		before []result
		of     result
	}{
		{"first", nil, result{"1", withNames}},
		{"next build", []result{{"1", withNames}}, result{"2", withNames}},
		{"again", []result{{"1", withNames}}, result{"1", withNames}},
		{"names instead of addresses", []result{{"1", withoutNames}}, result{"1", withNames}},
		{"without names", nil, result{"1", withoutNames}},
	} {
		b.Run(test.name, func(b *testing.B) {
			var total, took time.Duration
			for b.Loop() {
				s, _ := open(b) // what is stored once is not stored the second time
				for i, r := range append(slices.Clone(test.before), test.of) {
					e := addEvidence(b, s, leaks.UploadTarget{Project: "demo", Build: r.build, Scenario: "soak", Run: "1"},
						fmt.Sprintf("%d.txt", i))
					if err := s.CreateCaptures(b.Context(), claim(b, s),
						[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "art", Bytes: 5}}); err != nil {
						b.Fatal(err)
					}
					name(b, s, claim(b, s), "names")
					lease, revision, report := claim(b, s), input(b, s, e.RunID).Revision, r.report()
					began := time.Now()
					save(b, s, lease, report, "rep", revision)
					took = time.Since(began)
				}
				total += took
				s.Close()
			}
			b.ReportMetric(resultSites*float64(b.N)/total.Seconds(), "sites/s")
			b.ReportMetric(total.Seconds()/float64(b.N), "s/result")
			b.ReportMetric(0, "ns/op")
		})
	}
}
