package score

import "testing"

// TestCalibrationsRise says that no map changes an order.
func TestCalibrationsRise(t *testing.T) {
	for i, c := range append(snapshotCalibrations[:], traceCalibration) {
		before := -1.0
		for p := 0.0; p <= 1; p += 1.0 / 4096 {
			got := c.of(p)
			if got <= before || got > 1 {
				t.Fatalf("calibration %d gives %v for %v, after %v", i, got, p, before)
			}
			before = got
		}
	}
}
