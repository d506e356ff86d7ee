package leaks_test

import (
	"fmt"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// A leak came with build 101, was fixed in 103 and is back in 104.
func ExampleFollow() {
	calendar := leaks.NewBuildOrder([]leaks.Build{
		{ID: 7, Name: "103", Sequence: new(int64(103))}, {ID: 4, Name: "100", Sequence: new(int64(100))},
		{ID: 9, Name: "101", Sequence: new(int64(101))}, {ID: 8, Name: "104", Sequence: new(int64(104))},
	})
	at := func(build int64) int { return calendar.Index(&build) }
	course := leaks.Follow([]leaks.Sighting{
		{BuildIndex: at(4), ScenarioID: 1, Judgement: leaks.JudgedClean},
		{BuildIndex: at(9), ScenarioID: 1, Judgement: leaks.JudgedLeaking},
		{BuildIndex: at(7), ScenarioID: 1, Judgement: leaks.JudgedClean},
		{BuildIndex: at(8), ScenarioID: 1, Judgement: leaks.JudgedLeaking},
	}, leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1})
	fmt.Printf("%s: %s\n", course.State, course.State.Note())
	fmt.Println("first bad", course.FirstBad, "of the builds, clean before in", course.LastClean)

	// The team tolerates it for a reason: that is shown, and fails no gate.
	record := leaks.TriageRecord{StateByRuns: course.State, TriageDecision: leaks.TriageDecision{Mark: leaks.MarkKnown, Reason: "see #7"}}
	fmt.Println(record.StateAt(noon), "because", record.ToleranceReasonAt(noon))
	// Output:
	// regressed: was fixed, and leaks again in a newer build
	// first bad 1 of the builds, clean before in 0
	// known because see #7
}

// The gate of a CI job fails on leaks that the baseline does not have; what the team knows does not count.
func ExampleDecide() {
	finding := func(signature string, state leaks.State) compare.Finding {
		return compare.Finding{Signature: signature, Class: leak, Certain: true, State: string(state)}
	}
	base := &compare.BuildResult{Build: "100", RunIDs: []int64{1}, Findings: []compare.Finding{finding("A", leaks.StateOngoing)}}
	head := &compare.BuildResult{Build: "101", RunIDs: []int64{2}, Findings: []compare.Finding{
		finding("A", leaks.StateOngoing), finding("B", leaks.StateNew), finding("C", leaks.StateKnown),
	}}
	compared, policies := &leaks.RunComparison{Base: base, Head: head, Comparison: compare.Compare(base, head)},
		leaks.DefaultPolicies()
	for _, text := range []string{"leak", "new", "grown"} {
		on, err := leaks.ParseFailOn(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		made := leaks.Decide(&leaks.GateCase{Policy: policies.For("soak"), Asked: on, Suffices: true,
			Head: head, Compared: compared})
		fmt.Printf("on %s: %s, %s\n", text, made.Gate, made.Why)
	}
	// Output:
	// on leak: failed, 2 leaks
	// on new: failed, 1 new leak
	// on grown: passed, 2 leaks, which this gate does not fail on; 1 known by the team
}
