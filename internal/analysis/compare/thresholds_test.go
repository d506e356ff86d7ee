package compare

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// at is a finding with so many blocks in 100 hours.
func at(blocks float64) *Finding {
	return &Finding{Class: score.ClassLeak, RateUnit: "hour", RateCount: blocks / 100, Exposure: 100, Dispersion: 1}
}

// A change of speed counts from the factor and the certainty on, and not below either of them.
func TestSpeedThresholds(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head float64
		want       Change
	}{
		{"just below the factor, however sure", 1_000_000, 1_249_999, ChangePersisting},
		{"at the factor, which is not sure to be passed", 1_000_000, 1_250_000, ChangePersisting},
		{"above the factor and sure", 1_000_000, 1_254_000, ChangeGrown},
		{"just below sureness", 100, 168, ChangePersisting},
		{"just above sureness", 100, 169, ChangeGrown},
		{"slower, just below sureness", 168, 100, ChangePersisting},
		{"slower, just above sureness", 169, 100, ChangeShrunk},
	} {
		if got, why, chance, unrated := speed(at(c.base), at(c.head)); got != c.want || unrated {
			t.Errorf("%s: %s, want %s (%s, by chance %.4f)", c.name, got, c.want, why, chance)
		}
	}
}

// The speeds of two leaks are compared if both are counted in one unit and over more than nothing.
func TestSpeedWhereItIsKnown(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head string // units
		over       float64
		unbounded  bool
		want       Change
		unrated    bool
	}{
		{"one unit", "hour", "hour", 100, false, ChangeGrown, false},
		{"two units", "hour", "document", 100, false, ChangePersisting, true},
		{"a unit on one side", "", "hour", 100, false, ChangePersisting, true},
		{"no unit", "", "", 100, false, ChangePersisting, false},
		{"over nothing", "hour", "hour", 0, false, ChangePersisting, false},
		{"too few snapshots on one side", "hour", "hour", 100, true, ChangePersisting, true},
	} {
		base, head := at(100), at(1000)
		base.RateUnit, head.RateUnit, base.Exposure, base.Unbounded = c.base, c.head, c.over, c.unbounded
		if got, why, _, unrated := speed(base, head); got != c.want || unrated != c.unrated {
			t.Errorf("%s: %s, want %s, unrated %t (%s)", c.name, got, c.want, unrated, why)
		}
	}
}

// A leak that is gone is fixed, or only clean if its state is still open in another scenario or a newer build. Either
// side may know that.
func TestOpenIsNotFixed(t *testing.T) {
	for _, c := range []struct {
		base, head bool
		want       Change
	}{{false, false, ChangeFixed}, {true, false, ChangeClean}, {false, true, ChangeClean}, {true, true, ChangeClean}} {
		base := &BuildResult{Build: "1", Findings: []Finding{{Signature: "a", Class: score.ClassLeak, Open: c.base}}}
		head := &BuildResult{Build: "2", Findings: []Finding{{Signature: "a", Class: score.ClassStable, Open: c.head}}}
		if got := Compare(base, head).Rows[0].Change; got != c.want {
			t.Errorf("open before %t, now %t: %s, want %s", c.base, c.head, got, c.want)
		}
	}
}

// A side decides if any of its runs does, or its evidence suffices. A side without known runs decides, by the word of
// its caller.
func TestDecides(t *testing.T) {
	const no, yes = analysis.StatusInconclusive, analysis.StatusNoLeak
	for _, c := range []struct {
		runs []analysis.VerdictStatus
		want bool
	}{{nil, true}, {[]analysis.VerdictStatus{no}, false}, {[]analysis.VerdictStatus{yes}, true}, {[]analysis.VerdictStatus{no, no}, false},
		{[]analysis.VerdictStatus{no, yes}, true}} {
		if got := (&BuildResult{Statuses: c.runs}).Decides(); got != c.want {
			t.Errorf("%q: %t", c.runs, got)
		}
	}
	if !(&BuildResult{Statuses: []analysis.VerdictStatus{no}, Suffices: true}).Decides() {
		t.Error("evidence that suffices decides about what it does not show, whatever else it leaves open")
	}
}

// Sentences call a side by its label where its build has no name.
func TestLabels(t *testing.T) {
	base := &BuildResult{Build: "A1", Label: "the baseline", Findings: []Finding{{Signature: "cache", Class: score.ClassCache}}}
	head := &BuildResult{Build: "B1", Label: "this run", Findings: []Finding{
		{Signature: "cache", Class: score.ClassLeak}, {Signature: "new", Class: score.ClassLeak},
		{Signature: "unnamed", Class: score.ClassLeak, Frames: []string{"app!<unknown>+0x10"}}}}
	c := Compare(base, head)
	want := map[string]string{"cache": "a cache in the baseline",
		"new": "not in the evidence of the baseline",
		"unnamed": "give the symbols of both builds: without symbols, signatures hold for one build only, " +
			"and the baseline may have this leak"}
	for _, r := range c.Rows {
		if r.Why != want[r.Head.Signature] || r.Unknown != (r.Head.Signature == "unnamed") {
			t.Errorf("%s: %q, unknown %t", r.Head.Signature, r.Why, r.Unknown)
		}
	}
	if c.Sentence != "This run against the baseline: 3 new." {
		t.Error(c.Sentence)
	}
	if c := Compare(head, &BuildResult{Label: "this run", Findings: []Finding{{Signature: "new", Class: score.ClassStable}}}); c.Rows[0].Why !=
		"stable in this run" || c.Sentence != "This run against this run: 1 fixed, 2 not exercised." {
		t.Errorf("%q: %+v", c.Sentence, c.Rows[0])
	}
}

// Leaks with a likeness below likeEnough are not suggested as the same; here the sizes of their blocks differ. Each
// leak is suggested once.
func TestLikeEnough(t *testing.T) {
	leak := func(signature string, frames []string, size int64) *Finding {
		return &Finding{Signature: signature, Kind: "heap", Class: score.ClassLeak, Frames: frames,
			Outstanding: analysis.Amount{Count: 1, Bytes: size}}
	}
	// The blame frame counts twice, so four fifths of these four frames are alike: a likeness of 0.56. Sizes add up to
	// 0.15.
	was, is := []string{"a!Leak", "a!One", "a!Two", "a!Old"}, []string{"a!Leak", "a!One", "a!Two", "a!New"}
	for _, c := range []struct {
		size int64
		want int
	}{{265, 0}, {267, 1}, {1000, 1}} {
		rows := []Row{{Base: leak("was", was, 1000)}, {Head: leak("is", is, c.size)}}
		if got := Renames(rows); len(got) != c.want {
			like, _ := likeness(rows[0].Base, rows[1].Head)
			t.Errorf("blocks of 1000 and %d bytes, %.4f alike: %d suggestions, want %d", c.size, like, len(got), c.want)
		}
	}
	rows := []Row{{Base: leak("one", was, 900)}, {Base: leak("two", was, 1000)}, {Head: leak("is", is, 1000)}}
	if got := Renames(rows); len(got) != 1 || got[0].Base != "two" {
		t.Errorf("of two that vanished and one that appeared: %+v", got)
	}
	rows = []Row{{Base: leak("was", was, 1000)}, {Head: leak("one", is, 900)}, {Head: leak("two", is, 1000)}}
	if got := Renames(rows); len(got) != 1 || got[0].Head != "two" {
		t.Errorf("of one that vanished and two that appeared: %+v", got)
	}
}

// Of many leaks, a change of speed that chance makes passes with a probability of falseShare.
func TestDoubtThresholds(t *testing.T) {
	for _, c := range []struct {
		name   string
		chance float64
		want   Change
	}{
		{"just below", 0.0049, ChangeGrown}, {"at it", 0.005, ChangeGrown}, {"just above", 0.0051, ChangePersisting},
	} {
		list := &Comparison{}
		for range 9 {
			list.Rows = append(list.Rows, Row{Base: at(1), Head: at(1), Change: ChangePersisting, chance: 1})
		}
		list.Rows = append(list.Rows, Row{Base: at(1), Head: at(2), Change: ChangeGrown, chance: c.chance})
		if list.doubt(); list.Rows[9].Change != c.want {
			t.Errorf("%s: a chance of %v among ten leaks: %s, want %s", c.name, c.chance, list.Rows[9].Change, c.want)
		}
	}
}
