package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/store"
)

// Sides say what is to be compared: builds of a project in a scenario, or runs. Without a head it is the newest build
// with a result, without a base the baseline.
type Sides struct {
	Project, Scenario string
	Base, Head        string
	BaseRun, HeadRun  int64
}

// A Compared is a comparison with what was compared.
type Compared struct {
	Project, Scenario string
	Base, Head        *compare.Side
	Why               string // how the base was found, where nobody chose it
	*compare.Comparison
}

// CompareSides compares. Its error is a *Problem with the code no-baseline where there is nothing to compare with.
func CompareSides(ctx context.Context, s *store.Store, q Sides) (*Compared, error) {
	c, err := findSides(ctx, s, q)
	if err != nil {
		return nil, err
	}
	c.Comparison = compare.Compare(c.Base, c.Head)
	return c, nil
}

// findSides reads what is to be compared.
func findSides(ctx context.Context, s *store.Store, q Sides) (*Compared, error) {
	c := &Compared{Project: q.Project, Scenario: q.Scenario}
	if err := c.findHead(ctx, s, q); err != nil {
		return nil, err
	}
	if err := c.findBase(ctx, s, q); err != nil {
		return nil, err
	}
	if slices.Equal(c.Base.Runs, c.Head.Runs) {
		return nil, invalid("base", "base: build %s is compared with itself; name another", c.Base.Build)
	}
	return c, nil
}

func (c *Compared) findHead(ctx context.Context, s *store.Store, q Sides) (err error) {
	if q.HeadRun != 0 {
		c.Head, err = c.sideOfRun(ctx, s, q.HeadRun)
		return err
	}
	if c.Project == "" {
		return invalid("project", "project: is missing")
	}
	if q.Head != "" {
		c.Head, err = s.SideOf(ctx, c.Project, c.Scenario, q.Head)
		return err
	}
	builds, err := s.BuildsOf(ctx, c.Project)
	if err != nil {
		return err
	}
	for _, b := range builds {
		has := slices.ContainsFunc(b.Runs, func(r store.Run) bool { return r.Scenario == c.Scenario && r.AnalysedAt != nil })
		if has {
			c.Head, err = s.SideOf(ctx, c.Project, c.Scenario, b.Name)
			return err
		}
	}
	return problem(http.StatusNotFound, codeNothing, "no build of the project has a result in the scenario %s", c.Scenario)
}

func (c *Compared) findBase(ctx context.Context, s *store.Store, q Sides) (err error) {
	switch {
	case q.BaseRun != 0:
		c.Base, err = c.sideOfRun(ctx, s, q.BaseRun)
	case q.Base != "":
		c.Base, err = s.SideOf(ctx, c.Project, c.Scenario, q.Base)
	default:
		c.Base, c.Why, err = baseline(ctx, s, c.Project, c.Scenario, c.Head.Build)
	}
	return err
}

// sideOfRun is a run as a side. The first one decides project and scenario where nobody did.
func (c *Compared) sideOfRun(ctx context.Context, s *store.Store, id int64) (*compare.Side, error) {
	run, err := s.RunByID(ctx, id)
	if err != nil {
		return nil, err
	}
	c.Project, c.Scenario = cmp.Or(c.Project, run.Project), cmp.Or(c.Scenario, run.Scenario)
	if run.Project != c.Project {
		return nil, invalid("project", "project: run %d is of the project %s", id, run.Project)
	}
	if run.Scenario != c.Scenario {
		return nil, invalid("scenario", "scenario: run %d is of the scenario %s; only runs of one scenario can be compared", id, run.Scenario)
	}
	return s.SideOfRun(ctx, id)
}

// baseline is what the store would compare a build with, and why.
func baseline(ctx context.Context, s *store.Store, project, scenario, build string) (*compare.Side, string, error) {
	name, err := s.BaselineOf(ctx, project, scenario, build)
	if errors.Is(err, store.ErrNotFound) {
		return nil, "", problem(http.StatusNotFound, codeNoBaseline,
			"there is no older build on the branch of %s with a result in the scenario %s, and none is pinned; name a base", build, scenario)
	}
	if err != nil {
		return nil, "", err
	}
	side, err := s.SideOf(ctx, project, scenario, name)
	return side, fmt.Sprintf("the baseline of build %s", build), err
}

// ComparePage is the address of the page that compares two builds; empty names leave the choice to the server.
func ComparePage(project, scenario, base, head string) string {
	q := url.Values{}
	for name, value := range map[string]string{"scenario": scenario, "base": base, "head": head} {
		if value != "" {
			q.Set(name, value)
		}
	}
	address := "/projects/" + url.PathEscape(project) + "/compare"
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}
