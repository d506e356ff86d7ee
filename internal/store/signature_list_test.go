package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestSignatureList(t *testing.T) {
	l := newLab(t)
	l.run("1/soak", leaksReport(finding{signature: "A", class: stable},
		finding{signature: "B", class: leak, bytes: 10, owner: "ui"}, finding{signature: "Q", class: cache}))
	l.run("2/soak", leaksReport(finding{signature: "A", class: leak, bytes: 30},
		finding{signature: "B", class: stable, owner: "ui"}, finding{signature: "C", class: grows, bytes: 20}))
	l.run("2/smoke", leaksReport(finding{signature: "D", class: leak, bytes: 5}))
	l.run("3/soak", leaksReport(finding{signature: "A", class: leak, bytes: 40},
		finding{signature: "Z", class: analysis.ClassTransient}))
	bob := "bob"
	l.change("A", leaks.TriageChange{Version: -1, Assignee: new("ann")})
	l.change("D", leaks.TriageChange{Assignee: &bob, Known: &leaks.Toleration{Reason: "x"}})
	for _, test := range []struct {
		query store.SignatureQuery
		want  string
		total int
	}{
		{store.SignatureQuery{}, "A D C B", 4},
		{store.SignatureQuery{Order: "growth"}, "A C D B", 4},
		{store.SignatureQuery{Order: "last-seen"}, "A C D B", 4},
		{store.SignatureQuery{Order: "first-bad"}, "A C D B", 4},
		{store.SignatureQuery{State: leaks.StateOngoing}, "A", 1},
		{store.SignatureQuery{State: leaks.StateNew}, "C", 1},
		{store.SignatureQuery{State: leaks.StateKnown}, "D", 1},
		{store.SignatureQuery{State: leaks.StateFixed}, "B", 1},
		{store.SignatureQuery{State: leaks.StateRegressed}, "", 0},
		{store.SignatureQuery{Owner: "ui"}, "B", 1},
		{store.SignatureQuery{Owner: "bob"}, "D", 1},
		{store.SignatureQuery{Scenario: "smoke"}, "D", 1},
		{store.SignatureQuery{Scenario: "none"}, "", 0},
		{store.SignatureQuery{Text: "app!fa"}, "A", 1},
		{store.SignatureQuery{Text: "C"}, "A D C B", 4}, // in malloc
		{store.SignatureQuery{Text: "f_"}, "", 0},
		{store.SignatureQuery{Class: "leak"}, "A D", 2},
		{store.SignatureQuery{Class: "stable"}, "B", 1},
		{store.SignatureQuery{Class: "cache"}, "Q", 1},
		{store.SignatureQuery{Class: "all"}, "A D C B Q Z", 6},
		{store.SignatureQuery{Limit: 2, Offset: 1}, "D C", 4},
	} {
		page := l.list(test.query)
		if listed(page) != test.want || page.Total != test.total {
			t.Errorf("%+v: %q of %d, want %q of %d", test.query, listed(page), page.Total, test.want, test.total)
		}
	}
	page := l.list(store.SignatureQuery{State: leaks.StateNew, Strip: 2})
	if fmt.Sprint(page.Counts) != "map[fixed:1 known:1 new:1 ongoing:1]" || strings.Join(page.Owners, " ") != "ann bob ui" {
		t.Errorf("%v %v", page.Counts, page.Owners)
	}
	if len(page.Builds) != 2 || page.Builds[0].Name != "2" || page.Builds[1].Name != "3" {
		t.Errorf("%+v", page.Builds)
	}
	strip := page.Rows[0].Strip
	if len(strip) != 2 || strip[0].Class != grows || !strip[0].Exercised || strip[0].Runs != 2 || strip[0].RunsShowing != 1 ||
		strip[0].RunID != l.runs["2/soak"] ||
		strip[1].Exercised || strip[1].Runs != 1 || strip[1].Build != "3" {
		t.Errorf("%+v", strip)
	}
	all := l.list(store.SignatureQuery{Strip: 100})
	if strip := all.Rows[0].Strip; !strip[0].IsClean() || strip[1].IsClean() || !strip[2].IsBad() {
		t.Errorf("%+v", strip)
	}
	smoke := l.list(store.SignatureQuery{Strip: 100, Scenario: "smoke"})
	if strip := smoke.Rows[0].Strip; strip[0].Runs != 0 || strip[1].Runs != 1 || strip[1].Scenario != "smoke" {
		t.Errorf("%+v", strip)
	}
	if _, err := l.now().ListSignatures(t.Context(),
		store.SignatureQuery{Project: "demo", Order: "x; drop table runs"}); err == nil || store.ValidSignatureOrder("x") ||
		!store.ValidSignatureOrder("") {
		t.Error("an order that there is not was taken")
	}
	if _, err := l.now().ListSignatures(t.Context(), store.SignatureQuery{Project: "nobody"}); !errors.Is(err,
		store.ErrNotFound) {
		t.Error(err)
	}
}

func TestFindings(t *testing.T) {
	l := newLab(t)
	var list []finding
	for i := range 30 {
		list = append(list, finding{signature: fmt.Sprintf("S%02d", i), class: stable, bytes: int64(i)})
	}
	list[7].class, list[9].class, list[11].class = leak, leak, grows
	run := l.run("1", leaksReport(list...))
	page, total, err := l.now().ListFindings(t.Context(), store.FindingQuery{RunID: run, Limit: 10})
	if err != nil || total != 3 || len(page) != 3 || page[0].Signature != "S09" || page[1].Signature != "S07" ||
		page[2].Signature != "S11" {
		t.Fatalf("%d %v %+v", total, err, page)
	}
	if f := page[0]; f.RunID != run || f.State != leaks.StateFound || f.Sites != 1 || f.Growth.Bytes != 9 ||
		f.Blame.Function != "FS09" || len(f.Clauses) != 1 || f.ByKind[0].Kind != "umdh-snapshot" {
		t.Errorf("%+v", f)
	}
	page, total, err = l.now().ListFindings(t.Context(), store.FindingQuery{RunID: run, All: true, Limit: 10, Offset: 25})
	if err != nil || total != 30 || len(page) != 5 || page[4].Signature != "S00" || page[4].Clauses != nil {
		t.Errorf("%d %v %+v", total, err, page)
	}
	sites, _, err := l.now().ListSites(t.Context(), store.SiteQuery{RunID: run, Limit: 1, Filter: "S07"})
	if err != nil || len(sites) != 1 || sites[0].Signature != "S07" || *sites[0].Score != 0.95 {
		t.Errorf("%v %+v", err, sites)
	}
	frames := must[map[int64][]*analysis.Frame](t)(l.now().ListStackFrames(t.Context(), []int64{*sites[0].StackID}))
	if f := frames[*sites[0].StackID]; len(f) != 1 || f[0].Rule != "own/pdb" || f[0].Layer != "app" {
		t.Errorf("%+v", f[0])
	}
}
