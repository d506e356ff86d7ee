package leaks_test

import (
	"reflect"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

func power(unit string, bytes float64) *analysis.Power {
	p := &analysis.Power{Sentence: unit}
	p.Unit, p.Bytes = unit, bytes
	return p
}

func TestAddRun(t *testing.T) {
	side := &compare.BuildResult{}
	for _, step := range []struct {
		run   leaks.ComparedRun
		power float64
	}{
		{leaks.ComparedRun{ID: 3, Status: inconclusive}, 0},
		{leaks.ComparedRun{ID: 4, Status: leaky, Trace: true, Power: power("hour", 900)}, 900},
		{leaks.ComparedRun{ID: 5, Status: noLeak, Lossy: true, Suffices: true, Power: power("hour", 901)}, 900},
		{leaks.ComparedRun{ID: 6, Status: noLeak, Power: power("hour", 899)}, 899},
		{leaks.ComparedRun{ID: 7, Status: noLeak, Power: power("document", 1)}, 899}, // another unit is no less
		{leaks.ComparedRun{ID: 8, Status: noLeak}, 899},
	} {
		leaks.AddRun(side, step.run)
		switch {
		case side.Power == nil && step.power != 0, side.Power != nil && float64(side.Power.Bytes) != step.power:
			t.Errorf("with run %d the side would have shown %+v, want %v", step.run.ID, side.Power, step.power)
		}
	}
	want := &compare.BuildResult{
		RunIDs: []int64{3, 4, 5, 6, 7, 8}, Statuses: []analysis.VerdictStatus{inconclusive, leaky, noLeak, noLeak, noLeak, noLeak},
		Trace: true, Lossy: true, Suffices: true, Power: power("hour", 899),
	}
	if !reflect.DeepEqual(side, want) {
		t.Errorf("%+v, want %+v", side, want)
	}
}

// part is a finding of the leak A in a run, changed by edit.
func part(run int64, edit func(f *compare.Finding)) leaks.ComparedFinding {
	f := compare.Finding{Signature: "A", Class: stable, Allocated: -1}
	if edit != nil {
		edit(&f)
	}
	return leaks.ComparedFinding{RunID: run, LeakID: 1, Finding: f}
}

func amount(count, bytes int64) *analysis.Amount { return &analysis.Amount{Count: count, Bytes: bytes} }

// Parts of one leak are added up within a run; over several runs the largest counts.
func TestMergeFindings(t *testing.T) {
	rate := func(unit string, bytes, over, dispersion float64) func(f *compare.Finding) {
		return func(f *compare.Finding) {
			f.TakeRate(&score.Rate{Unit: unit, Bytes: bytes, Count: bytes / 10, Over: over, Dispersion: dispersion})
		}
	}
	for name, test := range map[string]struct {
		one, other       func(f *compare.Finding)
		oneRun, twoRuns  func(f *compare.Finding)
		otherOrderOfRuns func(f *compare.Finding) // where that is another; else nil
	}{
		"class": {
			one: func(f *compare.Finding) { f.Class = cache }, other: func(f *compare.Finding) { f.Class = grows },
			oneRun: func(f *compare.Finding) { f.Class = grows }, twoRuns: func(f *compare.Finding) { f.Class = grows },
		},
		"score and certainty": {
			one:     func(f *compare.Finding) { f.Score, f.Certain = new(0.5), true },
			other:   func(f *compare.Finding) { f.Score = new(0.7) },
			oneRun:  func(f *compare.Finding) { f.Score, f.Certain = new(0.7), true },
			twoRuns: func(f *compare.Finding) { f.Score, f.Certain = new(0.7), true },
		},
		"what is immaterial in all": {
			one: func(f *compare.Finding) { f.Immaterial = true }, other: func(f *compare.Finding) { f.Immaterial = true },
			oneRun: func(f *compare.Finding) { f.Immaterial = true }, twoRuns: func(f *compare.Finding) { f.Immaterial = true },
		},
		"what is immaterial in one": {
			one: func(f *compare.Finding) { f.Immaterial = true }, other: nil,
			oneRun: func(*compare.Finding) {}, twoRuns: func(*compare.Finding) {},
		},
		"a score of one": {
			one: func(f *compare.Finding) { f.Score = new(0.0) }, other: nil,
			oneRun: func(f *compare.Finding) { f.Score = new(0.0) }, twoRuns: func(f *compare.Finding) { f.Score = new(0.0) },
		},
		"outstanding": {
			one:     func(f *compare.Finding) { f.Outstanding = *amount(9, 100) },
			other:   func(f *compare.Finding) { f.Outstanding = *amount(1, 101) },
			oneRun:  func(f *compare.Finding) { f.Outstanding = *amount(10, 201) },
			twoRuns: func(f *compare.Finding) { f.Outstanding = *amount(1, 101) },
		},
		"growth": {
			one:     func(f *compare.Finding) { f.Growth = amount(2, 20) },
			other:   func(f *compare.Finding) { f.Growth = amount(-1, -5) },
			oneRun:  func(f *compare.Finding) { f.Growth = amount(1, 15) },
			twoRuns: func(f *compare.Finding) { f.Growth = amount(2, 20) },
		},
		"equal growth": {
			one:              func(f *compare.Finding) { f.Growth = amount(2, 20) },
			other:            func(f *compare.Finding) { f.Growth = amount(5, 20) },
			oneRun:           func(f *compare.Finding) { f.Growth = amount(7, 40) },
			twoRuns:          func(f *compare.Finding) { f.Growth = amount(2, 20) },
			otherOrderOfRuns: func(f *compare.Finding) { f.Growth = amount(5, 20) },
		},
		"growth of one": {
			one: func(f *compare.Finding) { f.Growth = amount(-2, -20) }, other: nil,
			oneRun:  func(f *compare.Finding) { f.Growth = amount(-2, -20) },
			twoRuns: func(f *compare.Finding) { f.Growth = amount(-2, -20) },
		},
		"allocated": {
			one: func(f *compare.Finding) { f.Allocated = 3 }, other: func(f *compare.Finding) { f.Allocated = 4 },
			oneRun: func(f *compare.Finding) { f.Allocated = 7 }, twoRuns: func(f *compare.Finding) { f.Allocated = 4 },
		},
		"allocated in one": {
			one: func(f *compare.Finding) { f.Allocated = 0 }, other: nil,
			oneRun: func(f *compare.Finding) { f.Allocated = 0 }, twoRuns: func(f *compare.Finding) { f.Allocated = 0 },
		},
		"rate": {
			one: rate("hour", 20, 5, 2), other: rate("hour", 30, 6, 1),
			oneRun: rate("hour", 50, 5, 2), twoRuns: rate("hour", 30, 6, 1),
		},
		"a rate without an interval": {
			one:     rate("hour", 20, 5, 2),
			other:   func(f *compare.Finding) { rate("hour", 30, 6, 1)(f); f.Unbounded = true },
			oneRun:  func(f *compare.Finding) { rate("hour", 50, 5, 2)(f); f.Unbounded = true },
			twoRuns: func(f *compare.Finding) { rate("hour", 30, 6, 1)(f); f.Unbounded = true },
		},
		"rate of one": {one: rate("hour", 20, 5, 2), other: nil, oneRun: rate("hour", 20, 5, 2),
			twoRuns: rate("hour", 20, 5, 2)},
		"rates of two units": {
			one: rate("hour", 20, 5, 2), other: rate("document", 30, 6, 1),
			oneRun: rate("hour", 20, 5, 2), twoRuns: rate("hour", 20, 5, 2), otherOrderOfRuns: rate("document", 30, 6, 1),
		},
	} {
		merged := func(list ...leaks.ComparedFinding) compare.Finding {
			found := leaks.MergeFindings(list)
			if len(found) != 1 {
				t.Fatalf("%s: %d findings", name, len(found))
			}
			return found[0]
		}
		want := part(1, test.oneRun).Finding
		if got := merged(part(1, test.one), part(1, test.other)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, two parts in one run: %+v, want %+v", name, got, want)
		}
		want = part(1, test.twoRuns).Finding
		if got := merged(part(1, test.one), part(2, test.other)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, two runs: %+v, want %+v", name, got, want)
		}
		if test.otherOrderOfRuns != nil {
			want = part(1, test.otherOrderOfRuns).Finding
		}
		if got := merged(part(1, test.other), part(2, test.one)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, two runs the other way: %+v, want %+v", name, got, want)
		}
	}
}

func TestMergeFindingsOfSeveralLeaks(t *testing.T) {
	finding := func(run, leak, bytes int64, signature string) leaks.ComparedFinding {
		return leaks.ComparedFinding{RunID: run, LeakID: leak,
			Finding: compare.Finding{Signature: signature, Outstanding: *amount(1, bytes)}}
	}
	got := leaks.MergeFindings([]leaks.ComparedFinding{
		finding(1, 10, 5, "A"), finding(1, 11, 1, "B"), finding(1, 10, 6, "A"),
		finding(2, 11, 2, "B"), finding(2, 12, 9, "C"),
		finding(3, 10, 12, "A"), finding(3, 11, 3, "B"), finding(3, 11, 4, "B"),
	})
	want := map[string]int64{"A": 12, "B": 7, "C": 9} // 5+6 and 12; 1, 2 and 3+4
	if len(got) != len(want) {
		t.Errorf("%+v", got)
	}
	for _, f := range got {
		if f.Outstanding.Bytes != want[f.Signature] {
			t.Errorf("%s holds %d, want %d", f.Signature, f.Outstanding.Bytes, want[f.Signature])
		}
	}
	if got := leaks.MergeFindings(nil); len(got) != 0 {
		t.Errorf("of nothing comes %+v", got)
	}
}
