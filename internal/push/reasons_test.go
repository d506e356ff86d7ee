package push_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/push"
)

// The server's reasons say what fails a gate: its policy may tolerate a new leak, or fail on one that the baseline has.
func TestReasonsDecide(t *testing.T) {
	const lists = `"new":["quarantined","new"],"persisting":["regressed","over","fine"],"known":["known"],"baseline":{"build":"1"},"fail_on":["new","regressed"]`
	reason := func(effect, code, signature string) string {
		return fmt.Sprintf(`{"effect":%q,"code":%q,"signature":%q,"sentence":"because"}`, effect, code, signature)
	}
	for _, test := range []struct {
		name, reasons string
		mayRead       bool
		want          string
	}{
		{"named", reason("fails", "new", "new") + "," + reason("fails", "regressed", "regressed") + "," +
			reason("fails", "budget", "over") + "," + reason("silences", "quarantined", "quarantined"), true,
			"new over regressed"},
		{"a token that may not read leaks", reason("fails", "new", "new") + "," + reason("fails", "leak", "unlisted"), false,
			"new unlisted"},
		{"a reason of the whole run", reason("fails", "report", ""), true, ""},
		{"more than are named", reason("fails", "new", "new") + "," + reason("fails", "new", "") + "," +
			reason("silences", "quarantined", "quarantined"), true, "new"},
		{"all are meant", reason("fails", "leak", "") + "," + reason("silences", "quarantined", "quarantined"), true,
			"fine new over regressed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.verdict = func() string {
				return `{"run":7,"gate":"failed","url":"/runs/7",` + lists + `,"reasons":[` + test.reasons + `]}`
			}
			f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/signatures/") {
					return false
				}
				if !test.mayRead {
					problem(w, http.StatusForbidden, "not-allowed", "this needs a token with the scope read")
					return true
				}
				fmt.Fprint(w, `{"title":"t","latest":{"class":"leak","certain":true}}`)
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
			o, err := client.Outcome(t.Context(), &push.Run{ID: 7, Project: "p"}, v, "")
			if err != nil {
				t.Fatal(err)
			}
			failing := map[string]bool{}
			for _, l := range o.Leaks {
				failing[l.Signature] = l.Fails
				if silenced := strings.Contains(strings.Join(l.Reasons, ""),
					"silenced: because"); silenced != (l.Signature == "quarantined" && strings.Contains(test.reasons, "silences")) {
					t.Errorf("%s: %q", l.Signature, l.Reasons)
				}
			}
			var got []string
			for _, s := range []string{"fine", "known", "new", "over", "quarantined", "regressed", "unlisted"} {
				if failing[s] {
					got = append(got, s)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q fail, want %q", got, test.want)
			}
		})
	}
}

// Leaks that the server says are lost together are one in comments and files for CI.
func TestOutcomeCountsCauses(t *testing.T) {
	f := newFake(t)
	f.verdict = func() string {
		return `{"run":7,"gate":"failed","url":"/runs/7","new":["a","b","c"],"fixed":["d"],"baseline":{"build":"1"},"fail_on":["new"],` +
			`"causes":[{"title":"lost objects of app!Open","ratio":"1 : 5","signatures":["a","b","d"]}],` +
			`"reasons":[{"effect":"fails","code":"new","signature":"a"},{"effect":"fails","code":"new","signature":"b"}]}`
	}
	f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/signatures/") {
			problem(w, http.StatusForbidden, "not-allowed", "this needs a token with the scope read")
			return true
		}
		return false
	}
	client, err := push.NewClient(f.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := client.AwaitVerdict(t.Context(), 7, push.Question{}, 0, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.Outcome(t.Context(), &push.Run{ID: 7, Project: "p"}, v, "")
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]string{}
	for _, l := range o.Leaks {
		causes[l.Signature] = strings.TrimSuffix(l.CauseGroup+", "+l.Ratio, ", ")
	}
	const want = "lost objects of app!Open, 1 : 5"
	if causes["a"] != want || causes["b"] != want || causes["c"] != "" || causes["d"] != "" || o.Count("new") != 2 {
		t.Errorf("%v, %d new", causes, o.Count("new"))
	}
}
