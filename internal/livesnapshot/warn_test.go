package livesnapshot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
)

// Each loss is a warning of its own with its count. A pause that hit its limit cuts the snapshot only where heaps were
// still to be read.
func TestWarningsOfASnapshot(t *testing.T) {
	gone := map[int]bool{1: true, 2: true, 3: false}
	for _, test := range []struct {
		name     string
		hit, cut bool
		lost     map[int]bool
		from     source
		want     string // codes and counts
	}{
		{"nothing", false, false, nil, source{}, ""},
		{"heaps were read", true, false, nil, source{}, ""},
		{"heaps were left", true, true, nil, source{}, "truncated 1"},
		{"cut without a hit", false, true, nil, source{}, ""},
		{"lost", false, false, gone, source{}, "unsupported 2, unsupported 1"},
		{"vanished", false, false, map[int]bool{1: true}, source{}, "unsupported 1"},
		{"threads", false, false, nil, source{threadsErr: errors.New("refused")}, "unsupported 1"},
		{"modules", false, false, nil, source{broken: 2}, "unsupported 2"},
	} {
		s := &session{started: time.Now(), pause: &pause{limit: time.Second, hit: test.hit, hasBeenCut: test.cut}, memory: &memory{lost: test.lost}}
		c := &capture.Capture{Snapshots: make([]capture.Snapshot, 1), Memory: &capture.Memory{}}
		s.warn(c, &test.from)
		var got []string
		for _, w := range c.Warnings {
			got = append(got, fmt.Sprint(w.Code, " ", w.Count))
		}
		if strings.Join(got, ", ") != test.want || c.Snapshots[0].LowerBound != (test.hit && test.cut) || len(c.Memory.Notes) != 1 {
			t.Errorf("%s: %q, lower bound %t", test.name, got, c.Snapshots[0].LowerBound)
		}
	}
}
