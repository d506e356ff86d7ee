package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/demo"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// The demo goes through the real pipeline, and its reports agree with its table of sites; loading the demo twice
// changes nothing.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := workertest.Start(t)
	s, in := p.Store, p.Intake
	first, err := demo.Load(t.Context(), in, s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := demo.Load(t.Context(), in, s); err != nil || again != first {
		t.Errorf("loaded again: %s, %v; first %s", again, err, first)
	}
	settleDemo(t, p)
	builds := demoBuilds(t, s)
	for i, want := range []struct {
		build, status string
		growth        int64 // bytes: blocks that were added times their size
	}{
		{"4812", "leak", 10*565*0x180 + 10*565*0x68 + 1536*0x240},
		{"4811", "no-leak", 0},
		{"4810", "leak", 10 * 6 * 0x900},
		{"4809", "leak", 10 * 6 * 0x900},
	} {
		run := runOf(t, builds[i].Runs, "soak-60min")
		summary, err := storetest.Now(t, s).FindSummary(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if builds[i].Name != want.build || run.Status != want.status || summary.Totals.Heap.Growth.Bytes != want.growth ||
			run.EvidenceFiles != 11 {
			t.Errorf("build %s: %s, growth %d, %d files; want %+v", builds[i].Name, run.Status, summary.Totals.Heap.Growth.Bytes,
				run.EvidenceFiles, want)
		}
	}
	soak, trace := runOf(t, builds[0].Runs, "soak-60min"), runOf(t, builds[0].Runs, "trace-60s")
	summary, err := storetest.Now(t, s).FindSummary(t.Context(), soak.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range summary.Modules {
		known := m.Symbols == capture.SymbolsPublic && !m.Own && m.Unnamed == 0
		switch m.Name {
		case "shopd.exe":
			known = m.Symbols == capture.SymbolsPrivate && m.Own && !m.Unproven && m.Unnamed == 0
		case "audit.dll":
			known = m.Symbols == capture.SymbolsNone && m.Unnamed == 1 && m.UnnamedHeld.Bytes == 5790*0x68
		}
		if !known {
			t.Errorf("%+v", m)
		}
	}
	top, total, err := storetest.Now(t, s).ListSites(t.Context(), store.SiteQuery{RunID: soak.ID, Limit: 1})
	if err != nil || total != 9 || top[0].Blame != "shopd!Receipt::AppendLine" || top[0].Place != "receipt.cpp:118" {
		t.Errorf("%+v of %d, %v", top, total, err)
	}
	// The trace shows the same process, and memory that came and went in it.
	if summary, err = storetest.Now(t, s).FindSummary(t.Context(), trace.ID); err != nil {
		t.Fatal(err)
	}
	heap, virtual := summary.Totals.Heap, summary.Totals.Virtual
	if want := (analysis.Amount{Count: 6300, Bytes: 6000*0x2C0 + 300*0x10000}); heap.AIFI != want ||
		heap.AIFO.Bytes != demoHeld {
		t.Errorf("heap %+v, want %+v and %d bytes", heap.Lifetimes, want, demoHeld)
	}
	if virtual.AIFI.Bytes != 5*0xA00000 || virtual.AIFO.Bytes != 4*0x100000 || virtual.Peak.Bytes != 0xA00000+4*0x100000 {
		t.Errorf("virtual memory %+v", virtual.Lifetimes)
	}
	for _, w := range summary.Warnings {
		if w.Code != capture.NoSymbols {
			t.Errorf("%+v", w)
		}
	}
}

// The history of each leak, and the comparison of each build with the one before, show what builds brought and fixed.
func TestDemoHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := workertest.Start(t)
	if _, err := demo.Load(t.Context(), p.Intake, p.Store); err != nil {
		t.Fatal(err)
	}
	settleDemo(t, p)
	checkUnitTests(t, p.Store)
	page, err := storetest.Now(t, p.Store).ListSignatures(t.Context(), store.SignatureQuery{Project: demo.Project,
		Scenario: "soak-60min", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"shopd!SearchIndex::Rebuild": "fixed since 4809, fixed in 4811",
		"shopd!Receipt::AppendLine":  "new since 4812, fixed in ", "audit+0x104b": "new since 4812, fixed in ",
	}
	for _, s := range page.Rows {
		for title, state := range want {
			if strings.HasPrefix(s.Title, title) {
				if got := fmt.Sprintf("%s since %s, fixed in %s", s.State, s.FirstBad, s.FixedIn); got != state {
					t.Errorf("%s: %s, want %s", title, got, state)
				}
				delete(want, title)
			}
		}
	}
	if len(want) > 0 || len(page.Rows) != 3 {
		t.Errorf("%d signatures, missing %v: %+v", len(page.Rows), want, page.Rows)
	}
	for _, step := range []struct{ head, base, want string }{{"4810", "4809", "1 persisting"}, {"4811", "4810", "1 fixed"},
		{"4812", "4811", "2 new"}} {
		base, err := storetest.Now(t, p.Store).FindBaselineOfBuild(t.Context(), demo.Project, "soak-60min", step.head)
		if err != nil || base != step.base {
			t.Errorf("the baseline of %s is %q, %v", step.head, base, err)
		}
		c, err := storetest.Now(t, p.Store).Compare(t.Context(),
			leaks.ComparisonQuery{Project: demo.Project, Scenario: "soak-60min", Base: step.base, Head: step.head})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(c.Sentence, ": "+step.want+".") {
			t.Errorf("%s, want %s", c.Sentence, step.want)
		}
	}
}

// checkUnitTests checks the scenario of leaks at exit: 500 old ones are known, one came in build 4811 and is fixed.
func checkUnitTests(t *testing.T, s *store.Store) {
	t.Helper()
	page, err := storetest.Now(t, s).ListSignatures(t.Context(), store.SignatureQuery{Project: demo.Project, Scenario: "unit-tests", Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	if page.Total != 501 || page.Counts[leaks.StateKnown] != 500 || page.Counts[leaks.StateFixed] != 1 {
		t.Errorf("%d leaks at exit: %v", page.Total, page.Counts)
	}
	for _, row := range page.Rows {
		if row.State == leaks.StateFixed && (row.Title != "resume.cpp:4096-byte-block" || row.FirstBad != "4811" || row.FixedIn != "4812") {
			t.Errorf("%s is bad first in %s, fixed in %s", row.Title, row.FirstBad, row.FixedIn)
		}
	}
	for i, want := range []struct{ gate, tests string }{{"passed", "35 0 0 5"}, {"failed", "34 1 0 5"}} {
		run := runOf(t, demoBuilds(t, s)[i].Runs, "unit-tests")
		verdict, err := store.Read(t.Context(), s, func(v store.View) (leaks.RunVerdict, error) {
			return v.FindVerdict(t.Context(), &run, store.GateQuestion{})
		})
		if err != nil {
			t.Fatal(err)
		}
		tests, err := storetest.Now(t, s).ListRunTests(t.Context(), store.RunTestQuery{RunID: run.ID, Limit: 99, Strip: 9})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(tests.Counts[leaks.TestKnown], tests.Counts[leaks.TestNew], tests.Counts[leaks.TestOpen], tests.Counts[leaks.TestClean])
		if string(verdict.Gate) != want.gate || got != want.tests {
			t.Errorf("build %s: %s, known, new, open and clean tests %s; want %v", run.Build, verdict.Gate, got, want)
		}
	}
}

// demoHeld is what the blocks of build 4812 hold at the last snapshot, in bytes.
const demoHeld = 412*0x58 + 96*0x4000 + 64*0x1000 + 2048*0x240 + 7*0x30 + 188*0x20 + 5790*0x180 + 5790*0x68 + 3*0x900

// demoBuilds are the builds of the demo, the newest first.
func demoBuilds(t *testing.T, s *store.Store) []store.Build {
	t.Helper()
	page, err := storetest.Now(t, s).ListBuilds(t.Context(), store.BuildQuery{Project: demo.Project, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Builds
}

// settleDemo waits until no run of the demo has work left.
func settleDemo(t *testing.T, p *workertest.Pipeline) {
	t.Helper()
	for _, b := range demoBuilds(t, p.Store) {
		for _, run := range b.Runs {
			p.AwaitSettled(t, run.ID)
		}
	}
}

func runOf(t *testing.T, runs []store.Run, scenario string) store.Run {
	t.Helper()
	i := slices.IndexFunc(runs, func(r store.Run) bool { return r.Scenario == scenario })
	if i < 0 {
		t.Fatalf("no run of %s", scenario)
	}
	return runs[i]
}
