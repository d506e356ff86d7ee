package etl_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
)

// warnings reads a trace and returns what it says about itself.
func warnings(t *testing.T, files ...[]byte) []capture.Warning {
	t.Helper()
	trace := open(t, files...)
	joined, err := trace.Operations(t.Context(), etl.JoinOptions{}, func(*etl.Operation) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return append(trace.Warnings(), joined.Warnings()...)
}

// TestWarnings provokes every loss and gap, and checks that the warning says what it costs and what to do.
func TestWarnings(t *testing.T) {
	small := etltest.Format{BufferSize: 0x2000}
	whole := etltest.Invent(5, etltest.ScenarioSize{})
	with := func(change func(*etltest.Format)) etltest.Format {
		f := small
		change(&f)
		return f
	}
	stackless := etltest.Invent(5, etltest.ScenarioSize{})
	for i := range stackless.Blocks {
		stackless.Blocks[i].By.Stack = 0
		for j := range stackless.Blocks[i].Resizes {
			stackless.Blocks[i].Resizes[j].By.Stack = 0
		}
	}
	some := etltest.Invent(5, etltest.ScenarioSize{})
	for i := range some.Blocks[:50] {
		some.Blocks[i].By.Stack = 0
	}
	snapshots := etltest.Invent(5, etltest.ScenarioSize{})
	for i, e := range small.HarmlessEvents(&snapshots.Processes[2], 0x10000) {
		if e.ID == 100 || e.ID == 200 {
			snapshots.Extras = append(snapshots.Extras, etltest.Extra{Time: snapshots.End/2 + int64(i), Process: 2, Event: e})
		}
	}
	keyed := whole.File(with(func(f *etltest.Format) { f.Keys = 4 }))
	_, heap := whole.Pair(small)
	flagged := whole.File(small)
	le.PutUint16(flagged[0x2000+0x34:], 0x22) // events lost, processor index
	lost := whole.File(small)
	le.PutUint16(lost[0x2000+0x34:], 0x24) // buffer lost
	damaged := whole.File(small)
	damaged[0x4000+0x48+3] = 0 // no event
	for name, test := range map[string]struct {
		file  []byte
		code  capture.Code
		count int64 // 0: any
		words string
	}{
		"events lost": {whole.File(with(func(f *etltest.Format) { f.EventsLost = 5 })), capture.EventsLost, 5,
			"Record with more or larger buffers"},
		"events lost by flag": {flagged, capture.EventsLost, 1, "Record with more or larger buffers"},
		"buffers lost": {whole.File(with(func(f *etltest.Format) { f.DropBuffers = []int{3, 9} })),
			capture.BuffersLost, 2, "upper bound."},
		"native buffers lost": {drop(whole.File(with(func(f *etltest.Format) { f.Native = true })), 5), capture.BuffersLost,
			1, "upper bound."},
		"buffer lost by flag": {lost, capture.BuffersLost, 1, "upper bound."},
		"cut":                 {inside(whole.File(small)), capture.Truncated, 1, "ends in the middle of a buffer (covered: "},
		"cut at a buffer": {etltest.Invent(5, etltest.ScenarioSize{}).File(small)[:0x10000], capture.Truncated, 0,
			"buffers are missing at its end"},
		"keys in doubt": {whole.File(with(func(f *etltest.Format) { f.Keys, f.DropBuffers = 4, []int{3} })),
			capture.StackKeyLost, 0, "may belong to other code"},
		"unfinished": {whole.File(with(func(f *etltest.Format) { f.Unfinished = true })),
			capture.Truncated, 1, "Stop the session (xperf -stop"},
		"circular": {whole.File(with(func(f *etltest.Format) { f.Native, f.Ring = true, 6 })),
			capture.CircularWrapped, 0, "buffers were overwritten"},
		"damaged buffer": {damaged, capture.Malformed, 1, "events are not counted"},
		"disorder": {newTiny(nil).add(0, 1, alloc(2000, 1)).add(0, 2, alloc(9000, 3), alloc(1500, 2)).file,
			capture.ClockDisorder, 1, "later time"},
		"no stacks":          {stackless.File(small), capture.NoStacks, 0, "Record with -stackwalk"},
		"some stacks":        {some.File(small), capture.StackMissing, 0, "belong to no function"},
		"keys lost":          {keyed[:len(keyed)-4*0x2000], capture.StackKeyLost, 0, "Stop the session before you copy the file"},
		"heap session alone": {heap, capture.NoImageInfo, 0, "merge both"},
		"unmerged": {whole.File(with(func(f *etltest.Format) { f.Native = true })),
			capture.UnmergedSession, 0, "xperf -merge"},
		"snapshots": {snapshots.File(small), capture.HeapSnapshot, 4, "Record with heap tracing"},
	} {
		list := warnings(t, test.file)
		i := slices.IndexFunc(list, func(w capture.Warning) bool { return w.Code == test.code })
		if i < 0 {
			t.Errorf("%s: no %s among %v", name, test.code, list)
			continue
		}
		if w := list[i]; test.count != 0 && w.Count != test.count || w.Count == 0 ||
			!strings.Contains(w.Message, test.words) {
			t.Errorf("%s: %d × %s, want %d × …%s…", name, w.Count, w.Message, test.count, test.words)
		}
	}
	if list := warnings(t, whole.File(small)); len(list) != 0 {
		t.Errorf("a sound trace gives %v", list)
	}
}

// drop takes a buffer out of a file.
func drop(file []byte, number int) []byte {
	return bytes.Join(slices.Delete(etltest.Buffers(file), number, number+1), nil)
}

// inside cuts a file inside its last buffer.
func inside(file []byte) []byte { return file[:len(file)-0x1000] }

// TestRing reads a circular file that was overwritten: operations are read as they are from a file that grew.
func TestRing(t *testing.T) {
	s := etltest.Invent(6, etltest.ScenarioSize{})
	f := etltest.Format{Native: true, BufferSize: 0x2000}
	whole, _, _ := readLines(t, s.File(f))
	f.Ring = 20
	got, _, trace := readLines(t, s.File(f))
	stackless := func(list []string) (out []string) { // the stack of an early event may be there without it, and the other way round
		for _, l := range list {
			before, after, _ := strings.Cut(l, " stack ")
			_, after, _ = strings.Cut(after, "] ")
			out = append(out, before+" "+after)
		}
		slices.Sort(out)
		return out
	}
	left, all := stackless(got), stackless(whole)
	if len(left) == 0 || len(left) >= len(all) {
		t.Fatalf("%d lines of %d", len(left), len(all))
	}
	for _, l := range left {
		if _, ok := slices.BinarySearch(all, l); !ok {
			t.Errorf("not in the whole trace: %s", l)
		}
	}
	if l := trace.Info().Files[0].Losses; l.Overwritten == 0 || l.MissingBuffers != 0 {
		t.Errorf("%+v", l)
	}
}

// TestWarningsOfProcesses: what the processes lack, by themselves, is what the whole trace lacks; each kind of
// operation counts for its own.
func TestWarningsOfProcesses(t *testing.T) {
	some := etltest.Invent(5, etltest.ScenarioSize{})
	for i := range some.Blocks {
		if i%3 == 0 {
			some.Blocks[i].By.Stack = 0
		}
	}
	trace := open(t, some.File(etltest.Format{BufferSize: 0x2000}))
	joined, err := trace.Operations(t.Context(), etl.JoinOptions{}, func(*etl.Operation) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	missing := func(list []capture.Warning, to map[string]int64) {
		for _, w := range list {
			for _, noun := range []string{" heap allocations", " heap reallocations", " virtual allocations"} {
				if strings.Contains(w.Message, noun) {
					to[noun] += w.Count
				}
			}
		}
	}
	all, each := map[string]int64{}, map[string]int64{}
	missing(joined.Warnings(), all)
	for p := range joined.Processes {
		missing(joined.WarningsOf(uint32(p)), each)
	}
	if all[" heap allocations"] == 0 || !maps.Equal(all, each) {
		t.Errorf("the trace lacks stacks of %v, its processes of %v", all, each)
	}
}
