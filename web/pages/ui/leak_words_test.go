package ui

import (
	"testing"

	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// A rate shows its interval where it has one that the digits shown tell from the rate itself.
func TestRateIntervals(t *testing.T) {
	for _, test := range []struct {
		rate, total string
		of          score.Rate
	}{
		{"+3,072 B per hour; 95 % between 2.00 KB and 4.00 KB, 30 (20 to 40) blocks per hour",
			"3.00 KB per hour, between 2.00 KB and 4.00 KB, of 1 signature",
			score.Rate{Count: 30, CountLow: 20, CountHigh: 40, Bytes: 3072, BytesLow: 2048, BytesHigh: 4096}},
		{"+3,072 B per hour; 95 % interval narrower than the digits shown, 30 blocks per hour",
			"3.00 KB per hour, interval narrower than the digits shown, of 1 signature",
			score.Rate{Count: 30, CountLow: 30, CountHigh: 30, Bytes: 3072, BytesLow: 3071.6, BytesHigh: 3072.4}},
		{"+3,072 B per hour, 30 blocks; no interval below 5 snapshots", "3.00 KB per hour, of 1 signature; no interval below 5 snapshots",
			score.Rate{Count: 30, CountLow: 20, CountHigh: 40, Bytes: 3072, BytesLow: 2048, BytesHigh: 4096, Unbounded: true}},
	} {
		test.of.Unit = "hour"
		if got := rateOf(&test.of, nil).Exact; got != test.rate {
			t.Errorf("%q, want %q", got, test.rate)
		}
		total := leaks.TotalGrowth{Unit: "hour", Bytes: test.of.Bytes, Low: test.of.BytesLow, High: test.of.BytesHigh,
			Unbounded: test.of.Unbounded, Signatures: 1}
		if got := growthText(&total); got != test.total {
			t.Errorf("%q, want %q", got, test.total)
		}
	}
}
