package query_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// held is what made-up sites hold at each snapshot: by site, then by snapshot.
type held [][]capture.Usage

// series makes up snapshots of a process with some sites, and their report.
func series(t testing.TB, r *rand.Rand, snapshots, sites int) (*analysis.Report, held) {
	t.Helper()
	all := make(held, sites)
	for i := range all {
		for range snapshots {
			u := capture.Usage{}
			if r.IntN(4) > 0 {
				n := 1 + r.Int64N(50)
				u = capture.Usage{Count: n, Bytes: n * 16}
			}
			all[i] = append(all[i], u)
		}
	}
	var inputs []analysis.Input
	for k := range snapshots {
		c := &capture.Capture{
			Kind: "umdh-snapshot", Shape: capture.ShapeSnapshot, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 32},
			Heaps: []capture.Heap{{Handle: 0x10000}}, Snapshots: []capture.Snapshot{{}},
		}
		for i := range all {
			if all[i][k].Count == 0 { // a log lists nothing that holds nothing
				continue
			}
			frame := c.Stacks.AddText(capture.FrameText{Module: "app", Function: fmt.Sprintf("Place%d", i)}, 0)
			c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack([]capture.FrameID{frame}), Trace: uint64(i + 1),
				Usage: []capture.Usage{all[i][k]}})
		}
		inputs = append(inputs,
			analysis.Input{Files: []analysis.File{{Name: fmt.Sprintf("%d.txt", k+1)}}, Captures: []*capture.Capture{c}})
	}
	report, err := analysis.Analyze(t.Context(), inputs, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report, all
}

// allRows are the rows of a ranking, read a few at a time.
func allRows(r *query.Ranking) (rows []query.Row) {
	for from := 0; from < r.Len(); from += 7 {
		rows = append(rows, r.Rows(from, from+7)...)
	}
	return rows
}

// In any part of a series, the memory held is that of the part's last snapshot. Growth is from its first to its last.
// Sites that hold nothing in the part are left out.
func TestPartOfASeries(t *testing.T) {
	const snapshots, sites = 6, 40
	report, all := series(t, rand.New(rand.NewPCG(3, 4)), snapshots, sites)
	index := query.New(report)
	for from := 1; from <= snapshots; from++ {
		for to := from; to <= snapshots; to++ {
			var want query.Numbers
			n := 0
			for _, usage := range all {
				is := false
				for _, u := range usage[from-1 : to] {
					is = is || u.Count > 0
				}
				if !is {
					continue
				}
				n++
				first, last := usage[from-1], usage[to-1]
				want.Held.Count, want.Held.Bytes = want.Held.Count+last.Count, want.Held.Bytes+last.Bytes
				if to > from {
					if want.Growth == nil {
						want.Growth = &analysis.Amount{}
					}
					want.Growth.Count, want.Growth.Bytes = want.Growth.Count+last.Count-first.Count,
						want.Growth.Bytes+last.Bytes-first.Bytes
				}
			}
			result, err := index.Ask(t.Context(),
				query.Selection{Snapshots: query.Range{From: uint64(from), To: uint64(to)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			totals := result.Totals()
			if !reflect.DeepEqual(totals.Numbers, want) || totals.Sites != n {
				t.Errorf("snapshots %d to %d: %d sites with %+v, not %d with %+v", from, to, totals.Sites, totals.Numbers, n, want)
			}
			if whole := from == 1 && to == snapshots; whole != (totals.Snapshots == nil) ||
				!whole && *totals.Snapshots != (query.Snapshots{From: from, To: to}) {
				t.Errorf("snapshots %d to %d are said to be %+v", from, to, totals.Snapshots)
			}
			var ranked query.Numbers
			for _, row := range allRows(result.Ranked(query.Metrics[0])) {
				ranked.Held.Bytes += row.Held.Bytes
			}
			if ranked.Held.Bytes != want.Held.Bytes {
				t.Errorf("snapshots %d to %d: rows hold %d bytes, not %d", from, to, ranked.Held.Bytes, want.Held.Bytes)
			}
			if narrow := result.SelectedReport(); len(narrow.Sites) != n {
				t.Errorf("snapshots %d to %d: an export has %d sites", from, to, len(narrow.Sites))
			}
		}
	}
}

// An address selects a part of a series; an impossible part is refused with advice.
func TestSnapshotsInAddresses(t *testing.T) {
	report, _ := series(t, rand.New(rand.NewPCG(5, 6)), 3, 4)
	trace, rows := process(t, rand.New(rand.NewPCG(1, 2)), 50)
	for _, test := range []struct {
		address, again, problem string
		report                  *analysis.Report
	}{
		{"", "", "", report},
		{"since=1", "", "", report},
		{"since=2", "since=2", "", report},
		{"until=2", "until=2", "", report},
		{"since=2&until=3", "since=2&until=3", "", report},
		{"since=3&until=3", "since=3&until=3", "", report},
		{"since=0", "", `since: "0" is not the number of a snapshot; the first is 1`, report},
		{"until=x", "", `until: "x" is not the number of a snapshot; the first is 1`, report},
		{"since=3&until=2", "", "since: snapshot 3 comes after snapshot 2, which until names", report},
		{"since=4", "since=4", "snapshot 4 is not there: the run has 3", report},
		{"until=9", "until=9", "snapshot 9 is not there: the run has 3", report},
		{"until=2", "until=2",
			"since and until are numbers of snapshots, and a trace has none; select its window by from and to", trace},
	} {
		values, err := url.ParseQuery(test.address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := query.Parse(values)
		if err == nil {
			if again := s.Values().Encode(); again != test.again {
				t.Errorf("%q is %q", test.address, again)
			}
			_, err = query.New(test.report).Ask(t.Context(), s, &query.Table{Scanner: rows, Sites: 10})
		}
		var refused *analysis.Error
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("%q: %v", test.address, err)
		case test.problem != "" &&
			(!errors.As(err, &refused) || refused.Code != query.CodeBadSelection || refused.Message != test.problem):
			t.Errorf("%q: %v", test.address, err)
		}
	}
}

// A selection without an end takes the end of the series, and no selection reaches beyond the series.
func TestSelectedPartOfASeries(t *testing.T) {
	for _, test := range []struct {
		n        int
		selected query.Range
		want     query.Snapshots
		all      bool
	}{
		{5, query.Range{}, query.Snapshots{From: 1, To: 5}, true},
		{5, query.Range{From: 1, To: 5}, query.Snapshots{From: 1, To: 5}, true},
		{5, query.Range{From: 2}, query.Snapshots{From: 2, To: 5}, false},
		{5, query.Range{To: 4}, query.Snapshots{From: 1, To: 4}, false},
		{5, query.Range{From: 5, To: 5}, query.Snapshots{From: 5, To: 5}, false},
		{5, query.Range{From: 6, To: 7}, query.Snapshots{From: 5, To: 5}, false},
		{5, query.Range{From: 4, To: 2}, query.Snapshots{From: 4, To: 4}, false},
		{5, query.Range{From: math.MaxUint64}, query.Snapshots{From: 5, To: 5}, false},
	} {
		s := query.Selection{Snapshots: test.selected}
		if got := s.Part(test.n); got != test.want || got.IsAll(test.n) != test.all {
			t.Errorf("%+v of %d: %+v, all %v", test.selected, test.n, got, got.IsAll(test.n))
		}
	}
}

// An export of some of a run's sites does not tell what is not there: as a baseline it would prove leaks new that it
// leaves out.
func TestExportOfAPartDoesNotSuffice(t *testing.T) {
	report, _ := series(t, rand.New(rand.NewPCG(3, 4)), 6, 40)
	for text, part := range map[string]bool{"": false, report.Sites[0].Signature: true} {
		result, err := query.New(report).Ask(t.Context(), query.Selection{Text: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		narrow := result.SelectedReport()
		if suffices := narrow.Suffices(); len(narrow.Sites) == 0 || (len(narrow.Sites) < len(report.Sites)) != part ||
			suffices == part {
			t.Errorf("%q: %d of %d sites, which suffice: %t", text, len(narrow.Sites), len(report.Sites), suffices)
		}
	}
}
