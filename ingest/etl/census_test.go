package etl_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/internal/corpus"
)

// TestCensus compares what is counted with the censuses beside the real traces, which another reader made, and checks
// that time never decreases on the way.
func TestCensus(t *testing.T) {
	for _, r := range realTraces {
		t.Run(r.path+"/"+r.member, func(t *testing.T) {
			trace := open(t, realFile(t, r.path, r.member))
			got, err := trace.Census(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			events := checkOrder(t, trace)
			for _, c := range got {
				events -= c.Events
			}
			if events != 0 {
				t.Errorf("another pass has %d events more", events)
			}
			l := trace.Info().Files[0].Losses
			if l.BadBuffers != 0 || l.SkippedBytes != 0 || l.Disordered != 0 || l.Truncated || l.MissingBuffers != 0 {
				t.Errorf("losses in a sound trace: %+v", l)
			}
			if r.census == "" {
				return
			}
			want := censusFile(t, r.census)
			for _, c := range got {
				key := censusKey(c)
				if want[key] != c.Events {
					t.Errorf("%s: %d events, want %d", key, c.Events, want[key])
				}
				delete(want, key)
			}
			for key, n := range want {
				t.Errorf("%s: no events, want %d", key, n)
			}
		})
	}
}

func censusKey(c etl.ClassCount) string {
	size := fmt.Sprintf(" %d..%d %d", c.ShortestPayload, c.LongestPayload, c.Bytes)
	switch c.Header {
	case etl.HeaderEvent32, etl.HeaderEvent64:
		return fmt.Sprintf("%s %s id %d op %d v%d", c.Header, c.Provider, c.ID, c.Op, c.Version) + size
	case etl.HeaderFull32, etl.HeaderFull64:
		return fmt.Sprintf("%s %s op %d v%d", c.Header, c.Provider, c.Op, c.Version) + size
	}
	return fmt.Sprintf("%s grp %#02x op %d v%d", c.Header, c.Group, c.Op, c.Version) + size
}

var (
	censusLine = regexp.MustCompile(`^ +(\d+) +(\S+) +(.*?) +payload (\d+\.\.\d+) +bytes (\d+)`)
	groupName  = regexp.MustCompile(`^(grp \S+) \S+`)
	spaces     = regexp.MustCompile(` +`)
)

// censusFile reads the counts of a census by class.
func censusFile(t *testing.T, name string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for line := range strings.Lines(string(readFile(t, corpus.Path(t, "etl", "census", name+".census.txt")))) {
		m := censusLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		class := groupName.ReplaceAllString(spaces.ReplaceAllString(m[3], " "), "$1")
		counts[m[2]+" "+class+" "+m[4]+" "+m[5]] += n
	}
	if len(counts) == 0 {
		t.Fatalf("no counts in %s", name)
	}
	return counts
}

// checkOrder reads all events and checks that time never decreases. It returns their number.
func checkOrder(t *testing.T, trace *etl.Trace) (events int64) {
	t.Helper()
	last := int64(-1 << 63)
	if err := trace.Events(t.Context(), func(e *etl.Event) error {
		if e.Time < last {
			t.Fatalf("time %d behind %d", e.Time, last)
		}
		last = e.Time
		events++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return events
}
