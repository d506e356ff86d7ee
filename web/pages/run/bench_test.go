package run_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"
	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/web/pages/pagestest"
)

// largeCaptures are two snapshots with n sites each, whose stacks have 24 frames out of 20,000 functions.
func largeCaptures(n int) []*capture.Capture {
	rng := rand.New(rand.NewPCG(7, 8))
	list := pagestest.CapturesOf(nil, 2)
	usage := make([][2]capture.Usage, n)
	stacks := make([][24]int, n)
	for i := range n {
		for k := range stacks[i] {
			stacks[i][k] = rng.IntN(20_000)
		}
		before, after := rng.Int64N(1000), rng.Int64N(1200)
		size := 8 + rng.Int64N(4096)
		usage[i] = [2]capture.Usage{{Count: before, Bytes: before * size}, {Count: after, Bytes: after * size}}
	}
	for at, c := range list {
		frames := make([]capture.FrameID, 20_000)
		for i := range frames {
			frames[i] = c.Stacks.AddText(capture.FrameText{Module: fmt.Sprintf("mod%03d", i%120),
				Function: fmt.Sprintf("Space%d::Class%d::Function%d", i%40, i%900, i), Offset: uint64(i % 512),
				File: fmt.Sprintf(`c:\src\file%d.cpp`, i%900), Line: uint32(i % 3000)}, 0)
		}
		ids := make([]capture.FrameID, 24)
		for i := range n {
			for k, f := range stacks[i] {
				ids[k] = frames[f]
			}
			c.Sites = append(c.Sites,
				capture.Site{Stack: c.Stacks.AddStack(ids), Trace: uint64(i + 1), Usage: []capture.Usage{usage[i][at]}})
		}
	}
	return list
}

// BenchmarkRunPage100k measures how long a browser waits for the first byte of the page of a run with 100,000 sites.
// The page has to come within 100 ms.
func BenchmarkRunPage100k(b *testing.B) {
	s := pagestest.Open(b)
	run := pagestest.AddRun(b, s.Store, pagestest.DefaultTarget, largeCaptures(100_000))
	for _, test := range []struct{ name, query string }{
		{"first page before the report is read", ""}, {"first selection", "?q=Function1234"},
		{"first page", ""}, {"page 1000", "?page=1000"}, {"by held", "?metric=held"}, {"growing", "?class=growing"},
		{"heap", "?heap=0x1d147000000"},
		{"function", "?q=Function1234"}, {"in every frame", "?q=space"}, {"modules", "?view=modules"},
		{"sizes", "?view=sizes"},
		{"sites", "?view=sites"}, {"sites, page 2000", "?view=sites&page=2000"},
		{"sites by bytes, page 1000", "?view=sites&sort=bytes&page=1000"}, {"sites by name", "?view=sites&sort=name"},
		{"sites of a class in many frames", "?view=sites&q=class12"}, {"sites in no frame", "?view=sites&q=NoSuchThing"},
	} {
		b.Run(test.name, func(b *testing.B) { firstByte(b, s, fmt.Sprintf("/runs/%d%s", run, test.query)) })
	}
}

// BenchmarkFirstPaint opens the page of a run with 46,000 sites in Chromium, which has styles and scripts from an
// earlier page. It measures when the first byte comes, when the first paint happens, and how many bytes are sent. The
// first paint has to come within 500 ms.
func BenchmarkFirstPaint(b *testing.B) {
	s, tab := pagestest.Open(b), pagestest.Browse(b)
	run := pagestest.AddRun(b, s.Store, pagestest.DefaultTarget, largeCaptures(46_000))
	page := fmt.Sprintf("%s/runs/%d", s.URL, run)
	tab.Do(cdp.Navigate(page))
	tab.See(`document.querySelector("#views tbody tr") !== null`)
	var byte1, paint, sent float64
	b.ResetTimer()
	for n := 0; b.Loop(); n++ {
		tab.Do(cdp.Navigate(s.URL+"/upload"), cdp.Navigate(fmt.Sprintf("%s?n=%d", page, n))) // not in its cache
		tab.See(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		times := pagestest.Must[[]float64](b)(cdp.Run(tab.Ctx, cdp.Evaluate[[]float64](`(() => {
			const page = performance.getEntriesByType("navigation")[0], paint = performance.getEntriesByName("first-contentful-paint")[0];
			return [page.responseStart - page.requestStart, paint.startTime, page.transferSize / 1024];
		})()`)))
		byte1, paint, sent = byte1+times[0], paint+times[1], sent+times[2]
	}
	b.ReportMetric(byte1/float64(b.N), "ms/first-byte")
	b.ReportMetric(paint/float64(b.N), "ms/first-paint")
	b.ReportMetric(sent/float64(b.N), "KB/sent")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkProjectPages100k measures the same for the pages that sum up such runs: two builds with 100,000 sites each.
func BenchmarkProjectPages100k(b *testing.B) {
	s := pagestest.Open(b)
	for _, build := range []string{"4811", "4812"} {
		to := pagestest.DefaultTarget
		to.Build = build
		pagestest.AddRun(b, s.Store, to, largeCaptures(100_000))
	}
	for name, path := range map[string]string{"board": "/", "project": "/projects/shopd",
		"search": "/search?q=function1234"} {
		b.Run(name, func(b *testing.B) { firstByte(b, s, path) })
	}
}

// firstByte measures how long a browser waits for the first byte of a page, and how much of it goes out.
func firstByte(b *testing.B, s *pagestest.Server, path string) {
	var wait time.Duration
	var sent, size int64
	for b.Loop() {
		start := time.Now()
		req := pagestest.Must[*http.Request](b)(http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+path, nil))
		req.Header.Set("Accept-Encoding", "zstd") // so that the client does not decode what was sent
		res := pagestest.Must[*http.Response](b)(http.DefaultClient.Do(req))
		wait += time.Since(start) // the headers and the first byte of the page come together
		coded := pagestest.Must[[]byte](b)(io.ReadAll(res.Body))
		_ = res.Body.Close()
		if got := res.Header.Get("Content-Encoding"); got != "zstd" {
			b.Fatalf("sent in %q", got)
		}
		page := pagestest.Must[*zstd.Decoder](b)(zstd.NewReader(bytes.NewReader(coded)))
		sent, size = int64(len(coded)), pagestest.Must[int64](b)(io.Copy(io.Discard, page))
		page.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatalf("status %d", res.StatusCode)
		}
	}
	b.ReportMetric(float64(wait.Microseconds())/1000/float64(b.N), "ms/first-byte")
	b.ReportMetric(float64(size)/1024, "KB/page")
	b.ReportMetric(float64(sent)/1024, "KB/sent")
	b.ReportMetric(0, "ns/op")
}
