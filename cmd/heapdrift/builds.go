package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// buildsSet corrects what an upload said of a build.
func buildsSet(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("builds set", flag.ContinueOnError)
	r.flags(set)
	values := map[string]*string{
		"name":     set.String("name", "", "new `name` of the build, unique in the project"),
		"branch":   set.String("branch", "", "`branch` of the build; '' for none"),
		"commit":   set.String("commit", "", "`commit` of the build; '' for none"),
		"sequence": set.String("sequence", "", "position in the order of builds, a whole `number`"),
		"fork":     set.String("fork", "", "`build` where the branch forked; '' for none"),
	}
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) != 1 {
		return exitUsage, &usageError{"name one build"}
	}
	fields, err := buildFields(set, values, rest[0])
	if err != nil {
		return exitUsage, err
	}
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	b, err := client.ChangeBuild(ctx, r.project, rest[0], fields)
	var refused *push.Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return exitInput, fmt.Errorf("no build %q in project %q, or the token is of another project",
			rest[0], r.project)
	}
	if err != nil {
		return r.failed(err)
	}
	_, err = fmt.Fprintln(s.out, ci.Plain(buildLine(b)))
	return exitOK, err
}

// buildFields are the fields of the flags that were given.
func buildFields(set *flag.FlagSet, values map[string]*string, build string) (map[string]any, error) {
	fields := map[string]any{}
	var change leaks.BuildChange
	texts := map[string]**string{"name": &change.Name, "branch": &change.Branch, "commit": &change.Commit,
		"fork": &change.Fork}
	var wrong error
	set.Visit(func(f *flag.Flag) {
		value, ok := values[f.Name]
		switch into, isText := texts[f.Name]; {
		case isText:
			*into, fields[f.Name] = value, *value
		case ok:
			n, err := strconv.ParseInt(strings.TrimSpace(*value), 10, 64)
			if err != nil {
				wrong = &usageError{fmt.Sprintf("--sequence: %q is not a whole number", *value)}
			}
			change.Sequence, fields[f.Name] = &n, n
		}
	})
	if len(fields) == 0 {
		return nil, &usageError{"nothing to set: pass --name, --branch, --commit, --sequence or --fork"}
	}
	var field *leaks.FieldError
	if err := change.Normalize(build); wrong == nil && errors.As(err, &field) {
		wrong = &usageError{flagOf(field)}
	}
	return fields, wrong
}

// buildLine says what is known of a build.
func buildLine(b *push.Build) string {
	line := "build " + b.Name
	if b.Sequence != nil {
		line += ", sequence " + strconv.FormatInt(*b.Sequence, 10)
	}
	for _, fact := range [][2]string{{"branch", b.Branch}, {"commit", b.Commit}, {"fork", b.Fork}} {
		if fact[1] != "" {
			line += ", " + fact[0] + " " + fact[1]
		}
	}
	return line
}
