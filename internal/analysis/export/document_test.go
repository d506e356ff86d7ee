package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/golden"
)

// reports are the reports that formats are tested with, and an empty one.
func reports() map[string]*analysis.Report {
	inline := report()
	inline.Modules = []analysis.Module{{Name: "app", Base: "0x7ff654800000", Size: 0x40000, DebugID: "ABCD1"},
		{Name: "plugin", Base: "", DebugID: ""}}
	inline.Sites = append(inline.Sites, analysis.Site{Kind: "heap", Verdict: analysis.ClassLeak, Stack: inline.AddStack(
		&analysis.Frame{Module: "app", Function: "Small", Inline: true, File: "a.h", Line: 3, Address: "0x7ff654801000"},
		&analysis.Frame{Module: "app", Function: "Middle", Inline: true, File: "b.h", Line: 4, Address: "0x7ff654801000"},
		&analysis.Frame{Module: "app", Function: "Outer", Offset: "0x10", File: "c.cpp", Line: 5, Address: "0x7ff654801000"},
		&analysis.Frame{Module: "app", Function: "main", Offset: "0x20", Address: "0x7ff654802000"})})
	return map[string]*analysis.Report{"report": report(), "trace": traceReport(), "inline": inline,
		"nothing": {Verdict: analysis.EvidenceVerdict{Status: analysis.StatusNoLeak}}}
}

// A profile reads back with a sample for each site and with the bytes in use of the report; golden files hold the rest.
func TestPprof(t *testing.T) {
	for name, r := range reports() {
		p, err := profile.ParseData([]byte(writeReport(t, "pprof", r, export.Options{})))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(p.Sample) != len(r.Sites) {
			t.Errorf("%s: %d samples of %d sites", name, len(p.Sample), len(r.Sites))
		}
		column := map[string]int{}
		for i, v := range p.SampleType {
			column[v.Type] = i
		}
		var want, got int64
		for i := range r.Sites {
			want += r.Sites[i].Outstanding.Bytes
			got += p.Sample[i].Value[column["inuse_space"]]
		}
		if got != want {
			t.Errorf("%s: %d bytes in use, want %d", name, got, want)
		}
		p.TimeNanos = 0
		golden.Check(t, "testdata/"+name+".pprof.txt", p.String())
	}
}

// Inlined calls are lines of one location, innermost first, as go tool pprof expects.
func TestPprofInlines(t *testing.T) {
	p, err := profile.ParseData([]byte(writeReport(t, "pprof", reports()["inline"], export.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	stack := p.Sample[3].Location
	if len(stack) != 2 || len(stack[0].Line) != 3 || stack[0].Line[0].Function.Name != "app!Small" ||
		stack[0].Line[2].Function.Name != "app!Outer" || stack[1].Line[0].Function.Name != "app!main" {
		t.Errorf("stack %+v", stack)
	}
	if m := stack[0].Mapping; m == nil || m.BuildID != "ABCD1" || stack[0].Address != 0x7ff654801000 {
		t.Errorf("location %+v", stack[0])
	}
}

// speedscopeSchema is the layout that speedscope publishes in file-format-spec.ts, for files of sampled profiles.
const speedscopeSchema = `{
	"type": "object", "required": ["$schema", "shared", "profiles"], "additionalProperties": false,
	"properties": {
		"$schema": {"const": "https://www.speedscope.app/file-format-schema.json"}, "version": {"type": "string"}, "name": {"type": "string"},
		"exporter": {"type": "string"}, "activeProfileIndex": {"type": "integer", "minimum": 0},
		"shared": {"type": "object", "required": ["frames"], "additionalProperties": false, "properties": {"frames": {"type": "array", "items": {
			"type": "object", "required": ["name"], "additionalProperties": false,
			"properties": {"name": {"type": "string"}, "file": {"type": "string"}, "line": {"type": "integer"}, "col": {"type": "integer"}}}}}},
		"profiles": {"type": "array", "items": {
			"type": "object", "required": ["type", "name", "unit", "startValue", "endValue", "samples", "weights"], "additionalProperties": false,
			"properties": {
				"type": {"const": "sampled"}, "name": {"type": "string"}, "unit": {"enum": ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]},
				"startValue": {"type": "number"}, "endValue": {"type": "number"},
				"samples": {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0}}},
				"weights": {"type": "array", "items": {"type": "number", "minimum": 0}}}}}}}`

func TestSpeedscope(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(speedscopeSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("speedscope.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("speedscope.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range reports() {
		text := writeReport(t, "speedscope", r, export.Options{})
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var file struct {
			Shared   struct{ Frames []struct{ Name string } }
			Profiles []struct {
				Name     string
				EndValue int64
				Samples  [][]int
				Weights  []int64
			}
		}
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			t.Fatal(err)
		}
		for _, p := range file.Profiles {
			var sum int64
			for i, w := range p.Weights {
				sum += w
				for _, frame := range p.Samples[i] {
					if frame >= len(file.Shared.Frames) {
						t.Errorf("%s: frame %d of %d", name, frame, len(file.Shared.Frames))
					}
				}
			}
			if len(p.Samples) != len(p.Weights) || sum != p.EndValue {
				t.Errorf("%s, %s: %d samples, %d weights of %d, the end is %d", name, p.Name, len(p.Samples),
					len(p.Weights), sum, p.EndValue)
			}
		}
		if name == "report" {
			first := file.Profiles[0].Samples[0] // outermost first
			if outer, inner := file.Shared.Frames[first[1]].Name,
				file.Shared.Frames[first[len(first)-1]].Name; outer != "plugin+0x2a40" || inner != "ntdll!RtlAllocateHeap" {
				t.Errorf("the stack runs from %s to %s", outer, inner)
			}
		}
	}
}

// The verdict of a report makes its suite failed, passed or undecided, and each suspect is a test case.
func TestJUnitOfReports(t *testing.T) {
	leak := report()
	leak.Verdict.Status, leak.Findings[0].Known = analysis.StatusLeak, ""
	known := report()
	known.Verdict.Status = analysis.StatusNoLeak
	for _, test := range []struct {
		r                       *analysis.Report
		tests, failures, errors int
	}{
		{leak, 2, 2, 0}, {known, 2, 0, 0}, {report(), 2, 0, 1},
		{&analysis.Report{Verdict: analysis.EvidenceVerdict{Status: analysis.StatusNoLeak}}, 1, 0, 0},
	} {
		var suites struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		}
		text := writeReport(t, "junit", test.r, export.Options{})
		if err := xml.NewDecoder(bytes.NewReader([]byte(text))).Decode(&suites); err != nil {
			t.Fatal(err)
		}
		if suites.Tests != test.tests || suites.Failures != test.failures || suites.Errors != test.errors {
			t.Errorf("%+v, want %+v\n%s", suites, test, text)
		}
	}
}

// The SARIF log of every report is valid by the schema that package outcome uses in its tests.
func TestSARIFOfReports(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("outcome/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range reports() {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(writeReport(t, "sarif", r, export.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
