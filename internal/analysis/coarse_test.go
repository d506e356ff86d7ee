package analysis

import (
	"math"
	"testing"
	"time"
)

// Clocks that count minutes may be wrong by one of the minutes that a run has; finer ones are right.
func TestCoarse(t *testing.T) {
	for want, ends := range map[float64][]time.Duration{
		1.0 / 30: {0, 10 * time.Minute, 30 * time.Minute}, 0: {0, 10*time.Minute + time.Second, 30 * time.Minute},
	} {
		d := &draft{report: &Report{}}
		for _, end := range ends {
			d.judged = append(d.judged, Snapshot{AtNS: int64(end)})
		}
		if got := d.coarse(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %f, want %f", ends, got, want)
		}
	}
	if got := (&draft{report: &Report{}, judged: []Snapshot{{}, {}}}).coarse(); got != 0 {
		t.Errorf("without times: %f", got)
	}
}
