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

// A limit cuts what is read of the heaps. Heaps that were walked before, and a clone, are whole.
func TestWhatALimitCuts(t *testing.T) {
	for name, test := range map[string]struct {
		steps    func(p *pause)
		hit, cut bool // by the limit
		read     bool // heaps may be read
	}{
		"heaps":                  {func(p *pause) { p.expire() }, true, true, false},
		"no heap that is walked": {func(p *pause) { p.walked(); p.expire() }, true, false, true},
		"no clone":               {func(p *pause) { p.cloned() }, false, false, true},
		"no clone made too late": {func(p *pause) { p.expire(); p.cloned() }, true, false, true},
		"nothing that has ended": {func(p *pause) { p.end(); p.expire() }, false, false, true},
		"heaps until the end":    {func(p *pause) { p.expire(); p.walked() }, true, true, true},
	} {
		resumed := 0
		p := &pause{limit: time.Hour, suspend: func() error { return nil }, resume: func() error { resumed++; return nil },
			after: func(time.Duration, func()) func() bool { return func() bool { return true } }}
		if err := p.begin(); err != nil {
			t.Fatal(err)
		}
		test.steps(p)
		p.end()
		read := p.enter()
		if read {
			p.leave()
		}
		if p.isHit() != test.hit || p.wasCut() != test.cut || read != test.read || resumed != 1 {
			t.Errorf("%s: hit %t, cut %t, read %t, resumed %d times", name, p.isHit(), p.wasCut(), read, resumed)
		}
	}
}
