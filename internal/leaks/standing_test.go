package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// What is new is new in the build that is shown; what newer evidence shows clean is neither new nor fixed.
func TestStandingIn(t *testing.T) {
	for name, test := range map[string]struct {
		state leaks.State
		view  leaks.BuildView
		want  leaks.Standing
	}{
		"new in this build":      {leaks.StateNew, leaks.BuildView{Build: "b103", FirstBad: "b103", LastBad: "b103", CleanSince: false}, "new"},
		"new in an older one":    {leaks.StateNew, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", CleanSince: false}, "open"},
		"clean in a trace since": {leaks.StateNew, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b101", CleanSince: true}, "may be fixed"},
		"not run since":          {leaks.StateNew, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b101", CleanSince: false}, "not retested"},
		"found":                  {leaks.StateFound, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", CleanSince: false}, "found"},
		"found, then clean":      {leaks.StateFound, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b102", CleanSince: true}, "may be fixed"},
		"ongoing":                {leaks.StateOngoing, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", CleanSince: false}, "ongoing"},
		"came back":              {leaks.StateRegressed, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", CleanSince: false}, "regressed"},
		"came back, then clean":  {leaks.StateRegressed, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b102", CleanSince: true}, "may be fixed"},
		"known":                  {leaks.StateKnown, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b101", CleanSince: true}, "known"},
		"fixed":                  {leaks.StateFixed, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b101", CleanSince: true}, "fixed"},
		"fixed, then grows":      {leaks.StateFixed, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", FixedIn: "b102"}, "grows again"},
		"fixed by word":          {leaks.StateFixed, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b103", FixedIn: "b103"}, "fixed"},
		"runs deleted":           {leaks.StateNew, leaks.BuildView{Build: "b103", FirstBad: "", LastBad: "", CleanSince: false}, "new"},
		"no build":               {leaks.StateNew, leaks.BuildView{}, "new"},
		"never leaked":           {leaks.StateNone, leaks.BuildView{Build: "b103", FirstBad: "b101", LastBad: "b101", CleanSince: true}, ""},
	} {
		if got := test.state.StandingIn(test.view); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if test.want != "" && test.want.Note() == "" {
			t.Errorf("%s has no note", test.want)
		}
	}
}

// A run speaks of what it shows: it calls nothing new that it does not find leaking, and nothing fixed that it does.
func TestStandingInRun(t *testing.T) {
	for name, test := range map[string]struct {
		state leaks.State
		class analysis.Class
		view  leaks.BuildView
		want  leaks.Standing
	}{
		"new here":                {leaks.StateNew, analysis.ClassLeak, leaks.BuildView{Build: "2", FirstBad: "2", LastBad: "2"}, "new"},
		"open here":               {leaks.StateNew, analysis.ClassLeak, leaks.BuildView{Build: "2", FirstBad: "1", LastBad: "3"}, "open"},
		"one-time, new elsewhere": {leaks.StateNew, analysis.ClassOneTime, leaks.BuildView{Build: "2", FirstBad: "2", LastBad: "2"}, ""},
		"fixed in a newer build":  {leaks.StateFixed, analysis.ClassLeak, leaks.BuildView{Build: "1", FirstBad: "1", LastBad: "1", FixedIn: "2"}, "fixed in 2"},
		"fixed":                   {leaks.StateFixed, analysis.ClassStable, leaks.BuildView{Build: "2", FirstBad: "1", LastBad: "1", FixedIn: "2"}, "fixed"},
		"known":                   {leaks.StateKnown, analysis.ClassLeak, leaks.BuildView{Build: "2", FirstBad: "1", LastBad: "2"}, "known"},
		"known, clean":            {leaks.StateKnown, analysis.ClassCache, leaks.BuildView{Build: "2", FirstBad: "1", LastBad: "1"}, "known"},
	} {
		if got := test.state.StandingInRun(test.view, test.class); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
