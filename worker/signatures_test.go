package worker_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// leaking uploads twelve snapshots of a build in which main of till.exe leaks step blocks a minute.
func (p *pipeline) leaking(build string, step int) int64 {
	p.Helper()
	var run int64
	for k := range 12 {
		target := leaks.UploadTarget{Project: "p", Build: build}
		e, err := p.Intake.Accept(p.Context(), target, fmt.Sprintf("%d.txt", k),
			strings.NewReader(workertest.TillLeak(k, 5+k*step)))
		if err != nil {
			p.Fatal(err)
		}
		run = e.RunID
	}
	return run
}

func (p *pipeline) signatures() []store.SignatureRow {
	p.Helper()
	page, err := storetest.Now(p, p.Store).ListSignatures(p.Context(),
		store.SignatureQuery{Project: "p", Class: "all", Limit: 50})
	if err != nil {
		p.Fatal(err)
	}
	return page.Rows
}

// Late symbols give a leak its name. It stays one leak, with everything that was said about it, and its former name
// still finds it.
func TestLateSymbolsKeepTheLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	runs := []int64{p.leaking("1", 20), p.leaking("2", 20)}
	for _, run := range runs {
		if v := p.report(p.settled(run)).Verdict; v.Status != analysis.StatusLeak {
			t.Fatalf("%+v", v)
		}
	}
	list := p.signatures()
	if len(list) != 1 || !list[0].Provisional || list[0].State != leaks.StateFound || list[0].FirstBad != "1" ||
		list[0].LastBad != "2" {
		t.Fatalf("%d signatures, the first %+v", len(list), list)
	}
	former := list[0].Text
	if _, err := p.Store.CreateComment(t.Context(), "p", former, "ann", "mine"); err != nil {
		t.Fatal(err)
	}
	owner := "ann"
	if _, err := p.Store.UpdateTriage(t.Context(), "p", former,
		leaks.TriageChange{Actor: "ann", Version: -1, Assignee: &owner}); err != nil {
		t.Fatal(err)
	}
	pdb, _ := workertest.Till(t)
	if n := p.symbols("till.pdb", pdb); n != 2 {
		t.Errorf("the PDB renews %d runs", n)
	}
	for _, run := range runs {
		p.settled(run)
	}
	list = p.signatures()
	if len(list) != 1 || list[0].Provisional || list[0].Text == former || list[0].Title != "till!main" ||
		list[0].State != leaks.StateOngoing || list[0].Assignee != "ann" || list[0].FirstBad != "1" {
		t.Fatalf("%d signatures, the first %+v", len(list), list)
	}
	found, err := storetest.Now(t, p.Store).FindSignature(t.Context(), "p", former)
	if err != nil || found.Text != list[0].Text {
		t.Errorf("by its former name: %+v, %v", found, err)
	}
	if comments, err := storetest.Now(t, p.Store).ListComments(t.Context(), "p", list[0].Text); err != nil ||
		len(comments) != 1 || comments[0].Text != "mine" {
		t.Errorf("comments %+v, %v", comments, err)
	}
}

// A project's rules say who owns a leak, and that it is known: then it fails no gate.
func TestRulesOfTheProject(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t)
	pdb, _ := workertest.Till(t)
	p.symbols("till.pdb", pdb)
	run := p.leaking("1", 20)
	p.settled(run)
	if _, n, err := p.Store.CreateRules(t.Context(), "p",
		store.RuleChange{Text: `module:till -> owner=tills known="drawer, see #7"`, Author: "ann"}); err != nil || n != 1 {
		t.Fatalf("%d runs are analysed again, %v", n, err)
	}
	r := p.report(p.settled(run))
	f := r.Findings[0]
	if f.Owner != "tills" || f.Known != "drawer, see #7" || f.Verdict != analysis.ClassLeak ||
		r.Verdict.Status != analysis.StatusNoLeak || r.Verdict.Known != 1 {
		t.Errorf("%+v, %+v", f, r.Verdict)
	}
	if list := p.signatures(); len(list) != 1 || list[0].State != leaks.StateKnown || list[0].Owner != "tills" {
		t.Errorf("%+v", list)
	}
}
