package livesnapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/hdsnap"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
)

// series are snapshots of one process in the order of time, stored and read again.
func series(t *testing.T, name string) []*capture.Capture {
	t.Helper()
	var list []*capture.Capture
	for i := range 5 {
		target := serveDump(t, readDump(t, corpus.Path(t, "oracle", fmt.Sprintf("%s-series-p%d.dmp.zst", name, i))))
		s, c := taken(t, target)
		var file bytes.Buffer
		h := s.cost().Header(&Run{})
		h.Work, h.WorkUnit = new(int64(100*i)), "document"
		if err := hdsnap.Write(&file, h, c); err != nil {
			t.Fatal(err)
		}
		captures, err := hdsnap.Read(t.Context(), &file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, captures...)
	}
	return list
}

// growth is what a report says of each leak, without what names the evidence.
func growth(t *testing.T, captures []*capture.Capture) (text string, grown int) {
	t.Helper()
	inputs := make([]analysis.Input, len(captures))
	for i, c := range captures {
		inputs[i] = analysis.Input{Files: []analysis.File{{Name: fmt.Sprint(i)}}, Captures: []*capture.Capture{c}}
	}
	r, err := analysis.Analyze(t.Context(), inputs, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Work == nil || r.Work.Unit != "document" || fmt.Sprint(r.Work.At) != "[0 100 200 300 400]" {
		t.Errorf("work %+v", r.Work)
	}
	var lines []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Growth != nil && f.Growth.Count > 0 {
			grown++
		}
		facts, err := json.Marshal([]any{f.Signature, f.Verdict, f.Growth, f.Outstanding})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(facts))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%s\n%s", r.Verdict.Status, strings.Join(lines, "\n")), grown
}

// Several snapshots of one process are judged as UMDH logs of the same process with the same stacks are.
func TestSeriesIsJudgedAsUMDHLogs(t *testing.T) {
	for _, name := range []string{"19041.508", "7601.17514", "x86-14393.479"} {
		snapshots := series(t, name)
		got, grown := growth(t, snapshots)
		logs := make([]*capture.Capture, len(snapshots))
		for i, c := range snapshots { // what a UMDH log tells of them
			logs[i] = &capture.Capture{Kind: capture.KindUMDHSnapshot, Shape: c.Shape, Process: c.Process,
				Snapshots: c.Snapshots, Modules: c.Modules, Heaps: c.Heaps, Stacks: c.Stacks, Blocks: c.Blocks,
				Work: c.Work}
			logs[i].Sites = slices.DeleteFunc(slices.Clone(c.Sites),
				func(s capture.Site) bool { return s.Kind != capture.KindHeap })
		}
		want, _ := growth(t, logs)
		withoutVirtual := slices.DeleteFunc(strings.Split(got, "\n"),
			func(line string) bool { return !strings.Contains(want, line) })
		extra := strings.Count(got, "\n") - strings.Count(want, "\n")
		if strings.Join(withoutVirtual, "\n") != want || extra > 1 || grown == 0 {
			t.Errorf("%s: %d grow\n%s\nwant\n%s", name, grown, got, want)
		}
	}
}
