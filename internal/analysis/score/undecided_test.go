package score

import (
	"strings"
	"testing"
)

func TestPatternsThatOneRunCannotTell(t *testing.T) {
	steady, bursts, late := &shape{leak: 1}, &shape{once: 1}, &shape{recent: 1}
	for _, c := range []struct {
		name string
		ambiguity
		want string
	}{
		{"three bursts", ambiguity{shape: bursts, bursts: 3, grown: true}, "3 bursts: an outage leaks like this"},
		{"seven bursts", ambiguity{shape: bursts, bursts: 7, grown: true}, "7 bursts: an outage"},
		{"eight bursts", ambiguity{shape: bursts, bursts: 8, grown: true}, "a cache that is not full yet"},
		{"a cache that turns over", ambiguity{shape: steady, died: 0.6, deaths: 40, risk: 100},
			"a large cache that turns over"},
		{"deaths that are too few", ambiguity{shape: steady, died: 0.2, deaths: 30, risk: 100},
			"a cache that is not full yet"},
		{"sessions", ambiguity{shape: steady, grown: true, died: 0.26, diedWords: "2 h"},
			"as old as 2 h: sessions that expire"},
		{"four expiries", ambiguity{shape: steady, grown: true, died: 0.25}, "a cache that is not full yet"},
		{"a queue", ambiguity{shape: late, grown: true}, "a queue that is not drained yet"},
		{"steady", ambiguity{shape: steady, grown: true}, "a cache that is not full yet"},
	} {
		list := conclude(&Result{Class: Growing, Score: 0.4}, &c.ambiguity)
		if last := list[len(list)-1]; last.Rule != "next" || !strings.Contains(last.Text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, last.Text, c.want)
		}
	}
	if list := conclude(&Result{Class: Cache}, &ambiguity{shape: bursts, bursts: 3}); len(list) != 1 {
		t.Errorf("of what is no suspect nothing is asked: %+v", list)
	}
}
