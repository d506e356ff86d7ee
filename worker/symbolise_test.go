package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/symbols/index"
	"heapdrift/worker/workertest"
)

// symbols uploads a symbol file and returns how many runs are named anew.
func (p *pipeline) symbols(name string, data []byte) int {
	p.Helper()
	taken, err := p.Intake.AcceptSymbols(p.Context(), "", name, strings.NewReader(string(data)))
	if err != nil || len(taken.Files) != 1 {
		p.Fatal(taken, err)
	}
	return taken.Files[0].Runs
}

// stack spells the stack of the report's only site.
func stack(r *analysis.Report) string {
	var frames []string
	for _, f := range r.Stack(r.Sites[0].Stack) {
		frames = append(frames, strings.TrimSpace(f.Name()+" "+f.FileLine()))
	}
	return strings.Join(frames, ", ")
}

// Symbols that come after the evidence name its frames; the evidence is not read again.
func TestLateSymbols(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	pdb, image := workertest.Till(t)
	run := p.upload("1.txt", workertest.TillLog(1))
	r := p.report(p.settled(run))
	if got, m := stack(r), r.Modules[0]; got != "till+0x1035, till+0x1055" || m.Unnamed != 2 ||
		m.UnnamedHeld.Bytes != 101 || len(m.Tried) != 2 {
		t.Errorf("without symbols: %s, %+v", got, m)
	}
	for _, e := range evidenceOf(p, run) {
		if err := p.Blobs.Delete(t.Context(), blob.ContentKey(e.SHA256)); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.symbols("other.pdb", pdb); n != 0 {
		t.Errorf("a PDB of another name renews %d runs", n)
	}
	if n := p.symbols("TILL.pdb", pdb); n != 1 {
		t.Errorf("the PDB renews %d runs", n)
	}
	const named = `till!main main.cpp:10, till!main main.cpp:12`
	r = p.report(p.settled(run))
	if got, m := stack(r), r.Modules[0]; got != named || m.Symbols != capture.SymbolsPrivate || !m.Own ||
		!m.Unproven || m.Unnamed != 0 {
		t.Errorf("with the PDB: %s, %+v", got, m)
	}
	if n := p.symbols("TILL.pdb", pdb); n != 0 {
		t.Errorf("the same PDB again renews %d runs", n)
	}
	if n := p.symbols("till.exe", image); n != 1 {
		t.Errorf("the image renews %d runs", n)
	}
	r = p.report(p.settled(run))
	if got, m := stack(r), r.Modules[0]; got != named || m.Unproven ||
		!strings.Contains(m.Match, "proven: all 2 return addresses") {
		t.Errorf("with the image: %s, %+v", got, m)
	}
}

func evidenceOf(p *pipeline, run int64) []store.Evidence {
	list, err := storetest.Now(p, p.Store).ListEvidence(p.Context(), run)
	if err != nil {
		p.Fatal(err)
	}
	return list
}

// A PDB is read once: further runs are answered by its index.
func TestSymbolsOfTheNextRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	pdb, _ := workertest.Till(t)
	p.symbols("till.pdb", pdb)
	want := stack(p.report(p.settled(p.upload("1.txt", workertest.TillLog(1)))))
	var indexes []string
	for info, err := range p.Blobs.List(t.Context(), fmt.Sprintf("symbols/index/%d/", index.Version)) {
		if err != nil {
			t.Fatal(err)
		}
		indexes = append(indexes, info.Key)
	}
	if len(indexes) != 1 || !strings.HasSuffix(indexes[0], "/010000000000000000000000000000001-private") {
		t.Errorf("indexes %q", indexes)
	}
	file, err := storetest.Now(t, p.Store).FindSymbolFile(t.Context(), "Till.PDB", "010000000000000000000000000000001")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Blobs.Delete(t.Context(), blob.ContentKey(file.SHA256)); err != nil {
		t.Fatal(err)
	}
	e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "2"}, "1.txt",
		strings.NewReader(workertest.TillLog(2)))
	if err != nil {
		t.Fatal(err)
	}
	if got := stack(p.report(p.settled(e.RunID))); got != want {
		t.Errorf("the second run has %s, the first %s", got, want)
	}
}

// The report says when a symbol file is gone.
func TestLostSymbolFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	pdb, _ := workertest.Till(t)
	p.symbols("till.pdb", pdb)
	page, err := storetest.Now(t, p.Store).ListSymbolFiles(t.Context(), store.SymbolQuery{Limit: 1})
	if err != nil || len(page.Files) != 1 {
		t.Fatal(page, err)
	}
	if err := p.Blobs.Delete(t.Context(), blob.ContentKey(page.Files[0].SHA256)); err != nil {
		t.Fatal(err)
	}
	r := p.report(p.settled(p.upload("1.txt", workertest.TillLog(1))))
	if got := stack(r); got != "till+0x1035, till+0x1055" {
		t.Error(got)
	}
	if !slices.ContainsFunc(r.Modules[0].Tried, func(a capture.Attempt) bool { return a.Result == "failed" }) {
		t.Errorf("%+v", r.Modules[0])
	}
}
