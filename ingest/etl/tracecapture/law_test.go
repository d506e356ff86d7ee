package tracecapture_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
)

func sources(files ...[]byte) (list []etl.Source) {
	for i, f := range files {
		list = append(list, etl.Source{Name: fmt.Sprintf("part%d.etl", i), ReaderAt: bytes.NewReader(f), Size: int64(len(f))})
	}
	return list
}

func read(t testing.TB, files ...[]byte) *tracecapture.Result {
	t.Helper()
	r, err := tracecapture.Read(context.Background(), sources(files...), tracecapture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// formats are ways to record a scenario without loss: each must give the same truth.
var formats = map[string]etltest.Format{
	"plain":        {},
	"compressed":   {Compressed: true},
	"keys":         {Keys: 3, Compressed: true},
	"windows 7":    {Build: 7601},
	"32 bits":      {Bits: 32},
	"relogged":     {Relogged: true},
	"system clock": {Clock: etltest.SystemTime},
	"odd clock":    {Frequency: 2_338_525},
	"cycles":       {Clock: etltest.Cycles, Frequency: 2_600_000_000},
	"one stream":   {OneStream: true},
}

// Captures of an invented scenario hold what its processes did, whatever the recording.
func TestCapturesAreTheScenario(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, f := range formats {
		for seed := range uint64(seeds) {
			s := etltest.Invent(seed, etltest.ScenarioSize{Bits: f.Bits})
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) { checkScenario(t, s, f, read(t, s.File(f))) })
		}
	}
	for seed := range uint64(seeds) {
		s := etltest.Invent(seed, etltest.ScenarioSize{})
		kernel, heap := s.Pair(etltest.Format{})
		t.Run(fmt.Sprintf("pair/%d", seed),
			func(t *testing.T) { checkScenario(t, s, etltest.Format{}, read(t, kernel, heap)) })
		t.Run(fmt.Sprintf("pair the other way/%d", seed),
			func(t *testing.T) { checkScenario(t, s, etltest.Format{}, read(t, heap, kernel)) })
	}
}

func checkScenario(t *testing.T, s *etltest.Scenario, f etltest.Format, r *tracecapture.Result) {
	t.Helper()
	checkTotals(t, s, f, r.Captures, 0, s.End)
	for _, w := range [][2]int64{{0, s.End / 2}, {s.End / 3, s.End}, {s.End / 4, s.End/4 + 1}} {
		window := capture.Window{From: f.Seen(w[0]), To: f.Seen(w[1])}
		captures, err := capture.CutToWindow(context.Background(), r.Captures, r.Rows, window)
		if err != nil {
			t.Fatal(err)
		}
		checkTotals(t, s, f, captures, w[0], w[1])
	}
}

// checkTotals compares, for each process, the sums of the window and the classes of each stack.
func checkTotals(t *testing.T, s *etltest.Scenario, f etltest.Format, captures []*capture.Capture, from, to int64) {
	t.Helper()
	for i := range s.Processes {
		var blocks []etltest.Lifetime
		for _, l := range s.Lifetimes() {
			if l.Process == i {
				blocks = append(blocks, seen(f, l))
			}
		}
		if len(blocks) == 0 {
			continue
		}
		want, _ := etltest.Window(blocks, f.Seen(from), f.Seen(to))
		c := find(captures, s, f, i)
		if c == nil {
			t.Errorf("no capture of process %d, pid %d", i, s.Processes[i].PID)
			continue
		}
		var sum allocations.WindowUsage
		stacks := map[string]allocations.WindowUsage{}
		for k := range c.Sites {
			if site := &c.Sites[k]; site.Kind == capture.KindHeap {
				sum = sum.Add(site.Life.Usage)
				key := addresses(c, site.Stack)
				stacks[key] = stacks[key].Add(site.Life.Usage)
			}
		}
		if got := share(sum); got != want {
			t.Errorf("process %d in [%d, %d]: %+v, want %+v", i, from, to, got, want)
		}
		var commits []etltest.Lifetime
		for _, l := range s.Commits() {
			if l.Process == i {
				commits = append(commits, seen(f, l))
			}
		}
		var virtual allocations.WindowUsage
		for k := range c.Sites {
			if c.Sites[k].Kind == capture.KindVirtual {
				virtual = virtual.Add(c.Sites[k].Life.Usage)
			}
		}
		if want, _ := etltest.Window(commits, f.Seen(from), f.Seen(to)); share(virtual) != want {
			t.Errorf("process %d in [%d, %d], virtual memory: %+v, want %+v", i, from, to, share(virtual), want)
		}
		wanted := map[string]etltest.WindowUsage{}
		for number, share := range func() map[int]etltest.WindowUsage {
			_,
				m := etltest.Window(blocks, f.Seen(from), f.Seen(to))
			return m
		}() {
			key := ""
			if number > 0 {
				stack := &s.Stacks[number-1]
				key = fmt.Sprintf("%x", slices.Concat(stack.Kernel, stack.User))
			}
			wanted[key] = plus(wanted[key], share)
		}
		got := map[string]etltest.WindowUsage{}
		for key, classes := range stacks {
			if sum := share(classes); sum != (etltest.WindowUsage{}) {
				got[key] = sum
			}
		}
		if !maps.Equal(got, wanted) {
			t.Errorf("process %d in [%d, %d], stacks:\n%+v, want\n%+v", i, from, to, got, wanted)
		}
	}
}

// seen is a lifetime as the recording shows it.
func seen(f etltest.Format, l etltest.Lifetime) etltest.Lifetime {
	if l.From != 0 {
		l.From = f.Seen(l.From)
	} else {
		l.From = -1 << 62
	}
	if l.To != 0 {
		l.To = f.Seen(l.To)
	}
	return l
}

// find is the capture of a process: of those with its id, the one that began when it did.
func find(captures []*capture.Capture, s *etltest.Scenario, f etltest.Format, process int) *capture.Capture {
	p := &s.Processes[process]
	for _, c := range captures {
		began := allocations.BeforeTrace
		if p.Started != 0 {
			began = f.Seen(p.Started)
		}
		if c.Process.PID == p.PID && c.Trace.Began == began {
			return c
		}
	}
	return nil
}

func addresses(c *capture.Capture, id capture.StackID) string {
	if id == capture.NoStack {
		return ""
	}
	var list []uint64
	for _, f := range c.Stacks.Stack(id) {
		list = append(list, c.Stacks.Frame(f).Address)
	}
	return fmt.Sprintf("%x", list)
}

func share(c allocations.WindowUsage) etltest.WindowUsage {
	sum := func(u allocations.Usage) etltest.Sum { return etltest.Sum{Count: int(u.Count), Bytes: uint64(u.Bytes)} }
	return etltest.WindowUsage{AIFO: sum(c.AIFO), AIFI: sum(c.AIFI), AOFO: sum(c.AOFO), AOFI: sum(c.AOFI)}
}

func plus(a, b etltest.WindowUsage) etltest.WindowUsage {
	sum := func(x, y etltest.Sum) etltest.Sum {
		return etltest.Sum{Count: x.Count + y.Count, Bytes: x.Bytes + y.Bytes}
	}
	return etltest.WindowUsage{AIFO: sum(a.AIFO, b.AIFO), AIFI: sum(a.AIFI, b.AIFI), AOFO: sum(a.AOFO, b.AOFO),
		AOFI: sum(a.AOFI, b.AOFI)}
}
