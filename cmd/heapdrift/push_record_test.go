package main

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/push"
)

// checkRecordLine pushes evidence that does not decide: output, verdict, API and page name the same recording.
func checkRecordLine(t *testing.T, server string, args []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verdict.json")
	markdown := filepath.Join(t.TempDir(), "summary.md")
	_, stdout, stderr := pushed(t.Context(), t, append([]string{"--json", path, "--markdown", markdown}, args...)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err, stderr)
	}
	var verdict struct {
		Run    int64
		URL    string
		Record *push.Recording
	}
	if err := json.Unmarshal(text, &verdict); err != nil || verdict.Record == nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// Five snapshots detect leaks, ten make them certain: a recording begins anew.
	want := "heapdrift record --image shop.exe --evidence heap --snapshots 10 --push " + server +
		" --project shop --scenario default --build 1 --again"
	kit := server + "/projects/shop/kit?build=1&evidence=umdh&image=shop.exe&scenario=default&snapshots=10"
	if verdict.Record.Command != want || verdict.Record.Kit != kit {
		t.Errorf("verdict: %+v, want\n%s\n%s", verdict.Record, want, kit)
	}
	if !strings.Contains(stdout, "record   "+want+"\nkit      "+kit+"\n") {
		t.Errorf("output:\n%s", stdout)
	}
	summary, err := os.ReadFile(markdown)
	if err != nil || !strings.Contains(string(summary), "`"+want+"`") || !strings.Contains(string(summary), "/projects/shop/kit?") {
		t.Errorf("summary: %v\n%s", err, summary)
	}
	page := html.UnescapeString(body(t, verdict.URL))
	if !strings.Contains(page, want) || !strings.Contains(page, strings.TrimPrefix(kit, server)) {
		t.Errorf("the page lacks %s or %s", want, kit)
	}
	if page := html.UnescapeString(body(t, kit)); !strings.Contains(page, want) {
		t.Errorf("the page of the kit lacks %s", want)
	}
}

func body(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return string(text)
}
