package heapprofile_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/heapprofile"
	"heapdrift/internal/golden"
)

func TestStats(t *testing.T) { // go test ./ingest/heapprofile -update rewrites
	for name, text := range golden.Inputs(t, "testdata/mimalloc-v?.txt") {
		if !heapprofile.SniffStats(text) || heapprofile.Sniff(text) {
			t.Errorf("%s is not recognised", name)
		}
		golden.Check(t, strings.TrimSuffix(name, ".txt")+".golden", render(heapprofile.ReadStats(t.Context(), bytes.NewReader(text))))
	}
}

// The samples of the comment are read as they stand: 1 GiB is reserved and 24.1 MiB are committed.
func TestStatsComment(t *testing.T) {
	captures, err := heapprofile.ReadStats(t.Context(), strings.NewReader(golden.Samples(t, "mimalloc.go", "ReadStats")[0]))
	if err != nil || len(captures) != 2 {
		t.Fatalf("%v, %d captures", err, len(captures))
	}
	const committed = 25_270_682 // 24.1·2^20
	for i, busy := range []int64{0, 23 << 19} {
		if h := captures[i].Memory.Heaps[0]; h.Reserved != 1<<30 || h.Committed != committed || h.Busy.Bytes != busy {
			t.Errorf("%+v", h)
		}
	}
}

// Texts without statistics are refused, with what to do.
func TestNoStats(t *testing.T) {
	for _, text := range []string{"", "heap stats: peak total freed\n", "reserved: 1 GiB\n", "heap stats: peak\n reserved: 1 GiB 1 GiB 1 GiB\n"} {
		_, err := heapprofile.ReadStats(t.Context(), strings.NewReader(text))
		if r := evidence.Refusal(err); r == nil || r.Code != heapprofile.CodeNoStats || r.Do == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := heapprofile.ReadStats(ctx, strings.NewReader("heap stats:")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzStats(f *testing.F) { // its corpus: a file below testdata/fuzz/FuzzStats for each input that matters
	for _, text := range golden.Inputs(f, "testdata/mimalloc-v?.txt") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		captures, err := heapprofile.ReadStats(t.Context(), bytes.NewReader(text))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			valid(t, c)
			if h := c.Memory.Heaps[0]; h.Reserved < 0 || h.Committed < 0 || h.Busy.Bytes < 0 {
				t.Errorf("%+v", h)
			}
		}
	})
}
