package push_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// answers makes a fake answer paths of the API, by method and path with its query; others go on to the fake.
func answers(f *fakeServer, texts map[string]string) (asked *[]string) {
	asked = new([]string)
	f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			f.t.Error(err)
		}
		request := r.Method + " " + r.URL.RequestURI()
		f.mu.Lock()
		*asked = append(*asked, strings.TrimSpace(request+" "+string(body)))
		f.mu.Unlock()
		text, known := texts[request]
		if status, detail, refused := strings.Cut(text, "!"); refused {
			var code int
			if _, err := fmt.Sscan(status, &code); err != nil {
				f.t.Error(err)
			}
			problem(w, code, detail, "")
			return true
		}
		if known {
			fmt.Fprint(w, text)
		}
		return known
	}
	return asked
}

// leaksOf are the leaks of an outcome: change, signature, class, title, and what else is said of each.
func leaksOf(o *outcome.Outcome) string {
	var list []string
	for i := range o.Leaks {
		l := &o.Leaks[i]
		text := l.Change + " " + l.Signature
		if l.Title != "" {
			text += " " + l.Title
		}
		if l.Fails {
			text += " fails"
		}
		if l.Doubtful {
			text += " doubtful"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// Without a baseline, the leaks of a run are those of its report: what leaks or grows and is not known. A server that
// does not show the report, or a gate that did not judge, shows none.
func TestFoundWithoutBaseline(t *testing.T) {
	const report = `{"schema":1,"totals":{"findings":[1]},"findings":[{"signature":"a","verdict":"leak"},` +
		`{"signature":"b","verdict":"growing"},{"signature":"c","verdict":"cache"},{"signature":"k","verdict":"leak"}],"sites":[`
	const path = "GET /api/v1/runs/7/report?format=json"
	for name, test := range map[string]struct{ verdict, report, want string }{
		"passed":       {`"gate":"passed","known":["k"]`, report, "found a, found b, known k"},
		"failed":       {`"gate":"failed","known":["k"]`, report, "found a, found b, known k"},
		"inconclusive": {`"gate":"inconclusive","known":["k"]`, report, "found a, found b, known k"},
		"pending":      {`"gate":"pending","known":["k"]`, report, "known k"},
		"compared":     {`"gate":"passed","known":["k"],"baseline":{"build":"1"}`, report, "known k"},
		"not shown":    {`"gate":"passed","known":["k"]`, "403!forbidden", "known k"},
		"not there":    {`"gate":"passed","known":["k"]`, "404!not-found", "known k"},
		"nothing":      {`"gate":"passed"`, `{"findings":[]}`, ""},
	} {
		f := newFake(t)
		answers(f, map[string]string{path: test.report})
		f.verdict = func() string { return `{"run":7,` + test.verdict + `}` }
		client, _ := f.client()
		v, err := client.AwaitVerdict(t.Context(), 7, push.Question{}, 0, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		o, err := client.Outcome(t.Context(), &push.Run{ID: 7, Project: "p"}, v, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := leaksOf(o); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A report that breaks off, has no findings, or that the server fails to give is asked for again, and then an error.
func TestFoundNothing(t *testing.T) {
	for _, report := range []string{"", "x", "{", `{"a"`, `{"a":`, `{"a":1}`, `{"findings":[{"signature"`, `{"findings":[1]}`,
		"500!internal"} {
		f := newFake(t)
		asked := answers(f, map[string]string{"GET /api/v1/runs/7/report?format=json": report})
		client, pauses := f.client()
		client.Tries = 3
		_, err := client.Outcome(t.Context(), &push.Run{ID: 7, Project: "p"}, &push.RunVerdict{Gate: outcome.GatePassed}, "")
		if err == nil || len(*asked) != 3 || len(*pauses) != 2 {
			t.Errorf("%q: %v after %d requests and %d pauses", report, err, len(*asked), len(*pauses))
		}
	}
}

// Findings that are not decided stand among the leaks by what they could be, and files that could not be read among the
// problems.
func TestUndecidedAndUnread(t *testing.T) {
	f := newFake(t)
	client, _ := f.client()
	v := &push.RunVerdict{Gate: outcome.GateInconclusive, Baseline: &push.Baseline{Build: "1"}, New: []string{"n"},
		Matters: &leaks.DecisionThreshold{Sentence: "from 1 MB on"}, Power: "1 KB per hour", URL: "/runs/7",
		Undecided: []push.Undecided{{Signature: "n"}, {Signature: "a", Title: "A", Change: "new"},
			{Signature: "b", Title: "B", Change: "regressed"}, {Signature: "c", Title: "C", Change: "grown"},
			{Signature: "d", Title: "D", Change: "leak"}}}
	run := &push.Run{ID: 7, Project: "p", Build: "2", Scenario: "s"}
	run.Evidence = append(run.Evidence, push.Evidence{Name: "a.txt", State: "read"},
		push.Evidence{Name: "b.txt", State: "failed"})
	o, err := client.Outcome(t.Context(), run, v, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := leaksOf(o); got != "new n doubtful, new a A doubtful, new b B doubtful, grown c C doubtful, found d D doubtful" {
		t.Error(got)
	}
	if strings.Join(o.Problems, ";") != "b.txt could not be read: no reason is known" || o.Baseline != "1" ||
		o.Matters != "from 1 MB on" || o.Power != "1 KB per hour" || o.URL != f.URL+"/runs/7" || o.Build != "2" {
		t.Errorf("%+v", o)
	}
}

// All pages of a list are read, with the fields that this version does not know.
func TestLeaks(t *testing.T) {
	f := newFake(t)
	const first, second = "/api/v1/projects/a%2Fb/signatures?limit=500&state=open", "/api/v1/projects/a%2Fb/signatures?after=2"
	asked := answers(f, map[string]string{
		"GET " + first: `{"signatures":[{"signature":"s1","owner":"team","assignee":"ann","later":1},` +
			`{"signature":"s2","owner":"team","latest":{"growth":{"count":2,"bytes":10}}}],"next":"` + second + `"}`,
		"GET " + second: `{"signatures":[{"signature":"s3"}]}`,
	})
	client, _ := f.client()
	list, err := client.Leaks(t.Context(), "a/b", url.Values{"state": {"open"}})
	if err != nil || len(list) != 3 || len(*asked) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Signature != "s1" || list[0].Responsible() != "ann" || list[1].Responsible() != "team" ||
		list[2].Signature != "s3" || !strings.Contains(string(list[0].Text), `"later":1`) {
		t.Errorf("%+v", list)
	}
	if size, count, ok := list[1].Growth(); size != 10 || count != 2 || !ok {
		t.Errorf("%d, %d, %t", size, count, ok)
	}
	if _, _, ok := list[0].Growth(); ok {
		t.Error("growth of which nothing is said")
	}
	answers(f, map[string]string{"GET /api/v1/projects/p/signatures?limit=500": `{"signatures":[],"next":"https://evil/api/v1/"}`})
	var own *push.Error
	if _, err := client.Leaks(t.Context(), "p", url.Values{}); !errors.As(err, &own) || own.Code != push.CodeNotHeapdrift {
		t.Errorf("a page elsewhere: %v", err)
	}
}

// Changes are sent as JSON to the thing's own path, and what the server answers is returned.
func TestChanges(t *testing.T) {
	f := newFake(t)
	asked := answers(f, map[string]string{
		"PATCH /api/v1/projects/p/signatures/sig1:a": `{"signature":"sig1:a","state":"known"}`,
		"PATCH /api/v1/projects/p/builds/1%2F2":      `{"name":"1/2","branch":"main"}`,
		"PATCH /api/v1/projects/p":                   `{"name":"q","default_branch":"main"}`,
	})
	client, _ := f.client()
	fields := map[string]any{"a": 1}
	l, err := client.ChangeLeak(t.Context(), "p", "sig1:a", fields)
	if err != nil || l.State != "known" {
		t.Errorf("%+v, %v", l, err)
	}
	b, err := client.ChangeBuild(t.Context(), "p", "1/2", fields)
	if err != nil || b.Branch != "main" {
		t.Errorf("%+v, %v", b, err)
	}
	p, err := client.ChangeProject(t.Context(), "p", fields)
	if err != nil || p.Name != "q" || p.DefaultBranch != "main" {
		t.Errorf("%+v, %v", p, err)
	}
	if got := strings.Join(*asked, "; "); strings.Count(got, ` {"a":1}`) != 3 {
		t.Error(got)
	}
	if _, err := client.ChangeProject(t.Context(), "other", fields); err == nil {
		t.Error("a project that the server does not know is changed")
	}
}

// The name of one more run is the least number that no run of the build and scenario has.
func TestFreeRun(t *testing.T) {
	const path = "GET /api/v1/projects/p/builds/7"
	for text, want := range map[string]string{
		"404!not-found": "1", `{"runs":[]}`: "1",
		`{"runs":[{"scenario":"s","name":"1"},{"scenario":"s","name":"3"},{"scenario":"t","name":"2"}]}`: "2",
		`{"runs":[{"scenario":"s","name":"1"},{"scenario":"t","name":"1"},{"scenario":"s","name":"2"}]}`: "3",
		"405!": push.CodeOldServer,
	} {
		f := newFake(t)
		answers(f, map[string]string{path: text})
		client, _ := f.client()
		got, err := client.FreeRunName(t.Context(), &leaks.UploadTarget{Project: "p", Build: "7", Scenario: "s"})
		var own *push.Error
		if errors.As(err, &own) {
			got = own.Code
		}
		if got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// What cannot be sent is told apart before anything is asked of the server.
func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.txt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]string{dir: push.CodeFolder, empty: push.CodeEmptyFile,
		filepath.Join(dir, "none.txt"): push.CodeNoFile, os.DevNull: push.CodeUnreadable} {
		f := newFake(t)
		client, _ := f.client()
		p := &push.Plan{Target: leaks.UploadTarget{Project: "p", Build: "1"}, Evidence: []push.File{{Path: path}}}
		_, err := client.Send(t.Context(), p, &fileLog{})
		var own *push.Error
		if !errors.As(err, &own) || own.Code != code || f.count != 0 {
			t.Errorf("%s: %v after %d requests, want %s", path, err, f.count, code)
		}
	}
}

// The longest pause that a server asks for is five minutes; a date in the past asks for none.
func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": time.Second, "7": 7 * time.Second, "300": 5 * time.Minute, "301": 5 * time.Minute, "-5": time.Second,
		"x": time.Second, "Wed, 21 Oct 2015 07:28:00 GMT": time.Second,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): 5 * time.Minute,
	} {
		f := newFake(t)
		f.before = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n > 1 {
				fmt.Fprint(w, `{"name":"p"}`)
				return true
			}
			w.Header().Set("Retry-After", text)
			problem(w, http.StatusServiceUnavailable, "busy", "")
			return true
		}
		client, pauses := f.client()
		if _, err := client.ChangeProject(t.Context(), "p", nil); err != nil || len(*pauses) != 1 || (*pauses)[0] != want {
			t.Errorf("%q: pauses %v, %v, want %v", text, *pauses, err, want)
		}
	}
}
