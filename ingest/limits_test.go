package ingest

import (
	"errors"
	"io"
	"testing"

	"heapdrift/ingest/evidence"
)

// A format with a larger free allowance may unpack to more, but not without end.
func TestLimits(t *testing.T) {
	for _, free := range []int64{freeRatio, Formats().Of("etl").RatioExempt} {
		w := walker{in: &meter{}, free: free}
		w.in.done.Store(100_000)
		n, err := io.Copy(io.Discard, &unpacking{w: &w, r: emptySource{}, name: "a"})
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != evidence.CodeArchiveBomb || n < max(free, 100_000*maxRatio) ||
			n > free+100_000*maxRatio {
			t.Errorf("free %d: %v after %d bytes", free, err, n)
		}
	}
}

type emptySource struct{}

func (emptySource) Read(p []byte) (int, error) { return len(p), nil }
