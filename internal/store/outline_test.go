package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// outlined is a report of findings, some with an outline: "F<A" is the signature F with the outline A, which is its
// name in evidence without inlined calls.
func outlined(findings ...finding) *analysis.Report {
	outlines := make([]string, len(findings))
	for i := range findings {
		findings[i].signature, outlines[i], _ = strings.Cut(findings[i].signature, "<")
	}
	r := leaksReport(findings...)
	for i := range r.Findings {
		r.Findings[i].Outline = outlines[i]
	}
	return r
}

// one is a report of leaks, named as in outlined.
func one(signatures ...string) *analysis.Report {
	var list []finding
	for _, s := range signatures {
		list = append(list, finding{signature: s, class: leak, bytes: 7})
	}
	return outlined(list...)
}

// leaks prints each leak of the project with the signatures that are part of it.
func (l *lab) leaks() string {
	l.Helper()
	var list []string
	for _, r := range l.list(store.SignatureQuery{}).Rows {
		names := []string{r.Text}
		for _, a := range must[[]store.Alias](l)(l.now().ListAliases(l.Context(), "demo", r.Text)) {
			names = append(names, a.Text)
		}
		slices.Sort(names[1:])
		list = append(list, strings.Join(names, "="))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (l *lab) want(what, rows string) {
	l.Helper()
	if got := l.leaks(); got != rows {
		l.Errorf("%s: %s, want %s", what, got, rows)
	}
}

// A leak in the text of one build and in the raw logs of another is one row, with everything the team said of both.
func TestOutlineIsTheSameLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, order := range []string{"text first", "raw first"} {
		t.Run(order, func(t *testing.T) {
			l := newLab(t)
			steps := []func(){
				func() {
					l.run("1", one("A"))
					assignee := "bob"
					l.change("A", leaks.TriageChange{Assignee: &assignee, Known: &leaks.Toleration{Reason: "vendor"}})
					must[store.Comment](t)(l.CreateComment(t.Context(), "demo", "A", "ann", "seen in the text"))
				},
				func() {
					l.run("2", one("F<A"))
					must[store.Comment](t)(l.CreateComment(t.Context(), "demo", "F", "ann", "seen in the log"))
				},
			}
			if order == "raw first" {
				slices.Reverse(steps)
			}
			for _, step := range steps {
				step()
			}
			l.want("both", "F=A")
			s := l.signature("A")
			if s.Text != "F" || s.FirstBad != "1" || s.LastBad != "2" || s.State != leaks.StateKnown ||
				s.Known.Reason != "vendor" || s.Assignee != "bob" || s.Comments != 2 {
				t.Errorf("%+v", s)
			}
			if a := must[[]store.Alias](t)(l.now().ListAliases(t.Context(), "demo", "F"))[0]; a.By != leaks.ActorOutline {
				t.Errorf("%+v", a)
			}
			if got := l.audited("A", "outline"); len(got) != 1 || got[0].Actor != "" ||
				!strings.Contains(string(got[0].After), `"into": "F"`) {
				t.Errorf("%+v", got)
			}
			found := must[[]store.Finding](t)(firstOf(l.now().ListFindings(t.Context(),
				store.FindingQuery{RunID: l.runs["1"], Limit: 9})))
			if len(found) != 1 || found[0].Signature != "F" || found[0].Own != "A" {
				t.Errorf("%+v", found)
			}
			for _, build := range []string{"1", "2"} {
				if side, err := l.now().FindBuildResult(t.Context(), "demo", "default", build); err != nil || len(side.Findings) != 1 ||
					side.Findings[0].Signature != "F" {
					t.Errorf("build %s: %+v, %v", build, side, err)
				}
			}
		})
	}
}

// audited lists the entries of an action in the audit of a signature, newest first.
func (l *lab) audited(text, action string) (list []store.AuditRow) {
	l.Helper()
	for _, row := range must[[]store.AuditRow](l)(l.now().ListSignatureChanges(l.Context(), "demo", text,
		store.AuditPage{Limit: 99})) {
		if row.Action == action && row.Signature == text {
			list = append(list, row)
		}
	}
	return list
}

// A text keeps the names that it was printed with: storing results again changes nothing, and better names of raw logs
// take the signature of the text along.
func TestOutlineSurvivesReanalysis(t *testing.T) {
	l := newLab(t)
	text, raw := one("A"), one("F<A")
	l.run("1", text)
	l.run("2", raw)
	for range 2 {
		l.again("1", "2")
		l.save(l.runs["1"], text)
		l.want("text again", "F=A")
		l.save(l.runs["2"], raw)
		l.want("raw again", "F=A")
	}
	if got := l.audited("A", "outline"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	l.again("1", "2")
	l.save(l.runs["2"], outlined(finding{signature: "G<B", stack: "F", class: leak, bytes: 7}))
	l.want("raw renamed", "G=A=F")
	l.save(l.runs["1"], outlined(finding{signature: "B", stack: "A", class: leak, bytes: 7}))
	l.want("text renamed", "G=A=B=F")
}

// Symbols without inlined calls may replace symbols with them. The leak stays one, with the team's last word.
func TestOutlineOutlivesInlinedCalls(t *testing.T) {
	l := newLab(t)
	l.run("1", one("A"))
	l.change("A", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "at first"}})
	l.run("2", one("F<A"))
	l.change("F", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "after all"}})
	l.run("2", outlined(finding{signature: "A", stack: "F", class: leak, bytes: 7}))
	l.want("lost", "A=F")
	if s := l.signature("F"); s.Known == nil || s.Known.Reason != "after all" || s.FirstBad != "1" || s.LastBad != "2" {
		t.Errorf("%+v", s)
	}
	l.run("2", one("F<A"))
	l.want("found again", "F=A")
	if s := l.signature("F"); s.Known == nil || s.Known.Reason != "after all" {
		t.Errorf("%+v", s)
	}
}

// An outline that several leaks share joins none of them, whether that shows early or late.
func TestOutlineOfSeveral(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	places := map[string]*analysis.Report{"1": one("A"), "2": one("F<A"), "3": one("G<A")}
	for _, order := range [][]string{{"1", "2", "3"}, {"2", "1", "3"}, {"2", "3", "1"}} {
		l := newLab(t)
		for _, place := range order {
			l.run(place, places[place])
		}
		l.want(fmt.Sprint(order), "A F G")
		if state := l.signature("A").State; state != leaks.StateFound {
			t.Errorf("%v: %s", order, state)
		}
		l.run("3", outlined(finding{signature: "G<A", class: stable}))
		l.want("one does not leak", "F=A")
		l.run("2", outlined(finding{signature: "F<A", class: stable}))
		l.want("nor the other", "F=A")
		l.run("3", one("G<A"))
		l.want("but the first", "G=A")
		l.run("2", one("F<A"))
		l.want("both again", "A F G")
	}
}

// A run that shows both a signature and its outline tells two leaks apart: one of an inlined function, one of its
// caller.
func TestOutlineBesideItself(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	l.run("1", one("A", "F<A"))
	l.want("beside", "A F")
	l = newLab(t)
	l.run("1", one("A"))
	l.run("2", one("F<A"))
	l.want("apart", "F=A")
	l.run("3", one("A", "F<A"))
	l.want("then beside", "A F")
	l = newLab(t)
	witnessed := one("A", "F<A")
	witnessed.Findings[0].Sites = 0 // that only other evidence of the run has, as the text
	l.run("1", witnessed)
	l.want("by a witness", "F=A")
}

func TestOutlineOfNoLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	l.run("1", one("A"))
	l.run("2", outlined(finding{signature: "F<A", class: stable}))
	l.want("the full one is clean", "A")
	l.run("3", one("F<A"))
	l.want("and leaks", "F=A")
	l.run("4", outlined(finding{signature: "B", class: cache}))
	l.run("5", one("G<B"))
	l.want("the outline is clean", "F=A G")
	other := one("H<C")
	other.Findings[0].Kind = "virtual"
	l.run("6", other)
	l.run("7", one("C"))
	l.want("another kind of memory", "C F=A G H")
	l.run("8", one("X<Y"))
	l.run("9", one("Y<Z"))
	l.run("10", one("Z"))
	l.want("a chain", "C F=A G H X=Y=Z")
	l.run("11", one("P<Q", "Q<P"))
	l.run("12", one("U<V"))
	l.run("13", one("V<U"))
	if got := l.leaks(); !strings.Contains(got, "V") || !strings.Contains(got, "P Q") {
		t.Error(got)
	}
}

// Leaks that a person has split stay split, whatever results arrive and however names change.
func TestOutlineTakenApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	l.run("1", one("A"))
	l.run("2", one("F<A"))
	if err := l.MergeSignature(t.Context(), "demo", "A", "", "ann"); err != nil {
		t.Fatal(err)
	}
	l.want("split", "A F")
	l.run("1", one("A"))
	l.run("2", one("F<A"))
	l.run("3", one("F<A"))
	l.want("results", "A F")
	for _, place := range []string{"2", "3"} {
		l.run(place, outlined(finding{signature: "G<A", stack: "F", class: leak, bytes: 7}))
	}
	l.want("another name", "A G=F")
	if err := l.MergeSignature(t.Context(), "demo", "A", "G", "ann"); err != nil {
		t.Fatal(err)
	}
	l.run("4", one("A"))
	l.run("5", one("H<A"))
	if got := l.signature("A").Text; got != "G" {
		t.Errorf("merged by hand, and then part of %s", got)
	}
	l = newLab(t)
	l.run("1", one("A"))
	l.run("2", outlined(finding{signature: "F<A", class: stable}))
	if err := errors.Join(l.MergeSignature(t.Context(), "demo", "F", "A", "ann"),
		l.MergeSignature(t.Context(), "demo", "F", "", "ann")); err != nil {
		t.Fatal(err)
	}
	l.run("3", one("F<A"))
	l.want("taken out of its outline", "A F")
	if _, err := l.CreateComment(t.Context(), "demo", "A", leaks.ActorOutline, "?"); err == nil {
		t.Error("a person has the name that outlines have")
	}
}
