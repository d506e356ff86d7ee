package api_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
)

type policyAnswer struct {
	Version int
	Default struct{ Inconclusive string }
	Meaning map[string][]string
}

type impactAnswer struct {
	Moves    []any
	Silenced []struct{ Signature, From, To string }
	Verdicts []struct {
		Build, From, To string
	}
}

func TestPolicy(t *testing.T) {
	n := shopHistory(t)
	const path = "/api/v1/projects/shop/policy"
	a := n.do("GET", path, nil).want(t, 200, "")
	if p := decode[policyAnswer](t, a); p.Version != 0 || a.Header.Get("ETag") != `"0"` ||
		p.Default.Inconclusive != "warn" || len(p.Meaning[""]) != 4 {
		t.Errorf("%+v", p)
	}
	const lenient = `{"default": {"fail_on": []}}`
	impact := decode[impactAnswer](t, n.do("POST", path+"/preview", strings.NewReader(lenient)).want(t, 200, ""))
	if len(impact.Verdicts) == 0 || impact.Verdicts[0].From != "failed" || impact.Verdicts[0].To != "passed" {
		t.Errorf("%+v", impact)
	}
	a = n.do("PUT", path+"?note=first", strings.NewReader(lenient), "If-Match", `"0"`,
		"X-Heapdrift-Actor", "Ada").want(t, 200, "")
	if p := decode[policyAnswer](t, a); p.Version != 1 || a.Header.Get("ETag") != `"1"` {
		t.Errorf("%+v", p)
	}
	n.do("PUT", path, strings.NewReader(lenient), "If-Match", `"0"`).want(t, 412, "conflict")
	n.do("GET", path+"?version=1", nil).want(t, 200, "")
	n.do("GET", path+"?version=2", nil).want(t, 404, "not-found")
	n.do("GET", path+"?version=0", nil).want(t, 422, "invalid-version")
	n.do("PUT", path, strings.NewReader(`{"default": {"fail": []}}`)).want(t, 422, "invalid-policy")
	n.do("PUT", path, strings.NewReader(`{"default": {"minimum_score": 2}}`)).want(t, 422, "invalid-default.minimum-score")
	n.do("PUT", path, strings.NewReader(strings.Repeat(" ", 70_000))).want(t, 413, "too-large")
	n.do("PUT", "/api/v1/projects/nobody/policy", strings.NewReader(lenient)).want(t, 404, "not-found")
	n.do("GET", "/api/v1/projects/nobody/policy", nil).want(t, 404, "not-found")

	type verdict struct {
		Gate, Why    string
		Policy, Exit int
		Reasons      []struct{ Effect, Code, Signature string }
	}
	if v := decode[verdict](t, n.do("GET", "/api/v1/runs/3/verdict", nil).want(t, 200, "")); v.Gate != "passed" ||
		v.Policy != 1 || v.Exit != 0 {
		t.Errorf("%+v", v)
	}
	if v := decode[verdict](t, n.do("GET", "/api/v1/runs/3/verdict?fail_on=leak", nil).want(t, 200,
		"")); v.Gate != "failed" || v.Exit != 1 || v.Reasons[0].Code != "leak" {
		t.Errorf("%+v", v)
	}
	type decisions struct {
		Decisions []struct {
			Asked, Gate string
			Policy      int
		}
	}
	if d := decode[decisions](t, n.do("GET", "/api/v1/runs/3/decisions", nil).want(t, 200, "")); len(d.Decisions) != 2 ||
		d.Decisions[0].Asked != "leak" || d.Decisions[1].Policy != 1 {
		t.Errorf("%+v", d)
	}
	n.do("GET", "/api/v1/runs/999/decisions", nil).want(t, 404, "not-found")
}

// What matters is the policy's, of the project or of the scenario, as it is when the verdict is asked for; a call may
// tighten it, and the answer says what counts.
func TestVerdictSaysWhatMatters(t *testing.T) {
	n := start(t)
	r := report(analysis.StatusNoLeak, 0)
	f := found(sigLeak, "Grows", analysis.ClassGrowing, 1000)
	f.Risk = &analysis.Risk{Probability: 0.2, MostBytes: 1 << 20, Score: 0.2}
	r.Findings, r.Observation = []analysis.Finding{f}, &analysis.Observation{Weighed: true, Hours: 24}
	n.put(umdhLog(1000), "build", "1", "branch", "main")
	n.read()
	n.analyse(r)
	type growth struct {
		Bytes float64
		Unit  string
	}
	type verdict struct {
		Gate    string
		Matters *struct {
			growth
			Source, Sentence string
			Limit, Expected  growth
		}
	}
	const kb = 1 << 10
	for _, test := range []struct {
		policy, query, gate, source string
		bytes                       float64
	}{
		{"", "", "passed", "default", 10 << 20},
		{"", "?matters=100KB/day", "inconclusive", "call", 100 * kb},
		{`{"default": {"matters": "100KB/day"}}`, "", "inconclusive", "project", 100 * kb},
		{`{"default": {"matters": "100KB/day"}}`, "?matters=1GB/day", "inconclusive", "project", 100 * kb},
		{`{"default": {"matters": "100KB/day"}, "scenarios": {"soak": {"matters": "1MB/day"}}}`, "", "passed", "scenario", 1024 * kb},
	} {
		if test.policy != "" {
			n.do("PUT", "/api/v1/projects/shop/policy", strings.NewReader(test.policy)).want(t, 200, "")
		}
		v := decode[verdict](t, n.do("GET", "/api/v1/runs/1/verdict"+test.query, nil).want(t, 200, ""))
		if m := v.Matters; v.Gate != test.gate || m.Source != test.source || m.growth != (growth{test.bytes, "day"}) || m.Limit != m.growth ||
			m.Expected.Unit != "day" || !strings.HasPrefix(m.Sentence, "What matters here: ") {
			t.Errorf("%s%s: %+v", test.policy, test.query, v)
		}
	}
	n.do("GET", "/api/v1/runs/1/verdict?matters=much", nil).want(t, 422, "invalid-matters")
	n.do("PUT", "/api/v1/projects/shop/policy", strings.NewReader(`{"default": {"matters": "much"}}`)).want(t, 422, "invalid-default.matters")
	type decisions struct {
		Decisions []struct {
			AskedMatters string `json:"asked_matters"`
			Matters      struct{ Source string }
		}
	}
	d := decode[decisions](t, n.do("GET", "/api/v1/runs/1/decisions", nil).want(t, 200, ""))
	var asked []string
	for _, row := range d.Decisions {
		asked = append(asked, row.AskedMatters+" "+row.Matters.Source)
	}
	if got := strings.Join(asked, ", "); got != " scenario, 1073741824B/day project,  project, 102400B/day call,  default" {
		t.Errorf("decisions %q", got)
	}
}

// A rule that calls everything known changes no signature; the preview says what the rule silences, and so does the
// later verdict.
func TestRuleThatSilencesAll(t *testing.T) {
	n := shopHistory(t)
	const path, all = "/api/v1/projects/shop/rules", `module:* -> known="x"`
	p := decode[impactAnswer](t, n.do("POST", path+"/preview", strings.NewReader(all)).want(t, 200, ""))
	if len(p.Moves) != 0 || len(p.Silenced) == 0 || p.Silenced[0].From != "shown" || p.Silenced[0].To != "known-by-rule" ||
		len(p.Verdicts) == 0 || p.Verdicts[0].To != "passed" {
		t.Errorf("%+v", p)
	}
}
