package outcome_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/golden"
)

func score(f float64) *float64 { return &f }

// failing is an outcome with a leak of each kind, whose texts hold what each form must escape.
func failing() *outcome.Outcome {
	o := &outcome.Outcome{
		Version: "v1.2.3", Project: "shop", Build: "b101", Baseline: "b100", Scenario: "soak", Commit: "3f2a91c",
		Gate: outcome.GateFailed, Why: "1 new leak",
		Sentence: "shop.exe leaks 1.95 MB in `2,000` blocks from <Cart|Add> @alice #12 -->.",
		Power:    "A leak of 10 KB per hour would have been seen.",
		Matters:  "What matters here: 1.00 MB per day (set for the scenario soak)",
		URL:      "http://heapdrift:8080/runs/5", JobURL: "https://ci.example/1",
		Problems: []string{"app-3.txt could not be read: bad \x1b[2J\x00 bytes \ufffe"},
		Leaks: []outcome.Leak{
			{Signature: "sig1:fixed", Title: "Index::Rebuild", Change: outcome.ChangeFixed, Class: "leak",
				URL: "http://heapdrift:8080/l/3"},
			{Signature: "sig1:known", Title: "vendor!Pool", Change: outcome.ChangeKnown, Class: "leak", Certain: true,
				Known: "vendor, ticket 9", Module: "vendor", File: "src/pool.cpp", Line: 3, InSource: true},
			{Signature: "sig1:grow", Title: "shop!Cache::Put", Change: outcome.ChangePersisting, Class: "growing",
				Score: score(0.4), File: `c:\src\my shop\cache#1.cpp`, Line: 7, Module: "shop", Function: "Cache::Put"},
			{Signature: "sig1:new", Title: "shop!Cart::Add<'x'|&>", Change: outcome.ChangeNew, Class: "leak", Certain: true,
				Score: score(0.97), Fails: true, Growth: "+1.95 MB in 2,000 blocks",
				Module: "shop", Function: "Cart::Add<'x'|&>", File: "src/cart.cpp", Line: 118, InSource: true,
				Frames:   []string{"shop!Cart::Add", "shop!`anonymous namespace'::Run"},
				Reasons:  []string{"✓ grows in 9 of 10 intervals"},
				FirstBad: "b101", Owner: "@team-cart", Ticket: "SHOP-7", URL: "http://heapdrift:8080/l/1"},
		},
	}
	o.Sort()
	return o
}

// outcomes are outcomes of every kind.
func outcomes() map[string]*outcome.Outcome {
	return map[string]*outcome.Outcome{
		"failed": failing(),
		"passed": {Project: "shop", Scenario: "soak", Build: "b100", Gate: outcome.GatePassed,
			Sentence: "Nothing leaks.", Why: "nothing leaks", URL: "http://h/runs/1"},
		"inconclusive": {Project: "shop", Gate: outcome.GateInconclusive, Sentence: "3 more snapshots are needed.",
			Leaks: []outcome.Leak{{Signature: "s", Change: outcome.ChangeFound, Class: "growing"}}},
		"pending": {Gate: outcome.GatePending, Sentence: "The evidence is still being analysed."},
		"error":   {Gate: outcome.GateError, Problems: []string{""}},
		"no verdict": {Project: "shop", Scenario: "soak", Gate: outcome.GateError, Code: "unreachable",
			Sentence: "There is no verdict: the server fails after 12 tries."},
	}
}

func write(t *testing.T, f outcome.Format, o *outcome.Outcome) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, f := range outcome.Formats {
		golden.Check(t, "testdata/outcome."+f.Name, string(write(t, f, failing())))
	}
}

// The SARIF log of every outcome is valid, and no undecided outcome looks like a pass.
func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	for name, o := range outcomes() {
		text := write(t, format(t, "sarif"), o)
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		var log struct {
			Runs []struct {
				Invocations []struct{ ExecutionSuccessful bool }
				Results     []struct{ Level string }
			}
		}
		if err := json.Unmarshal(text, &log); err != nil {
			t.Fatal(err)
		}
		decided := name == "passed" || name == "failed"
		if log.Runs[0].Invocations[0].ExecutionSuccessful != decided {
			t.Errorf("%s: %s", name, text)
		}
		if len(o.Leaks) > 0 && name == "failed" &&
			(len(log.Runs[0].Results) != 3 || log.Runs[0].Results[0].Level != "error") {
			t.Errorf("%s: %+v", name, log.Runs[0].Results)
		}
	}
	broken, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"2.1.0","runs":[{"results":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(broken) == nil {
		t.Error("the schema takes a run without a tool")
	}
}

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func format(t *testing.T, name string) outcome.Format {
	t.Helper()
	i := slices.IndexFunc(outcome.Formats, func(f outcome.Format) bool { return f.Name == name })
	return outcome.Formats[i]
}

// junitSchema holds what junit-10.xsd allows for each element: its attributes, required ones marked with !, its
// children, and whether it holds text.
var junitSchema = map[string]struct {
	attributes, children string
	text                 bool
}{
	"testsuites": {"name time tests failures errors", "testsuite", false},
	"testsuite": {"!name !tests !failures !errors group time skipped timestamp hostname id package file log url",
		"testsuite properties testcase system-out system-err", false},
	"properties": {"", "property", false},
	"property":   {"!name !value", "", false},
	"testcase": {"!name time classname group",
		"skipped error failure rerunFailure rerunError flakyFailure flakyError system-out system-err", false},
	"skipped":    {"type message", "", true},
	"error":      {"type message", "", true},
	"failure":    {"type message", "", true},
	"system-out": {"", "", true},
	"system-err": {"", "", true},
}

// checkJUnit returns the first fault of a document by junitSchema, or nil.
func checkJUnit(text []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	var open []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			rule, ok := junitSchema[name]
			if !ok || len(open) == 0 && name != "testsuites" ||
				len(open) > 0 && !slices.Contains(strings.Fields(junitSchema[open[len(open)-1]].children), name) {
				return fmt.Errorf("%s is not allowed in %v", name, open)
			}
			has := map[string]bool{}
			for _, a := range token.Attr {
				has[a.Name.Local] = true
				if !slices.Contains(strings.Fields(strings.ReplaceAll(rule.attributes, "!", "")), a.Name.Local) {
					return fmt.Errorf("%s has no attribute %s", name, a.Name.Local)
				}
			}
			for a := range strings.FieldsSeq(rule.attributes) {
				if required, ok := strings.CutPrefix(a, "!"); ok && !has[required] {
					return fmt.Errorf("%s lacks %s", name, required)
				}
			}
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 && (len(open) == 0 || !junitSchema[open[len(open)-1]].text) {
				return fmt.Errorf("text %q in %v", token, open)
			}
		}
	}
}

func TestJUnitIsValid(t *testing.T) {
	for name, o := range outcomes() {
		text := write(t, format(t, "junit"), o)
		if err := checkJUnit(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		var suites struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		}
		if err := xml.Unmarshal(text, &suites); err != nil {
			t.Fatal(err)
		}
		if (suites.Failures > 0) != (name == "failed") || (suites.Errors > 0) != (name != "failed" && name != "passed") ||
			suites.Tests != len(o.Leaks)+1 {
			t.Errorf("%s: %+v", name, suites)
		}
	}
	for _, broken := range []string{"<testsuite/>", "<testsuites><testcase name='x'/></testsuites>",
		"<testsuites><testsuite name='x'/></testsuites>", "<testsuites x='1'/>", "<testsuites>x</testsuites>"} {
		if checkJUnit([]byte(broken)) == nil {
			t.Errorf("%s is taken", broken)
		}
	}
}

// The fingerprint of a leak contains neither line nor title, so that a leak whose line or title changes stays one
// issue.
func TestCodeClimate(t *testing.T) {
	o := failing()
	before := write(t, format(t, "codeclimate"), o)
	o.Leaks[0].Line, o.Leaks[0].Title = 500, "moved"
	after := write(t, format(t, "codeclimate"), o)
	prints := func(text []byte) (list []string) {
		var issues []struct {
			Fingerprint string `json:"fingerprint"`
			Location    struct {
				Path  string `json:"path"`
				Lines struct{ Begin int }
			} `json:"location"`
		}
		if err := json.Unmarshal(text, &issues); err != nil {
			t.Fatal(err)
		}
		for _, i := range issues {
			if i.Location.Path == "" || i.Location.Lines.Begin < 1 {
				t.Errorf("an issue without a place: %+v", i)
			}
			list = append(list, i.Fingerprint)
		}
		return list
	}
	if a, b := prints(before), prints(after); len(a) != 2 || !slices.Equal(a, b) || a[0] == a[1] {
		t.Errorf("%v and %v", a, b)
	}
	if text := write(t, format(t, "codeclimate"), &outcome.Outcome{}); string(text) != "[]\n" {
		t.Errorf("nothing is %s", text)
	}
}

// The Markdown of a thousand leaks still fits in a comment.
func TestMarkdownIsBounded(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateFailed, Leaks: make([]outcome.Leak, 1000)}
	text := string(write(t, format(t, "markdown"), o))
	if strings.Count(text, "\n") > 100 || !strings.Contains(text, "950 more.") {
		t.Errorf("%d bytes:\n%.300s", len(text), text)
	}
}

// A verdict that does not decide names the recording that would.
func TestMarkdownNamesRecording(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateInconclusive, RecordCommand: `heapdrift record --image "my app.exe"`, KitURL: "http://h/projects/shop/kit?build=1"}
	text := string(write(t, format(t, "markdown"), o))
	for _, want := range []string{"\nRecord evidence that decides: `heapdrift record --image \"my app.exe\"`\n",
		"\n[Scripts](http://h/projects/shop/kit?build=1) record it"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if text := string(write(t, format(t, "markdown"), &outcome.Outcome{Gate: outcome.GatePassed})); strings.Contains(text, "Record") ||
		strings.Contains(text, "Scripts") {
		t.Error(text)
	}
}

// A leak that could fail the gate and is not decided is an error where the gate does not pass, and is told as such; a
// policy that lets it pass skips it.
func TestDoubtfulLeaks(t *testing.T) {
	for gate, want := range map[string]string{
		outcome.GateInconclusive: `errors="2" skipped="0"`, outcome.GateFailed: `errors="1" skipped="0"`,
		outcome.GatePassed: `errors="0" skipped="1"`,
	} {
		o := &outcome.Outcome{Gate: gate, Leaks: []outcome.Leak{
			{Signature: "s", Title: "f", Change: outcome.ChangeNew, Class: "leak", Score: score(0.09), Doubtful: true}}}
		if text := string(write(t, format(t, "junit"), o)); !strings.Contains(text, want) {
			t.Errorf("%s lacks %s:\n%s", gate, want, text)
		}
		if text := string(write(t, format(t, "markdown"), o)); !strings.Contains(text, "| new, not decided | `f` |") {
			t.Errorf("%s:\n%s", gate, text)
		}
	}
}

// A comment leaves out what is improbable and says how much that is, except what the gate goes by or a person waits for.
func TestMarkdownLeavesOutImprobable(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateFailed, Leaks: []outcome.Leak{
		{Signature: "low", Score: score(0.09)}, {Signature: "known", Change: outcome.ChangeKnown, Score: score(0.02)},
		{Signature: "even", Score: score(0.1)}, {Signature: "unscored"}, {Signature: "fails", Score: score(0), Fails: true},
		{Signature: "fixed", Change: outcome.ChangeFixed, Score: score(0)},
	}}
	text := string(write(t, format(t, "markdown"), o))
	for name, shown := range map[string]bool{"low": false, "known": false, "even": true, "unscored": true, "fails": true, "fixed": true} {
		if strings.Contains(text, "`"+name+"`") != shown {
			t.Errorf("%s: %v, want %v", name, !shown, shown)
		}
	}
	if !strings.Contains(text, "\nNot listed: 2 leaks with a probability below 10 %.\n") {
		t.Error(text)
	}
}

// Results have a file; leaks without one are counted, and named where they fail the gate.
func TestSARIFWithoutFiles(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateFailed, Leaks: []outcome.Leak{
		{Signature: "a", Title: "f", File: "a.cpp", Line: 1}, {Signature: "b", Module: "m"},
		{Signature: "c", Change: outcome.ChangeFixed}}}
	check := func(want string) {
		t.Helper()
		text := string(write(t, format(t, "sarif"), o))
		if strings.Count(text, `"ruleId"`) != 1 || !strings.Contains(text, `"text": "`+want+`"`) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	check("Not listed: 1 leak without a file; none fails the gate")
	for i, want := range []string{
		"Not listed: 2 leaks without a file; failing the gate: x0", "", "", "Not listed: 5 leaks without a file; failing the gate: x0, x1, x2, x3",
		"Not listed: 6 leaks without a file; failing the gate: x0, x1, x2, x3, x4",
		"Not listed: 7 leaks without a file; failing the gate: x0, x1, x2, x3, x4 and 1 more",
	} {
		o.Leaks = append(o.Leaks, outcome.Leak{Signature: fmt.Sprint("x", i), Fails: true})
		if want != "" {
			check(want)
		}
	}
}

// The time of a job is that of its suite and its gate.
func TestJUnitTimes(t *testing.T) {
	o := outcomes()["passed"]
	if text := string(write(t, format(t, "junit"), o)); strings.Contains(text, "time") {
		t.Errorf("a time from nowhere:\n%s", text)
	}
	o.Began, o.Took = time.Date(2026, 11, 27, 12, 0, 0, 0, time.FixedZone("", 3600)), 2500*time.Millisecond
	text := string(write(t, format(t, "junit"), o))
	if err := checkJUnit([]byte(text)); err != nil || !strings.Contains(text, `timestamp="2026-11-27T11:00:00" time="2.500"`) ||
		!strings.Contains(text, `name="gate" time="2.500"`) {
		t.Errorf("%v:\n%s", err, text)
	}
}

// Names come from evidence, and sentences from anybody in the team: neither may end its code span or become a link in a
// comment.
func TestMarkdownHoldsNames(t *testing.T) {
	var b strings.Builder
	o := &outcome.Outcome{Gate: outcome.GateFailed, Sentence: `\[click\](http://evil)`, Leaks: []outcome.Leak{
		{Signature: "s1", Title: "a``b [x](http://evil) `c`", Change: outcome.ChangeNew},
		{Signature: "s2", Title: "`anonymous namespace'::F", Change: outcome.ChangeNew},
	}}
	if err := outcome.Markdown(&b, o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\\\[click\\\](http://evil)`, "``` a``b [x](http://evil) `c` ```",
		"`` `anonymous namespace'::F ``"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// A push without a verdict says so in every form, with its code: none of its files looks like a pass.
func TestNoVerdict(t *testing.T) {
	o := outcomes()["no verdict"]
	for name, wants := range map[string][]string{
		"junit": {`tests="1" failures="0" errors="1"`, `<error type="unreachable" message="There is no verdict: `},
		"sarif": {`"executionSuccessful": false`, `"level": "error"`, `"id": "unreachable"`,
			`"text": "There is no verdict: the server fails after 12 tries. "`},
		"codeclimate": {`"check_name": "no-verdict"`, `"severity": "blocker"`, "There is no verdict: "},
		"markdown":    {"shop soak ⚠ error\n\nThere is no verdict: ", "code `unreachable`"},
	} {
		text := string(write(t, format(t, name), o))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%s", name, want, text)
			}
		}
	}
	if text := string(write(t, format(t, "codeclimate"), outcomes()["passed"])); text != "[]\n" {
		t.Error(text)
	}
}

// together is an outcome with three leaks of one cause, of which two fail the gate, and one beside them.
func together() *outcome.Outcome {
	o := &outcome.Outcome{Project: "shop", Scenario: "soak", Gate: outcome.GateFailed, Why: "2 new leaks in 3 stacks"}
	for i, l := range []outcome.Leak{{Title: "shop!Session", CauseGroup: "lost objects of shop!Open", Ratio: "1 : 5 : 2", Fails: true},
		{Title: "shop!Cart", Fails: true}, {Title: "shop!Name", CauseGroup: "lost objects of shop!Open", Ratio: "1 : 5 : 2", Fails: true},
		{Title: "shop!Node", CauseGroup: "lost objects of shop!Open", Ratio: "1 : 5 : 2"}} {
		l.Signature, l.Change, l.Class, l.Growth = fmt.Sprint("sig1:", i), outcome.ChangeNew, "leak", "+1 KB in 9 blocks"
		o.Leaks = append(o.Leaks, l)
	}
	o.Sort()
	return o
}

// Leaks of one cause are one case and one row, with all of them below; what the gate takes in another way is apart.
func TestCauses(t *testing.T) {
	o := together()
	if n := o.Count(outcome.ChangeNew); n != 3 {
		t.Errorf("%d new leaks", n)
	}
	for _, name := range []string{"junit", "markdown"} {
		golden.Check(t, "testdata/together."+name, string(write(t, format(t, name), o)))
	}
	if err := checkJUnit(write(t, format(t, "junit"), o)); err != nil {
		t.Error(err)
	}
}

// A cause of more stacks than a comment lists counts the others.
func TestCauseOfManyStacks(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateFailed}
	for i := range 52 {
		o.Leaks = append(o.Leaks, outcome.Leak{Signature: fmt.Sprint("s", i), Change: outcome.ChangeNew, CauseGroup: "lost", Fails: true})
	}
	text := string(write(t, format(t, "markdown"), o))
	if strings.Count(text, "↳") != 51 || !strings.Contains(text, "| | ↳ 2 more |") || !strings.Contains(text, "1 leak in 52 stacks") {
		t.Error(text)
	}
}

// The comment of a pull request says of leaks at exit what was left, in the column of growth.
func TestMarkdownOfLeaksAtExit(t *testing.T) {
	o := &outcome.Outcome{Project: "shop", Build: "7", Gate: outcome.GateFailed, Why: "1 new leak", Leaks: []outcome.Leak{
		{Signature: "sig1:new", Title: "app!Put", Change: outcome.ChangeNew, Class: "left-at-exit", Certain: true, Fails: true,
			Growth: outcome.LeftText(2048, 2), FirstBad: "7"},
		{Signature: "sig1:old", Title: "app!Pool", Change: outcome.ChangeKnown, Class: "left-at-exit", Certain: true,
			Known: "statics", Growth: outcome.LeftText(300, 1)},
	}}
	text := string(write(t, format(t, "markdown"), o))
	for _, want := range []string{"left-at-exit | 2.00 KB in 2 blocks at exit | 7 |", "300 B in 1 block at exit |  | known: statics |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
