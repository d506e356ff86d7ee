package worker_test

import (
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/worker/workertest"
)

// till stores the PDB of a build of till.exe.
func (p *pipeline) till(build byte, function string, line uint32) store.SymbolKey {
	p.Helper()
	taken, err := p.Intake.AcceptSymbols(p.Context(), "", "till.pdb",
		strings.NewReader(string(workertest.TillBuild(p, build, function, line))))
	if err != nil || len(taken.Files) != 1 {
		p.Fatal(taken, err)
	}
	return store.SymbolKey{Name: "TILL.pdb", Key: strings.ToLower(taken.Files[0].Key)}
}

// bind gives a build the symbols of its push and returns how many of its runs are named anew.
func (p *pipeline) bind(build string, keys ...store.SymbolKey) int {
	p.Helper()
	bound, err := p.Store.UpdateBuildSymbols(p.Context(), "p", build, keys)
	if err != nil || len(bound.Missing) > 0 {
		p.Fatal(bound, err)
	}
	return bound.Runs
}

// A build is named by its own files, whatever other builds of the same size send before and after; a build without
// any has only what all of them agree on.
func TestSymbolsOfBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	first, second := p.till(1, "main", 10), p.till(2, "renamed", 20)
	runs := map[string]int64{}
	for _, build := range []string{"1", "2", "3"} {
		e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: build}, build+".txt",
			strings.NewReader(workertest.TillLog(1)))
		if err != nil {
			t.Fatal(err)
		}
		runs[build] = e.RunID
		if got := stack(p.report(p.settled(e.RunID))); got != "till+0x1035, till+0x1055" {
			t.Errorf("build %s without files of its own: %s", build, got)
		}
	}
	if n := p.bind("1", first); n != 1 {
		t.Errorf("the files of build 1 renew %d runs", n)
	}
	p.bind("2", second)
	if n := p.bind("1", first); n != 0 {
		t.Errorf("the same files of build 1 renew %d runs", n)
	}
	p.till(3, "other", 30)
	for build, want := range map[string]string{
		"1": `till!main main.cpp:10, till!main main.cpp:12`,
		"2": `till!renamed main.cpp:20, till!renamed main.cpp:22`,
		"3": `till+0x1035, till+0x1055`,
	} {
		r := p.report(p.settled(runs[build]))
		m := r.Modules[0]
		if got := stack(r); got != want || m.Unproven {
			t.Errorf("build %s: %s, %+v", build, got, m)
		}
		if proof := "proven: it was pushed with build " + build; strings.Contains(m.Match, proof) != (build != "3") {
			t.Errorf("build %s: %s", build, m.Match)
		}
	}
}
