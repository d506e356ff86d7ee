//go:build unix

package tracecapture_test

import (
	"bytes"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
)

// BenchmarkCrafted reads crafted traces of n things and of twice as many. The exponent is that of the time, 1 where it
// is linear. HEAPDRIFT_CRAFTED is n.
func BenchmarkCrafted(b *testing.B) {
	n := 25_000
	if s := os.Getenv("HEAPDRIFT_CRAFTED"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(etltest.Crafted)) {
		b.Run(kind, func(b *testing.B) {
			once, twice := etltest.Crafted[kind](n), etltest.Crafted[kind](2*n)
			var spent [2]time.Duration
			var held int64
			b.ResetTimer()
			for b.Loop() {
				first, _ := spend(b, once)
				second, kept := spend(b, twice)
				if spent[1] == 0 || second < spent[1] {
					spent[1] = second
				}
				if spent[0] == 0 || first < spent[0] {
					spent[0] = first
				}
				held = kept
			}
			b.ReportMetric(math.Log2(float64(spent[1])/float64(spent[0])), "exponent")
			b.ReportMetric(float64(spent[1].Nanoseconds())/float64(2*n), "ns-cpu/thing")
			b.ReportMetric(float64(held)/float64(2*n), "B-held/thing")
		})
	}
}

// spend is the processor time that making captures of a trace takes, and the bytes that the result holds.
func spend(b *testing.B, trace []byte) (spent time.Duration, held int64) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	from := processorTime(b)
	r, err := tracecapture.Read(b.Context(),
		[]etl.Source{{Name: "crafted.etl", ReaderAt: bytes.NewReader(trace), Size: int64(len(trace))}},
		tracecapture.Options{})
	spent = processorTime(b) - from
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held = int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	runtime.KeepAlive(r)
	return spent, held
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestCrafted reads small crafted traces.
func TestCrafted(t *testing.T) {
	for kind, write := range etltest.Crafted {
		t.Run(kind, func(t *testing.T) {
			trace := write(500)
			r, err := tracecapture.Read(t.Context(),
				[]etl.Source{{Name: "crafted.etl", ReaderAt: bytes.NewReader(trace), Size: int64(len(trace))}},
				tracecapture.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			want := 1
			if kind == "processes" || kind == "processes of one id" {
				want = 500
			}
			if len(r.Captures) != want {
				t.Errorf("%d captures, want %d", len(r.Captures), want)
			}
		})
	}
}
