package umdh_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/internal/corpus"
)

// labTruth is what truth.json says about UMDH; the lab's README explains the fields.
type labTruth struct {
	Runs []labRun `json:"runs"`
}

type labRun struct {
	Name    string      `json:"name"`
	Process string      `json:"process"`
	PID     uint32      `json:"pid"`
	Arch    string      `json:"arch"`
	Modules []labModule `json:"modules"`
	Stacks  []struct {
		ID     int
		Prefix []labFrame `json:"umdh_prefix"`
		Frames []labFrame
	} `json:"stacks"`
	Snapshots []struct {
		labTotal
		File, Logtime string
		PerHeap       map[string][3]int64 `json:"per_heap_entries_requested_overhead"`
		PerStack      []struct {
			Stack                      int
			Backtrace                  string
			Count, Requested, Overhead int64
		} `json:"per_stack"`
	} `json:"umdh_snapshots"`
	Diffs []labDiff `json:"umdh_diffs"`
	Extra struct {
		Odd []struct {
			labTotal
			File     string
			Warnings []string `json:"expected_warnings"`
		} `json:"odd_files"`
	} `json:"extra"`
}

type labModule struct {
	Name, Path, Base, GUID string
	Size                   uint64
}

func (m *labModule) base() uint64 {
	v, _ := strconv.ParseUint(m.Base, 0, 64)
	return v
}

type labTotal struct{ Entries, Requested, Overhead int64 }

type labFrame struct {
	Module, Function string
	RVA, Offset      uint64
	File             string
	Line             uint32
}

type labDiff struct {
	File, Base string
	Requested  int64 `json:"total_requested_delta"`
	Rows       []struct {
		Stack     int
		Backtrace string
		NewBytes  int64 `json:"new_bytes"`
		OldBytes  int64 `json:"old_bytes"`
		NewCount  int64 `json:"new_count"`
		OldCount  int64 `json:"old_count"`
	}
}

// labRuns yields the runs of the lab that have UMDH logs, and how to read their files.
func labRuns(t *testing.T) (runs []labRun) {
	t.Helper()
	for _, set := range []string{"A", "C", "D", "U"} {
		data, err := os.ReadFile(corpus.Path(t, "lab", set, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth labTruth
		if err := json.Unmarshal(data, &truth); err != nil {
			t.Fatal(err)
		}
		for _, run := range truth.Runs {
			if len(run.Snapshots) > 0 {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

func labFile(t *testing.T, run, file string) []byte {
	t.Helper()
	log, err := os.ReadFile(corpus.Path(t, "lab", run, file))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestLabSnapshots(t *testing.T) {
	for _, run := range labRuns(t) {
		for _, want := range run.Snapshots {
			t.Run(run.Name+"/"+want.File, func(t *testing.T) {
				captures := read(t, labFile(t, run.Name, want.File), umdh.BaseAuto)
				c := captures[0]
				if len(captures) != 1 || len(c.Warnings) != 0 {
					t.Errorf("%d captures, warnings %q", len(captures), warnings(c))
				}
				bits := uint8(64)
				if run.Arch == "x86" {
					bits = 32
				}
				if c.Process.Name != run.Process || c.Process.PID != run.PID || c.Process.Bits != bits ||
					c.Snapshots[0].TakenAt.Format("2006-01-02 15:04") != want.Logtime {
					t.Errorf("read %+v at %v", c.Process, c.Snapshots[0].TakenAt)
				}
				for _, got := range c.Modules {
					if !slices.ContainsFunc(run.Modules, func(m labModule) bool {
						return got.Path == m.Path && got.Base == m.base() && got.Size == m.Size &&
							(got.DebugID == "" || strings.HasPrefix(got.DebugID, m.GUID))
					}) {
						t.Errorf("module %+v is none of %+v", got, run.Modules)
					}
				}
				checkTotal(t, c, want.labTotal)
				checkBlocks(t, c)
				heaps, stacks := map[string][3]int64{}, map[uint64]capture.Usage{}
				for i := range c.Sites {
					s := &c.Sites[i]
					handle := fmt.Sprintf("%X", c.Heaps[s.Heap].Handle)
					h := heaps[handle]
					u := s.Usage[0]
					heaps[handle] = [3]int64{h[0] + u.Count, h[1] + u.Bytes, h[2] + u.Overhead}
					stacks[s.Trace] = stacks[s.Trace].Add(u)
				}
				if fmt.Sprint(heaps) != fmt.Sprint(want.PerHeap) {
					t.Errorf("heaps %v, want %v", heaps, want.PerHeap)
				}
				if len(stacks) != len(want.PerStack) {
					t.Errorf("%d ids, want %d", len(stacks), len(want.PerStack))
				}
				for _, w := range want.PerStack {
					id, _ := strconv.ParseUint(w.Backtrace, 16, 64)
					if got := stacks[id]; got != (capture.Usage{Count: w.Count, Bytes: w.Requested, Overhead: w.Overhead}) {
						t.Errorf("BackTrace%s holds %+v, want %+v", w.Backtrace, got, w)
					}
					at := slices.IndexFunc(c.Sites, func(s capture.Site) bool { return s.Trace == id })
					if got, want := addresses(c, c.Sites[at].Stack), run.addresses(w.Stack); got != want {
						t.Errorf("BackTrace%s came from %s, want %s", w.Backtrace, got, want)
					}
				}
			})
		}
	}
}

func checkTotal(t *testing.T, c *capture.Capture, want labTotal) {
	t.Helper()
	if got := c.Total(0); got != (capture.Usage{Count: want.Entries, Bytes: want.Requested, Overhead: want.Overhead}) {
		t.Errorf("total %+v, want %+v", got, want)
	}
}

func addresses(c *capture.Capture, id capture.StackID) string {
	var all []string
	for _, f := range c.Stacks.Stack(id) {
		all = append(all, fmt.Sprintf("%X", c.Stacks.Frame(f).Address))
	}
	return strings.Join(all, " ")
}

// addresses is a stack of the truth as return addresses of the run.
func (r *labRun) addresses(stack int) string {
	var all []string
	for _, f := range r.frames(stack) {
		for _, m := range r.Modules {
			if base := m.base(); m.Name == f.Module && (base>>32 != 0) == (r.Arch == "x64") { // WOW64 has two ntdll
				all = append(all, fmt.Sprintf("%X", base+f.RVA))
				break
			}
		}
	}
	return strings.Join(all, " ")
}

func (r *labRun) frames(stack int) []labFrame {
	for _, s := range r.Stacks {
		if s.ID == stack {
			return append(slices.Clone(s.Prefix), s.Frames...)
		}
	}
	return nil
}

func TestLabDiffs(t *testing.T) {
	for _, run := range labRuns(t) {
		for _, want := range run.Diffs {
			log := labFile(t, run.Name, want.File)
			other := map[string]umdh.Base{"hex": umdh.BaseDecimal, "dec": umdh.BaseHex}[want.Base]
			right, _ := umdh.ParseBase(want.Base)
			for _, base := range []umdh.Base{umdh.BaseAuto, right} {
				t.Run(fmt.Sprintf("%s/%s in %s", run.Name, want.File, base),
					func(t *testing.T) { checkDiff(t, &run, &want, read(t, log, base)) })
			}
			t.Run(fmt.Sprintf("%s/%s in the wrong base", run.Name, want.File), func(t *testing.T) {
				c := read(t, log, other)[0]
				if len(want.Rows) > 0 && !strings.Contains(codes(c), string(capture.BaseMismatch)) {
					t.Errorf("warnings %q", warnings(c))
				}
			})
		}
	}
}

func checkDiff(t *testing.T, run *labRun, want *labDiff, captures []*capture.Capture) {
	t.Helper()
	c := captures[0]
	if len(captures) != 1 || c.Shape != capture.ShapeDifference ||
		strings.Trim(codes(c), " ") != strings.Repeat("no-symbols", strings.Count(codes(c), "no-symbols")) {
		t.Errorf("%d captures, warnings %q", len(captures), warnings(c))
	}
	if len(c.Sites) != len(want.Rows) || c.Total(1).Bytes-c.Total(0).Bytes != want.Requested {
		t.Fatalf("%d sites, %d bytes of growth; want %d, %d", len(c.Sites), c.Total(1).Bytes-c.Total(0).Bytes,
			len(want.Rows), want.Requested)
	}
	for i, w := range want.Rows {
		s := &c.Sites[i]
		if fmt.Sprintf("%X", s.Trace) != w.Backtrace || s.Heap != capture.NoHeap ||
			s.Usage[0] != (capture.Usage{Count: w.OldCount, Bytes: w.OldBytes}) ||
			s.Usage[1] != (capture.Usage{Count: w.NewCount, Bytes: w.NewBytes}) {
			t.Errorf("site %d is %+v, want %+v", i, s, w)
		}
		frames := run.frames(w.Stack)
		stack := c.Stacks.Stack(s.Stack)
		if len(stack) != len(frames) {
			t.Fatalf("site %d has %d frames, want %d", i, len(stack), len(frames))
		}
		for k, f := range stack {
			got, want := c.Stacks.Frame(f), frames[k]
			text := c.Stacks.Text(got)
			switch {
			case text.Module != want.Module:
				t.Errorf("frame %d of site %d is in %s, want %s", k, i, text.Module, want.Module)
			case text.Function == "": // no symbols: the address instead
				if !strings.Contains(run.addresses(w.Stack), fmt.Sprintf("%X", got.Address)) {
					t.Errorf("frame %d of site %d is at %X", k, i, got.Address)
				}
			case text.Function != want.Function || text.Offset != want.Offset ||
				text.File != "" && (text.File != want.File || text.Line != want.Line):
				t.Errorf("frame %d of site %d is %+v, want %+v", k, i, *text, want)
			}
		}
	}
	if !slices.ContainsFunc(c.Modules, func(m capture.Module) bool { return m.Symbols == capture.SymbolsPrivate }) &&
		len(want.Rows) > 0 {
		t.Errorf("no module has private symbols: %+v", c.Modules)
	}
}

func TestLabOddFiles(t *testing.T) {
	// What the truth says in words, as codes.
	says := map[string]string{
		"truncated.txt": "truncated partial-heap", "db_full.txt": "no-stacks", "alias.txt": "ambiguous-stack",
		"lf.txt": "", "utf16le_bom.txt": "", "concatenated.txt": "",
	}
	for _, run := range labRuns(t) {
		for _, odd := range run.Extra.Odd {
			captures := read(t, labFile(t, run.Name, odd.File), umdh.BaseAuto)
			var sum labTotal
			var found []string
			for _, c := range captures {
				u := c.Total(0)
				sum = labTotal{sum.Entries + u.Count, sum.Requested + u.Bytes, sum.Overhead + u.Overhead}
				found = append(found, codes(c))
				checkBlocks(t, c)
			}
			want, known := says[odd.File]
			if got := strings.TrimSpace(strings.Join(found, " ")); sum != odd.labTotal || !known || got != want ||
				(got == "") != (len(odd.Warnings) == 0) {
				t.Errorf("%s: %+v, want %+v; warnings %q, want %q for %q", odd.File, sum, odd.labTotal, got, want, odd.Warnings)
			}
			switch odd.File {
			case "concatenated.txt":
				if len(captures) != 2 {
					t.Errorf("%s: %d captures", odd.File, len(captures))
				}
			case "alias.txt":
				if w := captures[0].Warnings[0]; w.Count != 464 || !strings.HasPrefix(w.Message, odd.Warnings[0]) ||
					!strings.Contains(w.Message, "464 allocations (1.03 MB)") {
					t.Errorf("%s: %+v", odd.File, w)
				}
			case "db_full.txt":
				if w := captures[0].Warnings[0]; w.Count != 538 || !strings.Contains(w.Message, "538 entries (1.91 MB, ") {
					t.Errorf("%s: %+v", odd.File, w)
				}
			}
		}
	}
}

// The heaps of a log may come in any order.
func TestHeapsInAnyOrder(t *testing.T) {
	log := string(labFile(t, "U", "base2.txt"))
	at := strings.Index(log, "*- - - - - - - - - - Start of data")
	end := strings.LastIndex(log, "*- - - - - - - - - - Start of data")
	turned := log[:at] + log[end:] + log[at:end]
	want, got := read(t, []byte(log), umdh.BaseAuto)[0], read(t, []byte(turned), umdh.BaseAuto)[0]
	if got.Total(0) != want.Total(0) || len(got.Heaps) != len(want.Heaps) || len(got.Sites) != len(want.Sites) ||
		len(got.Warnings) != 0 {
		t.Errorf("%+v, want %+v", got.Total(0), want.Total(0))
	}
	if bytes.Equal([]byte(log), []byte(turned)) {
		t.Error("nothing was turned")
	}
}
