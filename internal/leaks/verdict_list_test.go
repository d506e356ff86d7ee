package leaks

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// Arrivals are leaks that came in and that nobody found before, owns or tolerates.
func TestArrivals(t *testing.T) {
	leak := compare.Finding{Signature: "a", Class: analysis.ClassLeak}
	told := "7"
	for name, test := range map[string]struct {
		finding compare.Finding
		origins map[string]Origin
		want    []UntriagedLeak
	}{
		"came in": {leak, map[string]Origin{"a": {After: "6", Since: "8"}},
			[]UntriagedLeak{{Signature: "a", Change: FailOnNew, After: "6", Since: "8"}}},
		"came back": {leak, map[string]Origin{"a": {Regressed: true, Since: "8"}},
			[]UntriagedLeak{{Signature: "a", Change: FailOnRegressed, Since: "8"}}},
		"told before": {leak, map[string]Origin{"a": {FailedIn: told}},
			[]UntriagedLeak{{Signature: "a", Change: FailOnNew, FailedIn: &told}}},
		"found before":        {leak, map[string]Origin{"a": {Found: true}}, nil},
		"owned":               {leak, map[string]Origin{"a": {Owned: true}}, nil},
		"of unknown origin":   {leak, map[string]Origin{"b": {}}, nil},
		"growing, not a leak": {compare.Finding{Signature: "a", Class: analysis.ClassGrowing}, map[string]Origin{"a": {}}, nil},
		"tolerated": {compare.Finding{Signature: "a", Class: analysis.ClassLeak, State: string(StateKnown)},
			map[string]Origin{"a": {}}, nil},
	} {
		var v RunVerdict
		v.arrive(&GateCase{Head: &compare.BuildResult{Findings: []compare.Finding{test.finding}}, Origins: test.origins})
		same := func(a, b UntriagedLeak) bool {
			toldSame := (a.FailedIn == nil) == (b.FailedIn == nil) && (a.FailedIn == nil || *a.FailedIn == *b.FailedIn)
			a.FailedIn, b.FailedIn = nil, nil
			return toldSame && a == b
		}
		if !slices.EqualFunc(v.Arrivals, test.want, same) {
			t.Errorf("%s: %+v, want %+v", name, v.Arrivals, test.want)
		}
	}
}

// What the history of the line says of a leak goes before what one baseline says, unless somebody named the baseline.
func TestListOfChanges(t *testing.T) {
	finding := func(class analysis.Class, state State) *compare.Finding {
		return &compare.Finding{Signature: "a", Class: class, State: string(state)}
	}
	leak := finding(analysis.ClassLeak, "")
	cameIn, found := map[string]Origin{"a": {}}, map[string]Origin{"a": {Found: true}}
	told := map[string]Origin{"a": {FailedIn: "7"}}
	for name, test := range map[string]struct {
		row     compare.Row
		origins map[string]Origin
		named   bool
		want    string // New, Grown, Fixed, Clean, Persisting
	}{
		"new":                      {compare.Row{Change: compare.ChangeNew, Head: leak}, cameIn, false, "[a] [] [] [] []"},
		"new of unknown origin":    {compare.Row{Change: compare.ChangeNew, Head: leak}, nil, false, "[a] [] [] [] []"},
		"new and found before":     {compare.Row{Change: compare.ChangeNew, Head: leak}, found, false, "[] [] [] [] [a]"},
		"new by name":              {compare.Row{Change: compare.ChangeNew, Head: leak}, found, true, "[a] [] [] [] []"},
		"grown and found before":   {compare.Row{Change: compare.ChangeGrown, Head: leak}, found, false, "[] [a] [] [] []"},
		"grown and came in":        {compare.Row{Change: compare.ChangeGrown, Head: leak}, cameIn, false, "[] [a] [] [] []"},
		"persisting and came in":   {compare.Row{Change: compare.ChangePersisting, Head: leak}, cameIn, false, "[a] [] [] [] []"},
		"shrunk and came in":       {compare.Row{Change: compare.ChangeShrunk, Head: leak}, cameIn, false, "[a] [] [] [] []"},
		"persisting by name":       {compare.Row{Change: compare.ChangePersisting, Head: leak}, cameIn, true, "[] [] [] [] [a]"},
		"persisting, told before":  {compare.Row{Change: compare.ChangePersisting, Head: leak}, told, false, "[] [] [] [] [a]"},
		"persisting, found before": {compare.Row{Change: compare.ChangePersisting, Head: leak}, found, false, "[] [] [] [] [a]"},
		"shrunk of unknown origin": {compare.Row{Change: compare.ChangeShrunk, Head: leak}, nil, false, "[] [] [] [] [a]"},
		"persisting and growing":   {compare.Row{Change: compare.ChangePersisting, Head: finding(analysis.ClassGrowing, "")}, cameIn, false, "[] [] [] [] [a]"},
		"tolerated":                {compare.Row{Change: compare.ChangeNew, Head: finding(analysis.ClassLeak, StateKnown)}, nil, false, "[] [] [] [] []"},
		"fixed":                    {compare.Row{Change: compare.ChangeFixed, Base: leak}, nil, false, "[] [] [a] [] []"},
		"clean":                    {compare.Row{Change: compare.ChangeClean, Base: leak}, nil, false, "[] [] [] [a] []"},
		"fixed, tolerated before":  {compare.Row{Change: compare.ChangeFixed, Base: finding(analysis.ClassLeak, StateKnown)}, nil, false, "[] [] [a] [] []"},
		"callers that did not run": {compare.Row{Change: compare.ChangeNotExercised, Base: leak}, nil, false, "[] [] [] [] []"},
	} {
		var v RunVerdict
		v.list(&compare.Comparison{Rows: []compare.Row{test.row}}, &GateCase{Origins: test.origins, BaselineNamed: test.named})
		if got := fmt.Sprint(v.New, v.Grown, v.Fixed, v.CleanButOpen, v.Persisting); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
