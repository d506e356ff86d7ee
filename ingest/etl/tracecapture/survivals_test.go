package tracecapture_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/corpus"
)

// labWindow is a window of truth.json.
type labWindow struct {
	Name     string
	T1       int64                     `json:"t1_ticks"`
	T2       int64                     `json:"t2_ticks"`
	PerStack []struct{ AIFO labUsage } `json:"per_stack"`
}

type labUsage struct{ Count, Bytes int64 }

// labRun is a run of truth.json.
type labRun struct {
	Name  string
	Files []struct {
		File string
		Zero int64 `json:"qpc_of_tick_0"`
		QPC  int64 `json:"header_qpc"`
	} `json:"etl_files"`
	Windows []labWindow
}

// In every window of the lab's traces each stack has as many blocks left as the truth says, and nothing is torn down.
func TestSurvivalsOfTheLab(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, scenario := range []string{"A", "B", "D"} {
		root := corpus.Path(t, "lab", scenario)
		text, err := os.ReadFile(filepath.Join(root, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth struct{ Runs []labRun }
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		for _, run := range truth.Runs {
			for _, f := range run.Files {
				path := filepath.Join(root, "..", run.Name, f.File)
				if f.File == "kernel.etl" {
					continue
				}
				t.Run(run.Name+"/"+f.File, func(t *testing.T) { checkLabRun(t, &run, path, (f.Zero-f.QPC)*100) })
			}
		}
	}
}

func checkLabRun(t *testing.T, run *labRun, path string, zero int64) {
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, file)
	if c := r.Captures[0]; c.Trace.Teardown != allocations.Never || c.Trace.SurvivalsBeyond != 0 {
		t.Errorf("torn down at %d, %d beyond", c.Trace.Teardown, c.Trace.SurvivalsBeyond)
	}
	for _, w := range run.Windows {
		window := capture.Window{From: zero + w.T1*100, To: zero + w.T2*100}
		captures, err := capture.CutToWindow(context.Background(), r.Captures, r.Rows, window)
		if err != nil {
			t.Fatal(err)
		}
		c := captures[0]
		checkLeft(t, w.Name, c)
		if c.Trace.Exited <= window.To || run.Name == "A/etl_wow64" { // there the frames of one stack make several
			continue
		}
		var want []labUsage
		for _, s := range w.PerStack {
			if s.AIFO.Count >= allocations.SurvivalLeast {
				want = append(want, s.AIFO)
			}
		}
		left := map[string]labUsage{}
		for i := range c.Sites {
			if s := c.Sites[i].Life.Survival; s != nil && c.Sites[i].Kind == capture.KindHeap {
				_, u := s.Total()
				key := addresses(c, c.Sites[i].Stack)
				left[key] = labUsage{left[key].Count + u.Count, left[key].Bytes + u.Bytes}
			}
		}
		got := slices.SortedFunc(maps.Values(left), compareUsage)
		if slices.SortFunc(want, compareUsage); !slices.Equal(got, want) {
			t.Errorf("%s: left %v, want %v", w.Name, got, want)
		}
	}
}

func compareUsage(a, b labUsage) int {
	return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Bytes, b.Bytes))
}

// checkLeft compares survivals with the classes of their sites, in a process that was not torn down.
func checkLeft(t *testing.T, window string, c *capture.Capture) {
	t.Helper()
	for i := range c.Sites {
		life := c.Sites[i].Life
		wanted := life.Usage.AIFO.Add(life.Usage.AtExit)
		if life.Usage.AOFI.Count > 0 && life.Usage.AtExit.Count > 0 { // some of it is older than the window
			continue
		}
		if life.Survival == nil {
			if wanted.Count >= allocations.SurvivalLeast && c.Sites[i].Kind != capture.KindHeapVirtual {
				t.Errorf("%s: site %d has %+v left and no survival", window, i, wanted)
			}
			continue
		}
		born, left := life.Survival.Total()
		var ended int64
		for _, n := range life.Survival.Ended {
			ended += n
		}
		if left != wanted || born != life.Usage.Allocated().Count || born != left.Count+ended {
			t.Errorf("%s: site %d: %d made, %+v left, %d ended of %+v", window, i, born, left, ended, life.Usage)
		}
		if s := life.Survival; s.From != c.Trace.TracedFrom(c.Trace.Window, c.Sites[i].Kind) ||
			s.Over != c.Trace.WorkEnd(c.Trace.Window) {
			t.Errorf("%s: site %d in [%d, %d]", window, i, s.From, s.Over)
		}
	}
}

// Memory that a process frees while it is torn down counts as left when the work of the process was over.
func TestTeardown(t *testing.T) {
	s := small()
	p := &s.Processes[0]
	p.Started, p.Ended = second/10, 9*second
	s.Heaps[0].Created = second / 9
	for i := range int64(100) {
		leak := etltest.Block{Address: 0x1000100 + uint64(i)*32, Size: 24, Allocated: second + i*second/14,
			Freed: p.Ended - second/100 + i*1000, By: by(1)}
		work := etltest.Block{Address: 0x1100100 + uint64(i)*32, Size: 24, Allocated: second + i*second/14,
			Freed: second + (i+1)*second/14, By: by(2)}
		s.Blocks = append(s.Blocks, leak, work)
	}
	for _, f := range []etltest.Format{{}, {Compressed: true}} {
		r := read(t, s.File(f))
		c := r.Captures[0]
		begins := f.Seen(p.Ended - second/100)
		if at := c.Trace.Teardown; at >= begins || at < begins-second/400 {
			t.Fatalf("torn down at %d, want just before %d", at, begins)
		}
		whole := c.Trace.Window
		for _, w := range []capture.Window{whole, {From: 2 * second, To: 10 * second}, {From: 2 * second, To: 5 * second}} {
			captures, err := capture.CutToWindow(context.Background(), r.Captures, r.Rows, w)
			if err != nil {
				t.Fatal(err)
			}
			for i := range captures[0].Sites {
				life := captures[0].Sites[i].Life
				leaks := addresses(c, c.Sites[i].Stack) == "[7ff600001010 7ff600001020]"
				if leaks != (life.Survival != nil) {
					t.Fatalf("%+v: site %d has a survival: %t", w, i, !leaks)
				}
				if !leaks {
					continue
				}
				born, left := life.Survival.Total()
				if born != life.Usage.Allocated().Count || left.Count != born || left.Bytes != 24*born ||
					life.Survival.Over != min(c.Trace.Teardown, w.To) {
					t.Errorf("%+v: %d made, %+v left at %d, of %+v", w, born, left, life.Survival.Over, life.Usage)
				}
			}
		}
	}
}

// Late frees of blocks older than the trace are counted for their heap: they make a leak in that heap less certain.
func TestLateUnknownFrees(t *testing.T) {
	s := small()
	s.Heaps = append(s.Heaps, etltest.Heap{Handle: 0x9000000})
	for i := range int64(8) {
		s.Blocks = append(s.Blocks,
			etltest.Block{Address: 0x1000100 + uint64(i)*32, Size: 24, Allocated: second + i*second, By: by(1 + int(i/6))},
			etltest.Block{Address: 0x1100100 + uint64(i)*32, Size: 24, Freed: second + i*second/10, By: by(2)},
			etltest.Block{Heap: 1, Address: 0x9100100 + uint64(i)*32, Size: 24, Allocated: second + i*second, By: by(1)})
	}
	for i := range int64(4) {
		s.Blocks = append(s.Blocks,
			etltest.Block{Address: 0x1200100 + uint64(i)*32, Size: 24, Freed: 8*second + i*second/10, By: by(2)})
	}
	c := read(t, s.File(etltest.Format{})).Captures[0]
	got := map[uint64]int64{}
	for i := range c.Sites {
		if v := c.Sites[i].Life.Survival; v != nil {
			got[c.Heaps[c.Sites[i].Heap].Handle] += v.LateUnknownFrees
		}
	}
	if want := map[uint64]int64{0x1000000: 3, 0x9000000: 0}; !maps.Equal(got, want) { // 4 late ones, 6 of 8 blocks left
		t.Errorf("late unknown frees %v, want %v", got, want)
	}
}
