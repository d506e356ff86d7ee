package ci_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/internal/push/ci"
)

// Recorded environments, cut down to the variables that say something of the job. testdata/README.md says where they
// come from.
func TestEnvironments(t *testing.T) {
	for file, content := range golden.Inputs(t, "testdata/*.env") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			get := environment(t, string(content))
			system := ci.Detect(get)
			if system == nil {
				t.Fatal("no system")
			}
			text, err := json.MarshalIndent(system.Environment(get), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, strings.TrimSuffix(file, ".env")+".golden", system.Name+"\n"+string(text)+"\n")
		})
	}
	none := func(string) string { return "" }
	if s := ci.Detect(none); s != nil || s.Environment(none) != (ci.Environment{}) {
		t.Errorf("nothing is %v", s)
	}
}

// environment reads NAME=value lines. {testdata} stands for the folder.
func environment(t *testing.T, content string) ci.Getenv {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(content) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			values[name] = strings.ReplaceAll(value, "{testdata}", "testdata")
		}
	}
	return func(name string) string { return values[name] }
}

// The notes for each CI system contain texts that would end a command early or begin another.
func TestNotes(t *testing.T) {
	notes := []ci.Note{
		{ci.LevelError, "new-leak", "sig1:ab", "New leak",
			"50 % of Foo::Bar, [x]; it's 'ö'|\n::error::forged\r##vso[task.complete]", "src/a,b;c:d].cpp", 118},
		{ci.LevelWarning, "inconclusive", "gate", "Inconclusive", "record more", "", 0},
	}
	for i := range ci.Systems {
		s := &ci.Systems[i]
		var out bytes.Buffer
		summary := t.TempDir()
		get := func(name string) string {
			switch name {
			case "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT":
				return filepath.Join(summary, name)
			case "AGENT_TEMPDIRECTORY":
				return summary
			}
			return ""
		}
		s.Fold(&out, "leaks", "Leaks [2]", func() { fmt.Fprintln(&out, "inside") })
		if err := s.Annotate(&out, notes); err != nil {
			t.Error(err)
		}
		if err := s.Summarize(&out, get, &ci.Summary{
			Markdown: "**failed**", Sentence: "shop.exe leaks [1]", Failed: true,
			Outputs: []ci.Value{{"gate", "failed"}, {"url", "http://h/runs/1\nforged=1"}}, Counts: []ci.Count{{"new", 2}},
		}); err != nil {
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(summary, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if strings.HasPrefix(name, "heapdrift-") {
				name = "heapdrift-N.md"
			}
			fmt.Fprintf(&out, "== %s\n%s", name, content)
		}
		golden.Check(t, filepath.Join("testdata", "said", strings.ReplaceAll(s.Name, " ", "-")+".golden"),
			stable(out.String(), summary))
	}
}

// stable replaces what differs from run to run.
func stable(text, dir string) string {
	text = strings.ReplaceAll(text, dir+string(filepath.Separator), "{temp}/")
	var lines []string
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "section_"); i >= 0 {
			parts := strings.SplitN(line, ":", 3)
			line = parts[0] + ":{time}:" + parts[2]
		}
		if i := strings.Index(line, "{temp}/heapdrift-"); i >= 0 {
			line = line[:i] + "{temp}/heapdrift-N.md\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// Each level has as many notes as CI systems show.
func TestNotesAreFew(t *testing.T) {
	notes := make([]ci.Note, 50)
	for i := range notes {
		notes[i] = ci.Note{Level: ci.LevelError, Title: "x"}
	}
	var out bytes.Buffer
	if err := ci.Systems[0].Annotate(&out, notes); err != nil || strings.Count(out.String(), "\n") != 10 {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"app!std::vector<int>::push": "app!std::vector<int>::push",
		"::error::x":                 ": :error::x",
		"  ::stop-commands::x":       "  : :stop-commands::x",
		"a ##vso[task.x]y":           "a ## vso[task.x]y",
		"##teamcity[x]":              "## teamcity[x]",
		"##[error]x":                 "## [error]x",
		"a\x1b[2J\r\nb\u2028":        "a[2Jb",
	} {
		if got := ci.Plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
