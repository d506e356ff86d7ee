package store_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// manyStacks is a report of one leak with n sites, the first of which grows most, each with a stack of its own.
func manyStacks(signature string, n int) *analysis.Report {
	r := leaksReport(finding{signature: signature, class: leak, bytes: int64(n)})
	r.Sites = nil
	r.Findings[0].Sites = n
	for i := range n {
		name := fmt.Sprintf("%s/%d", signature, i)
		sum := sha256.Sum256([]byte(name))
		r.Sites = append(r.Sites, analysis.Site{
			Signature: signature, Kind: "heap", Verdict: leak, StackKey: analysis.Key(sum[:16]),
			Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: 10, Bytes: 1000},
				Growth: &analysis.Amount{Count: 1, Bytes: int64(n - i)}},
			Stack: r.AddStack(&analysis.Frame{Module: "app", Function: "F" + name, Offset: "0x10", Layer: "app",
				File: `c:\a.cpp`, Line: uint32(i + 1)}),
		})
	}
	return r
}

// The page of a leak with ten thousand stacks reads a few stacks of each of a few runs.
func TestStacksOfALeakAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	first := l.run("100", manyStacks("A", 3))
	for build := 101; build < 116; build++ {
		l.run(fmt.Sprint(build), manyStacks("A", 2))
	}
	newest := l.run("116", manyStacks("A", 10_000))
	id := l.signature("A").ID
	list := must[*store.LeakStacks](t)(l.now().FindNewestLeakStacks(t.Context(), id, newest))
	if len(list.Runs) != 12 || list.Runs[0].ID != newest || list.Runs[0].Sites != 10_000 || list.Runs[0].SitesRead != 24 ||
		list.Runs[1].Build != "115" || list.Runs[1].Sites != 2 || list.Runs[1].SitesRead != 2 {
		t.Fatalf("%d runs, the first %+v, then %+v", len(list.Runs), list.Runs[0], list.Runs[1])
	}
	if len(list.Seen) != 24+11*2 {
		t.Errorf("%d stacks", len(list.Seen))
	}
	for i, s := range list.Seen[:24] { // those that grow most
		if s.RunID != newest || s.Growth.Bytes != int64(10_000-i) || len(s.Frames) != 1 || s.Frames[0].Line != uint32(i+1) {
			t.Fatalf("stack %d: %+v", i, s)
		}
	}
	// The run that the page is about is read whatever its build is.
	if list = must[*store.LeakStacks](t)(l.now().FindNewestLeakStacks(t.Context(), id, first)); list.Runs[0].ID != first ||
		list.Runs[0].SitesRead != 3 || list.Runs[1].ID != newest || len(list.Runs) != 12 {
		t.Errorf("%+v", list.Runs)
	}
	if list.Run(first) != &list.Runs[0] || list.Run(-1) != nil {
		t.Error("a run is not found by its id")
	}
	if none := must[*store.LeakStacks](t)(l.now().FindNewestLeakStacks(t.Context(), -1, first)); len(none.Runs) != 0 ||
		none.Seen != nil {
		t.Errorf("no leak has %+v", none)
	}
}

// The database finds the sites of a leak by the index, without a scan of all sites of the run.
func TestStacksOfALeakByIndex(t *testing.T) {
	l := newLab(t)
	var others []finding
	for i := range 3000 {
		others = append(others, finding{signature: fmt.Sprintf("S%d", i), class: stable})
	}
	run := l.run("100", leaksReport(append(others, finding{signature: "A", class: leak, bytes: 5})...))
	l.sql(`analyze sites`)
	var plan strings.Builder
	rows, err := l.conn.Query(t.Context(), "explain "+store.StacksOfRuns, []int64{run},
		l.signature("A").ID, store.VariantSites)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if rows.Err() != nil || !strings.Contains(plan.String(), "using sites_of_signature") {
		t.Errorf("%v\n%s", rows.Err(), plan.String())
	}
}

// Stacks of signatures that became part of another leak belong to that leak, and memory that a trace held before its
// process ended counts.
func TestStacksOfMergedLeak(t *testing.T) {
	l := newLab(t)
	r := leaksReport(finding{signature: "A", class: leak, bytes: 50}, finding{signature: "B", class: leak, bytes: 70})
	r.Sites[1].Lifetimes = &analysis.Lifetimes{AtExit: analysis.Amount{Count: 4, Bytes: 400}}
	run := l.run("100", r)
	if err := l.MergeSignature(t.Context(), "demo", "B", "A", "ann"); err != nil {
		t.Fatal(err)
	}
	id := l.signature("A").ID
	list := must[*store.LeakStacks](t)(l.now().FindNewestLeakStacks(t.Context(), id, run))
	if len(list.Runs) != 1 || list.Runs[0].Sites != 2 || len(list.Seen) != 2 {
		t.Fatalf("%+v", list)
	}
	if b := list.Seen[1]; b.Growth.Bytes != 470 || b.Held.Bytes != 1070+400 {
		t.Errorf("held %+v, grew %+v: what was freed by the end of the process is missing", b.Held, b.Growth)
	}
	if n := len(leaks.GroupCallPaths(list.Seen, run)); n != 2 {
		t.Errorf("%d variants", n)
	}
}
