package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// leaksList lists the leaks of a project, a line each.
func leaksList(ctx context.Context, args []string, s streams) (int, error) {
	var r remote
	set := flag.NewFlagSet("leaks list", flag.ContinueOnError)
	r.flags(set)
	states := set.String("state", "", "`states` with commas between, as in new,regressed: "+strings.Join(stateNames(), ", ")+
		"; default: all")
	owner := set.String("owner", "", "owner: `team or person`, from the rules or as assignee")
	scenario := set.String("scenario", "", "`scenario` in which the leak was seen")
	format := set.String("format", "text", "`text or json`")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("unexpected argument %q", rest[0])}
	}
	if *format != "text" && *format != "json" {
		return exitUsage, &usageError{fmt.Sprintf("--format: %q is neither text nor json", *format)}
	}
	client, err := r.client(s)
	if err != nil {
		return r.failed(err)
	}
	list := []push.ListedLeak{}
	for state := range strings.SplitSeq(*states, ",") {
		found, err := client.Leaks(ctx, r.project, filter("state", strings.TrimSpace(state), "owner", *owner,
			"scenario", *scenario))
		if err != nil {
			return r.failed(err)
		}
		list = append(list, found...)
	}
	if *format == "json" {
		err = printLeaksJSON(s.out, r.project, list)
	} else {
		err = printLeaks(s.out, r.project, list)
	}
	if err != nil {
		return exitInput, fmt.Errorf("leaks list: %w", err)
	}
	return exitOK, nil
}

func stateNames() (names []string) {
	for _, state := range leaks.States {
		names = append(names, string(state))
	}
	return names
}

// filter is a query of pairs of names and values, without empty values.
func filter(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

// printLeaksJSON prints the leaks as the server gives them.
func printLeaksJSON(w io.Writer, project string, list []push.ListedLeak) error {
	texts := make([]json.RawMessage, len(list))
	for i := range list {
		texts[i] = list[i].Text
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{"project": project, "total": len(list), "signatures": texts})
}

// printLeaks prints a line for each leak, in columns.
func printLeaks(w io.Writer, project string, list []push.ListedLeak) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "No such leak in project %s.\n", project)
		return err
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i := range list {
		l := &list[i]
		cells := []string{shortSignature(l.Signature), l.State, l.Class, growthText(l), leakName(l), sinceText(l),
			careText(l)}
		for j, cell := range cells {
			cells[j] = strings.Join(strings.Fields(ci.Plain(cell)), " ")
		}
		if _, err := fmt.Fprintln(table, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// leakName is the title of a leak and its line in the sources.
func leakName(l *push.ListedLeak) string {
	if l.Blame != nil && l.Blame.File != "" {
		return fmt.Sprintf("%s (%s:%d)", l.Title, l.Blame.File, l.Blame.Line)
	}
	return l.Title
}

func growthText(l *push.ListedLeak) string {
	size, count, ok := l.Growth()
	if !ok {
		return "growth unknown"
	}
	sign := ""
	if size > 0 {
		sign = "+"
	}
	return sign + quantity.Bytes(size) + " in " + quantity.Plural(count, "block")
}

// sinceText says in which builds a leak was seen.
func sinceText(l *push.ListedLeak) string {
	text := ""
	if l.FirstBadBuild != "" {
		text = "since build " + l.FirstBadBuild
	}
	switch {
	case l.FixedBuild != "":
		text += ", fixed in " + l.FixedBuild
	case l.LastSeenBuild != "" && l.LastSeenBuild != l.FirstBadBuild:
		text += ", last seen in " + l.LastSeenBuild
	}
	return strings.TrimPrefix(text, ", ")
}

// careText says who has a leak, and why it is known.
func careText(l *push.ListedLeak) string {
	var parts []string
	if who := l.Responsible(); who != "" {
		parts = append(parts, "owner "+who)
	}
	if l.Ticket != "" {
		parts = append(parts, "ticket "+l.Ticket)
	}
	if l.Known != nil {
		parts = append(parts, knownText(l))
	}
	return strings.Join(parts, ", ")
}

func knownText(l *push.ListedLeak) string {
	text := "known: " + l.Known.Reason
	if l.Known.Until != nil {
		text += ", until " + *l.Known.Until
	}
	if l.Known.UntilBuild != "" {
		text += ", until build " + l.Known.UntilBuild
	}
	if l.Known.Expired {
		text += " (over)"
	}
	return text
}
