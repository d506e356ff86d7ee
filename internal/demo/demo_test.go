package demo_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/demo"
	"heapdrift/internal/pipelinetest"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// The demo goes through the real pipeline and its reports say what its table of sites says; loading it twice changes nothing.
func TestDemo(t *testing.T) {
	p := pipelinetest.Start(t)
	s, in := p.Store, p.Intake
	first, err := demo.Load(t.Context(), in, s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := demo.Load(t.Context(), in, s); err != nil || again != first {
		t.Errorf("loaded again: %s, %v; first %s", again, err, first)
	}
	builds, err := s.BuildsOf(t.Context(), demo.Project)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range builds {
		p.Settled(t, b.Runs[0].ID)
	}
	if builds, err = s.BuildsOf(t.Context(), demo.Project); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		build, status string
		growth        int64 // bytes: blocks that were added times their size
	}{
		{"4812", "inconclusive", 5*1130*0x180 + 5*1130*0x68 + 1536*0x240},
		{"4811", "no-leak", 0},
		{"4810", "inconclusive", 5 * 12 * 0x900},
		{"4809", "inconclusive", 5 * 12 * 0x900},
	} {
		run := builds[i].Runs[0]
		summary, err := s.Summary(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if builds[i].Name != want.build || run.Status != want.status || summary.Totals.Heap.Growth.Bytes != want.growth || run.Evidence != 6 {
			t.Errorf("build %s: %s, growth %d, %d files; want %+v", builds[i].Name, run.Status, summary.Totals.Heap.Growth.Bytes, run.Evidence, want)
		}
	}
	summary, err := s.Summary(t.Context(), builds[0].Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range summary.Modules {
		known := m.Symbols == capture.SymbolsPublic && !m.Own && m.Unnamed == 0
		switch m.Name {
		case "shopd.exe":
			known = m.Symbols == capture.SymbolsPrivate && m.Own && !m.Unproven && m.Unnamed == 0
		case "audit.dll":
			known = m.Symbols == capture.SymbolsNone && m.Unnamed == 1 && m.Stake.Bytes == 5790*0x68
		}
		if !known {
			t.Errorf("%+v", m)
		}
	}
	top, total, err := s.Sites(t.Context(), store.SiteQuery{Run: builds[0].Runs[0].ID, Limit: 1})
	if err != nil || total != 8 || top[0].Blame != "shopd!Receipt::AppendLine" || top[0].Place != "receipt.cpp:118" {
		t.Errorf("%+v of %d, %v", top, total, err)
	}
}
