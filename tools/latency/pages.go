package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A page is a kind of address that is asked for.
type page struct {
	name string
	path string // words in braces are replaced by values of a sample
}

// pages are the pages and answers of the API that a team asks for.
var pages = []page{
	{"board", "/"},
	{"project page", "/projects/{project}"},
	{"leaks of one state", "/projects/{project}?state=ongoing"},
	{"leaks with a text", "/projects/{project}?q={word}&sort=last-seen"},
	{"leaks of an owner", "/projects/{project}?owner=core"},
	{"sites that never leaked", "/projects/{project}?class=stable"},
	{"builds after another", "/projects/{project}?after={build}"},
	{"leak page", "/projects/{project}/signatures/{leak}"},
	{"compare", "/projects/{project}/compare?scenario={scenario}"},
	{"symbols", "/projects/{project}/symbols"},
	{"search", "/search?q={word}"},
	{"run page", "/runs/{run}"},
	{"API: verdict", "/api/v1/runs/{run}/verdict"},
	{"API: run", "/api/v1/runs/{run}"},
	{"API: leaks", "/api/v1/projects/{project}/signatures"},
	{"API: leak", "/api/v1/projects/{project}/signatures/{leak}"},
	{"API: project", "/api/v1/projects/{project}"},
	{"API: build", "/api/v1/projects/{project}/builds/{build}"},
	{"API: comparison", "/api/v1/compare?project={project}&scenario={scenario}"},
}

// A sample has what a database holds, to make addresses of. Lists are in the order of a seed, so that each run of this
// command asks for the same.
type sample struct {
	projects []string            // the largest one half of the time
	values   map[string][]values // by project
	random   *rand.Rand
}

// values are the words of one address.
type values map[string]string

// A row is one run with the names around it, and one leak of its project.
type row struct{ Project, Build, Scenario, Run, Leak, Word string }

// readSample reads up to count runs of the largest project, and as many of all others together.
func readSample(ctx context.Context, conn *pgx.Conn, count int) (*sample, error) {
	rows, err := conn.Query(ctx, `
		with counted as (select b.project_id, count(*) as n from runs r join builds b on b.id = r.build_id group by 1),
		largest as (select project_id from counted order by n desc, project_id limit 1),
		drawn as (
			select r.id, r.scenario_id, b.name as build, b.project_id, b.project_id = largest.project_id as large,
				row_number() over (partition by b.project_id = largest.project_id order by md5(r.id::text)) as at
			from runs r join builds b on b.id = r.build_id cross join largest where r.analysed_at is not null)
		select p.name as project, d.build, sc.name as scenario, d.id::text as run, s.text as leak,
			split_part(s.title, '::', 3) as word
		from drawn d join projects p on p.id = d.project_id join scenarios sc on sc.id = d.scenario_id
			join (
				select project_id, text, title, row_number() over (partition by project_id order by id) as at,
					count(*) over (partition by project_id) as n
				from signatures where bad and alias_of is null) s on s.project_id = d.project_id and s.at = 1 + d.at % s.n
		where d.at <= $1 order by d.large desc, d.at`, count)
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the database has no run with a report and a leak: fill it with tools/fill")
	}
	s := &sample{values: map[string][]values{}, random: rand.New(rand.NewPCG(1, 2))}
	for _, r := range list {
		if len(s.values[r.Project]) == 0 {
			s.projects = append(s.projects, r.Project)
		}
		s.values[r.Project] = append(s.values[r.Project], values{"project": r.Project, "build": r.Build,
			"scenario": r.Scenario, "run": r.Run, "leak": r.Leak, "word": r.Word})
	}
	return s, nil
}

// draw draws a project: every second time the largest one.
func (s *sample) draw() string {
	if s.random.IntN(2) == 0 {
		return s.projects[0]
	}
	return s.projects[s.random.IntN(len(s.projects))]
}

// address is one address of a page in a project.
func (s *sample) address(p *page, project string) string {
	path, list := p.path, s.values[project]
	for word, value := range list[s.random.IntN(len(list))] {
		path = strings.ReplaceAll(path, "{"+word+"}", url.QueryEscape(value))
	}
	return path
}
