package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// small are behaviours of a few hundred blocks: some stay, others are freed and their addresses used again, by the same
// stack and by others; and some are too large for a segment.
func small() (list []behaviour.Behaviour) {
	for _, bytes := range []int{1, 100, 0x2_0000, 0x1F_0000} {
		list = append(list, behaviour.Behaviour{Name: fmt.Sprint(bytes), Play: func(s *behaviour.Stack) {
			for i := range 300 {
				b := s.Alloc(s.Seconds*s.Float64(), s.Size(float64(bytes), 0.3))
				if i%3 > 0 {
					s.Free(b, s.Seconds*s.Float64())
				}
			}
		}})
	}
	return list
}

// Dumps and logs of a process tell the same about every stack.
func TestDumpsTellWhatLogsTell(t *testing.T) {
	const snapshots = 5
	for number := range uint64(3) {
		p := New(1, number, 0, small())
		p.Counted = number == 1
		logs, dumps := read(t, p.Logs, snapshots), read(t, p.Dumps, snapshots)
		for i := range snapshots {
			log, dump := logs.Inputs[i].Captures[0], dumps.Inputs[i].Captures[0]
			if dump.Process.PID != log.Process.PID || dump.Process.Name != programName {
				t.Errorf("the dump is of %+v, the log of %+v", dump.Process, log.Process)
			}
			if at := dump.Snapshots[0].TakenAt; at.IsZero() || !at.Truncate(60e9).Equal(log.Snapshots[0].TakenAt) { // logs say the minute
				t.Errorf("the dump is of %v, the log of %v", at, log.Snapshots[0].TakenAt)
			}
			if w := dumps.Inputs[i].Work; p.Counted && *w != *logs.Inputs[i].Work || !p.Counted && w != nil {
				t.Errorf("the dump was taken at %v units of work", w)
			}
			if len(dump.Warnings) > 0 || len(dump.Memory.Gaps) > 0 {
				t.Errorf("warnings %+v, gaps %+v", dump.Warnings, dump.Memory.Gaps)
			}
		}
		logSites, logFindings := told(t, logs)
		dumpSites, dumpFindings := told(t, dumps)
		same(t, "sites", logSites, dumpSites)
		same(t, "findings", logFindings, dumpFindings)
		same(t, "spans", spans(t, logs), spans(t, dumps))
	}
}

// read takes evidence of a process.
func read(t *testing.T, take func(context.Context, int) (*Evidence, error), snapshots int) *Evidence {
	t.Helper()
	e, err := take(t.Context(), snapshots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// told is what a report says about heap blocks: the numbers of each site at each instant, and what identifies each
// finding. Dumps also tell of memory outside of heaps.
func told(t *testing.T, e *Evidence) (sites, findings map[string]string) {
	t.Helper()
	r, err := analysis.Analyze(t.Context(), e.Inputs, e.Options)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Snapshots) != len(e.Inputs) || len(r.Warnings) > 0 {
		t.Errorf("%d snapshots of %d, %+v", len(r.Snapshots), len(e.Inputs), r.Warnings)
	}
	sites, findings = map[string]string{}, map[string]string{}
	for _, s := range r.Sites {
		if s.Kind == capture.KindHeap.String() {
			var series []analysis.Amount
			for _, p := range s.Series {
				series = append(series, p.Amount)
			}
			sites[s.Signature+" "+s.Heap] = fmt.Sprint(series, r.Stack(s.Stack)[1].Function, s.Flags)
		}
	}
	for _, f := range r.Findings {
		if f.Kind == capture.KindHeap.String() {
			findings[f.Signature] = fmt.Sprint(f.Title, f.Fine, f.Leaf, f.Outstanding, f.Verdict)
		}
	}
	return sites, findings
}

// spans are those of each stack.
func spans(t *testing.T, e *Evidence) map[string]string {
	t.Helper()
	numbers := map[string]int32{}
	var captures []*capture.Capture
	var sites [][]int32
	for _, in := range e.Inputs {
		c := in.Captures[0]
		var of []int32
		for _, s := range c.Sites {
			var stack []uint64
			for _, f := range c.Stacks.Stack(s.Stack) {
				stack = append(stack, c.Stacks.Frame(f).Address)
			}
			key := fmt.Sprintf("%x", stack)
			if _, known := numbers[key]; !known {
				numbers[key] = int32(len(numbers))
			}
			of = append(of, numbers[key])
		}
		captures, sites = append(captures, c), append(sites, of)
	}
	all, err := capture.Spans(t.Context(), captures, func(c int, site uint32) int32 { return sites[c][site] },
		len(numbers))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for key, i := range numbers {
		if found, known := all.Of(int(i)); known {
			list[key] = fmt.Sprint(found)
		}
	}
	return list
}

func same(t *testing.T, what string, logs, dumps map[string]string) {
	t.Helper()
	if len(logs) == 0 {
		t.Errorf("no %s", what)
	}
	for _, key := range slices.Sorted(maps.Keys(logs)) {
		if dumps[key] != logs[key] {
			t.Errorf("%s of %s: dumps tell %q, logs %q", what, key, dumps[key], logs[key])
		}
	}
	if len(dumps) != len(logs) {
		t.Errorf("%d %s in dumps, %d in logs", len(dumps), what, len(logs))
	}
}
