package capture_test

import (
	"bytes"
	"math"
	"testing"

	"heapdrift/ingest/capture"
)

// How a sample was taken is kept in an artifact.
func TestSamplingComesBack(t *testing.T) {
	for _, rate := range []int64{0, 1, 512 << 10, math.MaxInt64} {
		c := sample()
		c.Sampling = rate
		var artifact bytes.Buffer
		if err := c.Write(&artifact); err != nil {
			t.Fatal(err)
		}
		again, err := capture.Read(&artifact)
		if err != nil || again.Sampling != rate {
			t.Errorf("%d comes back as %d, %v", rate, again.Sampling, err)
		}
	}
}

func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		of         capture.Usage
		rate, want int64
	}{
		{capture.Usage{Count: 7, Bytes: 700}, 0, 7},
		{capture.Usage{Count: 8192, Bytes: 8192 * 64}, 512 << 10, 1},
		{capture.Usage{Count: 100, Bytes: 100 << 30}, 512 << 10, 100},   // each is recorded for certain
		{capture.Usage{Count: 1000, Bytes: 1000 << 19}, 512 << 10, 632}, // 1000·(1−1/e)
		{capture.Usage{Count: 3}, 512 << 10, 3},
		{capture.Usage{Count: -3, Bytes: -300}, 512 << 10, -3},
	} {
		if got := test.of.Recorded(test.rate); got != test.want {
			t.Errorf("%+v at %d: %d, want %d", test.of, test.rate, got, test.want)
		}
	}
}
