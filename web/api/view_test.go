package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/parquet-go/parquet-go"

	"heapdrift/ingest/umdh"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// All views of a selection of a real run add up to the same numbers, and the programs that exports are made for read
// them.
func TestViews(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n, run, end := startTrace(t)
	path := func(view, q string) string { return fmt.Sprintf("/api/v1/runs/%d/views/%s?%s", run.ID, view, q) }
	for _, selection := range []string{"", "kind=heap", fmt.Sprintf("from=%g&to=%g", float64(end)/4e9, float64(end)/2e9),
		"size=64-4096"} {
		totals := decode[query.Totals](t, n.do("GET", path("totals", selection), nil).want(t, 200, ""))
		if totals.Sites == 0 || totals.Held == (analysis.Amount{}) {
			t.Fatalf("%q: %+v", selection, totals)
		}
		for _, view := range []string{"ranked", "modules", "heaps"} {
			rows := decode[struct {
				Run    int64
				Judged string
				Total  int
				Rows   []query.Numbers
			}](t, n.do("GET", path(view, selection+"&limit=10000"), nil).want(t, 200, ""))
			sum := int64(0)
			for _, r := range rows.Rows {
				sum += r.Held.Bytes
			}
			if rows.Run != run.ID || rows.Total != len(rows.Rows) || sum != totals.Held.Bytes {
				t.Errorf("%s of %q: %d rows hold %d bytes, in all %d", view, selection, len(rows.Rows), sum, totals.Held.Bytes)
			}
			if want := map[bool]string{true: "selection", false: "run"}[strings.Contains(selection, "-") ||
				strings.Contains(selection, "from")]; rows.Judged != want || totals.Judged != want {
				t.Errorf("%s of %q: judged is the %s, not the %s", view, selection, rows.Judged, want)
			}
			a := n.do("GET", path(view, selection+"&format=csv"), nil).want(t, 200, "")
			if lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll(); err != nil || len(lines) != rows.Total+1 {
				t.Errorf("%s of %q as CSV: %d lines, %v", view, selection, len(lines), err)
			}
		}
		tree := decode[query.Tree](t, n.do("GET", path("tree", selection+"&metric=held"), nil).want(t, 200, ""))
		sum := tree.LeftOut.Bytes
		for _, v := range tree.Nodes.Self {
			sum += v
		}
		if tree.Schema != query.TreeSchema || sum != totals.Held.Bytes {
			t.Errorf("tree of %q holds %d bytes, in all %d", selection, sum, totals.Held.Bytes)
		}
		blocks := decode[query.Allocations](t, n.do("GET", path("blocks", selection+"&limit=3"), nil).want(t, 200, ""))
		if blocks.Numbers != totals.Held || len(blocks.List) != 3 || blocks.List[0].Size < blocks.List[2].Size ||
			blocks.LeftOut == 0 {
			t.Errorf("blocks of %q: %+v, held %+v", selection, blocks, totals.Held)
		}
	}
	page := decode[struct {
		Total int
		Rows  []query.Row
	}](t, n.do("GET", path("ranked", "limit=1&offset=1&metric=held"), nil).want(t, 200, ""))
	if len(page.Rows) != 1 || page.Total < 2 || page.Rows[0].Function == "" {
		t.Errorf("%+v", page)
	}
	one := decode[query.Totals](t, n.do("GET", path("totals", "signature="+page.Rows[0].Signature), nil).want(t, 200, ""))
	if one.Signatures != 1 || one.Held != page.Rows[0].Held {
		t.Errorf("%+v, in the table %+v", one, page.Rows[0])
	}
	callers := decode[query.Tree](t,
		n.do("GET", path("callers", "metric=held&of="+strings.ReplaceAll(page.Rows[0].Function, "+", "%2B")),
			nil).want(t, 200, ""))
	if len(callers.Nodes.Name) < 2 || callers.Names[callers.Nodes.Name[1]] != page.Rows[0].Function {
		t.Errorf("%+v", callers)
	}
	a := n.do("GET", path("tree", ""), nil).want(t, 200, "")
	n.do("GET", path("tree", ""), nil, "If-None-Match", a.Header.Get("ETag")).want(t, 304, "")
	for q, code := range map[string]string{"metric=x": "bad-selection", "from=x": "bad-selection",
		"from=3&to=1": "bad-window", "format=x": "invalid-format", "limit=0": "invalid-limit", "unit=x": "invalid-unit"} {
		n.do("GET", path("ranked", q), nil).want(t, 422, code)
	}
	n.do("GET", path("callers", ""), nil).want(t, 422, "invalid-of")
	n.do("GET", path("butterfly", ""), nil).want(t, 422, "invalid-of")
	around := decode[query.Butterfly](t,
		n.do("GET", path("butterfly", "metric=held&of="+url.QueryEscape(page.Rows[0].Function)), nil).want(t, 200, ""))
	focused := decode[query.Butterfly](t,
		n.do("GET", path("butterfly", "metric=held&fn="+url.QueryEscape(page.Rows[0].Function)), nil).want(t, 200, ""))
	functions := decode[struct {
		Total int
		Rows  []query.Group
	}](t, n.do("GET", path("functions", "metric=held&limit=10000"), nil).want(t, 200, ""))
	at := slices.IndexFunc(functions.Rows, func(g query.Group) bool { return g.Name == page.Rows[0].Function })
	if at < 0 || functions.Total != len(functions.Rows) || functions.Rows[at].Held != around.Function.Held ||
		around.Function.Held != focused.Function.Held || len(around.Callers) == 0 {
		t.Errorf("%+v, focused %+v, in the list at %d", around.Function, focused.Function, at)
	}
	n.do("GET", path("totals", "format=csv"), nil).want(t, 422, "invalid-format")
	n.do("GET", path("nothing", ""), nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/runs/999/views/totals", nil).want(t, 404, "not-found")
}

func TestExportsOfASelection(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n, run, end := startTrace(t)
	path := func(format string) string {
		return fmt.Sprintf("/api/v1/runs/%d/views/ranked?kind=heap&format=%s", run.ID, format)
	}
	totals := decode[query.Totals](t,
		n.do("GET", fmt.Sprintf("/api/v1/runs/%d/views/totals?kind=heap", run.ID), nil).want(t, 200, ""))

	body := n.do("GET", path("pprof"), nil).want(t, 200, "").body
	p, err := profile.Parse(bytes.NewReader(body))
	if err != nil || len(p.Sample) != totals.Sites {
		t.Fatalf("%d samples of %d sites, %v", len(p.Sample), totals.Sites, err)
	}
	file := filepath.Join(t.TempDir(), "a.pb.gz")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top",
		"-sample_index=inuse_space", file).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("flat%")) {
		t.Errorf("go tool pprof: %v\n%s", err, out)
	}

	var file2 struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Samples [][]int
			Weights []int64
		}
	}
	if err := json.Unmarshal(n.do("GET", path("speedscope"), nil).want(t, 200, "").body, &file2); err != nil ||
		len(file2.Profiles) == 0 || len(file2.Profiles[0].Samples) != len(file2.Profiles[0].Weights) {
		t.Errorf("%+v, %v", file2, err)
	}
	if text := n.do("GET", path("folded"), nil).want(t, 200, "").body; !bytes.Contains(text, []byte(";")) {
		t.Errorf("%s", text)
	}

	// Another reader of Parquet reads the export, too.
	from, to := float64(end)/4e9, float64(end)/2e9
	allocated := decode[query.Totals](t,
		n.do("GET", fmt.Sprintf("/api/v1/runs/%d/views/totals?kind=heap&from=%g&to=%g", run.ID, from, to),
			nil).want(t, 200, "")).Allocated
	table := n.do("GET", path("parquet")+fmt.Sprintf("&from=%g&to=%g", from, to), nil).want(t, 200, "")
	type row struct {
		AllocTime *int64 `parquet:"alloc_time_ns,optional"`
		Size      uint64 `parquet:"size"`
		Kind      string `parquet:"kind"`
		Part      bool   `parquet:"part"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(table.body), int64(len(table.body)))
	var sum analysis.Amount
	for _, r := range rows {
		if r.Kind != "heap" {
			t.Errorf("%+v is not selected", r)
		}
		if r.AllocTime != nil && float64(*r.AllocTime) >= from*1e9 && float64(*r.AllocTime) <= to*1e9 {
			sum.Bytes += int64(r.Size)
			if !r.Part {
				sum.Count++
			}
		}
	}
	if err != nil || allocated == nil || sum != *allocated || sum.Count == 0 {
		t.Errorf("the table has %+v allocated inside, the totals %+v, %v", sum, allocated, err)
	}

	// The reader of UMDH's own differences reads ours.
	diff := n.do("GET", path("umdh-text"), nil).want(t, 200, "").body
	if !umdh.Sniff(diff) {
		t.Errorf("it is not taken for UMDH's: %.300s", diff)
	}
	captures, err := umdh.Read(t.Context(), bytes.NewReader(diff), umdh.Options{})
	if err != nil || len(captures) != 1 || len(captures[0].Sites) == 0 {
		t.Fatalf("%d captures, %v", len(captures), err)
	}
	if w := captures[0].Warnings; len(w) > 0 {
		t.Errorf("UMDH's reader warns of it: %+v", w)
	}
	held := int64(0)
	for i := range captures[0].Sites {
		usage := captures[0].Sites[i].Usage
		held += usage[len(usage)-1].Bytes
	}
	if held != totals.Held.Bytes {
		t.Errorf("UMDH's reader finds %d bytes, the selection holds %d", held, totals.Held.Bytes)
	}
}
