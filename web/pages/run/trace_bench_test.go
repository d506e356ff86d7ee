package run_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/web/pages/pagestest"
)

// large is a process with n sites in 40 heaps, five allocations each.
func large(n int) pagestest.TracedProcess {
	rng := rand.New(rand.NewPCG(3, 4))
	p := pagestest.TracedProcess{Name: "large.exe", End: 600 * pagestest.Second, Heaps: 40}
	for i := range n {
		stack := make([]string, 24)
		for k := range stack {
			f := rng.IntN(20_000)
			stack[k] = fmt.Sprintf(`mod%03d!Space%d::Class%d::Function%d+0x%x@c:\src\file%d.cpp:%d`, f%120, f%40, f%900,
				f, f%512, f%900, f%3000)
		}
		at := pagestest.AllocationSite{Kind: allocations.KindHeap, Heap: i % 40, Stack: stack}
		if i%10 == 0 {
			at.Kind, at.Heap = allocations.KindVirtual, -1
		}
		for range 5 {
			l := pagestest.Life{From: rng.Int64N(600 * pagestest.Second), Size: 8 + rng.Uint64N(1<<16)}
			if rng.IntN(3) > 0 {
				l.To, l.End = l.From+rng.Int64N(60*pagestest.Second), allocations.EndFree
			}
			at.Lives = append(at.Lives, l)
		}
		p.Sites = append(p.Sites, at)
	}
	return p
}

// BenchmarkTracePage20k measures how long a browser waits for the page of a trace with 20,000 sites. The scan covers
// only 100,000 rows in memory, not an allocation table: the worker's own benchmark has ten million rows.
func BenchmarkTracePage20k(b *testing.B) {
	s := pagestest.Open(b)
	run := pagestest.AddTrace(b, s, pagestest.DefaultTarget, large(20_000))
	at := 0
	for _, test := range []struct{ name, query, target string }{
		{"whole trace", "", ""}, {"by AIFI", "?metric=transient", ""},
		{"new window", "?from=%d&to=400", ""}, {"new window, part of the page", "?from=%d&to=400", "totals"},
		{"window again", "?from=100&to=400", ""}, {"window by AIFI", "?from=100&to=400&metric=transient", "view"},
		{"window, sites by name, page 100", "?view=sites&from=100&to=400&sort=name&page=100", "sites"},
		{"window, text", "?from=100&to=400&q=class12", "view"},
		{"window, in every frame", "?from=100&to=400&q=space", "view"},
		{"window, sizes of blocks", "?from=100&to=400&size=64-1024", "view"},
		{"window, lifetimes", "?from=100&to=400&view=lifetimes", "view"},
	} {
		b.Run(test.name, func(b *testing.B) {
			var wait time.Duration
			var size int64
			for b.Loop() {
				query := test.query
				if at++; len(query) > 7 && query[6:8] == "%d" {
					query = fmt.Sprintf(query, at%300)
				}
				start := time.Now()
				req := pagestest.Must[*http.Request](b)(http.NewRequestWithContext(b.Context(), http.MethodGet,
					fmt.Sprintf("%s/runs/%d%s", s.URL, run, query), nil))
				if test.target != "" {
					req.Header.Set("HX-Request", "true")
					req.Header.Set("HX-Target", test.target)
				}
				res := pagestest.Must[*http.Response](b)(http.DefaultClient.Do(req))
				wait += time.Since(start) // the headers and the first byte of the page come together
				size = pagestest.Must[int64](b)(io.Copy(io.Discard, res.Body))
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					b.Fatalf("status %d", res.StatusCode)
				}
			}
			b.ReportMetric(float64(wait.Microseconds())/1000/float64(b.N), "ms/first-byte")
			b.ReportMetric(float64(size)/1024, "KB/page")
			b.ReportMetric(0, "ns/op")
		})
	}
}
