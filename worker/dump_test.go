package worker_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/debugdiag/debugdiagtest"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/ntheap/ntheaptest"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/storetest"
)

const heapLog = `0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
003f0000 00000002    1024    512    512      4     2     1    0      0   LFH
`

// A dump goes through the pipeline like all evidence, and what it says beside sites is in the report.
func TestDumpsAreEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 2, Stacks: true, Heaps: 2,
		Segments: 1, Blocks: 40})
	dump := func(minute int) string {
		return string(dumptest.Of(made,
			dumptest.Program{PID: 42, Time: time.Date(2025, 3, 4, 12, minute, 0, 0, time.UTC)}).Bytes())
	}
	p.upload("late.dmp", dump(9))
	p.upload("early.dmp", dump(3))
	run := p.settled(p.upload("session.log", heapLog))
	r := p.report(run)
	if got := files(r); len(got) != 2 || !strings.HasPrefix(got[0], "early.dmp=") ||
		!strings.HasPrefix(got[1], "late.dmp=") {
		t.Errorf("order %v: a log without a clock decides nothing", got)
	}
	var kinds []string
	for _, m := range r.Memory {
		kinds = append(kinds, m.Kind)
	}
	if !slices.Equal(kinds, []string{"minidump", "minidump", "windbg-log"}) {
		t.Errorf("memory of %v", kinds)
	}
	if h := r.Memory[1].Heaps; len(h) != 2 || h[0].Growth == nil || r.Memory[1].Reach == nil ||
		int(r.Totals.Heap.Outstanding.Count) != len(made.Blocks) {
		t.Errorf("heaps %+v, totals %+v", h, r.Totals)
	}
	if run.State() != "ready" || run.Status != "inconclusive" {
		t.Errorf("%+v", run)
	}
}

func TestReportsOfOtherToolsAreEvidence(t *testing.T) {
	p := start(t)
	r := p.report(p.settled(p.upload("analysis.mht", string(debugdiagtest.Walkthrough().MIME()))))
	if len(r.Memory) != 1 || len(r.Memory[0].Claims) == 0 || r.Findings[0].Blame.Module != "3rdparty" ||
		r.Evidence[0].Kind != "debugdiag-report" {
		t.Errorf("%+v", r.Evidence)
	}
}

func TestDumpsThatTellNothingAreRefused(t *testing.T) {
	p := start(t)
	made := dumptest.Of(ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win7x64, Heaps: 1, Segments: 1, Blocks: 5}),
		dumptest.Program{})
	made.Small, made.Flags, made.Memory = true, 0x1000, made.Memory[:1]
	data := made.Bytes()
	_, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "1"}, "crash.dmp", bytes.NewReader(data))
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Code != evidence.CodeNoHeapMemory ||
		!strings.Contains(refused.Error(), "procdump -ma") {
		t.Errorf("at the door: %v", err)
	}
	// A packed dump is inspected when it is read.
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	run := p.settled(p.upload("crash.dmp.gz", packed.String()))
	list, err := storetest.Now(t, p.Store).ListEvidence(t.Context(), run.ID)
	if err != nil || len(list) != 1 || list[0].State != "failed" || list[0].ErrorCode != "no-heap" ||
		!strings.Contains(list[0].Error, "procdump -ma") {
		t.Errorf("%+v %v", list, err)
	}
}
