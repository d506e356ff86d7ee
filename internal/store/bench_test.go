package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// large is a report of n sites with stacks of 24 frames out of 20,000 functions.
func large(b *testing.B, n int) *analysis.Report {
	rng := rand.New(rand.NewPCG(7, 8))
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 64},
		Snapshots: make([]capture.Snapshot, 1), Heaps: []capture.Heap{{Handle: 1}}}
	frames := make([]capture.FrameID, 20_000)
	for i := range frames {
		frames[i] = c.Stacks.AddText(capture.FrameText{Module: fmt.Sprintf("mod%03d", i%120),
			Function: fmt.Sprintf("Space%d::Class%d::Function%d", i%40, i%900, i), Offset: uint64(i % 512),
			File: fmt.Sprintf(`c:\src\file%d.cpp`, i%900), Line: uint32(i % 3000)}, 0)
	}
	for i := range n {
		stack := make([]capture.FrameID, 24)
		for k := range stack {
			stack[k] = frames[rng.IntN(len(frames))]
		}
		c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack(stack), Trace: uint64(i + 1),
			Usage: []capture.Usage{{Count: rng.Int64N(1000), Bytes: rng.Int64N(1 << 20)}}})
	}
	return report(b, c)
}

func BenchmarkSites100k(b *testing.B) {
	s, _ := open(b)
	run := analysed(b, s, large(b, 100_000))
	for name, q := range map[string]store.SiteQuery{
		"first page": {}, "by bytes, page 1000": {Order: "bytes", Offset: 50_000}, "by name": {Order: "name"},
		"function in any frame": {Filter: "Function1234"}, "text in many frames": {Filter: "class12"},
		"text in no frame": {Filter: "NoSuchThing"},
	} {
		q.RunID, q.Limit = run, 50
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := s.View(b.Context(), func(v store.View) error {
					_, _, err := v.ListSites(b.Context(), q)
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSaveResult100k(b *testing.B) {
	r := large(b, 100_000)
	for b.Loop() {
		b.StopTimer()
		s, _ := open(b) // a database without these stacks: the slow case
		b.StartTimer()
		analysed(b, s, r)
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "sites/s")
}
