package livesnapshot

import (
	"testing"
	"testing/synctest"
	"time"
)

// A pause lasts from its beginning to its end, or to its limit; the process is resumed once.
func TestLengthOfAPause(t *testing.T) {
	for _, test := range []struct {
		lasts, want time.Duration
		hit, cut    bool
	}{{time.Second, time.Second, false, false}, {3 * time.Second, 2 * time.Second, true, true}} {
		synctest.Test(t, func(t *testing.T) {
			resumed := 0
			p := &pause{limit: 2 * time.Second, suspend: func() error { return nil }, resume: func() error { resumed++; return nil }, after: afterFunc}
			if err := p.begin(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(test.lasts) //nolint:forbidigo // of the bubble
			p.end()
			p.end()
			if p.length() != test.want || p.isHit() != test.hit || p.wasCut() != test.cut || resumed != 1 {
				t.Errorf("%s: %s, hit %t, cut %t, resumed %d times", test.lasts, p.length(), p.isHit(), p.wasCut(), resumed)
			}
			if p.enter() == test.cut {
				t.Errorf("%s: heaps are read: %t", test.lasts, test.cut)
			} else if !test.cut {
				p.leave()
			}
		})
	}
}
