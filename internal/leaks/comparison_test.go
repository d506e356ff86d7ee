package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

func TestComparableScenario(t *testing.T) {
	for name, test := range map[string]struct {
		scenarios [][]string // of each build, the newest first
		want      string
	}{
		"no results":                           {nil, ""},
		"builds without results":               {[][]string{{}, {}}, ""},
		"one build":                            {[][]string{{"soak", "smoke"}}, "soak"},
		"one build, twice the same":            {[][]string{{"smoke", "soak", "soak"}}, "smoke"}, // it cannot be compared with itself
		"what two builds have":                 {[][]string{{"smoke", "soak"}, {"soak"}}, "soak"},
		"of two that two builds have":          {[][]string{{"smoke", "soak"}, {"soak", "smoke"}}, "smoke"},
		"what the newest does not have":        {[][]string{{"smoke"}, {"soak"}, {"soak"}}, "soak"},
		"the newest where no two have the one": {[][]string{{"smoke"}, {"soak"}, {"trace"}}, "smoke"},
		"the newest build has none":            {[][]string{{}, {"soak"}}, "soak"},
	} {
		if got := leaks.DefaultComparedScenario(test.scenarios); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestRunsOfAQuestion(t *testing.T) {
	for name, test := range map[string]struct {
		question          leaks.ComparisonQuery
		project, scenario string // of the run
		field             string // that is wrong; "" for none
	}{
		"the first run decides": {leaks.ComparisonQuery{}, "demo", "soak", ""},
		"as was asked":          {leaks.ComparisonQuery{Project: "demo", Scenario: "soak"}, "demo", "soak", ""},
		"another project":       {leaks.ComparisonQuery{Project: "other"}, "demo", "soak", "project"},
		"another scenario":      {leaks.ComparisonQuery{Project: "demo", Scenario: "smoke"}, "demo", "soak", "scenario"},
	} {
		q := test.question
		err := q.OfRun(7, test.project, test.scenario)
		if got := fieldOf(t, err); got != test.field || got == "" && (q.Project != "demo" || q.Scenario != "soak") {
			t.Errorf("%s: %v, %+v", name, err, q)
		}
	}
}

func TestCheckComparison(t *testing.T) {
	one, two := &compare.BuildResult{Build: "1", RunIDs: []int64{3, 4}}, &compare.BuildResult{Build: "2", RunIDs: []int64{5}}
	if err := leaks.CheckComparison(one, two); err != nil {
		t.Error(err)
	}
	if got := fieldOf(t, leaks.CheckComparison(one, &compare.BuildResult{Build: "1", RunIDs: []int64{3, 4}})); got != "base" {
		t.Errorf("a build with itself: complains about %q", got)
	}
	if err := leaks.CheckComparison(one, &compare.BuildResult{Build: "1", RunIDs: []int64{4}}); err != nil {
		t.Errorf("a run with its build: %v", err)
	}
}
