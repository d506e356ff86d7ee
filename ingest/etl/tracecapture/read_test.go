package tracecapture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
)

// The processes of a trace, and what two of them hold.
func Example() {
	file := etltest.Invent(1, etltest.ScenarioSize{}).File(etltest.Format{})
	result, err := tracecapture.Read(context.Background(),
		[]etl.Source{{Name: "app.etl", ReaderAt: bytes.NewReader(file), Size: int64(len(file))}}, tracecapture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = result.Close() }()
	for _, c := range result.Captures {
		fmt.Printf("%s (%d): %d bytes held, %d modules, %d sites\n", c.Process.Name, c.Process.PID, c.Held(),
			len(c.Modules), len(c.Sites))
	}
	// Output:
	// again.exe (9000): 827597 bytes held, 5 modules, 21 sites
	// battery.exe (5128): 788143 bytes held, 5 modules, 21 sites
	// meter32.exe (7260): 481733 bytes held, 5 modules, 21 sites
	// brief.exe (9000): 387090 bytes held, 5 modules, 21 sites
}

func TestProcess(t *testing.T) {
	s := etltest.Invent(2, etltest.ScenarioSize{})
	r := read(t, s.File(etltest.Format{Bias: -60}))
	i := slices.IndexFunc(r.Captures, func(c *capture.Capture) bool { return c.Process.Name == "battery.exe" })
	if i < 0 {
		t.Fatal("no capture of battery.exe")
	}
	c := r.Captures[i]
	if c.Process != (capture.Process{Name: "battery.exe", PID: 5128, Bits: 64}) || c.Kind != capture.KindETL ||
		c.Shape != capture.ShapeTrace {
		t.Errorf("%+v, %s, %d", c.Process, c.Kind, c.Shape)
	}
	if c.Trace.Events == 0 || c.Trace.To < s.End-1e6 || c.Trace.Bias.Minutes() != -60 || len(c.Trace.Heap.Points) == 0 {
		t.Errorf("trace %+v", c.Trace)
	}
	names := map[string]capture.Module{}
	for _, m := range c.Modules {
		names[m.FileName()] = m
	}
	app := names["battery.exe"]
	if app.Path != `C:\Program Files\Made Up\battery.exe` || app.PDB != "part0.pdb" || len(app.DebugID) < 33 {
		t.Errorf("module %+v", app)
	}
	if names["KERNELBASE.dll"].DebugID != "" || names["ntoskrnl.exe"].Base == 0 {
		t.Errorf("modules %+v", c.Modules)
	}
	var images, stacks int
	for range r.Meta.Images {
		images++
	}
	for range r.Meta.Stacks {
		stacks++
	}
	if images < len(c.Modules)-1 || stacks == 0 || len(r.Meta.Processes) != len(r.Captures) || len(r.Meta.Sites) == 0 {
		t.Errorf("meta: %d images, %d stacks, %d processes, %d sites", images, stacks,
			len(r.Meta.Processes), len(r.Meta.Sites))
	}
}

// Every row belongs to a site of a capture, and rows with one stack number have one stack.
func TestRowsAreTheCaptures(t *testing.T) {
	for name, f := range formats {
		r := read(t, etltest.Invent(3, etltest.ScenarioSize{Bits: f.Bits}).File(f))
		sites := map[uint32]capture.SiteKind{}
		for _, c := range r.Captures {
			for _, s := range c.Sites {
				sites[s.Life.Number] = s.Kind
			}
		}
		stacks := map[uint32]string{}
		for id, list := range r.Meta.Stacks {
			text := fmt.Sprint(list)
			for other, known := range stacks {
				if known == text {
					t.Errorf("%s: stacks %d and %d are equal", name, id, other)
				}
			}
			stacks[id] = text
		}
		err := r.Rows.Scan(context.Background(), r.Meta.From, r.Meta.To, sink(func(rows []allocations.Row) error {
			for _, row := range rows {
				if kind, ok := sites[row.Site]; !ok || int(kind) != int(row.Kind) {
					t.Errorf("%s: a row of site %d, kind %s", name, row.Site, row.Kind)
				}
				if m := r.Meta.Sites[row.Site]; m.Stack != row.Stack || m.Process != row.Process || m.Heap != row.Heap {
					t.Errorf("%s: row %+v of site %+v", name, row, m)
				}
				if row.Stack != 0 && stacks[row.Stack] == "" {
					t.Errorf("%s: no stack %d", name, row.Stack)
				}
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
}

type sink func([]allocations.Row) error

func (s sink) AddRows(rows []allocations.Row) error { return s(rows) }

// Each kind of loss causes a warning in a capture, and only losses are called lossy.
func TestWarnings(t *testing.T) {
	lost := func() *etltest.Scenario {
		s := etltest.Invent(1, etltest.ScenarioSize{})
		for i := range s.Blocks { // the frees of blocks whose address is used again
			s.Blocks[i].FreedUnlogged = true
		}
		return s
	}
	for _, test := range []struct {
		name     string
		scenario *etltest.Scenario
		format   etltest.Format
		want     capture.Code
		lossy    bool
	}{
		{"whole", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{}, "", false},
		{"native", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{Native: true}, capture.UnmergedSession, false},
		{"lost frees", lost(), etltest.Format{}, capture.LostFree, true},
		{"lost events", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{EventsLost: 4}, capture.EventsLost, true},
		{"lost buffers", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{DropBuffers: []int{4}}, capture.BuffersLost, true},
		{"ring", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{Native: true, Ring: 6}, capture.CircularWrapped, true},
		{"unfinished", etltest.Invent(1, etltest.ScenarioSize{}), etltest.Format{Unfinished: true}, capture.Truncated, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := read(t, test.scenario.File(test.format))
			found, lossy := test.want == "", false
			for _, c := range r.Captures {
				for _, w := range c.Warnings {
					found = found || w.Code == test.want
					lossy = lossy || w.Code.Lossy()
					if w.Count <= 0 || len(w.Message) < 20 {
						t.Errorf("warning %+v", w)
					}
				}
			}
			if !found || lossy != test.lossy {
				t.Errorf("%s: found %t, lossy %t: %+v", test.want, found, lossy, r.Captures[0].Warnings)
			}
		})
	}
}

func TestNothingToRead(t *testing.T) {
	s := etltest.Invent(1, etltest.ScenarioSize{})
	s.Blocks, s.Regions, s.Heaps = nil, nil, nil
	_, err := tracecapture.Read(context.Background(), sources(s.File(etltest.Format{})), tracecapture.Options{})
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Code != tracecapture.CodeNoMemory ||
		!strings.Contains(err.Error(), "wpr -start Heap") {
		t.Errorf("a trace without memory: %v", err)
	}
	if _, err := tracecapture.Read(context.Background(), sources([]byte("no trace")),
		tracecapture.Options{}); !errors.As(err, &refused) || refused.Code != etl.CodeNotETL {
		t.Errorf("no trace: %v", err)
	}
}

// A read that fails leaves nothing behind.
func TestCancelled(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	file := etltest.Invent(1, etltest.ScenarioSize{}).File(etltest.Format{})
	if _, err := tracecapture.Read(ctx, sources(file), tracecapture.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A damaged trace gives a result or a coded error, never a panic; outstanding sums of a result agree with its classes.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, f := range map[string]etltest.Format{"plain": {}, "keys": {Keys: 3, Compressed: true}} {
		file := etltest.Invent(5, etltest.ScenarioSize{Steps: 60}).File(f)
		var damaged [][]byte
		for cut := 0; cut < len(file); cut += 1 + len(file)/damages {
			damaged = append(damaged, file[:cut])
		}
		for seed := range uint64(damages) {
			damaged = append(damaged, etltest.Flipped(file, seed, 20))
		}
		for i, d := range damaged {
			r, err := tracecapture.Read(context.Background(), sources(d), tracecapture.Options{})
			var refused *evidence.Error
			if err != nil {
				if !errors.As(err, &refused) {
					t.Fatalf("%s %d: %v", name, i, err)
				}
				continue
			}
			for _, c := range r.Captures {
				for k := range c.Sites {
					l := c.Sites[k].Life
					last := c.Sites[k].Usage[len(c.Snapshots)-1]
					if got := l.Usage.Outstanding(); last.Count != got.Count || last.Bytes != got.Bytes {
						t.Errorf("%s %d: outstanding %+v, sampled %+v", name, i, got, last)
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Two recordings of one boot, one after the other, are one trace with a hole.
func TestGap(t *testing.T) {
	first, second := etltest.Invent(1, etltest.ScenarioSize{}), etltest.Invent(2, etltest.ScenarioSize{})
	const origin, pause = 1_000_000_000_000, 5_000_000_000
	later := (first.End + pause) / 100 // ticks of 100 ns
	second.Start = first.Start + uint64(later)
	a, b := first.File(etltest.Format{Origin: origin}), second.File(etltest.Format{Origin: origin + later})
	const boot = 0x68 + 0xF8 // of TRACE_LOGFILE_HEADER in the first buffer
	copy(b[boot:boot+8], a[boot:])
	for name, files := range map[string][][]byte{"in order": {a, b}, "the other way": {b, a}} {
		r := read(t, files...)
		i := slices.IndexFunc(r.Captures[0].Warnings, func(w capture.Warning) bool { return w.Code == capture.Truncated })
		if i < 0 || r.Captures[0].Warnings[i].Count != 1 ||
			!strings.Contains(r.Captures[0].Warnings[i].Message, "was being recorded from ") {
			t.Errorf("%s: %+v", name, r.Captures[0].Warnings)
		}
	}
	kernel, heap := first.Pair(etltest.Format{})
	if r := read(t, kernel, heap); slices.ContainsFunc(r.Captures[0].Warnings,
		func(w capture.Warning) bool { return w.Code == capture.Truncated }) {
		t.Errorf("a pair has no gap: %+v", r.Captures[0].Warnings)
	}
}
