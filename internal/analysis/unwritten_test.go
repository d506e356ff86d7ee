package analysis_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// What JSON leaves out of a report goes beside it, and the report that is put together from both is whole.
func TestUnwritten(t *testing.T) {
	const a = `c:\src\a.cpp`
	listed := func(sites ...stackSite) *capture.Capture { return stackList("vld", capture.ShapeExit, sites...) }
	line := lineList("", lineSite{a, 7, 2, 64, nil, ""})
	for name, captures := range map[string][]*capture.Capture{
		"a joined line":  {listed(stackSite{"Add", a, 7, 2, 64}), line},
		"several stacks": {listed(stackSite{"Add", a, 7, 2, 64}, stackSite{"Sub", a, 7, 2, 64}), line},
		"snapshots": {stackList(capture.KindUMDHSnapshot, capture.ShapeSnapshot, stackSite{"Add", a, 7, 2, 64}),
			stackList(capture.KindUMDHSnapshot, capture.ShapeSnapshot, stackSite{"Add", a, 7, 4, 128})},
	} {
		r := analyze(t, inputs(captures...))
		u := r.Unwritten()
		text, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		var rest analysis.Unwritten
		if err := json.Unmarshal(text, &rest); err != nil {
			t.Fatal(err)
		}
		back := read(t, r)
		if err := back.Restore(&rest); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Observation, r.Observation) || (r.Observation != nil) != (name == "snapshots") {
			t.Errorf("%s: watched %+v, want %+v", name, back.Observation, r.Observation)
		}
		for i := range r.Sites {
			if back.Sites[i].StackKey != r.Sites[i].StackKey || r.Sites[i].StackKey == (analysis.Key{}) {
				t.Errorf("%s: site %d has the key %v, want %v", name, i, back.Sites[i].StackKey, r.Sites[i].StackKey)
			}
		}
		for i := range r.Findings {
			got, want := &back.Findings[i], &r.Findings[i]
			if got.SeveralStacks != want.SeveralStacks || got.MostHeld != want.MostHeld || !reflect.DeepEqual(got.Risk, want.Risk) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
			for k := range want.Joined {
				if alone := got.Joined[k].Alone; alone == nil || alone.Signature != want.Joined[k].Signature || alone.Title == "" {
					t.Errorf("%s: alone %+v", name, alone)
				}
			}
		}
		some := func(has func(f *analysis.Finding) bool) bool {
			for i := range back.Findings {
				if has(&back.Findings[i]) {
					return true
				}
			}
			return false
		}
		if some(func(f *analysis.Finding) bool { return len(f.Joined) > 0 }) != (name == "a joined line") ||
			some(func(f *analysis.Finding) bool { return f.SeveralStacks }) != (name == "several stacks") ||
			name == "snapshots" != some(func(f *analysis.Finding) bool { return f.MostHeld > 0 && f.Risk != nil }) {
			t.Errorf("%s: the report has not what the test is about: %+v", name, back.Findings)
		}
		for what, of := range map[string]analysis.Unwritten{
			"no findings": {StackKeys: rest.StackKeys}, "fewer keys": {Findings: rest.Findings, StackKeys: rest.StackKeys[1:]},
			"other lines": {Findings: make([]analysis.UnwrittenOfFinding, len(rest.Findings)), StackKeys: rest.StackKeys},
		} {
			if err := read(t, r).Restore(&of); (err == nil) != (what == "other lines" && name != "a joined line") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// read reads a report that has been written.
func read(t *testing.T, r *analysis.Report) *analysis.Report {
	t.Helper()
	var written bytes.Buffer
	if err := r.WriteJSON(&written); err != nil {
		t.Fatal(err)
	}
	back, err := analysis.ReadJSON(&written)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// Every field that JSON leaves out is known here: it is in Unwritten, JSON has it elsewhere, or nobody needs it after
// the report is made.
func TestFieldsThatAreNotWritten(t *testing.T) {
	known := []string{
		"Report.Observation", "Finding.SeveralStacks", "Finding.MostHeld", "Finding.Risk", "JoinedLine.Alone", "Site.StackKey", // Unwritten
		"Report.Stacks",       // frames and stacks of JSON
		"Clause.LengthFactor", // the verdict says what to record next
	}
	seen, found := map[reflect.Type]bool{}, []string{}
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] || !strings.HasPrefix(of.PkgPath(), "heapdrift/") {
			return
		}
		seen[of] = true
		for f := range of.Fields() {
			if f.IsExported() && f.Tag.Get("json") == "-" {
				found = append(found, of.Name()+"."+f.Name)
			}
			if f.IsExported() {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[analysis.Report]())
	slices.Sort(found)
	if slices.Sort(known); !slices.Equal(found, known) {
		t.Errorf("JSON leaves out %q, known are %q", found, known)
	}
}
