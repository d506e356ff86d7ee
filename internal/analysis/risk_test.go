package analysis

import (
	"math"
	"strings"
	"testing"

	"heapdrift/internal/analysis/score"
)

// twoHours is the draft of a report on two hours, of findings with evidence and what each can have leaked in them at most.
func twoHours(findings ...draftFinding) *draft {
	d := &draft{report: &Report{PartLengths: &score.PartLengths{Unit: hour}}}
	for _, f := range findings {
		d.findings = append(d.findings, &f)
	}
	for i := range 12 {
		d.judged = append(d.judged, Snapshot{AtNS: int64(i) * 7200e9 / 11})
	}
	return d
}

func weighed(most float64, scored float64) draftFinding {
	return draftFinding{Finding{Signature: "s", Verdict: ClassGrowing, Score: &scored, Evidence: &score.Evidence{}}, most, nil}
}

func TestWeigh(t *testing.T) {
	const limit = 10 << 20 / 12 // of two hours, where 10 MB a day matter
	sure := weighed(9*limit, 0.99)
	sure.Certain, sure.Verdict = true, ClassLeak
	known := weighed(9*limit, 0.9)
	known.Known = "by a rule"
	resized := draftFinding{Finding{Verdict: ClassGrowingBlock, Score: new(0.0)}, limit + 1, nil}
	for _, test := range []struct {
		name     string
		draft    *draft
		sites    int
		expected float64 // of the limit
	}{
		{"nothing", twoHours(), 0, 0},
		{"half probable, and as much as matters", twoHours(weighed(limit, 0.5)), 0, 0.5},
		{"half probable, and more", twoHours(weighed(limit+1, 0.5)), 1, 0.5},
		{"less probable, and more", twoHours(weighed(limit+1, 0.49)), 0, 0.49},
		{"improbable, and as much as is expected to matter", twoHours(weighed(9.9*limit, 0.1)), 0, 0.99},
		{"improbable, and more", twoHours(weighed(10.1*limit, 0.1)), 1, 1.01},
		{"the largest of two that are too much together", twoHours(weighed(2*limit, 0.4), weighed(1.9*limit, 0.3)), 1, 0.8*1 + 0.57},
		{"certain ones and known ones are decided", twoHours(sure, known), 0, 0},
		{"a block that is resized", twoHours(resized), 1, 0.9},
	} {
		matters, u := test.draft.weigh()
		if matters.Growth != (Growth{10 << 20, "day"}) || u.Limit != matters.Growth || u.Sites != test.sites {
			t.Errorf("%s: %v matter, %+v", test.name, matters, u)
		}
		// Of so few sites a fifth leaks, as of the generated ones: the odds are those of the score.
		if got := u.Expected.Bytes / (10 << 20); math.Abs(got-test.expected) > 0.005+0.15*test.expected {
			t.Errorf("%s: %.3f of what matters is expected, want %.3f", test.name, got, test.expected)
		}
		undecided := 0
		for _, f := range test.draft.findings {
			if !f.Immaterial && !f.Certain && f.Known == "" {
				undecided++
			}
		}
		if undecided != test.sites {
			t.Errorf("%s: %d findings are not immaterial, want %d", test.name, undecided, test.sites)
		}
	}
}

// Of many places each is the less probable to leak, because a run has as few leaks then as with few places.
func TestProbabilityAmongPlaces(t *testing.T) {
	f := weighed(1, 0.5)
	for _, test := range []struct {
		places int
		want   float64
	}{{1, 0.5}, {2, 0.5}, {5, 0.308}, {50, 0.0388}, {500, 0.0040}} {
		if got := probability(&f.Finding, test.places); math.Abs(got-test.want) > 0.001 {
			t.Errorf("%d places: %.4f, want %.4f", test.places, got, test.want)
		}
	}
	unscored := draftFinding{most: 1}
	if got := probability(&unscored.Finding, 50); got != 0.01 {
		t.Errorf("without a score: %v", got)
	}
	for _, s := range []float64{0, 1} {
		f := weighed(1, s)
		if p := probability(&f.Finding, 50); !(p > 0 && p < 1) {
			t.Errorf("score %v: %v", s, p)
		}
	}
}

// What the evidence could not have shown makes nothing undecided.
func TestWeighPower(t *testing.T) {
	f := weighed(2<<20, 0.6) // 24 MB a day
	d := twoHours(f)
	if _, u := d.weigh(); u.Sites != 1 {
		t.Errorf("%+v", u)
	}
	d.report.Power = &Power{Power: score.Power{Unit: hour, Count: 1, Bytes: 1 << 20}}
	if _, u := d.weigh(); u.Sites != 0 || u.Limit != (Growth{24 << 20, "day"}) {
		t.Errorf("%+v", u)
	}
	d.report.Power.Unit = "document"
	if _, u := d.weigh(); u.Sites != 1 {
		t.Errorf("a power that counts by what the evidence does not tell: %+v", u)
	}
	d.report.PartLengths = &score.PartLengths{Unit: "document", Over: [score.RunParts]float64{1, 1, 1, 0}}
	if _, u := d.weigh(); u.Sites != 0 || u.Limit != (Growth{36 << 20, "day"}) {
		t.Errorf("a power that counts by work: %+v", u)
	}
}

func TestWeighWithoutTimes(t *testing.T) {
	for most, want := range map[float64]int{8 << 10: 0, 8<<10 + 1: 1} {
		d := twoHours(weighed(most, 0.6))
		for i := range d.judged {
			d.judged[i].AtNS = 0
		}
		if matters, u := d.weigh(); u.Sites != want || matters.Growth.String() != "8.00 KB per run" {
			t.Errorf("%v bytes: %v, %+v", most, matters, u)
		}
	}
}

func TestWeighWhatIsAsked(t *testing.T) {
	d := twoHours(weighed(2<<20, 0.6))
	d.report.PartLengths = &score.PartLengths{Unit: "document", Over: [score.RunParts]float64{1, 1, 1, 1}}
	for _, test := range []struct {
		asked Growth
		sites int
		used  Growth
	}{
		{Growth{24 << 20, "day"}, 0, Growth{24 << 20, "day"}},
		{Growth{24<<20 - 1, "day"}, 1, Growth{24<<20 - 1, "day"}},
		{Growth{1 << 20, "hour"}, 0, Growth{1 << 20, "hour"}},
		{Growth{1<<20 - 1, "hour"}, 1, Growth{1<<20 - 1, "hour"}},
		{Growth{2 << 20, "run"}, 0, Growth{2 << 20, "run"}},
		{Growth{2<<20 - 1, "run"}, 1, Growth{2<<20 - 1, "run"}},
		{Growth{512 << 10, "document"}, 0, Growth{512 << 10, "document"}},
		{Growth{512<<10 - 1, "document"}, 1, Growth{512<<10 - 1, "document"}},
		{Growth{1 << 40, "page"}, 1, mattersByDay},
	} {
		d.opt.Matters = &RequestedThreshold{Threshold: Threshold{Growth: test.asked}}
		if matters, u := d.weigh(); matters.Growth != test.used || u.Sites != test.sites || u.Largest.Unit != test.used.Unit {
			t.Errorf("%v: %v matter, %+v", test.asked, matters, u)
		}
	}
}

func TestUndecidedSentence(t *testing.T) {
	u := &Undecided{Limit: Growth{10 << 20, "day"}, Largest: &PossibleLeak{where: "app!F", Growth: Growth{24 << 20, "day"}}}
	for sites, want := range map[int]string{
		1: "not decided: app!F could leak 24.0 MB per day (limit 10.0 MB per day)",
		2: "not decided: app!F and 1 more site could leak, the first 24.0 MB per day (limit 10.0 MB per day)",
	} {
		u.Sites = sites
		if got := undecided(u); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s", sites, got)
		}
	}
}

// Too few snapshots to tell a leak say that there is none where next to nothing came.
func TestNextToNothingCame(t *testing.T) {
	for most, want := range map[float64]VerdictStatus{1023: StatusNoLeak, 1024: StatusNoLeak, 1025: StatusInconclusive} {
		d := twoHours(draftFinding{Finding{Signature: "stayed"}, most - 24, nil},
			draftFinding{Finding: Finding{Signature: "grew", Amounts: Amounts{Growth: &Amount{Bytes: 24}}}})
		d.judged = d.judged[:2]
		if v := d.decide(); v.Status != want || (v.SnapshotsMissing == 0) != (want == StatusNoLeak) || d.suffices() {
			t.Errorf("%v bytes: %+v", most, v)
		}
	}
}
