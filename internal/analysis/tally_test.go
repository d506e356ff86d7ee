package analysis

import (
	"strings"
	"testing"
)

// A cause counts once, as a leak where one of its parts leaks, with what all of them hold.
func TestTallyCountsCauses(t *testing.T) {
	part := func(signature string, class Class, bytes int64, cause int) *draftFinding {
		return &draftFinding{Finding: Finding{Signature: signature, Verdict: class, Certain: class == ClassLeak, CauseNumber: cause,
			Amounts: Amounts{Outstanding: Amount{1, bytes}, Growth: &Amount{1, bytes}}}}
	}
	for name, c := range map[string]struct {
		second         Class
		leaks, growing int // causes
		leaked         Amount
		says           string
	}{
		"both leak":      {ClassLeak, 1, 1, Amount{2, 150}, "The process leaks 150 B in 2 blocks: 1 leak in 2 stacks, lost objects of app!Open, ratio 1 : 1"},
		"one only grows": {ClassGrowing, 1, 1, Amount{2, 150}, "The process leaks 150 B in 2 blocks: 1 leak in 2 stacks, lost objects of app!Open, ratio 1 : 1"},
	} {
		d := &draft{findings: []*draftFinding{part("a", ClassLeak, 100, 1), part("b", c.second, 50, 1), part("c", ClassGrowing, 7, 0)}}
		d.report = &Report{Causes: []LostTogether{{Number: 1, Title: "lost objects of app!Open", Ratio: "1 : 1", Verdict: ClassLeak,
			Amounts: Amounts{Outstanding: Amount{2, 150}, Growth: &Amount{2, 150}},
			Members: []LostTogetherPart{{Signature: "a"}, {Signature: "b"}}}}}
		got := d.tally()
		if got.leakCauses != c.leaks || got.growingCauses != c.growing || got.leaked != c.leaked {
			t.Errorf("%s: %d leaks, %d growing, %v", name, got.leakCauses, got.growingCauses, got.leaked)
		}
		if s := leaks(d.report, &got); !strings.HasPrefix(s, c.says) {
			t.Errorf("%s: %s", name, s)
		}
	}
	growing := &draft{findings: []*draftFinding{part("a", ClassGrowing, 100, 1), part("b", ClassGrowing, 50, 1)}}
	growing.report = &Report{Causes: []LostTogether{{Number: 1, Verdict: ClassGrowing, Members: []LostTogetherPart{{Signature: "a"}, {Signature: "b"}}}}}
	if got := growing.tally(); got.growingCauses != 1 || places(&got) != "1 cause in 2 sites" || got.leaked != (Amount{}) {
		t.Errorf("%+v: %s", got, places(&got))
	}
}
