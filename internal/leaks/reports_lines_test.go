package leaks_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A leak that one report shows by a line of source and another by its call stack is one leak, where any of the reports
// says that the line is part of the stack.
func TestCompareReportsOfLines(t *testing.T) {
	report := func(names ...string) *analysis.Report {
		var list []analysis.Finding
		for _, name := range names {
			name, lines, _ := strings.Cut(name, "<")
			f := place(name, leak, 400*int64(1+strings.Count(lines, ",")))
			for line := range strings.SplitSeq(lines, ",") {
				if line != "" {
					f.Joined = append(f.Joined, analysis.JoinedLine{Signature: "sig1:" + line})
				}
			}
			list = append(list, f)
		}
		return reportOf(list...)
	}
	for name, test := range map[string]struct {
		baseline [][]string
		head     []string
		want     string
	}{
		"the line, then both":              {[][]string{{"x"}}, []string{"S<x"}, "S persisting"},
		"both, then the line":              {[][]string{{"S<x"}}, []string{"x"}, "x persisting"},
		"both, then two lines":             {[][]string{{"S<x,y"}}, []string{"x", "y"}, "x shrunk, y shrunk"},
		"two lines, then both":             {[][]string{{"x", "y"}}, []string{"S<x,y"}, "S persisting"},
		"another line":                     {[][]string{{"S<x"}}, []string{"y"}, "S fixed, y new"},
		"the line and the stack, not one":  {[][]string{{"x"}}, []string{"S"}, "S new, x fixed"},
		"one that an older report tells":   {[][]string{{"S<x"}, {"x"}}, []string{"S"}, "S persisting"},
		"both beside each other":           {[][]string{{"S<x"}}, []string{"S", "x"}, "S persisting, x persisting"},
		"two reports, each with the other": {[][]string{{"S<x"}, {"S<x"}}, []string{"x"}, "x persisting"},
	} {
		var reports []*analysis.Report
		for _, names := range test.baseline {
			reports = append(reports, report(names...))
		}
		head := report(test.head...)
		leaks.CompareReports(head, baselineOf(reports...))
		var got []string
		for _, ch := range head.Compared.Changes {
			got = append(got, strings.TrimPrefix(ch.Signature, "sig1:")+" "+ch.Change)
		}
		if slices.Sort(got); strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
