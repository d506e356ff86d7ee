package score

import (
	"strings"
	"testing"
)

// Growth in fewer than decidingBursts bursts is never certain, whatever its score; steady growth may be.
func TestFewBurstsAreNotCertain(t *testing.T) {
	sure := &model{kind: KindFollowed, leak: 1, certain: 2, calibration: calibration{{0, 0}, {2, 1}}}
	for _, c := range []struct {
		name   string
		shape  shape
		bursts int
		want   bool
	}{
		{"seven bursts", shape{once: 1}, 7, false},
		{"eight bursts", shape{once: 1}, 8, true},
		{"steady, in seven stretches", shape{leak: 1}, 7, true},
		{"of late, in seven stretches", shape{recent: 1}, 7, true},
		{"as likely steady as in bursts", shape{leak: 0.5, once: 0.5}, 7, true},
	} {
		v := growingSeries(t, 12, 20)
		v.model, v.logOdds, v.shape = sure, 2, c.shape
		v.rises = make([]float64, 11)
		for i := range c.bursts {
			v.rises[i] = v.rose / float64(c.bursts)
		}
		if r := v.result("hour"); r.Class != ClassLeak || r.Certain != c.want {
			t.Errorf("snapshots, %s: %s, certain %t", c.name, r.Class, r.Certain)
		}
		trace := traceView{window: 1, span: 1, born: 9, left: 9, survivors: 9, bins: c.bursts, reading: reading{shape: c.shape},
			model: sure, conditions: []float64{}, logOdds: 2}
		if r := trace.result(); r.Class != ClassLeak || r.Certain != c.want {
			t.Errorf("trace, %s: %s, certain %t", c.name, r.Class, r.Certain)
		}
	}
}

func TestPatternsThatOneRunCannotTell(t *testing.T) {
	steady, bursts, late := &shape{leak: 1}, &shape{once: 1}, &shape{recent: 1}
	for _, c := range []struct {
		name string
		ambiguity
		want   string
		longer float64
	}{
		{"three bursts", ambiguity{shape: bursts, bursts: 3, grown: true}, "3 bursts may be an outage that leaks", 8.0 / 3},
		{"seven bursts", ambiguity{shape: bursts, bursts: 7, grown: true}, "7 bursts may be an outage", 8.0 / 7},
		{"eight bursts", ambiguity{shape: bursts, bursts: 8, grown: true}, "a cache that is still filling", 0},
		{"a cache that turns over", ambiguity{shape: steady, died: 0.6, deaths: 40, risk: 100},
			"a leak beside a busy cache", 0},
		{"deaths that are too few", ambiguity{shape: steady, died: 0.2, deaths: 30, risk: 100},
			"a cache that is still filling", 0},
		{"sessions", ambiguity{shape: steady, grown: true, died: 0.26, diedWords: "2 h"},
			"4 times 2 h or more: blocks are freed at that age, and sessions that expire", 4 * 0.26},
		{"four expiries", ambiguity{shape: steady, grown: true, died: 0.25}, "a cache that is still filling", 0},
		{"a queue", ambiguity{shape: late, grown: true}, "a queue not drained yet", 0},
		{"steady", ambiguity{shape: steady, grown: true}, "a cache that is still filling", 0},
	} {
		list := conclude(&Result{Class: ClassGrowing, Score: 0.4}, &c.ambiguity)
		if last := list[len(list)-1]; last.Rule != "next" || !strings.Contains(last.Text, c.want) || last.LengthFactor != c.longer {
			t.Errorf("%s: %q, %v times as long, want %q", c.name, last.Text, last.LengthFactor, c.want)
		}
	}
	if list := conclude(&Result{Class: ClassCache}, &ambiguity{shape: bursts, bursts: 3}); len(list) != 1 {
		t.Errorf("of what is no suspect nothing is asked: %+v", list)
	}
}
