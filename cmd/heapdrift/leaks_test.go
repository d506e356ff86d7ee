package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ran runs a command line in this process, without variables of the environment that it would take.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, name := range []string{"HEAPDRIFT_URL", "HEAPDRIFT_TOKEN", "HEAPDRIFT_PROJECT"} {
		t.Setenv(name, "")
	}
	var out, errs bytes.Buffer
	code = run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &errs})
	return code, out.String(), errs.String()
}

// A fakeLeaks is a server that has leaks of project shop on two pages, and notes what is asked of it.
type fakeLeaks struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

const (
	cartLeak  = "sig1:0123456789abcdef0123456789abcdef"
	cacheLeak = "sig1:01234567ffffffffffffffffffffffff"
	poolLeak  = "sig1:aaaaaaaabbbbbbbbccccccccdddddddd"
)

func newFakeLeaks(t *testing.T) *fakeLeaks {
	t.Helper()
	f := &fakeLeaks{}
	rows := []string{
		`{"signature":"` + cartLeak + `","title":"shop!Cart::Add","state":"new","class":"leak","first_bad_build":"101",
			"last_seen_build":"103","owner":"cart","blame":{"module":"shop","file":"src/cart.cpp","line":118},
			"latest":{"growth":{"count":2000,"bytes":2044723}},"of_a_newer_server":1}`,
		`{"signature":"` + cacheLeak + `","title":"shop!Cache\u001b[2J::Put","state":"fixed","class":"growing","first_bad_build":"90",
			"fixed_build":"99","latest":{"growth":null}}`,
		`{"signature":"` + poolLeak + `","title":"vendor!Pool","state":"known","class":"leak","assignee":"ann","ticket":"T-9",
			"first_bad_build":"80","last_seen_build":"80","latest":{"growth":{"count":1,"bytes":400}},
			"known":{"reason":"vendor","until":"2026-12-31","until_build":"","expired":true}}`,
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		const list = "/api/v1/projects/shop/signatures"
		refuse := func(status int, code string) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%q,"detail":"state: said by the server"}`, code)
		}
		signature, isOne := strings.CutPrefix(r.URL.Path, list+"/")
		switch {
		case r.Header.Get("Authorization") != "Bearer hd_ok":
			refuse(http.StatusForbidden, "not-allowed")
		case isOne:
			i := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, signature) })
			if i < 0 {
				refuse(http.StatusNotFound, "not-found")
				return
			}
			fields := map[string]any{}
			if err := json.Unmarshal([]byte(rows[i]), &fields); err != nil {
				t.Error(err)
			}
			change := map[string]any{}
			if err := json.Unmarshal(body, &change); err != nil {
				t.Error(err)
			}
			if change["state"] == "known" {
				fields["known"] = map[string]any{"reason": change["reason"], "until": change["until"]}
			} else {
				fields["assignee"] = change["assignee"]
			}
			if err := json.NewEncoder(w).Encode(fields); err != nil {
				t.Error(err)
			}
		case r.URL.Path != list:
			refuse(http.StatusNotFound, "not-found")
		case r.FormValue("state") == "odd":
			refuse(http.StatusUnprocessableEntity, "invalid-state")
		case r.FormValue("state") == "known":
			fmt.Fprintf(w, `{"signatures":[%s]}`, rows[2])
		case r.FormValue("state") == "regressed":
			fmt.Fprint(w, `{"signatures":[]}`)
		case r.FormValue("after") == "":
			fmt.Fprintf(w, `{"signatures":[%s,%s],"next":"%s?after=2"}`, rows[0], rows[1], list)
		default:
			fmt.Fprintf(w, `{"signatures":[%s]}`, rows[2])
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeLeaks) args(command string, more ...string) []string {
	name, rest, _ := strings.Cut(command, " ")
	args := []string{"leaks", name, "--url", f.URL, "--project", "shop", "--token", "hd_ok"}
	return append(append(args, strings.Fields(rest)...), more...)
}

// The list has a line for each leak, in columns, over all pages; as JSON it has every field that the server gives.
func TestLeaksList(t *testing.T) {
	f := newFakeLeaks(t)
	code, stdout, stderr := ran(t, f.args("list")...)
	want := `sig1:0123456789ab  new    leak     +1.95 MB in 2,000 blocks  shop!Cart::Add (src/cart.cpp:118)  since build 101, last seen in 103  owner cart
sig1:01234567ffff  fixed  growing  growth unknown            shop!Cache[2J::Put                 since build 90, fixed in 99
sig1:aaaaaaaabbbb  known  leak     +400 B in 1 block         vendor!Pool                        since build 80                     owner ann, ticket T-9, known: vendor, until 2026-12-31 (over)
`
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("%d\n%s%s\nwant\n%s", code, stdout, stderr, want)
	}
	code, stdout, _ = ran(t, f.args("list --format json --state known,new")...)
	var list struct {
		Project    string
		Total      int
		Signatures []map[string]any
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != exitOK || list.Project != "shop" ||
		list.Total != 4 || list.Signatures[0]["signature"] != poolLeak || list.Signatures[1]["of_a_newer_server"] != 1.0 {
		t.Errorf("%d, %v: %s", code, err, stdout)
	}
	if code, stdout, _ = ran(t, f.args("list --state regressed")...); code != exitOK ||
		stdout != "No such leak in project shop.\n" {
		t.Errorf("%d %q", code, stdout)
	}
	code, stdout, _ = ran(t, f.args("list --state regressed --format json")...)
	if code != exitOK || !strings.Contains(stdout, `"signatures": []`) {
		t.Errorf("%d %q", code, stdout)
	}
}

// Leaks are changed by a prefix of their signature, all of them or none.
func TestLeaksChange(t *testing.T) {
	f := newFakeLeaks(t)
	for _, test := range []struct {
		args         []string
		code         int
		says, errs   string
		lastRequests []string
	}{
		{f.args("accept sig1:aaaaaaaa 0123456789ab"), exitOK,
			"accepted  sig1:aaaaaaaabbbb  vendor!Pool  known: accepted\naccepted  sig1:0123456789ab  shop!Cart::Add  known: accepted\n", "",
			[]string{`PATCH /api/v1/projects/shop/signatures/` + poolLeak + ` {"reason":"accepted","state":"known"}`,
				`PATCH /api/v1/projects/shop/signatures/` + cartLeak + ` {"reason":"accepted","state":"known"}`}},
		{f.args("accept", "--reason", "vendor bug 7", "--until", "2026-12-31", poolLeak), exitOK,
			"known: vendor bug 7, until 2026-12-31\n", "",
			[]string{`PATCH /api/v1/projects/shop/signatures/` + poolLeak +
				` {"reason":"vendor bug 7","state":"known","until":"2026-12-31"}`}},
		{f.args("accept --until-build 200", poolLeak), exitOK, "accepted", "",
			[]string{`PATCH /api/v1/projects/shop/signatures/` + poolLeak +
				` {"reason":"accepted","state":"known","until_build":"200"}`}},
		{f.args("assign --to bob SIG1:AAAAAAAA"), exitUsage, "", "is not a signature", nil},
		{f.args("assign sig1:AAAAAAAA --to bob"), exitOK, "assigned  sig1:aaaaaaaabbbb  vendor!Pool  to bob\n", "",
			[]string{`PATCH /api/v1/projects/shop/signatures/` + poolLeak + ` {"assignee":"bob"}`}},
		{f.args("assign aaaaaaaa --to", ""), exitOK, "unassigned  sig1:aaaaaaaabbbb  vendor!Pool\n", "",
			[]string{`PATCH /api/v1/projects/shop/signatures/` + poolLeak + ` {"assignee":""}`}},
		{f.args("accept aaaaaaaa 01234567"), exitUsage, "", "names 2 leaks: " + cartLeak + ", " + cacheLeak, []string{}},
		{f.args("accept aaaaaaaa sig1:99999999"), exitInput, "", "has no leak sig1:99999999", []string{}},
		{f.args("accept", "sig1:"+strings.Repeat("9", 32)), exitInput, "", "no leak sig1:9999", nil},
		{f.args("accept sig1:aaaaaaa"), exitUsage, "", "at least 8", nil},
		{f.args("accept", "sig1:"+strings.Repeat("9", 33)), exitUsage, "", "is not a signature", nil},
		{f.args("accept"), exitUsage, "", "no signature given", nil},
		{f.args("accept aaaaaaaa --until soon"), exitUsage, "", "--until: ", nil},
		{f.args("accept aaaaaaaa --until 2026-12-31 --until-build 2"), exitUsage, "", "not both", nil},
		{f.args("accept aaaaaaaa --reason", ""), exitUsage, "", "--reason: is missing", nil},
		{f.args("assign aaaaaaaa"), exitUsage, "", "--to", nil},
		{f.args("list --state odd"), exitUsage, "", "said by the server", nil},
		{f.args("list --format xml"), exitUsage, "", "neither text nor json", nil},
		{f.args("list more"), exitUsage, "", "unexpected", nil},
		{f.args("list --project other"), exitInput, "", `no project "other"`, nil},
		{f.args("list --token hd_no"), exitInput, "", "changes the scope admin", nil},
		{[]string{"leaks", "list", "--project", "shop"}, exitUsage, "", "HEAPDRIFT_URL", nil},
		{[]string{"leaks", "list", "--url", "http://h"}, exitUsage, "", "HEAPDRIFT_PROJECT", nil},
		{[]string{"leaks", "list", "--url", "h", "--project", "shop"}, exitUsage, "", "http://host:port", nil},
		{[]string{"leaks"}, exitUsage, "", "heapdrift leaks accept", nil},
		{[]string{"leaks", "--help"}, exitOK, "heapdrift leaks assign", "", nil},
		{[]string{"leaks", "accept", "--help"}, exitOK, "", "usage: heapdrift leaks accept [--project P] [flags] SIG…", nil},
	} {
		f.asked = nil
		code, stdout, stderr := ran(t, test.args...)
		if code != test.code || !strings.Contains(stdout, test.says) || !strings.Contains(stderr, test.errs) ||
			(code == exitOK) != (stdout != "") && test.errs == "" {
			t.Errorf("%q ends with %d, want %d\n%s\n%s", test.args, code, test.code, stdout, stderr)
		}
		changes := slices.DeleteFunc(slices.Clone(f.asked), func(r string) bool { return strings.HasPrefix(r, "GET ") })
		if test.lastRequests != nil && !slices.Equal(changes, test.lastRequests) {
			t.Errorf("%q asks for %q", test.args, changes)
		}
	}
}
