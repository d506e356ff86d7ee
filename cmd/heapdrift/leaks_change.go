package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// acceptReason is why a leak is known where nobody says more.
const acceptReason = "accepted"

// leaksAccept marks leaks as known.
func leaksAccept(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("leaks accept", flag.ContinueOnError)
	r.flags(set)
	reason := set.String("reason", acceptReason, "`text`: why the leak is known")
	until := set.String("until", "", "last `day`, for example 2026-12-31 (default: no end)")
	untilBuild := set.String("until-build", "", "`build` from which the leak fails gates again")
	names, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	var wrong *leaks.FieldError
	if _, err := leaks.ParseToleration(*reason, *until, *untilBuild); errors.As(err, &wrong) {
		return exitUsage, &usageError{flagOf(wrong)}
	}
	fields := map[string]any{"state": leaks.MarkKnown, "reason": *reason}
	if *until != "" {
		fields["until"] = *until
	}
	if *untilBuild != "" {
		fields["until_build"] = *untilBuild
	}
	return changeLeaks(ctx, &r, names, fields, s, func(l *push.ListedLeak) string {
		text := fmt.Sprintf("accepted  %s  %s", shortSignature(l.Signature), l.Title)
		if l.Known != nil {
			text += "  " + knownText(l)
		}
		return text
	})
}

// leaksAssign says whose leaks are.
func leaksAssign(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("leaks assign", flag.ContinueOnError)
	r.flags(set)
	to := set.String("to", "", "`team or person`; '' removes the assignment")
	names, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	given := false
	set.Visit(func(f *flag.Flag) { given = given || f.Name == "to" })
	if !given {
		return exitUsage, &usageError{"no owner given: --to WHO"}
	}
	return changeLeaks(ctx, &r, names, map[string]any{"assignee": *to}, s, func(l *push.ListedLeak) string {
		if l.Assignee == "" {
			return fmt.Sprintf("unassigned  %s  %s", shortSignature(l.Signature), l.Title)
		}
		return fmt.Sprintf("assigned  %s  %s  to %s", shortSignature(l.Signature), l.Title, l.Assignee)
	})
}

// flagOf says of a field that is wrong which flag it is of.
func flagOf(wrong *leaks.FieldError) string {
	flags := map[string]string{"until_build": "until-build", "default_branch": "default-branch", "work_unit": "work-unit"}
	name := wrong.Field
	if f, ok := flags[name]; ok {
		name = f
	}
	return "--" + name + ": " + wrong.Message
}

// The forms of a signature: a prefix, and hexadecimal digits, of which so many name a leak and so many are shown.
const (
	signaturePrefix = "sig1:"
	signatureDigits = 32
	leastDigits     = 8
	shownDigits     = 12
)

func shortSignature(text string) string {
	return text[:min(len(text), len(signaturePrefix)+shownDigits)]
}

// resolveLeaks are the whole signatures that arguments name: nothing is changed before all of them are known.
func resolveLeaks(ctx context.Context, client *push.Client, project string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, &usageError{"no signature given; heapdrift leaks list prints them"}
	}
	var all []push.ListedLeak
	signatures := make([]string, 0, len(names))
	for _, name := range names {
		digits := strings.ToLower(strings.TrimPrefix(name, signaturePrefix))
		if strings.Trim(digits, "0123456789abcdef") != "" || len(digits) < leastDigits || len(digits) > signatureDigits {
			return nil, &usageError{fmt.Sprintf("%q is not a signature: write %s and at least %d of its hexadecimal digits", name,
				signaturePrefix, leastDigits)}
		}
		if len(digits) == signatureDigits { // also a former name, which no list has
			signatures = append(signatures, signaturePrefix+digits)
			continue
		}
		if all == nil {
			list, err := client.Leaks(ctx, project, url.Values{})
			if err != nil {
				return nil, err
			}
			all = append([]push.ListedLeak{}, list...)
		}
		var found []string
		for i := range all {
			if strings.HasPrefix(all[i].Signature, signaturePrefix+digits) {
				found = append(found, all[i].Signature)
			}
		}
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("project %s has no leak %s; heapdrift leaks list prints its leaks", project, name)
		case 1:
			signatures = append(signatures, found[0])
		default:
			return nil, &usageError{fmt.Sprintf("%s names %d leaks: %s", name, len(found), strings.Join(found, ", "))}
		}
	}
	return signatures, nil
}

// changeLeaks makes the same change to leaks, and prints a line for each.
func changeLeaks(ctx context.Context, r *remote, names []string, fields map[string]any, s streams,
	line func(*push.ListedLeak) string) (int, error) {
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	signatures, err := resolveLeaks(ctx, client, r.project, names)
	if err != nil {
		return r.failed(err)
	}
	for _, signature := range signatures {
		l, err := client.ChangeLeak(ctx, r.project, signature, fields)
		var refused *push.Refusal
		if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			return exitInput, fmt.Errorf("no leak %s in project %q, or the token is of another project",
				signature, r.project)
		}
		if err != nil {
			return r.failed(err)
		}
		if _, err := fmt.Fprintln(s.out, ci.Plain(line(l))); err != nil {
			return exitInput, fmt.Errorf("write: %w", err)
		}
	}
	return exitOK, nil
}
