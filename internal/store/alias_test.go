package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// again queues a new analysis of runs, as new symbols or rules do, without running it.
func (l *lab) again(places ...string) {
	l.Helper()
	for _, place := range places {
		l.sql(`update runs set input_rev = input_rev + 1 where id = $1`, l.runs[place])
		l.sql(`insert into jobs (kind, run_id) values ('analyse', $1)`, l.runs[place])
	}
}

// visible lists the signatures that the project shows, with their states.
func (l *lab) visible() string {
	l.Helper()
	var list []string
	for _, r := range l.list(store.SignatureQuery{}).Rows {
		list = append(list, fmt.Sprintf("%s:%s", r.Text, r.State))
	}
	return strings.Join(list, " ")
}

// With symbols the same sites have another signature. The leak stays one, with everything the team said of it.
func TestSymbolsGiveALeakItsName(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	unnamed := leaksReport(finding{signature: "raw", stack: "x", class: leak, bytes: 9})
	named := leaksReport(finding{signature: "named", stack: "x", class: leak, bytes: 9})
	for _, place := range []string{"1/soak", "1/smoke", "2/soak"} {
		l.run(place, unnamed)
	}
	must[store.Comment](t)(l.CreateComment(t.Context(), "demo", "raw", "ann", "seen before"))
	assignee, ticket := "bob", "https://tickets.example/7"
	before := l.change("raw",
		leaks.TriageChange{Assignee: &assignee, Ticket: &ticket, Known: &leaks.Toleration{Reason: "vendor"}})
	l.again("1/soak", "1/smoke", "2/soak")
	for i, place := range []string{"2/soak", "1/smoke", "1/soak"} {
		l.save(l.runs[place], named)
		if got := l.visible(); got != "named:known" {
			t.Errorf("after %d of 3: %q", i+1, got)
		}
	}
	s := l.signature("raw")
	if s.Text != "named" || s.FirstBad != "1" || s.LastBad != "2" || s.Assignee != "bob" || s.Ticket != ticket ||
		s.Known == nil || s.Known.Reason != "vendor" || s.Comments != 1 || s.Version == before.Version-1 {
		t.Errorf("%+v", s)
	}
	comments := must[[]store.Comment](t)(l.now().ListComments(t.Context(), "demo", "named"))
	if len(comments) != 1 || comments[0].Text != "seen before" || comments[0].Signature != "raw" ||
		comments[0].Actor != "ann" {
		t.Errorf("%+v", comments)
	}
	aliases := must[[]store.Alias](t)(l.now().ListAliases(t.Context(), "demo", "named"))
	if len(aliases) != 1 || aliases[0].Text != "raw" || aliases[0].By != "" {
		t.Errorf("%+v", aliases)
	}
	// Better symbols arrive: the new name belongs to the same leak.
	better := leaksReport(finding{signature: "best", stack: "x", class: leak, bytes: 9})
	l.again("1/soak", "1/smoke", "2/soak")
	for _, place := range []string{"1/soak", "2/soak", "1/smoke"} {
		l.save(l.runs[place], better)
	}
	if got := l.visible(); got != "best:known" || l.signature("raw").Text != "best" {
		t.Errorf("%q, %s", got, l.signature("raw").Text)
	}
	// The first symbols return: a signature that was an alias is shown again.
	l.again("1/soak", "1/smoke", "2/soak")
	for _, place := range []string{"1/soak", "2/soak", "1/smoke"} {
		l.save(l.runs[place], unnamed)
	}
	s = l.signature("best")
	if got := l.visible(); got != "raw:known" || s.Text != "raw" || s.Comments != 1 || s.Assignee != "bob" {
		t.Errorf("%q, %+v", got, s)
	}
}

// A run that still waits for symbols does not hold back the signatures of other runs.
func TestRunsThatWaitDoNotCount(t *testing.T) {
	l := newLab(t)
	unnamed := leaksReport(finding{signature: "raw", stack: "x", class: leak})
	for _, place := range []string{"1", "2"} {
		l.run(place, unnamed)
	}
	for _, place := range []string{"1", "2"} {
		if err := l.CreateSymboliseJob(t.Context(), l.runs[place]); err != nil {
			t.Fatal(err)
		}
	}
	l.run("1", leaksReport(finding{signature: "named", stack: "x", class: leak}))
	if got := l.visible(); got != "named:found" {
		t.Error(got)
	}
	l.run("2", unnamed) // the symbols are of build 1 only: in build 2 it has no name still
	if got := l.visible(); got != "named:found raw:new" && got != "raw:new named:found" {
		t.Error(got)
	}
}

// A signature that only some of its sites have left is no alias; when the last site leaves, it becomes an alias of the
// signature that received most bytes.
func TestSignatureThatSplits(t *testing.T) {
	l := newLab(t)
	both := func(a, b string) *analysis.Report {
		return leaksReport(finding{signature: a, stack: "small", class: leak, bytes: 1},
			finding{signature: b, stack: "large", class: leak, bytes: 1 << 20})
	}
	old := leaksReport(finding{signature: "S", stack: "small", class: leak, bytes: 1})
	old.Sites = append(old.Sites,
		leaksReport(finding{signature: "S", stack: "large", class: leak, bytes: 1 << 20}).Sites...)
	l.run("1", old)
	l.run("2", old)
	l.run("1", both("A", "S"))
	if got := l.visible(); !strings.Contains(got, "S:") || !strings.Contains(got, "A:") {
		t.Errorf("%q", got)
	}
	l.run("2", both("A", "B"))
	l.run("1", both("A", "B"))
	if got := l.signature("S").Text; got != "B" {
		t.Errorf("S is %s now", got)
	}
	if got := l.list(store.SignatureQuery{}); got.Total != 2 {
		t.Errorf("%s", listed(got))
	}
}

// A run whose evidence no longer shows a signature does not say which signature replaces it.
func TestVanishedSignatureIsNoAlias(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	must[store.Comment](t)(l.CreateComment(t.Context(), "demo", "A", "ann", "?"))
	l.run("1", leaksReport(finding{signature: "B", class: leak}))
	if got := l.visible(); got != "B:found" {
		t.Error(got)
	}
	if s := l.signature("A"); s.Text != "A" || s.State != leaks.StateNone || s.Comments != 1 {
		t.Errorf("%+v", s)
	}
}

func TestMergeAndSplit(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 5}, finding{signature: "C", class: leak}))
	l.run("2", leaksReport(finding{signature: "B", class: leak, bytes: 7}))
	assignee := "bob"
	l.change("A", leaks.TriageChange{Assignee: &assignee, Known: &leaks.Toleration{Reason: "third party"}})
	must[store.Comment](t)(l.CreateComment(t.Context(), "demo", "A", "ann", "mine"))
	if err := l.MergeSignature(t.Context(), "demo", "A", "B", "ann"); err != nil {
		t.Fatal(err)
	}
	b := l.signature("A")
	if b.Text != "B" || b.State != leaks.StateKnown || b.Assignee != "bob" || b.FirstBad != "1" ||
		b.LastBad != "2" || b.Comments != 1 {
		t.Errorf("%+v", b)
	}
	var wrong *leaks.FieldError
	if err := l.MergeSignature(t.Context(), "demo", "B", "A", "ann"); !errors.As(err, &wrong) {
		t.Errorf("merged with itself: %v", err)
	}
	if err := l.MergeSignature(t.Context(), "demo", "A", "C", "ann"); err != nil { // A stands for B now
		t.Fatal(err)
	}
	if got := l.visible(); got != "C:known" {
		t.Error(got)
	}
	// A result that has A again does not undo a person's merge.
	l.run("3", leaksReport(finding{signature: "A", class: leak}))
	if got := l.visible(); got != "C:known" {
		t.Error(got)
	}
	side := must[[]store.Finding](t)(firstOf(l.now().ListFindings(t.Context(),
		store.FindingQuery{RunID: l.runs["3"], Limit: 9})))
	if len(side) != 1 || side[0].Signature != "C" || side[0].Own != "A" || side[0].State != leaks.StateKnown {
		t.Errorf("%+v", side)
	}
	if err := l.MergeSignature(t.Context(), "demo", "B", "", "ann"); err != nil { // with its part A
		t.Fatal(err)
	}
	if got := l.signature("A").Text; got != "B" {
		t.Error(got)
	}
	if c := l.signature("C"); c.State != leaks.StateFound || c.Assignee != "" || c.Known != nil {
		t.Errorf("the word of the other stayed: %+v", c)
	}
	if err := l.MergeSignature(t.Context(), "demo", "A", "", "ann"); err != nil {
		t.Fatal(err)
	}
	if a, b := l.signature("A"), l.signature("B"); a.State != leaks.StateKnown || a.Comments != 1 || a.LastBad != "3" ||
		b.State != leaks.StateNew || b.Comments != 0 {
		t.Errorf("%+v %+v", a, b)
	}
	if err := l.MergeSignature(t.Context(), "demo", "C", "", "ann"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("split of what is no alias: %v", err)
	}
}

func firstOf[T any](v T, _ int, err error) (T, error) { return v, err }

// The order in which runs are analysed again with new names does not matter: a signature that a result has stands for
// itself, and every other one is an alias of the one that received most of it.
func TestOrderOfRenamingDoesNotCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const runs, stacks, names = 4, 6, 5
	shared := newLab(t)
	for round := range 2 {
		var versions [2][runs]*analysis.Report
		for v := range versions {
			for run := range runs {
				at := map[string]int{}
				r := leaksReport()
				for stack := range stacks {
					name := fmt.Sprint("S", rng.IntN(names))
					one := leaksReport(finding{signature: name, stack: fmt.Sprint(stack), class: leak, bytes: rng.Int64N(1 << 20)})
					if _, ok := at[name]; !ok {
						at[name] = 1
						r.Findings = append(r.Findings, one.Findings...)
					}
					one.Sites[0].Stack = r.AddStack(one.Stack(one.Sites[0].Stack)...)
					r.Sites = append(r.Sites, one.Sites...)
				}
				versions[v][run] = r
			}
		}
		first := ""
		for range 3 {
			l := shared.emptied(t)
			var places []string
			for run, r := range versions[0] {
				places = append(places, fmt.Sprint(run))
				l.run(places[run], r)
			}
			l.again(places...)
			for _, run := range rng.Perm(runs) {
				l.save(l.runs[places[run]], versions[1][run])
			}
			var lines []string
			for name := range names {
				if text := fmt.Sprint("S", name); l.exists(text) {
					s := l.signature(text)
					lines = append(lines, fmt.Sprintf("%s is %s: %s", text, s.Text, state(s)))
				}
			}
			got := strings.Join(lines, "\n")
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("round %d:\n%s\nand first:\n%s", round, got, first)
			}
			for _, r := range versions[1] {
				for _, f := range r.Findings {
					if !strings.Contains(got, f.Signature+" is "+f.Signature+":") {
						t.Fatalf("round %d: %s is in a result:\n%s", round, f.Signature, got)
					}
				}
			}
		}
	}
}
