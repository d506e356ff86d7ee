package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
)

// traceTruth is what the recordings of generated processes are known to show.
type traceTruth struct {
	Runs []traceRun
}

type traceRun struct {
	Name    string
	Process string
	PID     uint32
	Modules []struct{ Name, Base string }
	Stacks  []traceStack
	Files   []traceFile `json:"etl_files"`
	Windows []traceWindow
	Visible *struct {
		Outstanding analysis.Amount
		Unknown     int64                      `json:"unknown_frees"`
		OntoLive    int64                      `json:"alloc_onto_live"`
		PerStack    map[string]analysis.Amount `json:"outstanding_per_process_and_stack"`
	} `json:"visible_in_file"`
	Warnings []string `json:"expected_warnings"`
}

type traceFile struct {
	File   string
	Events int64
	Zero   int64 `json:"qpc_of_tick_0"`
	Header int64 `json:"header_qpc"`
}

type traceStack struct {
	ID     int
	Role   string
	Leak   bool
	Kind   string
	Prefix []truthFrame `json:"etl_prefix"`
	Frames []truthFrame
}

type traceClasses struct{ AIFO, AIFI, AOFO, AOFI analysis.Amount }

type traceWindow struct {
	Name string
	T1   int64 `json:"t1_ticks"`
	T2   int64 `json:"t2_ticks"`
	traceClasses
	PerStack []struct {
		Role string
		traceClasses
	} `json:"per_stack"`
	PerHeap []struct {
		Handle string
		traceClasses
		Live analysis.Amount `json:"live_at_end"`
	} `json:"per_heap"`
	Virtual *struct {
		Count, Size int64
		Impacting   int64               `json:"impacting_size"`
		Start       int64               `json:"outstanding_at_t1"`
		End         int64               `json:"outstanding_at_t2"`
		Transient   analysis.Amount     `json:"transient_AIFI"`
		PerStack    map[string][3]int64 `json:"per_stack_count_size_impacting"`
	}
}

// traces are the recordings of a run, each as the arguments of analyze: one file, or the pair of an unmerged recording.
func (r *traceRun) traces(t *testing.T, scenario string) (list [][]string, files []traceFile) {
	t.Helper()
	var kernel, heap string
	for _, f := range r.Files {
		path := traceFolder(t, scenario, r.Name, f.File)
		switch f.File {
		case "kernel.etl":
			kernel = path
		case "heap.etl":
			heap = path
			list, files = append(list, []string{kernel, heap}), append(files, f)
		default:
			list, files = append(list, []string{path}), append(files, f)
		}
	}
	return list, files
}

func traceFolder(t *testing.T, scenario, run, file string) string {
	t.Helper()
	_, below, _ := strings.Cut(run, "/")
	for _, dir := range []string{below, "."} {
		path := filepath.Join(corpus.Path(t, "lab", scenario), dir, file)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("%s has no %s", run, file)
	return ""
}

// eachTrace calls do for each recording of each run. Runs of one PID in one recording are numbered from 1.
func eachTrace(t *testing.T, do func(t *testing.T, paths []string, run *traceRun, file traceFile, nth int)) {
	t.Helper()
	for _, scenario := range []string{"A", "B", "D", "F"} {
		text, err := os.ReadFile(corpus.Path(t, "lab", scenario, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth traceTruth
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		for i := range truth.Runs {
			r, nth := &truth.Runs[i], 1
			if r.Files == nil && i > 0 && truth.Runs[i-1].Name == r.Name { // a second process of the same recording
				r.Files = truth.Runs[i-1].Files
				if truth.Runs[i-1].PID == r.PID {
					nth = 2
				}
			}
			paths, files := r.traces(t, scenario)
			for k := range paths {
				t.Run(fmt.Sprintf("%s/%s#%d", r.Name, filepath.Base(paths[k][len(paths[k])-1]), nth), func(t *testing.T) {
					do(t, paths[k], r, files[k], nth)
				})
			}
		}
	}
}

// addresses are the return addresses that the stack has in this run.
func (r *traceRun) addresses(t *testing.T, s *traceStack) (list []string) {
	t.Helper()
	bases := map[string]uint64{}
	for _, m := range r.Modules {
		base, err := strconv.ParseUint(m.Base, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := bases[m.Name]; !ok {
			bases[m.Name] = base
		}
	}
	for _, f := range append(s.Prefix, s.Frames...) {
		list = append(list, fmt.Sprintf("0x%x", bases[f.Module]+f.RVA))
	}
	return list
}

// byRole finds the truth's stacks in the report: stacks whose own frames occur in the site's stack in the same order.
// Recordings add frames of the kernel and of the emulation of 32-bit processes.
func byRole(t *testing.T, r *analysis.Report, run *traceRun) map[string]*analysis.Site {
	t.Helper()
	found := map[string]*analysis.Site{}
	for i := range r.Sites {
		site := &r.Sites[i]
		var have []string
		for _, f := range r.Stack(site.Stack) {
			if !f.Inline { // inlined frames share the address of their caller
				have = append(have, f.Address)
			}
		}
		for k := range run.Stacks {
			want := run.addresses(t, &run.Stacks[k])
			if strings.Contains(strings.Join(have, " ")+" ", strings.Join(want, " ")+" ") {
				role := run.Stacks[k].Role
				if other := found[role]; other != nil {
					if other.Heap == site.Heap && other.Kind == site.Kind {
						t.Errorf("%s has two sites in heap %q", role, site.Heap)
					}
					merged := *other
					merged.Amounts = add(&other.Amounts, &site.Amounts)
					found[role] = &merged
				} else {
					found[role] = site
				}
			}
		}
	}
	return found
}

func add(a, b *analysis.Amounts) analysis.Amounts {
	plus := func(x, y analysis.Amount) analysis.Amount {
		return analysis.Amount{Count: x.Count + y.Count, Bytes: x.Bytes + y.Bytes}
	}
	return analysis.Amounts{Outstanding: plus(a.Outstanding, b.Outstanding), Lifetimes: &analysis.Lifetimes{
		AIFO: plus(a.AIFO, b.AIFO), AIFI: plus(a.AIFI, b.AIFI), AOFO: plus(a.AOFO, b.AOFO), AOFI: plus(a.AOFI, b.AOFI),
		Allocated: plus(a.Allocated, b.Allocated),
	}}
}

func classesOf(a *analysis.Amounts) traceClasses { return traceClasses{a.AIFO, a.AIFI, a.AOFO, a.AOFI} }

func process(run *traceRun, nth int) string { return fmt.Sprintf("%d#%d", run.PID, nth) }

// damaged are the recordings for which the truth has windows of what the process did, not of what the file shows.
func damaged(run *traceRun) bool {
	return len(run.Warnings) > 0 && run.Name != "F/alloc_onto_live" && run.Name != "F/no_rundown"
}

// Totals, stacks and heaps of every window of every recording equal the truth.
func TestLabTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := 0
	eachTrace(t, func(t *testing.T, paths []string, run *traceRun, file traceFile, nth int) {
		if damaged(run) {
			return // TestLabDamagedTraces compares this one
		}
		for _, w := range run.Windows {
			args := append([]string{"--process", process(run, nth)}, paths...)
			if w.Name != "full" {
				at := func(ticks int64) string {
					return strconv.FormatFloat(float64(ticks+file.Zero-file.Header)/1e7, 'f', -1, 64)
				}
				args = append(args, "--window", at(w.T1)+","+at(w.T2))
			}
			r := analyzeJSON(t, args...)
			n++
			checkWindow(t, r, run, &w)
			if len(paths) == 1 && r.Evidence[0].Events != file.Events {
				t.Errorf("%d events, want %d", r.Evidence[0].Events, file.Events)
			}
		}
	})
	if n == 0 {
		t.Error("no windows in the truth")
	}
}

func checkWindow(t *testing.T, r *analysis.Report, run *traceRun, w *traceWindow) {
	t.Helper()
	if got := classesOf(&r.Totals.Heap); got != w.traceClasses {
		t.Errorf("%s: %+v, want %+v", w.Name, got, w.traceClasses)
	}
	sites := byRole(t, r, run)
	total := 0
	for _, s := range w.PerStack {
		if s.traceClasses == (traceClasses{}) {
			continue
		}
		total++
		if site := sites[s.Role]; site == nil {
			t.Errorf("%s: no site for %s", w.Name, s.Role)
		} else if got := classesOf(&site.Amounts); got != s.traceClasses {
			t.Errorf("%s, %s: %+v, want %+v", w.Name, s.Role, got, s.traceClasses)
		}
	}
	for _, h := range w.PerHeap {
		i := slices.IndexFunc(r.Heaps, func(g analysis.Heap) bool { return strings.EqualFold(g.Handle, h.Handle) })
		switch {
		case i < 0 && h.traceClasses == (traceClasses{}):
		case i < 0:
			t.Errorf("%s: no heap %s", w.Name, h.Handle)
		case classesOf(&r.Heaps[i].Amounts) != h.traceClasses || r.Heaps[i].Outstanding != h.Live:
			t.Errorf("%s, heap %s: %+v %+v, want %+v %+v", w.Name, h.Handle, classesOf(&r.Heaps[i].Amounts),
				r.Heaps[i].Outstanding, h.traceClasses, h.Live)
		}
	}
	if v := w.Virtual; v != nil {
		a := &r.Totals.Virtual
		got := [...]int64{a.Allocated.Count, a.Allocated.Bytes, a.AIFO.Bytes, a.AOFO.Bytes + a.AOFI.Bytes,
			a.Outstanding.Bytes, a.AIFI.Count, a.AIFI.Bytes}
		if want := [...]int64{v.Count, v.Size, v.Impacting, v.Start, v.End, v.Transient.Count,
			v.Transient.Bytes}; got != want {
			t.Errorf("%s, virtual: %v, want %v", w.Name, got, want)
		}
		for name, want := range v.PerStack {
			_, role, _ := strings.Cut(name, " ")
			site := sites[role]
			if site == nil || [3]int64{site.Allocated.Count, site.Allocated.Bytes, site.AIFO.Bytes} != want {
				t.Errorf("%s, %s: %+v, want %v", w.Name, role, site, want)
			}
		}
	}
	for i := range r.Sites { // no site beside the known ones
		if s := &r.Sites[i]; s.Kind == "heap" && s.Stack == 0 && s.Allocated.Count > 0 {
			t.Errorf("%s: %d allocations without a stack", w.Name, s.Allocated.Count)
		}
	}
	if total == 0 && w.traceClasses != (traceClasses{}) {
		t.Errorf("%s: no stacks compared", w.Name)
	}
}

// A damaged recording shows what is in the file, and says what is missing.
func TestLabDamagedTraces(t *testing.T) {
	codes := map[string][]string{
		"F/lost_events":      {"events-lost", "buffers-lost", "lost-free"},
		"F/circular_wrapped": {"circular-wrapped", "unknown-free"},
		"F/truncated":        {"truncated"}, "F/alloc_onto_live": {"lost-free"}, "F/free_unknown": {"unknown-free"},
		"F/no_rundown": {"no-image-info"}, "A/etl_x64_attached": {"unknown-free"}, "F/process_exit": {"process-exited"},
	}
	n := 0
	eachTrace(t, func(t *testing.T, paths []string, run *traceRun, _ traceFile, nth int) {
		if run.Visible == nil {
			return // TestLabTraces compares this one
		}
		// The figures of one file with several processes are sums over them.
		var outstanding analysis.Amount
		var unknown int64
		perStack := map[string]analysis.Amount{}
		for who := range processesOf(run.Visible.PerStack, run.PID) {
			r := analyzeJSON(t, append([]string{"--process", who}, paths...)...)
			n++
			outstanding.Count += r.Totals.Heap.Outstanding.Count
			outstanding.Bytes += r.Totals.Heap.Outstanding.Bytes
			unknown += r.Totals.Heap.UnknownFrees
			for i := range r.Sites {
				if s := &r.Sites[i]; s.Outstanding.Count > 0 {
					perStack[who+" "+s.Signature] = s.Outstanding
				}
			}
			for _, code := range codes[run.Name] {
				if !hasWarning(r, code) {
					t.Errorf("no warning %s in %+v", code, r.Warnings)
				}
			}
			if want := damaged(run) && run.Name != "A/etl_x64_attached" && run.Name != "F/free_unknown"; want &&
				r.Verdict.Status != analysis.StatusInconclusive {
				t.Errorf("verdict %s of a lossy trace", r.Verdict.Status)
			}
			i := slices.IndexFunc(r.Warnings, func(w analysis.Warning) bool { return w.Code == "lost-free" })
			if got := int64(0); run.Visible.OntoLive > 0 {
				if i >= 0 {
					got = r.Warnings[i].Count
				}
				if got != run.Visible.OntoLive {
					t.Errorf("%d allocations onto a live address, want %d", got, run.Visible.OntoLive)
				}
			}
		}
		if outstanding != run.Visible.Outstanding || unknown != run.Visible.Unknown {
			t.Errorf("outstanding %+v, %d unknown frees, want %+v and %d", outstanding, unknown,
				run.Visible.Outstanding, run.Visible.Unknown)
		}
		if got, want := amountsOf(perStack), amountsOf(run.Visible.PerStack); run.Name != "A/etl_wow64" &&
			!slices.Equal(got, want) {
			t.Errorf("stacks %v, want %v", got, want)
		}
	})
	if n == 0 {
		t.Error("no recordings compared")
	}
}

// processesOf names the processes of a file as --process takes them. Keys are "image pid N #stack role".
func processesOf(perStack map[string]analysis.Amount, pid uint32) map[string]bool {
	list := map[string]bool{strconv.FormatUint(uint64(pid), 10): true}
	for key := range perStack {
		if fields := strings.Fields(key); len(fields) > 2 {
			list[fields[2]] = true
		}
	}
	return list
}

func amountsOf(m map[string]analysis.Amount) (list []analysis.Amount) {
	for _, a := range m {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b analysis.Amount) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Count, b.Count))
	})
	return list
}

// The recordings of one run give the same report, except for the file's name.
func TestLabVariantsAreEqual(t *testing.T) {
	first := map[string]string{}
	eachTrace(t, func(t *testing.T, paths []string, run *traceRun, _ traceFile, nth int) {
		r := analyzeJSON(t, append([]string{"--process", process(run, nth)}, paths...)...)
		for i := range r.Sites {
			r.Sites[i].TableSites = nil
		}
		if run.Name == "A/etl_wow64" { // its recordings have the frames of the emulation on other stacks
			r.Sites, r.Verdict = nil, analysis.EvidenceVerdict{}
		}
		text, err := json.Marshal(map[string]any{"sites": r.Sites, "totals": r.Totals, "heaps": r.Heaps, "window": r.Window,
			"timeline": r.Trace.HeapTimeline, "verdict": r.Verdict})
		if err != nil {
			t.Fatal(err)
		}
		key := run.Name + process(run, nth)
		if first[key] == "" {
			first[key] = string(text)
		} else if first[key] != string(text) {
			t.Errorf("%s: another report than that of the run's first recording:\n%s\n%s", paths, text, first[key])
		}
	})
}

// The memory exercise, as a user of Windows Performance Analyzer walks through it: 126 MB come and go over the whole
// run, 10 MB stay from main in the middle, four buffers of 10 MB are spikes, and one loop never frees its nodes.
func TestMemoryExercise(t *testing.T) {
	trace := corpus.Path(t, "lab", "B", "memory.etl")
	report := func(args ...string) *analysis.Report {
		return analyzeJSON(t, append([]string{"--symbols", labSymbols(t), trace}, args...)...)
	}
	find := func(r *analysis.Report, function string) *analysis.Site {
		t.Helper()
		i := slices.IndexFunc(r.Sites, func(s analysis.Site) bool {
			return s.Blame != nil && s.Blame.Function == function && s.Allocated.Count > 0
		})
		if i < 0 {
			t.Fatalf("nothing allocated by %s", function)
		}
		return &r.Sites[i]
	}
	const mb = 1 << 20
	if v := report().Totals.Virtual; v.Allocated.Bytes != 126*mb || v.Growth.Bytes != 0 || v.Allocated.Count != 21 {
		t.Errorf("whole run: %+v", v.Lifetimes)
	}
	if s := find(report("--window", "14,16"), "main"); s.Growth.Bytes != 10*mb || s.Growth.Count != 1 {
		t.Errorf("main: %+v", s.Amounts)
	}
	r := report("--window", "18,30")
	if s := find(r, "ManipulateTemporaryBuffer"); s.AIFI != (analysis.Amount{Count: 4, Bytes: 40 * mb}) ||
		s.Growth.Bytes != 0 || s.Verdict != analysis.ClassTransient {
		t.Errorf("spikes: %+v %s", s.Lifetimes, s.Verdict)
	}
	if s := find(report("--window", "10,20"), "InnerLoopOperation"); *s.Growth != (analysis.Amount{Count: 319,
		Bytes: 319 * 40}) || s.Verdict != analysis.ClassLeak {
		t.Errorf("the loop: %+v %s", s.Growth, s.Verdict)
	}
}

// The report on a process that has ended says what the leak held, not that it holds nothing.
func TestLeakOfAProcessThatEnded(t *testing.T) {
	path := corpus.Path(t, "lab", "F", "process_exit.etl")
	for format, says := range map[string]string{
		"text":     "    244 KB in 61 blocks before exit of 1 site  +244 KB (+61)",
		"markdown": "| 244 KB in 61 blocks before exit |", "csv": ",249856,61\n",
	} {
		out, _, code := cli(t, "analyze", "--format", format, path)
		if code != exitLeak || !strings.Contains(out, says) {
			t.Errorf("%s lacks %q:\n%s", format, says, out)
		}
	}
	if r := analyzeJSON(t, path); r.Findings[0].Outstanding.Bytes != 0 || r.Findings[0].HeldAtExit == nil ||
		r.Findings[0].HeldAtExit.Bytes != 249856 {
		t.Errorf("%+v", r.Findings[0].Amounts)
	}
}
