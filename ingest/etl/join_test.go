package etl_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/internal/corpus"
)

// everything is the set of all kinds except those that stacks are made of.
func everything() etl.KindSet {
	s := ^etl.KindSet(0)
	for k := etl.KindStackWalk; k <= etl.KindStackKeyUser; k++ {
		s &^= etl.Kinds(k)
	}
	return s
}

// TestRealStacks joins the stacks of the real traces that have any with all their events: every one finds its event,
// and every key its definition.
func TestRealStacks(t *testing.T) {
	for _, test := range []struct {
		path  string
		count int64
	}{
		{"perfview/net.4.5.2.x64.etl.zip", 9_107 + 252},
		{"perfview/net.4.5.2.x86.etl.zip", 12_172 + 229},
		{"perfview/net.4.5.x86.OLD.etl.zip", 18_532},
	} {
		t.Run(test.path, func(t *testing.T) {
			trace := open(t, realFile(t, test.path, ".etl"))
			joined, err := trace.Operations(t.Context(), etl.JoinOptions{Also: everything()},
				func(*etl.Operation) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if joined.StackEvents != test.count || joined.Unclaimed != 0 || joined.KeysLost != 0 || joined.Malformed != 0 {
				t.Errorf("%d stacks of %d, %d unclaimed, %d keys lost, %d malformed", joined.StackEvents, test.count,
					joined.Unclaimed, joined.KeysLost, joined.Malformed)
			}
		})
	}
}

// replay renders the operations of a trace with everything that joining gives them, without what differs between
// recordings of the same run: ids and threads of the process itself.
func replay(t *testing.T, files ...[]byte) (string, *etl.JoinResult) {
	t.Helper()
	var ops []etl.Operation
	joined, err := open(t, files...).Operations(t.Context(), etl.JoinOptions{}, func(o *etl.Operation) error {
		ops = append(ops, *o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i := range ops {
		o := &ops[i]
		switch { // the recordings of the corpus differ in these
		case o.Kind == etl.KindProcessStart:
			continue
		case o.Kind <= etl.KindHeapOther:
			o.Flags = 0
		}
		fmt.Fprintf(&out, "%d %d pid %d tid %d heap %#x %#x+%d was %#x+%d flags %#x stack %x\n", o.Time, o.Kind,
			joined.Processes[o.ProcessIndex].PID, int32(o.TID),
			o.Heap, o.Address, o.Size, o.Old, o.OldSize, o.Flags, joined.Stacks.Append(nil, o.Stack))
		if i > 0 && o.Time < ops[i-1].Time {
			t.Fatalf("operation %d comes before its time", i)
		}
	}
	return out.String(), joined
}

// TestRecordings checks that one run recorded in several ways is the same: plain, compressed, with stack keys, and as
// two files that were not merged.
func TestRecordings(t *testing.T) {
	want, joined := replay(t, lab(t, "A/etl_x64/merged_plain.etl"))
	if u := joined.Stacked[etl.KindHeapAlloc]; u.Operations == 0 || u.Operations != u.WithStack {
		t.Errorf("allocations: %+v", u)
	}
	for name, files := range map[string][][]byte{
		"compressed": {lab(t, "A/etl_x64/merged_compressed.etl")},
		"keys":       {lab(t, "A/etl_x64/merged_keys_compressed.etl")},
		"unmerged":   {lab(t, "A/etl_x64/kernel.etl"), lab(t, "A/etl_x64/heap.etl")},
		"swapped":    {lab(t, "A/etl_x64/heap.etl"), lab(t, "A/etl_x64/kernel.etl")},
	} {
		got, joined := replay(t, files...)
		if joined.Unclaimed != 0 || joined.KeysLost != 0 || joined.Malformed != 0 {
			t.Errorf("%s: %d unclaimed, %d keys lost, %d malformed", name, joined.Unclaimed, joined.KeysLost, joined.Malformed)
		}
		if got != want {
			t.Errorf("%s: %s", name, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d of %d: got %s\nwant %s (of %d)", i, len(g), g[i], w[min(i, len(w)-1)], len(w))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// labTrace is one trace of the ground-truth corpus, as its truth describes it.
type labTrace struct {
	File      string `json:"file"`
	Allocs    int64  `json:"heap_alloc_events"`
	Frees     int64  `json:"heap_free_events"`
	ReAllocs  int64  `json:"heap_realloc_events"`
	StackRefs int64  `json:"stack_events"`
	path      string
	run       *labRun
}

// labRun is one process life of the ground truth.
type labRun struct {
	Name    string `json:"name"`
	PID     uint32 `json:"pid"`
	Modules []struct {
		Name string `json:"name"`
		Base string `json:"base"`
		PDB  string `json:"pdb"`
		GUID string `json:"guid"`
		Size uint64 `json:"size"`
		Age  uint32 `json:"age"`
	} `json:"modules"`
	Files []labTrace `json:"etl_files"`
}

// labTraces are all traces of the ground-truth corpus.
func labTraces(t testing.TB) (all []labTrace) {
	t.Helper()
	for _, set := range []string{"A", "B", "D", "F"} {
		var truth struct {
			Runs []labRun `json:"runs"`
		}
		if err := json.Unmarshal(readFile(t, corpus.Path(t, "lab", set, "truth.json")), &truth); err != nil {
			t.Fatal(err)
		}
		for i := range truth.Runs {
			run := &truth.Runs[i]
			dir := run.Name
			if set == "F" {
				dir = set
			}
			for _, f := range run.Files {
				f.path, f.run = dir+"/"+f.File, run
				all = append(all, f)
			}
		}
	}
	return all
}

// TestLab compares every trace of the ground-truth corpus with its truth.
func TestLab(t *testing.T) {
	for _, f := range labTraces(t) {
		t.Run(f.path, func(t *testing.T) {
			trace := open(t, lab(t, f.path))
			joined, err := trace.Operations(t.Context(), etl.JoinOptions{}, func(*etl.Operation) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			got := []int64{joined.Stacked[etl.KindHeapAlloc].Operations, joined.Stacked[etl.KindHeapFree].Operations,
				joined.Stacked[etl.KindHeapReAlloc].Operations, joined.StackEvents}
			want := []int64{f.Allocs, f.Frees, f.ReAllocs, f.StackRefs}
			l := trace.Info().Files[0].Losses
			switch f.File {
			case "circular_wrapped.etl": // the truth counts what was written over, too
				if l.Overwritten != 23 {
					t.Errorf("%d buffers written over", l.Overwritten)
				}
			case "truncated.etl":
				if !l.Truncated || !l.Unfinished {
					t.Errorf("%+v", l)
				}
			case "kernel.etl":
			default:
				if !slices.Equal(got, want) || joined.Unclaimed != 0 || joined.KeysLost != 0 || l.Truncated ||
					l.BadBuffers != 0 || l.Disordered != 0 {
					t.Errorf("%d, want %d; %d unclaimed, %d keys lost, %+v", got, want, joined.Unclaimed, joined.KeysLost, l)
				}
			}
			checkModules(t, f.run, joined)
		})
	}
}

// checkModules compares the images of the run's process with its modules, where the trace has any.
func checkModules(t *testing.T, run *labRun, joined *etl.JoinResult) {
	t.Helper()
	var process *etl.Process
	for i := range joined.Processes {
		if p := &joined.Processes[i]; p.PID == run.PID && len(p.Images) > 0 {
			process = p
			break
		}
	}
	if process == nil {
		return
	}
	if !process.Known() {
		t.Errorf("process %d has no name", run.PID)
	}
	for _, m := range run.Modules {
		i := slices.IndexFunc(process.Images,
			func(im etl.Image) bool { return strings.EqualFold(fmt.Sprintf("%#x", im.Base), m.Base) })
		if i < 0 {
			t.Errorf("no image for %s at %s", m.Name, m.Base)
			continue
		}
		im := &process.Images[i]
		if im.Size != m.Size ||
			im.Identified() && (im.PDB != m.PDB || im.Age != m.Age || !strings.EqualFold(im.GUID.Hex(), m.GUID)) {
			t.Errorf("%s: %+v, want %+v", m.Name, *im, m)
		}
	}
}
