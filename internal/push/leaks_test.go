package push_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
)

// outcomeOf asks a server about the leak "s", of which it knows what signature says, for a run of build 2 and scenario
// soak.
func outcomeOf(t *testing.T, verdict, signature string) *outcome.Leak {
	t.Helper()
	f := newFake(t)
	f.verdict = func() string { return verdict }
	f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/signatures/") {
			return false
		}
		fmt.Fprint(w, signature)
		return true
	}
	client, err := push.NewClient(f.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := client.AwaitVerdict(t.Context(), 7, push.Question{}, 0, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.Outcome(t.Context(), &push.Run{ID: 7, Project: "p", Build: "2", Scenario: "soak"}, v, "")
	if err != nil || len(o.Leaks) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	return &o.Leaks[0]
}

// The server's reasons stand under a leak where they are of this very run.
func TestReasonsOfTheRun(t *testing.T) {
	for evidence, want := range map[string]string{
		`{"run":7,"clauses":[{"text":"grows","holds":true},{"text":"stays","holds":false},{"text":"old"}]}`: "✓ grows ✗ stays ? old",
		`{"run":6,"clauses":[{"text":"grows","holds":true}]}`:                                               "",
		`null`: "",
	} {
		l := outcomeOf(t, `{"run":7,"gate":"passed","new":["s"],"baseline":{"build":"1"}}`, `{"title":"t","evidence":`+evidence+`}`)
		if got := strings.Join(l.Reasons, " "); got != want {
			t.Errorf("%s: %q, want %q", evidence, got, want)
		}
	}
}

// Figures are those of the build and scenario of the run where the leak was seen there, else the latest.
func TestFiguresOfTheRun(t *testing.T) {
	const seen = `{"build":%q,"scenario":%q,"class":%q,"growth":{"count":2,"bytes":2048}}`
	for _, test := range []struct{ build, scenario, class, want string }{
		{"2", "soak", "leak", "leak +2.00 KB in 2 blocks"},
		{"1", "soak", "leak", "growing +1.00 KB in 1 block"},
		{"2", "other", "leak", "growing +1.00 KB in 1 block"},
		{"2", "soak", "", "growing +1.00 KB in 1 block"},
	} {
		l := outcomeOf(t, `{"run":7,"gate":"passed","new":["s"],"baseline":{"build":"1"}}`,
			`{"title":"t","latest":{"class":"growing","growth":{"count":1,"bytes":1024}},"history":[`+
				fmt.Sprintf(seen, test.build, test.scenario, test.class)+`]}`)
		if got := l.Class + " " + l.Growth; got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Leaks at exit have no growth: what was left is said in its place, unless they are fixed.
func TestWhatWasLeftAtExit(t *testing.T) {
	for change, want := range map[string]string{"new": "2.00 KB in 2 blocks at exit", "fixed": ""} {
		l := outcomeOf(t, `{"run":7,"gate":"passed",`+fmt.Sprintf("%q", change)+`:["s"],"baseline":{"build":"1"}}`,
			`{"title":"t","latest":{"class":"left-at-exit","growth":null,"outstanding":{"count":2,"bytes":2048}}}`)
		if l.Growth != want {
			t.Errorf("%s: %q, want %q", change, l.Growth, want)
		}
	}
	if l := outcomeOf(t, `{"run":7,"gate":"passed","new":["s"],"baseline":{"build":"1"}}`,
		`{"title":"t","latest":{"class":"stable","growth":null,"outstanding":{"count":2,"bytes":2048}}}`); l.Growth != "" {
		t.Errorf("of another class: %q", l.Growth)
	}
}

// What is fixed has no growth, and why a leak is known is said of known leaks only.
func TestWhatIsSaidOfALeak(t *testing.T) {
	for change, want := range map[string]string{"new": "+1.00 KB in 1 block, ", "known": "+1.00 KB in 1 block, vendor", "fixed": ", "} {
		l := outcomeOf(t, `{"run":7,"gate":"passed",`+fmt.Sprintf("%q", change)+`:["s"],"baseline":{"build":"1"}}`,
			`{"title":"t","latest":{"growth":{"count":1,"bytes":1024}},"known":{"reason":"vendor"}}`)
		if got := l.Growth + ", " + l.Known; l.Change != change || got != want {
			t.Errorf("%s: %s, %q, want %q", change, l.Change, got, want)
		}
	}
}
