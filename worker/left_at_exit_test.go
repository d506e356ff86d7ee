package worker_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog/exitlogtest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// oldLeaks is a suite of 40 tests with so many old leaks, whose lines move with each build; a new one is there in some
// builds.
func oldLeaks(old, build int, isNew bool) *exitlogtest.Suite {
	s := &exitlogtest.Suite{Program: "tests.exe", Seed: uint64(build)}
	const tests = 40
	for i := range tests {
		t := exitlogtest.Test{Name: fmt.Sprintf("Suite%d.Test%d", i/8, i)}
		for k := i; k < old; k += tests {
			t.Left = append(t.Left, exitlogtest.Block{File: fmt.Sprintf(`c:\src\file%d.cpp`, k%23), Line: 20 + 3*k + build,
				Size: 16 + 8*(k%17), Function: fmt.Sprintf("File%d::Work%d", k%23, k)})
		}
		const ofNew = 17
		if isNew && i == ofNew {
			t.Left = append(t.Left, exitlogtest.Block{File: `c:\src\fresh.cpp`, Line: 44, Size: 4096, Function: "Fresh::Add"})
		}
		s.Tests = append(s.Tests, t)
	}
	return s
}

// A month of a suite with 500 old leaks at exit: they are accepted with the first build, a new one comes in build 7,
// fails the gate and is fixed in build 9.
func TestMonthOfLeaksAtExit(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Run("debug CRT", func(t *testing.T) {
		monthOfLeaksAtExit(t, 500, func(s *exitlogtest.Suite, _ int) string { return s.CRT() })
	})
	t.Run("Visual Leak Detector", func(t *testing.T) {
		monthOfLeaksAtExit(t, 40, func(s *exitlogtest.Suite, _ int) string { return s.VLD() })
	})
	// The debug CRT alone begins and ends; its lines are the call stacks that both list in between.
	t.Run("both", func(t *testing.T) {
		monthOfLeaksAtExit(t, 60, func(s *exitlogtest.Suite, build int) string {
			if build == 1 || build >= 8 {
				return s.CRT()
			}
			return s.CRT() + s.VLD()
		})
	})
}

func monthOfLeaksAtExit(t *testing.T, old int, logOf func(s *exitlogtest.Suite, build int) string) {
	p := start(t)
	gates := map[int]leaks.Gate{}
	for _, build := range []int{1, 2, 7, 8, 9} {
		name := fmt.Sprintf("b%d", build)
		e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: name}, "build.log",
			strings.NewReader(logOf(oldLeaks(old, build, build == 7 || build == 8), build)))
		if err != nil {
			t.Fatal(err)
		}
		run := p.settled(e.RunID)
		report := p.report(run)
		if want := old + build/7 - build/9; report.Verdict.Status != analysis.StatusLeak || report.Verdict.Leaks != want {
			t.Errorf("%s: %d leaks, want %d: %s", name, report.Verdict.Leaks, want, report.Verdict.Sentence)
		}
		if build == 1 {
			acceptAll(t, p, run.ID)
		}
		verdict, err := store.Read(t.Context(), p.Store, func(v store.View) (leaks.RunVerdict, error) {
			return v.FindVerdict(t.Context(), &run, store.GateQuestion{})
		})
		if err != nil {
			t.Fatal(err)
		}
		gates[build] = verdict.Decision.Gate
	}
	if want := (map[int]leaks.Gate{1: leaks.GatePassed, 2: leaks.GatePassed, 7: leaks.GateFailed, 8: leaks.GateFailed,
		9: leaks.GatePassed}); fmt.Sprint(gates) != fmt.Sprint(want) {
		t.Errorf("gates %v, want %v", gates, want)
	}
	page, err := storetest.Now(t, p.Store).ListSignatures(t.Context(),
		store.SignatureQuery{Project: "p", Class: leaks.AllClasses, Text: "fresh", Limit: 9})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d leaks, %v", len(page.Rows), err)
	}
	if s := page.Rows[0]; s.State != leaks.StateFixed || s.FirstBad != "b7" || s.FixedIn != "b9" {
		t.Errorf("%s is %s, bad first in %q, fixed in %q", s.Title, s.State, s.FirstBad, s.FixedIn)
	}
}

// acceptAll marks all leaks of a run as known.
func acceptAll(t *testing.T, p *pipeline, run int64) {
	t.Helper()
	side, err := storetest.Now(t, p.Store).FindRunResult(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	var picks []store.PickedSignature
	review := leaks.ReviewOf(side)
	for _, signature := range review.Signatures() {
		picks = append(picks, store.PickedSignature{Signature: signature, Version: -1})
	}
	change := leaks.TriageChange{Actor: "ci", Known: &leaks.Toleration{Reason: leaks.FirstRunReason}}
	if err := p.Store.UpdateTriages(t.Context(), "p", picks, change); err != nil {
		t.Fatal(err)
	}
}
