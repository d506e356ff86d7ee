package leaks

import (
	"cmp"
	"fmt"
	"slices"

	"heapdrift/internal/analysis/compare"
)

// The codes of a NoComparison. They are stable.
const (
	CodeNoBaseline = "no-baseline" // there is nothing to compare with
	CodeNoResult   = "no-result"   // no build has a result yet
)

// A NoComparison is the error of a comparison that lacks a side. Message says why and what to do; Code is one of the
// constants above.
type NoComparison struct{ Code, Message string }

func (r *NoComparison) Error() string { return r.Message }

// A ComparisonQuery says what to compare: builds of a project in a scenario, or runs. Base and Head are names of
// builds; the ids of runs are 0 where builds are compared. Without a head it is the newest build with a result, without
// a base the baseline.
type ComparisonQuery struct {
	Project, Scenario    string
	Base, Head           string
	BaseRunID, HeadRunID int64
}

// OfRun checks that a run can be the base or the head. The first run decides project and scenario where nobody did. Its
// error is a *FieldError.
func (q *ComparisonQuery) OfRun(id int64, project, scenario string) error {
	q.Project, q.Scenario = cmp.Or(q.Project, project), cmp.Or(q.Scenario, scenario)
	switch {
	case project != q.Project:
		return wrongField("project", "run %d is of the project %s", id, project)
	case scenario != q.Scenario:
		return wrongField("scenario", "run %d is of the scenario %s; only runs of one scenario can be compared", id, scenario)
	}
	return nil
}

// A RunComparison is a comparison, and the two results that were compared.
type RunComparison struct {
	Project, Scenario string
	Base, Head        *compare.BuildResult
	Why               string // how the base was found, where nobody chose it; else ""
	*compare.Comparison
}

// baseline is how sentences call the base, followed by what ends an apposition where it has one: "build 5, the
// baseline,".
func (c *RunComparison) baseline(end string) string {
	if c.Base.Label != "" {
		return c.Base.Label
	}
	return "build " + c.Base.Build + ", the baseline" + end
}

// CheckComparison refuses a comparison of a build with itself. Its error is a *FieldError.
func CheckComparison(base, head *compare.BuildResult) error {
	if slices.Equal(base.RunIDs, head.RunIDs) {
		return wrongField("base", "build %s cannot be compared with itself; name another build", base.Build)
	}
	return nil
}

// NoBaseline is the refusal for a build that has no baseline.
func NoBaseline(build, scenario string) *NoComparison {
	return &NoComparison{CodeNoBaseline, fmt.Sprintf(
		"name a base: the branch of %s has no older build with a result in the scenario %s, and no build is pinned",
		build, scenario)}
}

// NoResult is the refusal for a project without a build that has a result.
func NoResult(scenario string) *NoComparison {
	return &NoComparison{CodeNoResult, "no build of the project has a result in the scenario " + scenario}
}

// WhyBaseline says how the base of a comparison was found where nobody chose one.
func WhyBaseline(build string) string { return "the baseline of build " + build }

// DefaultComparedScenario chooses the scenario that a comparison starts with: among the scenarios that two builds have
// results in, or among all where there is none such, the one with the newest result. scenarios are those of each
// build's results, the newest run of the newest build first; "" is returned where there is none.
func DefaultComparedScenario(scenarios [][]string) string {
	newest, builds := "", map[string]int{} // in how many builds
	for _, list := range scenarios {
		for i, name := range list {
			if !slices.Contains(list[:i], name) {
				builds[name]++
				newest = cmp.Or(newest, name)
			}
		}
	}
	for _, list := range scenarios {
		for _, name := range list {
			if builds[name] > 1 {
				return name
			}
		}
	}
	return newest
}
