package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/query"
	"heapdrift/internal/store/storetest"
)

const (
	sigLeak  = "sig1:00000000000000000000000000000001"
	sigOther = "sig1:00000000000000000000000000000002"
	sigOld   = "sig1:00000000000000000000000000000003"
)

// found is a finding of a report.
func found(signature, name string, class analysis.Class, size int64) analysis.Finding {
	p, holds := 0.2, class == analysis.ClassLeak
	if holds {
		p = 0.97
	}
	return analysis.Finding{
		Signature: signature, Kind: "heap", Title: "shop!" + name, Verdict: class, Score: &p, Certain: holds, Sites: 1,
		Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: size / 10, Bytes: size},
			Growth: &analysis.Amount{Count: size / 10, Bytes: size}},
		Blame:  &analysis.Blame{Module: "shop", Function: name, File: `c:\shop\` + strings.ToLower(name) + ".cpp", Line: 7},
		Frames: []string{"shop!" + name, "shop!main"}, Fine: signature + "f", Leaf: signature + "l",
		Clauses: []score.Clause{{Rule: "slope", Holds: &holds, Text: "it rises"}},
		Rate:    &score.Rate{Unit: "hour", Bytes: float64(size), Count: float64(size) / 10},
		ByKind:  []analysis.KindResult{{Kind: "umdh-snapshot", Verdict: class, Score: &p}},
	}
}

// build stores a run of a build whose report has these findings.
func (n *node) build(name string, findings ...analysis.Finding) (run int64) {
	n.t.Helper()
	status := analysis.StatusNoLeak
	for _, f := range findings {
		if f.Verdict == analysis.ClassLeak {
			status = analysis.StatusLeak
		}
	}
	return n.told(status, name, findings...)
}

// told stores a run of a build whose report has these findings and says this of them all.
func (n *node) told(status analysis.VerdictStatus, name string, findings ...analysis.Finding) (run int64) {
	n.t.Helper()
	return n.sent(name, reportOn(status, findings...))
}

// reportOn is a report with findings.
func reportOn(status analysis.VerdictStatus, findings ...analysis.Finding) *analysis.Report {
	r := report(status, 0)
	r.Findings = findings
	for _, f := range findings {
		r.Sites = append(r.Sites, analysis.Site{
			Signature: f.Signature, Kind: f.Kind, Verdict: f.Verdict, Series: []analysis.Point{},
			Flags: []string{}, Amounts: f.Amounts,
			Stack: r.AddStack(&analysis.Frame{Module: "ntdll", Function: "RtlAllocateHeap", Layer: "alloc"},
				&analysis.Frame{Module: "shop", Function: f.Blame.Function, Layer: "app"},
				&analysis.Frame{Module: "shop", Function: "main", Layer: "app"}),
		})
	}
	return r
}

// sent stores a run of a build with a report.
func (n *node) sent(build string, r *analysis.Report) (run int64) {
	n.t.Helper()
	up := n.put(umdhLog(1000), "build", build, "branch", "main")
	n.read()
	n.analyse(r)
	return up.Run
}

// shopHistory is three builds: the second brings a leak, the third fixes another.
func shopHistory(t *testing.T) *node {
	t.Helper()
	n := start(t)
	n.build("1", found(sigLeak, "Leak", analysis.ClassStable, 0), found(sigOther, "Other", analysis.ClassLeak, 500))
	n.build("2", found(sigLeak, "Leak", analysis.ClassLeak, 1000), found(sigOther, "Other", analysis.ClassLeak, 500))
	n.build("3", found(sigLeak, "Leak", analysis.ClassLeak, 1000), found(sigOther, "Other", analysis.ClassStable, 0))
	return n
}

func at(signature string) string { return "/api/v1/projects/shop/signatures/" + signature }

type leakView struct {
	Signature, Title, URL, State, Class, Assignee, Owner, Ticket string
	Version                                                      int64
	FirstBad                                                     string `json:"first_bad_build"`
	LastClean                                                    string `json:"last_clean_build"`
	LastBad                                                      string `json:"last_bad_build"`
	Known                                                        *struct {
		Reason, Until string
		Expired       bool
	}
	NotLeak    bool   `json:"not_leak"`
	NotLeakWhy string `json:"not_leak_why"`
	Comments   int
	Evidence   *struct{ Clauses []score.Clause }
	Builds     []struct{ Build string }
	History    []struct{ Build, Class string }
	Aliases    []struct{ Signature string }
	Discussion []struct{ Actor, Text string }
}

func TestSignatures(t *testing.T) {
	n := shopHistory(t)
	type list struct {
		Total      int
		Counts     map[string]int
		Signatures []leakView
		Next       string
	}
	get := func(query string) list {
		t.Helper()
		return decode[list](t, n.do("GET", "/api/v1/projects/shop/signatures"+query, nil).want(t, 200, ""))
	}
	all := get("")
	if all.Total != 2 || len(all.Signatures) != 2 || all.Signatures[0].Signature != sigLeak || all.Counts["fixed"] != 1 ||
		all.Counts["new"] != 1 || all.Next != "" {
		t.Errorf("%+v", all)
	}
	first := get("?limit=1&sort=last-seen")
	if len(first.Signatures) != 1 || first.Next == "" {
		t.Fatalf("%+v", first)
	}
	second := decode[list](t, n.do("GET", first.Next, nil).want(t, 200, ""))
	if len(second.Signatures) != 1 || second.Next != "" ||
		second.Signatures[0].Signature == first.Signatures[0].Signature {
		t.Errorf("%+v", second)
	}
	for query, want := range map[string]int{"?state=fixed": 1, "?state=known": 0, "?q=LEAK": 1, "?class=stable": 1,
		"?class=all": 2, "?scenario=soak": 2, "?scenario=other": 0, "?owner=nobody": 0} {
		if got := get(query); got.Total != want {
			t.Errorf("%s: %d, want %d", query, got.Total, want)
		}
	}
	for query, code := range map[string]string{
		"?state=x": "invalid-state", "?class=x": "invalid-class", "?sort=x": "invalid-sort", "?limit=0": "invalid-limit",
		"?limit=501": "invalid-limit",
		"?offset=-1": "invalid-offset", "?q=%00": "invalid-q", "?q=" + strings.Repeat("x", 300): "invalid-q",
		"?owner=%FF": "invalid-owner",
	} {
		n.do("GET", "/api/v1/projects/shop/signatures"+query, nil).want(t, 422, code)
	}
	n.do("GET", "/api/v1/projects/nobody/signatures", nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/projects/%00/signatures", nil).want(t, 404, "not-found")
}

func TestSignature(t *testing.T) {
	n := shopHistory(t)
	a := n.do("GET", at(sigLeak), nil).want(t, 200, "")
	leak := decode[leakView](t, a)
	if leak.State != "new" || leak.FirstBad != "2" || leak.LastClean != "1" || leak.LastBad != "3" ||
		len(leak.History) != 3 || len(leak.Builds) != 3 || leak.URL != "/projects/shop/signatures/"+sigLeak ||
		leak.Evidence == nil || len(leak.Evidence.Clauses) != 1 {
		t.Errorf("%+v", leak)
	}
	if tag := a.Header.Get("ETag"); strings.TrimPrefix(tag, "W/") != fmt.Sprintf(`"%d"`, leak.Version) { // weak where the answer is compressed
		t.Errorf("ETag %s of version %d", tag, leak.Version)
	}
	for _, path := range []string{at("nosuch"), at("%00"), at("%FF"), "/api/v1/projects/nobody/signatures/" + sigLeak,
		at("nosuch") + "/audit"} {
		n.do("GET", path, nil).want(t, 404, "not-found")
	}
}

func TestTriage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := shopHistory(t)
	patch := func(body string, header ...string) answer {
		return n.do("PATCH", at(sigLeak), strings.NewReader(body), header...)
	}
	v := decode[leakView](t,
		patch(`{"assignee": "bob", "ticket": "https://t/1"}`, "X-Heapdrift-Actor", "Ada").want(t, 200, ""))
	if v.Assignee != "bob" || v.Ticket != "https://t/1" {
		t.Errorf("%+v", v)
	}
	old := fmt.Sprintf(`"%d"`, v.Version-1)
	patch(`{"assignee": "carol"}`, "If-Match", old).want(t, 412, "conflict")
	patch(fmt.Sprintf(`{"assignee": "carol", "version": %d}`, v.Version-1)).want(t, 409, "conflict")
	v = decode[leakView](t, patch(`{"state": "known", "reason": "until 5.2", "until": "2099-01-31"}`, "If-Match",
		fmt.Sprintf(`W/"%d"`, v.Version)).want(t, 200, ""))
	if v.State != "known" || v.Known == nil || v.Known.Reason != "until 5.2" || v.Known.Until != "2099-01-31" ||
		v.Assignee != "bob" {
		t.Errorf("%+v %+v", v, v.Known)
	}
	if v = decode[leakView](t, patch(`{"state": "open"}`).want(t, 200, "")); v.State != "ongoing" || v.Known != nil {
		t.Errorf("%+v", v)
	}
	if v = decode[leakView](t,
		patch(`{"state": "fixed", "fixed_in": "2"}`, "If-Match", "*").want(t, 200, "")); v.State != "regressed" {
		t.Errorf("fixed in 2 and leaking in 3: %+v", v)
	}
	patch(`{"not_leak": false, "reason": "x"}`).want(t, 422, "invalid-state")
	if v = decode[leakView](t, patch(`{"not_leak": true, "reason": "a pool"}`).want(t, 200, "")); !v.NotLeak ||
		v.NotLeakWhy != "a pool" {
		t.Errorf("%+v", v)
	}
	if v = decode[leakView](t, patch(`{"not_leak": true}`).want(t, 200, "")); !v.NotLeak {
		t.Errorf("%+v", v)
	}
	for body, code := range map[string]string{
		``: "invalid-body", `{}`: "invalid-body", `[]`: "invalid-body", `{"asignee": "x"}`: "invalid-body",
		`{"assignee": 7}`: "invalid-body", `{"assignee": "x"} {}`: "invalid-body",
		`{"state": "new"}`: "invalid-state", `{"state": ""}`: "invalid-state", `{"state": "known"}`: "invalid-reason",
		`{"state": "known", "reason": "x", "until": "soon"}`: "invalid-until",
		`{"reason": "x"}`: "invalid-state", `{"fixed_in": "2"}`: "invalid-state",
		`{"state": "fixed", "fixed_in": "99"}`: "invalid-fixed",
		`{"ticket": "a\nb"}`:                   "invalid-ticket", `{"assignee": "a\u0000b"}`: "invalid-assignee",
	} {
		a := patch(body)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), `"code":"invalid-`) {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
		} else if !strings.Contains(string(a.body), code) {
			t.Errorf("%s: %s, want %s", body, a.body, code)
		}
	}
	patch(`{"assignee": "x"}`, "If-Match", "x").want(t, 422, "invalid-if-match")
	patch(`{"assignee": "x"}`, "X-Heapdrift-Actor", strings.Repeat("x", 65)).want(t, 422, "invalid-actor")
	patch(`{"assignee": "`+strings.Repeat("x", 1<<20)+`"}`).want(t, 413, "too-large")
	n.do("PATCH", at("nosuch"), strings.NewReader(`{"assignee": "x"}`)).want(t, 404, "not-found")
	n.do("PATCH", at(sigLeak), strings.NewReader(`{"assignee": "x"}`), "Sec-Fetch-Site",
		"cross-site").want(t, 403, "cross-origin")

	c := decode[leakView](t,
		n.do("POST", at(sigLeak)+"/comments", strings.NewReader(`{"text": "seen in <b>2</b>\nand 3"}`)).want(t, 201, ""))
	if len(c.Discussion) != 1 || c.Discussion[0].Actor != "somebody" ||
		c.Discussion[0].Text != "seen in <b>2</b>\nand 3" || c.Comments != 1 {
		t.Errorf("%+v", c)
	}
	n.do("POST", at(sigLeak)+"/comments", strings.NewReader(`{"text": "  "}`)).want(t, 422, "invalid-text")
	n.do("POST", at(sigLeak)+"/comments", strings.NewReader(`{"text": "a\u0007"}`)).want(t, 422, "invalid-body")

	type audit struct {
		Audit []struct {
			Actor, Action string
			After         map[string]any
		}
		Next string
	}
	trail := decode[audit](t, n.do("GET", at(sigLeak)+"/audit?limit=500", nil).want(t, 200, ""))
	last := trail.Audit[len(trail.Audit)-1]
	if len(trail.Audit) < 6 || trail.Audit[0].Action != "comment" || !strings.Contains(fmt.Sprint(trail.Audit), "Ada") ||
		last.Action == "" {
		t.Errorf("%+v", trail)
	}
	if part := decode[audit](t, n.do("GET", at(sigLeak)+"/audit?limit=2", nil).want(t, 200, "")); len(part.Audit) != 2 ||
		part.Next == "" {
		t.Errorf("%+v", part)
	}
	n.do("GET", at(sigLeak)+"/audit?limit=x", nil).want(t, 422, "invalid-limit")
}

func TestMerge(t *testing.T) {
	n := shopHistory(t)
	merge := func(from, into string) answer {
		return n.do("POST", at(from)+"/merge", strings.NewReader(fmt.Sprintf(`{"into": %q}`, into)))
	}
	v := decode[leakView](t, merge(sigOther, sigLeak).want(t, 200, ""))
	if v.Signature != sigLeak || len(v.Aliases) != 1 || v.Aliases[0].Signature != sigOther {
		t.Errorf("%+v", v)
	}
	if v = decode[leakView](t, n.do("GET", at(sigOther), nil).want(t, 200, "")); v.Signature != sigLeak {
		t.Errorf("an alias leads to %s", v.Signature)
	}
	if v = decode[leakView](t, merge(sigOther, "").want(t, 200, "")); v.Signature != sigOther || len(v.Aliases) != 0 {
		t.Errorf("%+v", v)
	}
	merge(sigOther, "nosuch").want(t, 422, "invalid-into")
	merge("nosuch", sigLeak).want(t, 404, "not-found")
	merge(sigOther, "").want(t, 404, "not-found")
	n.do("POST", at(sigLeak)+"/merge", strings.NewReader(`{}`)).want(t, 422, "invalid-into")
	if a := merge(sigLeak, sigLeak); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("with itself: %d %s", a.StatusCode, a.body)
	}
}

func TestCompare(t *testing.T) {
	n := shopHistory(t)
	type row struct{ Signature, Why string }
	type view struct {
		Base, Head struct {
			Build string
			Runs  []int64
		}
		Baseline, Sentence, URL               string
		New, Fixed, Persisting, Grown, Shrunk []row
		NotExercised                          []row `json:"not_exercised"`
	}
	get := func(query string) view {
		t.Helper()
		return decode[view](t, n.do("GET", "/api/v1/compare?"+query, nil).want(t, 200, ""))
	}
	v := get("project=shop&scenario=soak&base=1&head=2")
	if len(v.New) != 1 || v.New[0].Signature != sigLeak || len(v.Persisting) != 1 ||
		v.Persisting[0].Signature != sigOther || v.Sentence == "" || v.New[0].Why == "" ||
		v.URL != "/projects/shop/compare?base=1&head=2&scenario=soak" {
		t.Errorf("%+v", v)
	}
	for _, query := range []string{"project=shop&scenario=soak&head=3", "project=shop&scenario=soak", "head_run=3",
		"head_run=3&base_run=2", "project=shop&head_run=3"} {
		v = get(query)
		if v.Base.Build != "2" || v.Head.Build != "3" || len(v.Fixed) != 1 || v.Fixed[0].Signature != sigOther ||
			len(v.Persisting) != 1 {
			t.Errorf("%s: %+v", query, v)
		}
	}
	for _, sides := range []string{"base=1&head=2", "base=2&head=3", "base=2&head=1"} { // CSV has all lists
		asked := "project=shop&scenario=soak&" + sides
		rows := bytes.Count(n.do("GET", "/api/v1/compare?format=csv&"+asked, nil).want(t, 200, "").body, []byte("\n")) - 1
		lists := decode[map[string]json.RawMessage](t, n.do("GET", "/api/v1/compare?"+asked, nil).want(t, 200, ""))
		listed := 0
		for _, name := range []string{"new", "grown", "shrunk", "fixed", "clean", "persisting", "not_exercised"} {
			var list []row
			if err := json.Unmarshal(lists[name], &list); err != nil {
				t.Fatal(err)
			}
			listed += len(list)
		}
		if rows != listed {
			t.Errorf("%s: %d rows of CSV, and %d in the lists", sides, rows, listed)
		}
	}
	n.build("4", found(sigOther, "Other", analysis.ClassStable, 0))
	if v = get("project=shop&scenario=soak&head=4"); len(v.NotExercised) != 1 || v.NotExercised[0].Signature != sigLeak {
		t.Errorf("what did not run is %+v", v)
	}
	n.do("POST", "/api/v1/projects/shop/baseline", strings.NewReader(`{"build": "1"}`)).want(t, 200, "")
	if v = get("project=shop&scenario=soak&head=4"); v.Base.Build != "1" || v.Baseline == "" {
		t.Errorf("against the pinned build: %+v", v)
	}
	n.do("POST", "/api/v1/projects/shop/baseline", strings.NewReader(`{"build": "1", "pinned": false}`)).want(t, 200, "")
	if v = get("project=shop&scenario=soak&head=4"); v.Base.Build == "1" {
		t.Errorf("unpinned: %+v", v)
	}
	n.do("POST", "/api/v1/projects/shop/baseline", strings.NewReader(`{"build": "99"}`)).want(t, 404, "not-found")
	n.do("POST", "/api/v1/projects/shop/baseline", strings.NewReader(`{}`)).want(t, 422, "invalid-build")
	n.do("GET", "/api/v1/compare?project=shop&scenario=soak&head=1", nil).want(t, 404, "no-baseline")
	n.do("GET", "/api/v1/compare?project=shop&scenario=other", nil).want(t, 404, "no-result")
	n.do("GET", "/api/v1/compare?project=shop&scenario=soak&head=99", nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/compare?head_run=99", nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/compare?head_run=3&project=other", nil).want(t, 404, "not-found")
	n.do("GET", "/api/v1/compare", nil).want(t, 422, "invalid-project")
	n.do("GET", "/api/v1/compare?head_run=x", nil).want(t, 422, "invalid-head-run")

	type node struct {
		Name       string
		Base, Head analysis.Amount
		Children   []node
	}
	tree := decode[struct {
		Measure string
		Root    node
	}](t, n.do("GET", "/api/v1/compare/tree?head_run=2&base_run=1", nil).want(t, 200, ""))
	if tree.Measure != "growth" || tree.Root.Base.Bytes != 500 || tree.Root.Head.Bytes != 1500 ||
		len(tree.Root.Children) != 1 || tree.Root.Children[0].Name != "shop!main" {
		t.Errorf("%+v", tree)
	}
	columns := decode[query.Tree](t,
		n.do("GET", "/api/v1/compare/tree?head_run=2&base_run=1&layout=columns", nil).want(t, 200, ""))
	if len(columns.Nodes.Before) != len(columns.Nodes.Depth) || len(columns.Nodes.After) != len(columns.Nodes.Depth) ||
		len(columns.Names) < 2 {
		t.Errorf("%+v", columns)
	}
	n.do("GET", "/api/v1/compare/tree?head_run=2&measure=x", nil).want(t, 422, "invalid-measure")
	n.do("GET", "/api/v1/compare/tree?head_run=2&share=0", nil).want(t, 422, "invalid-share")
}

func TestGate(t *testing.T) {
	n := shopHistory(t)
	type view struct {
		Gate, Why, Status                    string
		New, Fixed, Persisting, Grown, Known []string
		Baseline                             *struct{ Build string }
	}
	get := func(run int, query string) view {
		t.Helper()
		return decode[view](t, n.do("GET", fmt.Sprintf("/api/v1/runs/%d/verdict?%s", run, query), nil).want(t, 200, ""))
	}
	expect := func(run int, query, gate string) view {
		t.Helper()
		v := get(run, query)
		if v.Gate != gate || v.Why == "" {
			t.Errorf("run %d, %s: %+v, want %s", run, query, v, gate)
		}
		return v
	}
	if v := expect(1, "", "failed"); v.Baseline != nil || len(v.New) != 0 {
		t.Errorf("%+v", v)
	}
	expect(1, "fail_on=new", "inconclusive") // nothing before tells since when
	if v := expect(2, "fail_on=new,grown", "failed"); len(v.New) != 1 || v.New[0] != sigLeak || len(v.Persisting) != 1 ||
		v.Baseline == nil || v.Baseline.Build != "1" {
		t.Errorf("%+v", v)
	}
	if v := expect(3, "fail_on=new", "failed"); len(v.Fixed) != 1 || v.Status != "leak" || len(v.New) != 0 { // nobody has taken it
		t.Errorf("%+v", v)
	}
	n.do("PATCH", at(sigLeak), strings.NewReader(`{"assignee": "ann"}`)).want(t, 200, "")
	expect(3, "fail_on=new", "passed")
	expect(2, "fail_on=new", "passed")
	n.do("PATCH", at(sigLeak), strings.NewReader(`{"assignee": ""}`)).want(t, 200, "")
	expect(3, "fail_on=grown", "passed")
	expect(3, "fail_on=leak", "failed")
	expect(3, "fail_on=new&baseline=1", "failed")
	n.do("PATCH", at(sigLeak), strings.NewReader(`{"state": "known", "reason": "vendor"}`)).want(t, 200, "")
	if v := expect(3, "", "passed"); len(v.Known) != 1 || v.Known[0] != sigLeak || len(v.Persisting) != 0 {
		t.Errorf("%+v", v)
	}
	if v := expect(2, "fail_on=new", "passed"); len(v.New) != 0 || len(v.Known) != 1 {
		t.Errorf("%+v", v)
	}
	n.do("PATCH", at(sigLeak),
		strings.NewReader(`{"state": "known", "reason": "vendor", "until": "2020-01-01"}`)).want(t, 200, "")
	if v := expect(3, "", "failed"); len(v.Known) != 0 || len(v.Persisting) != 1 {
		t.Errorf("known until a day that is over: %+v", v)
	}
	expect(2, "fail_on=new", "failed")
	n.do("GET", "/api/v1/runs/3/verdict?fail_on=nonsense", nil).want(t, 422, "invalid-fail-on")
	n.do("GET", "/api/v1/runs/3/verdict?baseline=99", nil).want(t, 422, "invalid-baseline")
}

// No leak counts as new against a baseline whose evidence does not decide, nor where no build before decides.
func TestGateAgainstUndecidedBaseline(t *testing.T) {
	n := start(t)
	n.told(analysis.StatusInconclusive, "1", found(sigLeak, "Leak", analysis.ClassUnknown, 10))
	n.build("2", found(sigLeak, "Leak", analysis.ClassLeak, 1000), found(sigOther, "Other", analysis.ClassUnknown, 9))
	n.told(analysis.StatusInconclusive, "3", found(sigLeak, "Leak", analysis.ClassUnknown, 10))
	n.build("4", found(sigLeak, "Leak", analysis.ClassLeak, 1000), found(sigOther, "Other", analysis.ClassLeak, 900))
	type view struct {
		Gate, Why string
		Baseline  struct{ Build string }
	}
	for query, want := range map[string]view{
		"2/verdict?fail_on=new": {"inconclusive",
			"this is the first build of the scenario, so 1 leak is of unknown age; accept the leaks, or push the next build",
			struct{ Build string }{"1"}},
		"2/verdict?fail_on=new,leak": {"failed", "1 leak", struct{ Build string }{"1"}},
		"4/verdict?fail_on=new":      {"passed", "no leak is new; 2 from the first build", struct{ Build string }{"2"}},
		"4/verdict?fail_on=new&baseline=3": {"inconclusive",
			"the evidence of build 3, the baseline, does not decide whether 2 leaks are new", struct{ Build string }{"3"}},
	} {
		if v := decode[view](t, n.do("GET", "/api/v1/runs/"+query, nil).want(t, 200, "")); v != want {
			t.Errorf("%s: %+v", query, v)
		}
	}
}

func TestRules(t *testing.T) {
	n := shopHistory(t)
	const path = "/api/v1/projects/shop/rules"
	a := n.do("GET", path, nil).want(t, 200, "")
	if len(a.body) != 0 || a.Header.Get("ETag") != `"0"` {
		t.Errorf("%s %q", a.Header.Get("ETag"), a.body)
	}
	rules := "# ours\r\nmodule:shop function:Leak -> plumbing\r\n"
	type movedSignature struct {
		Stacks int
		Moves  []struct {
			From, To struct{ Blame string }
			Stacks   int
		}
	}
	m := decode[movedSignature](t, n.do("POST", path+"/preview", strings.NewReader(rules)).want(t, 200, ""))
	if m.Stacks == 0 || len(m.Moves) != 1 || m.Moves[0].From.Blame != "shop!Leak" || m.Moves[0].To.Blame != "shop!main" {
		t.Errorf("%+v", m)
	}
	a = n.do("PUT", path+"?note=first", strings.NewReader(rules), "If-Match", `"0"`,
		"X-Heapdrift-Actor", "Ada").want(t, 200, "")
	if s := decode[struct{ Version, Runs int }](t, a); s.Version != 1 || a.Header.Get("ETag") != `"1"` {
		t.Errorf("%+v", s)
	}
	if a = n.do("GET", path, nil).want(t, 200, ""); string(a.body) != strings.ReplaceAll(rules, "\r", "") ||
		!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%q", a.body)
	}
	for _, old := range []string{`"0"`, `"2147483647"`, `"4294967296"`, `"9223372036854775807"`} {
		n.do("PUT", path, strings.NewReader("module:a -> base"), "If-Match", old).want(t, 412, "conflict")
	}
	n.do("PUT", path, strings.NewReader("module:a -> base")).want(t, 200, "")
	n.do("GET", path+"?version=1", nil).want(t, 200, "")
	n.do("GET", path+"?version=9", nil).want(t, 404, "not-found")
	n.do("GET", path+"?version=x", nil).want(t, 422, "invalid-version")
	a = n.do("PUT", path, strings.NewReader("module:a -> base\n\nnonsense\nmodule:b -> fly")).want(t, 422, "bad-rules")
	if !strings.Contains(string(a.body), `"line":3`) || !strings.Contains(string(a.body), `"line":4`) {
		t.Errorf("%s", a.body)
	}
	n.do("POST", path+"/preview", strings.NewReader("nonsense")).want(t, 422, "bad-rules")
	n.do("PUT", path, strings.NewReader("a\x00b")).want(t, 422, "invalid-body")
	n.do("PUT", path, strings.NewReader(strings.Repeat("# x\n", 300_000))).want(t, 413, "too-large")
	n.do("GET", "/api/v1/projects/nobody/rules", nil).want(t, 404, "not-found")
	n.do("PUT", "/api/v1/projects/nobody/rules", strings.NewReader("")).want(t, 404, "not-found")

	type imported struct {
		Lines    []string
		Rejected []struct{ Line int }
		Saved    *struct{ Version int }
	}
	i := decode[imported](t,
		n.do("POST", path+"/import?kind=triage", strings.NewReader("shop!Leak*=logs\nnonsense")).want(t, 200, ""))
	if len(i.Lines) != 1 || len(i.Rejected) != 1 || i.Rejected[0].Line != 2 || i.Saved != nil {
		t.Errorf("%+v", i)
	}
	i = decode[imported](t,
		n.do("POST", path+"/import?kind=lsan&apply=1", strings.NewReader("leak:Leak")).want(t, 200, ""))
	if len(i.Lines) != 1 || i.Saved == nil || i.Saved.Version != 3 {
		t.Errorf("%+v", i)
	}
	if a = n.do("GET", path, nil).want(t, 200, ""); !strings.HasPrefix(string(a.body), "module:a -> base\n"+i.Lines[0]) {
		t.Errorf("%s", a.body)
	}
	n.do("POST", path+"/import?kind=x", strings.NewReader("")).want(t, 422, "invalid-kind")
	n.do("POST", path+"/import", strings.NewReader("")).want(t, 422, "invalid-kind")
}

func TestWorkOfUpload(t *testing.T) {
	n := start(t)
	n.put(umdhLog(1000), "work", "1500.5", "work_unit", "document")
	n.do("PUT", evidence("work", "many"), strings.NewReader(umdhLog(1000))).want(t, 422, "invalid-work")
	n.do("PUT", evidence("work", "-1", "work_unit", "document"), strings.NewReader(umdhLog(1000))).want(t, 422,
		"invalid-work")
	n.do("PUT", evidence("work", "NaN", "work_unit", "document"), strings.NewReader(umdhLog(1000))).want(t, 422,
		"invalid-work")
	files, err := storetest.Now(n.t, n.store).ListEvidence(t.Context(), 1)
	if err != nil || len(files) != 1 || files[0].Work == nil || *files[0].Work != 1500.5 {
		t.Errorf("%+v %v", files, err)
	}
}
