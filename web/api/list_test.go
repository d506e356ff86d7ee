package api_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// One function writes every list as CSV: a row for each row of the JSON, a column for each value.
func TestListsAsCSV(t *testing.T) {
	n := shopHistory(t)
	list := decode[struct {
		Signatures []struct{ Signature, Title string }
	}](t, n.do("GET", "/api/v1/projects/shop/signatures?class=all", nil).want(t, 200, ""))
	if len(list.Signatures) < 2 {
		t.Fatalf("%+v", list)
	}
	signature := "/api/v1/projects/shop/signatures/" + url.PathEscape(list.Signatures[0].Signature)
	n.do("PATCH", signature, strings.NewReader(`{"assignee": "=cmd|'/c calc'!A0", "ticket": "@SUM(A1)"}`),
		"X-Heapdrift-Actor", "+ada").want(t, 200, "")

	rows := func(path string) []map[string]string {
		t.Helper()
		a := n.do("GET", path, nil).want(t, 200, "")
		if got := a.Header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
			t.Errorf("%s: %s", path, got)
		}
		if got := a.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=") ||
			!strings.HasSuffix(strings.Trim(got, `"`), ".csv") || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q", path, got)
		}
		all, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var out []map[string]string
		for _, row := range all[1:] {
			m := map[string]string{}
			for i, column := range all[0] {
				m[column] = row[i]
			}
			out = append(out, m)
			for column, text := range m {
				if text != "" && strings.ContainsAny(text[:1], "=+@\t\r") {
					t.Errorf("%s: %s runs: %q", path, column, text)
				}
			}
		}
		return out
	}

	all := rows("/api/v1/projects/shop/signatures?class=all&format=csv")
	at := slices.IndexFunc(all, func(m map[string]string) bool { return m["signature"] == list.Signatures[0].Signature })
	if len(all) != len(list.Signatures) || at < 0 || all[at]["assignee"] != "'=cmd|'/c calc'!A0" ||
		all[at]["ticket"] != "'@SUM(A1)" || all[at]["title"] != list.Signatures[0].Title ||
		all[at]["latest_outstanding_bytes"] == "" || all[at]["state"] == "" {
		t.Errorf("%+v", all)
	}
	audit := rows(signature + "/audit?format=csv")
	audit = slices.DeleteFunc(audit, func(m map[string]string) bool { return m["action"] != "triage" })
	if len(audit) == 0 || audit[0]["actor"] != "'+ada" || !strings.Contains(audit[0]["after"], "cmd") {
		t.Errorf("%+v", audit)
	}
	n.do("PUT", "/api/v1/evidence?project=shop&build=1&sequence=9&scenario=declared&name=a.log",
		strings.NewReader(umdhLog(1000))).want(t, 201, "")
	if trail := rows("/api/v1/projects/shop/audit?format=csv"); len(trail) != 1 || trail[0]["action"] != "order" {
		t.Errorf("%+v", trail)
	}
	if changed := rows("/api/v1/compare?project=shop&scenario=soak&base=1&head=2&format=csv"); len(changed) == 0 ||
		changed[0]["change"] == "" || changed[0]["signature"] == "" {
		t.Errorf("%+v", changed)
	}

	first := n.do("GET", "/api/v1/projects/shop/signatures?class=all&format=csv&limit=1", nil).want(t, 200, "")
	next, _, ok := strings.Cut(strings.TrimPrefix(first.Header.Get("Link"), "<"), ">; rel=\"next\"")
	if !ok || !strings.Contains(next, "format=csv") {
		t.Fatalf("no way to the next page: %q", first.Header.Get("Link"))
	}
	if more := rows(next); len(more) != 1 || strings.Contains(string(first.body), more[0]["signature"]) {
		t.Errorf("%+v", more)
	}
	for _, path := range []string{"/api/v1/projects/shop/signatures", signature + "/audit", "/api/v1/projects/shop/audit",
		"/api/v1/compare?project=shop&scenario=soak&base=1&head=2"} {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		n.do("GET", path+mark+"format=xlsx", nil).want(t, http.StatusUnprocessableEntity, "invalid-format")
	}
}
