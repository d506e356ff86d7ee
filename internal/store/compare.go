package store

import (
	"context"
	"errors"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// inconclusive is the status of a run whose evidence does not decide.
const inconclusive = string(analysis.StatusInconclusive)

// Compare finds and compares what a query names. Its error is a *leaks.NoComparison where there is nothing to compare
// with, a *leaks.FieldError where the query is wrong, or ErrNotFound.
func (v View) Compare(ctx context.Context, q leaks.ComparisonQuery) (*leaks.RunComparison, error) {
	c, err := v.FindResultsToCompare(ctx, q)
	if err != nil {
		return nil, err
	}
	c.Comparison = compare.Compare(c.Base, c.Head)
	return c, nil
}

// FindResultsToCompare finds what a query names, without comparing it. Errors are those of Compare.
func (v View) FindResultsToCompare(ctx context.Context, q leaks.ComparisonQuery) (*leaks.RunComparison, error) {
	head, err := v.head(ctx, &q)
	if err != nil {
		return nil, err
	}
	base, why, err := v.base(ctx, &q, head.Build)
	if err != nil {
		return nil, err
	}
	for _, side := range []*compare.BuildResult{head, base} { // only now: to find that there is nothing to compare with takes no findings
		if err := v.fillFindings(ctx, side); err != nil {
			return nil, err
		}
	}
	return &leaks.RunComparison{Project: q.Project, Scenario: q.Scenario, Base: base, Head: head, Why: why},
		leaks.CheckComparison(base, head)
}

// head finds the newer result of a comparison, without its findings.
func (v View) head(ctx context.Context, q *leaks.ComparisonQuery) (*compare.BuildResult, error) {
	if q.HeadRunID != 0 {
		return v.questionedRun(ctx, q, q.HeadRunID)
	}
	if _, err := projectID(ctx, db.Q(v), q.Project); err != nil {
		return nil, err
	}
	name := q.Head
	if name == "" {
		var err error
		if name, err = v.FindNewestBuild(ctx, q.Project, q.Scenario); err != nil {
			return nil, err
		}
		if name == "" {
			return nil, leaks.NoResult(q.Scenario)
		}
	}
	return v.resultOf(ctx, runsOfBuild, q.Project, q.Scenario, name)
}

// base finds what a build is compared with, without its findings, and says how where the question does not name it.
func (v View) base(ctx context.Context, q *leaks.ComparisonQuery, head string) (side *compare.BuildResult, why string,
	err error) {
	switch {
	case q.BaseRunID != 0:
		side, err = v.questionedRun(ctx, q, q.BaseRunID)
		return side, "", err
	case q.Base != "":
		side, err = v.resultOf(ctx, runsOfBuild, q.Project, q.Scenario, q.Base)
		return side, "", err
	}
	name, err := v.FindBaselineOfBuild(ctx, q.Project, q.Scenario, head)
	if errors.Is(err, ErrNotFound) {
		return nil, "", leaks.NoBaseline(head, q.Scenario)
	}
	if err != nil {
		return nil, "", err
	}
	side, err = v.resultOf(ctx, runsOfBuild, q.Project, q.Scenario, name)
	return side, leaks.WhyBaseline(head), err
}

// questionedRun is a run that a question names, as a build's result without its findings.
func (v View) questionedRun(ctx context.Context, q *leaks.ComparisonQuery, id int64) (*compare.BuildResult, error) {
	run, err := v.FindRun(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := q.OfRun(id, run.Project, run.Scenario); err != nil {
		return nil, err
	}
	return v.resultOf(ctx, runOfID, id)
}

// withBaseline compares the result of a run with its baseline; nil where there is none to take.
func (v View) withBaseline(ctx context.Context, run *Run, head *compare.BuildResult,
	baseline string) (*leaks.RunComparison, error) {
	if baseline == run.Build {
		return nil, &leaks.FieldError{Field: "baseline",
			Message: fmt.Sprintf("build %s is the run's own; name another", baseline)}
	}
	q := leaks.ComparisonQuery{Project: run.Project, Scenario: run.Scenario, Base: baseline}
	base, why, err := v.base(ctx, &q, run.Build)
	var none *leaks.NoComparison
	switch {
	case baseline != "" && errors.Is(err, ErrNotFound):
		return nil, &leaks.FieldError{Field: "baseline",
			Message: fmt.Sprintf("there is no build %q with a run of the scenario %s", baseline, run.Scenario)}
	case errors.As(err, &none) && none.Code == leaks.CodeNoBaseline:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := v.fillFindings(ctx, base); err != nil {
		return nil, err
	}
	return &leaks.RunComparison{
		Project: run.Project, Scenario: run.Scenario, Base: base, Head: head, Why: why,
		Comparison: compare.Compare(base, head),
	}, nil
}

// firstFailure says why the first piece of evidence that failed could not be read; "" where none did.
func (v View) firstFailure(ctx context.Context, run int64) (string, error) {
	evidence, err := v.ListEvidence(ctx, run)
	for _, e := range evidence {
		if e.State == "failed" {
			return fmt.Sprintf("%s could not be read: %s", e.Name, e.Error), nil
		}
	}
	return "", err
}
