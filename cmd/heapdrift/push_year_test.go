package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A team's builds as files: each is pushed with its own PDB and image, which other builds of the same size have to
// leave alone. The gate fails once for each leak that came in, and names that were proven stay.
func TestPushYear(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server, db := startServerAs(t, "")
	if err := db.CreateProject(t.Context(), "shop", 0, "test"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.CreateRules(t.Context(), "shop", store.RuleChange{Author: "test", Text: `path:*receipt.cpp -> owner=printing`}); err != nil {
		t.Fatal(err)
	}
	y := &tillYear{T: t, store: db, url: server, named: map[int64]map[string]string{}}
	main, release := []string{"--branch", "main"}, []string{"--branch", "release/2.0", "--fork", "2"}
	old, both := []string{"Log::Write"}, []string{"Log::Write", "Receipt::Append"}

	y.push(tillBuild{1, old, false}, exitInconclusive, "this is the first build of the scenario", main...)
	y.push(tillBuild{1, old, false}, exitOK, "every leak is known", append([]string{"--accept-present"}, main...)...)
	y.push(tillBuild{2, old, false}, exitOK, "every leak is known", main...)
	y.push(tillBuild{3, both, false}, exitLeak, "1 new leak", main...)
	y.leaks("assign", y.signature("till!Receipt::Append"), "--to", "ann")
	y.push(tillBuild{4, both, false}, exitInconclusive, "no symbols for till", append([]string{"--no-symbols"}, main...)...)
	y.push(tillBuild{4, both, false}, exitOK, "no leak is new; 1 known by the team; 1 reported before", main...)
	y.push(tillBuild{5, []string{"Log::Write", "Order::Copy"}, false}, exitLeak, "1 new leak", release...)
	y.push(tillBuild{6, both, true}, exitOK, "no leak is new; 1 known by the team; 1 reported before", main...)
	y.push(tillBuild{7, old, true}, exitOK, "every leak is known", main...)
	y.push(tillBuild{3, both, false}, exitOK, "no leak is new; 1 known by the team; 1 with an owner", main...) // a job that runs again

	for title, want := range map[string]string{
		"till!Receipt::AppendLine": "main fixed",
		"till!Order::Copy":         "release/2.0 ongoing",
		"till!Log::Write":          "main known",
	} {
		h, err := storetest.Now(t, db).FindHistory(t.Context(), "shop", y.signature(title))
		if err != nil {
			t.Fatal(err)
		}
		var states []string
		for _, line := range h.Lines {
			states = append(states, fmt.Sprintf("%s %s", line.Branch, line.State))
		}
		if !slices.Contains(states, want) || strings.Contains(want, "fixed") && len(states) > 1 {
			t.Errorf("%s: %v, want %s", title, states, want)
		}
	}
}

// A tillYear is a team's pushes to a server.
type tillYear struct {
	*testing.T
	store *store.Store
	url   string
	named map[int64]map[string]string // by run and signature: what its build's symbols proved
}

// push pushes a build as a job does, and checks the gate. --no-symbols leaves its symbols out.
func (y *tillYear) push(b tillBuild, code int, why string, args ...string) {
	y.Helper()
	symbols, logs := b.write(y.T)
	sent := []string{"--url", y.url, "--project", "shop", "--build", fmt.Sprint(b.number), "--scenario", "soak", "--commit",
		fmt.Sprintf("%07x", 0xABC0000+b.number), "--fail-on", "new", "--json", filepath.Join(logs, "verdict.json"), "--wait", "5m"}
	without := slices.Index(args, "--no-symbols")
	if without < 0 {
		sent = append(sent, "--symbols", symbols)
	} else {
		args = slices.Delete(slices.Clone(args), without, without+1)
	}
	got, stdout, stderr := pushed(y.Context(), y.T, slices.Concat(sent, args, []string{filepath.Join(logs, "*.txt")})...)
	if got != code || !strings.Contains(stdout, why) {
		y.Errorf("build %d ends with %d, want %d and %q\n%s\n%s", b.number, got, code, why, stdout, stderr)
	}
	y.checkNames(y.run(b.number), &b, without < 0)
}

// run is the run of a build.
func (y *tillYear) run(build int) int64 {
	y.Helper()
	side, err := storetest.Now(y.T, y.store).FindBuildResult(y.Context(), "shop", "soak", fmt.Sprint(build))
	if err != nil {
		y.Fatal(err)
	}
	return side.RunIDs[0]
}

// checkNames holds the names, lines and owners of all reports that were proven against what they were at first.
func (y *tillYear) checkNames(run int64, b *tillBuild, proven bool) {
	y.Helper()
	if y.named[run] == nil && proven {
		y.named[run] = y.names(run)
		for _, f := range tillFunctions {
			class, _, _ := strings.Cut(f, "::")
			line := fmt.Sprintf("till!%s %s.cpp:%d", b.name(f), strings.ToLower(class), 11+3*b.number)
			if !slices.ContainsFunc(slices.Collect(maps.Values(y.named[run])), func(s string) bool { return strings.HasPrefix(s, line) }) {
				y.Errorf("build %d: no %s in %v", b.number, line, y.named[run])
			}
		}
	}
	for run, was := range y.named {
		if now := y.names(run); !maps.Equal(now, was) {
			y.Errorf("run %d had %v, and has %v", run, was, now)
		}
	}
}

// names are the title, line and owner of each finding of a run's report, by signature.
func (y *tillYear) names(run int64) map[string]string {
	y.Helper()
	answer, err := http.Get(fmt.Sprintf("%s/api/v1/runs/%d/report", y.url, run))
	if err != nil {
		y.Fatal(err)
	}
	defer answer.Body.Close()
	var report analysis.Report
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		y.Fatal(err)
	}
	list := map[string]string{}
	for i := range report.Findings {
		f := &report.Findings[i]
		list[f.Signature] = fmt.Sprintf("%s %s:%d %s", f.Title, path.Base(strings.ReplaceAll(f.Blame.File, `\`, "/")),
			f.Blame.Line, f.Owner)
	}
	return list
}

// signature is the leak with a title.
func (y *tillYear) signature(title string) string {
	y.Helper()
	for _, found := range y.named {
		for signature, text := range found {
			if strings.HasPrefix(text, title+" ") {
				return signature
			}
		}
	}
	y.Fatalf("no %s in %v", title, y.named)
	return ""
}

// leaks runs a command of heapdrift leaks.
func (y *tillYear) leaks(args ...string) {
	y.Helper()
	code, stdout, stderr := ran(y.T, slices.Concat([]string{"leaks"}, args, []string{"--url", y.url, "--project", "shop"})...)
	if code != exitOK {
		y.Fatalf("leaks %v ends with %d\n%s\n%s", args, code, stdout, stderr)
	}
}
