package run

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// Findings that are lost together stand below one row of their cause, where the first of them stands on the page.
func TestRowsOfACause(t *testing.T) {
	cause := analysis.LostTogether{Title: "lost objects of app!Open", Ratio: "1 : 5", Verdict: analysis.ClassLeak, Objects: 222,
		Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: 1332, Bytes: 2048}},
		Rate:    &analysis.LostTogetherRate{Unit: "hour", Bytes: 1024},
		Members: []analysis.LostTogetherPart{{Signature: "a", Title: "app!Session", Blocks: 1, BytesPerBlock: 96},
			{Signature: "c", Title: "app!Name", Blocks: 5, BytesPerBlock: 32, Type: "char[32]"}, {Signature: "elsewhere"}}}
	c := &viewCard{report: &analysis.Report{Causes: []analysis.LostTogether{cause}}}
	table := &rankedTable{viewCard: c}
	for _, s := range []string{"x", "a", "b", "c"} {
		table.rows = append(table.rows, rankedRow{Row: query.Row{Signature: s}})
	}
	table.group()
	got := ""
	for _, r := range table.rows {
		if r.cause != nil {
			got += "["
		}
		if r.below {
			got += ">"
		}
		got += r.Signature + " "
	}
	if got != "x [>a >c b " {
		t.Errorf("%q", got)
	}
	var b strings.Builder
	if err := rankedCause(table, table.rows[1].cause).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lost objects of app!Open", "1 leak in 3 stacks, ratio 1 : 5",
		"222 objects allocated and not freed; the stacks hold 2.00 KB in 1,332 blocks, 1.00 KB per hour", "Each object: 5 blocks of 32 B, char[32]: app!Name"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

// The small line below the verdict counts causes, and the stacks where there are more.
func TestConfidenceCountsCauses(t *testing.T) {
	for want, v := range map[string]analysis.EvidenceVerdict{
		"2 leaks": {Leaks: 2, Causes: 2}, "1 leak in 3 stacks": {Leaks: 3, Causes: 1}, "3 leaks": {Leaks: 3},
	} {
		if got := (&reportView{Report: &analysis.Report{Verdict: v}}).confidence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The heading of the growth says what is compared, and in which order the rows stand.
func TestGrowthTitle(t *testing.T) {
	for want, table := range map[string]*rankedTable{
		"bytes at the last snapshot minus bytes at the first; below: growth rate of a leak. Sorted: by severity of the class, then score, then growth": {viewCard: &viewCard{}},
		"bytes at the window's end minus bytes at its start; below: growth rate of a leak":                                                             {viewCard: &viewCard{trace: &traceView{}, listing: listing{metric: "peak"}}},
		"bytes at the last snapshot minus bytes at the first. Sorted: leaks and growing first, then by growth":                                         {viewCard: &viewCard{judgedAlone: true}},
	} {
		if got := table.growthTitle(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
