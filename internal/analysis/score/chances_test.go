package score

import (
	"math"
	"testing"
)

// The bar rises with the number of sites beyond those of a fitted process, up to a bound.
func TestCertainAmong(t *testing.T) {
	bar := modelOf(KindFollowed, 12).certain
	for sites, more := range map[int]float64{0: 0, 36: 0, 37: math.Log(37.0/36) / 1.6, 72: math.Log(2) / 1.6, 300: math.Log(300.0/36) / 1.6,
		396: math.Log(11) / 1.6, 397: 1.5, 20000: 1.5} {
		at := Evidence{Kind: KindFollowed, Snapshots: 12, LogOdds: bar + more}
		below := Evidence{Kind: KindFollowed, Snapshots: 12, LogOdds: bar + more - 1e-9}
		if more < 1.5 && math.Log(float64(sites)/36)/1.6 > 1.5 {
			t.Errorf("%d sites are beyond the bound", sites)
		}
		if !at.CertainAmong(sites) || below.CertainAmong(sites) {
			t.Errorf("%d sites: certain at %.3f %t, below %t", sites, at.LogOdds, at.CertainAmong(sites), below.CertainAmong(sites))
		}
	}
	few := Evidence{Kind: KindFollowed, Snapshots: 2, LogOdds: 8}
	if few.CertainAmong(1) {
		t.Error("two snapshots are certain")
	}
}
