package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push/ci"
)

// projectsSet changes what a team says of its project.
func projectsSet(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("projects set", flag.ContinueOnError)
	r.flags(set)
	name := set.String("name", "", "new `name` of the project")
	branch := set.String("default-branch", "", "default `branch`; '' for none")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("unexpected argument %q", rest[0])}
	}
	fields := map[string]any{}
	var change leaks.ProjectChange
	set.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "name":
			change.Name, fields["name"] = name, *name
		case "default-branch":
			change.DefaultBranch, fields["default_branch"] = branch, *branch
		}
	})
	if len(fields) == 0 {
		return exitUsage, &usageError{"nothing to set: pass --default-branch or --name"}
	}
	var wrong *leaks.FieldError
	if err := change.Normalize(); errors.As(err, &wrong) {
		return exitUsage, &usageError{flagOf(wrong)}
	}
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	p, err := client.ChangeProject(ctx, r.project, fields)
	if err != nil {
		return r.failed(err)
	}
	line := "project " + p.Name
	if p.DefaultBranch != "" {
		line += ", default branch " + p.DefaultBranch
	}
	_, err = fmt.Fprintln(s.out, ci.Plain(line))
	return exitOK, err
}
