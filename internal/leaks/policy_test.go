package leaks_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestParsePolicies(t *testing.T) {
	budget := func(fields string) string { return `{"default":{"budgets":[{` + fields + `}]}}` }
	for text, field := range map[string]string{
		`{}`: "", `{"default":{}}`: "", `{"default":{"fail_on":["leak","new","regressed","grown"]}}`: "",
		``: "policy", `{`: "policy", `[]`: "policy", `{} {}`: "policy", `{"defaults":{}}`: "policy",
		`{"default":{"fail_on":"leak"}}`:                                                 "policy",
		`{"default":{"fail_on":["all"]}}`:                                                "default.fail_on",
		budget(`"of":"total","in":"bytes","per":"hour","limit":0`):                       "",
		budget(`"of":"total","per":"hour","limit":1`):                                    "", // bytes by default
		budget(`"of":"process","name":"a.exe","in":"blocks","per":"document","limit":1`): "",
		budget(`"of":"signature","in":"bytes","per":"hour","limit":1`):                   "",
		budget(`"of":"heap","per":"hour","limit":1`):                                     "default.budgets",
		budget(`"of":"process","per":"hour","limit":1`):                                  "default.budgets",
		budget(`"of":"total","name":"a","per":"hour","limit":1`):                         "default.budgets",
		budget(`"of":"total","per":"","limit":1`):                                        "default.budgets",
		budget(`"of":"total","per":"hour","limit":-1`):                                   "default.budgets",
		budget(`"of":"total","in":"MB","per":"hour","limit":1`):                          "default.budgets",
		`{"default":{"drift":{"percent":0}}}`:                                            "",
		`{"default":{"drift":{"percent":-0.1}}}`:                                         "default.drift.percent",
		`{"default":{"drift":{"percent":5,"in":"MB"}}}`:                                  "default.drift.in",
		`{"default":{"minimum_score":1}}`:                                                "",
		`{"default":{"minimum_score":1.01}}`:                                             "default.minimum_score",
		`{"default":{"minimum_score":-0.01}}`:                                            "default.minimum_score",
		`{"default":{"inconclusive":"pass"}}`:                                            "",
		`{"default":{"inconclusive":"ignore"}}`:                                          "default.inconclusive",
		`{"default":{"noise":{"runs":3,"changes":2}}}`:                                   "",
		`{"default":{"noise":{"runs":2,"changes":2}}}`:                                   "default.noise.runs",
		`{"default":{"noise":{"runs":50,"changes":49}}}`:                                 "",
		`{"default":{"noise":{"runs":51,"changes":2}}}`:                                  "default.noise.runs",
		`{"default":{"noise":{"runs":5,"changes":1}}}`:                                   "default.noise.changes",
		`{"default":{"noise":{"runs":5,"changes":5}}}`:                                   "default.noise.changes",
		`{"default":{"settle":"0s"}}`:                                                    "", `{"default":{"settle":"168h"}}`: "", `{"default":{"settle":" 10m "}}`: "",
		`{"default":{"settle":"-1ns"}}`: "default.settle", `{"default":{"settle":"168h0m0.000000001s"}}`: "default.settle",
		`{"default":{"settle":"10"}}`: "default.settle", `{"scenarios":{"soak":{"settle":"x"}}}`: "scenarios.soak.settle",
		`{"default":{"canary":"Leak\u0000"}}`:                          "default.canary",
		`{"scenarios":{"soak":{"fail_on":["new"]}}}`:                   "",
		`{"scenarios":{"soak":{"inconclusive":"x"}}}`:                  "scenarios.soak.inconclusive",
		`{"scenarios":{"":{}}}`:                                        "scenarios",
		`{"default":{"canary":"` + strings.Repeat("a", 70_000) + `"}}`: "policy",
	} {
		policies, err := leaks.ParsePolicies([]byte(text))
		if field != "" {
			if fieldOf(t, err) != field {
				t.Errorf("%.80s: %v, want an error of %s", text, err, field)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		written, err := policies.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := leaks.ParsePolicies(written)
		if err != nil {
			t.Errorf("%s: written as %s: %v", text, written, err)
			continue
		}
		if rewritten, err := again.JSON(); err != nil || !bytes.Equal(written, rewritten) {
			t.Errorf("%s: written as %s and then as %s, %v", text, written, rewritten, err)
		}
	}
}

// A gate never fails only if a policy says so explicitly.
func TestUnwrittenFailOn(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "leak leak", `{"default":{}}`: "leak leak", `{"default":{"fail_on":null}}`: "leak leak",
		`{"scenarios":{"soak":{"inconclusive":"fail"}}}`:     "leak leak",
		`{"default":{"fail_on":[]}}`:                         "none none",
		`{"default":{"fail_on":[]},"scenarios":{"soak":{}}}`: "none leak",
		`{"default":{"budgets":[{"of":"total","per":"hour","limit":1}]},"scenarios":{"soak":{"fail_on":["new"]}}}`: "leak new",
	} {
		policies, err := leaks.ParsePolicies([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, scenario := range []string{"default", "soak"} {
			word := "none"
			for _, on := range policies.For(scenario).FailOn {
				word = string(on)
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s fails on %s, want %s", text, got, want)
		}
	}
}

func FuzzParsePolicies(f *testing.F) {
	for _, text := range []string{`{}`,
		`{"default":{"fail_on":["leak"],"budgets":[{"of":"total","per":"hour","limit":1e300}],"noise":{"runs":5,"changes":2}}}`, `{"scenarios":{"soak":{"drift":{"percent":5}}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		policies, err := leaks.ParsePolicies(text)
		if err != nil {
			return
		}
		written, err := policies.JSON()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if len(written) <= leaks.MaxPoliciesBytes {
			if _, err := leaks.ParsePolicies(written); err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, written)
			}
		}
	})
}

// A call may only add to what the policy fails on, except in a project without a policy.
func TestTightened(t *testing.T) {
	for _, test := range []struct{ policy, asked, saved, unsaved string }{
		{"leak", "", "leak", "leak"}, {"new", "", "new", "new"}, {"new", "leak", "leak,new", "leak"},
		{"leak", "new", "leak,new", "new"},
		{"", "grown", "grown", "grown"}, {"new,grown", "regressed,new", "new,regressed,grown", "new,regressed"},
	} {
		on, err := leaks.ParseFailOn(test.policy)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := leaks.ParseFailOn(test.asked)
		if err != nil {
			t.Fatal(err)
		}
		policy := leaks.Policy{FailOn: on}
		for version, want := range []string{test.unsaved, test.saved} {
			var got []string
			for _, on := range policy.TightenedFailOn(version, asked) {
				got = append(got, string(on))
			}
			if strings.Join(got, ",") != want {
				t.Errorf("policy %q, call %q, version %d: %q, want %q", test.policy, test.asked, version, got, want)
			}
		}
	}
}

// What a policy says of calls is what a call does: it replaces what fails where no policy is saved, and adds to it
// where one is.
func TestPolicySaysWhatCallsMay(t *testing.T) {
	policies, grown := leaks.DefaultPolicies(), []leaks.FailOn{leaks.FailOnGrown}
	for _, test := range []struct {
		version int
		fails   []leaks.FailOn // of a call with fail_on=grown
		says    string
	}{
		{0, grown, "Any leak fails, unless a call says what fails instead: no policy is saved yet."},
		{1, []leaks.FailOn{leaks.FailOnLeak, leaks.FailOnGrown}, "Any leak fails. A call may ask for more, never for less."},
	} {
		if got := policies.Default.TightenedFailOn(test.version, grown); !slices.Equal(got, test.fails) {
			t.Errorf("version %d fails on %v, want %v", test.version, got, test.fails)
		}
		if got := policies.Default.Sentences(test.version)[0]; got != test.says {
			t.Errorf("version %d: %q, want %q", test.version, got, test.says)
		}
	}
}

func TestFlaps(t *testing.T) {
	for _, test := range []struct {
		past          string // + found, - not found
		runs, changes int
		counted       int
		flaps         bool
	}{
		{"", 3, 2, 0, false}, {"+", 3, 2, 0, false}, {"--+", 3, 2, 1, false}, {"++-", 3, 2, 1, false},
		{"+-+", 3, 2, 2, true}, {"-+-", 3, 2, 2, true},
		{"+-+++", 3, 2, 0, false}, {"+-+-+", 5, 4, 4, true}, {"+-+--", 5, 4, 3, false}, {"+-+-+", 4, 3, 3, true},
	} {
		past := make([]bool, len(test.past))
		for i := range past {
			past[i] = test.past[i] == '+'
		}
		noise := &leaks.FlapRule{Runs: test.runs, Changes: test.changes}
		if n, flaps := noise.Flaps(past); n != test.counted || flaps != test.flaps {
			t.Errorf("%q, %d changes in %d runs: %d, %v", test.past, test.changes, test.runs, n, flaps)
		}
	}
	if _, flaps := (*leaks.FlapRule)(nil).Flaps([]bool{true, false, true}); flaps {
		t.Error("without a guard a signature is quarantined")
	}
}
