package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/tools/demo/shopd"
)

// binaryFolder is the folder of the command that builtBinary has built; "" where no test asked for it. TestMain removes
// the folder.
var binaryFolder string

// builtBinary builds the command as users have it, once for all tests.
var builtBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "heapdrift-binary-*")
	if err != nil {
		return "", err
	}
	binaryFolder = dir
	path := filepath.Join(dir, "heapdrift")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// A job is one run of the binary in a CI system.
type job struct {
	dir            string // the working folder, with the evidence of a build
	environment    []string
	code           int
	stdout, stderr string
}

// runJob runs the binary with only the given environment.
func runJob(t *testing.T, dir string, environment []string, args ...string) *job {
	t.Helper()
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir, command.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, environment...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return &job{dir, environment, command.ProcessState.ExitCode(), out.String(), errs.String()}
}

// lastLines are the sentence and the page.
func (j *job) lastLines(t *testing.T) (sentence, page string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(j.stdout, "\n"), "\n")
	if len(lines) < 2 {
		t.Fatalf("standard output has %d lines:\n%s\n%s", len(lines), j.stdout, j.stderr)
	}
	return lines[len(lines)-2], lines[len(lines)-1]
}

// A ciCase is a CI system as its jobs see it.
type ciCase struct {
	name string
	// environment is recorded; n counts builds, temp is a folder of the job's.
	environment func(n int, workspace, temp string) []string
	build       string // that the server shall list for build n = 2
	branch      string
	// failing are texts that standard output holds where the gate fails, fixed where the leaks are gone; absent are texts
	// that it does not hold where the gate passes.
	failing, fixed, absent []string
	// said reads what the CI system gets besides standard output.
	said func(temp string) string
}

func ciCases() []ciCase {
	sha := func(n int) string { return strings.Repeat(fmt.Sprintf("%x", 10+n), 40) }
	return []ciCase{
		{
			name: "GitHub Actions",
			environment: func(n int, workspace, temp string) []string {
				return []string{
					"GITHUB_ACTIONS=true", "CI=true", "GITHUB_REPOSITORY=acme/shopd", "GITHUB_REPOSITORY_OWNER=acme",
					"GITHUB_WORKFLOW=soak", "GITHUB_JOB=soak",
					fmt.Sprintf("GITHUB_RUN_ID=1764520%d", n), fmt.Sprintf("GITHUB_RUN_NUMBER=%d", 99+n),
					"GITHUB_RUN_ATTEMPT=1", "GITHUB_SHA=" + sha(n),
					"GITHUB_REF=refs/heads/main", "GITHUB_REF_NAME=main", "GITHUB_REF_TYPE=branch", "GITHUB_HEAD_REF=",
					"GITHUB_EVENT_NAME=push",
					"GITHUB_SERVER_URL=https://github.com", "GITHUB_WORKSPACE=" + workspace,
					"GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary.md"), "GITHUB_OUTPUT=" + filepath.Join(temp, "output"),
				}
			},
			build: "101-ccccccc", branch: "main",
			failing: []string{"::error file=order/receipt.cpp,line=118,title=New leak%3A shopd!Receipt%3A%3AAppendLine::leak, +2.07 MB in 5,650 blocks"},
			fixed:   []string{"::group::heapdrift: 2 fixed, which fail no gate\nfixed ", "\n::endgroup::\n"},
			absent:  []string{"::error"},
			said: func(temp string) string {
				summary, _ := os.ReadFile(filepath.Join(temp, "summary.md"))
				output, _ := os.ReadFile(filepath.Join(temp, "output"))
				return string(summary) + string(output)
			},
		},
		{
			name: "Azure Pipelines",
			environment: func(n int, workspace, temp string) []string {
				return []string{
					"TF_BUILD=True", "AGENT_OS=Linux", "AGENT_TEMPDIRECTORY=" + temp, "BUILD_REPOSITORY_NAME=acme/shopd",
					"SYSTEM_TEAMPROJECT=Shop",
					"SYSTEM_COLLECTIONURI=https://dev.azure.com/acme/", fmt.Sprintf("BUILD_BUILDNUMBER=20261123.%d", n),
					fmt.Sprintf("BUILD_BUILDID=%d", 88000+n),
					"BUILD_SOURCEVERSION=" + sha(n), "BUILD_SOURCEBRANCH=refs/heads/main", "BUILD_SOURCESDIRECTORY=" +
						workspace, "SYSTEM_JOBATTEMPT=1",
				}
			},
			build: "20261123.2-ccccccc", branch: "main",
			failing: []string{"##vso[task.logissue type=error;sourcepath=order/receipt.cpp;linenumber=118;columnnumber=1;code=LEAK001;]New leak: shopd!Receipt::AppendLine: leak, +2.07 MB in 5,650 blocks", "##vso[task.uploadsummary]"},
			fixed:   []string{"##[group]heapdrift: 2 fixed, which fail no gate\nfixed ", "\n##[endgroup]\n"},
			absent:  []string{"type=error"},
			said: func(temp string) string {
				files, _ := filepath.Glob(filepath.Join(temp, "heapdrift-*.md"))
				text := ""
				for _, f := range files {
					content, _ := os.ReadFile(f)
					text += string(content)
				}
				return text
			},
		},
	}
}

// The life of a leak in CI: a clean build passes, the next build brings a leak and fails with its name, and the one
// after fixes the leak and passes.
func TestPushInCI(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	for _, system := range ciCases() {
		t.Run(system.name, func(t *testing.T) {
			t.Parallel()
			server, db := startServerAs(t, "0")
			if err := db.CreateProject(t.Context(), "shopd", 0, "test"); err != nil {
				t.Fatal(err)
			}
			token := tokenFor(t, db, "shopd", accounts.ScopeUpload, accounts.ScopeRead)
			workspace := t.TempDir()
			source := filepath.Join(workspace, "order")
			if err := os.MkdirAll(source, 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(source, "receipt.cpp"), []byte("// receipt\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for n, build := range []string{shopd.Clean, shopd.Leaking, shopd.Fixed} {
				dir, temp := t.TempDir(), t.TempDir()
				if err := shopd.WriteFiles(t.Context(), dir, build); err != nil {
					t.Fatal(err)
				}
				environment := append(system.environment(n+1, workspace, temp), "HEAPDRIFT_URL="+server, "HEAPDRIFT_TOKEN="+token)
				j := runJob(t, dir, environment, "push", "--scenario", "soak", "--wait", "5m", "--fail-on", "new", "--symbols",
					"symbols", "--junit", "junit.xml", "--sarif", "heapdrift.sarif",
					"--codeclimate", "climate.json", "--markdown", "comment.md", "--json", "verdict.json", "shopd-*.log")
				if want := 0 + n%2; j.code != want {
					t.Fatalf("build %s ends with %d, want %d\n%s\n%s", build, j.code, want, j.stdout, j.stderr)
				}
				system.check(t, j, temp, server, build)
			}
		})
	}
}

// check checks everything that a job leaves behind.
func (c *ciCase) check(t *testing.T, j *job, temp, server, build string) {
	t.Helper()
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(j.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	sentence, page := j.lastLines(t)
	if !strings.HasPrefix(page, server+"/runs/") || sentence == "" {
		t.Errorf("the last lines are %q and %q", sentence, page)
	}
	if got := strings.Count(j.stderr, "sent     shopd-"); got != 11 {
		t.Errorf("%d files are sent:\n%s", got, j.stderr)
	}
	var verdict struct {
		Schema, Gate, Build, URL string
		New, Fixed               []string
		Leaks                    []struct {
			Title, Change, Class, File string
			Fails                      bool
			Line                       int
		}
	}
	if err := json.Unmarshal(read("verdict.json"), &verdict); err != nil {
		t.Fatal(err)
	}
	var junit struct {
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal(read("junit.xml"), &junit); err != nil {
		t.Fatal(err)
	}
	var sarif struct {
		Runs []struct {
			Results []struct {
				Level         string
				BaselineState string
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(read("heapdrift.sarif"), &sarif); err != nil {
		t.Fatal(err)
	}
	comment, climate, said := string(read("comment.md")), string(read("climate.json")), c.said(temp)
	if !strings.HasPrefix(comment, "<!-- heapdrift shopd soak -->\n") ||
		!strings.Contains(said, strings.TrimSpace(comment)) || verdict.URL != page {
		t.Errorf("the comment is\n%s\nand the system is told\n%s", comment, said)
	}
	if build != shopd.Leaking {
		if verdict.Gate != "passed" || len(verdict.New) > 0 || junit.Failures+junit.Errors > 0 ||
			!strings.Contains(comment, "✅ passed") {
			t.Errorf("build %s: %+v %+v\n%s", build, verdict, junit, comment)
		}
		for _, text := range c.absent {
			if strings.Contains(j.stdout, text) {
				t.Errorf("build %s says %s:\n%s", build, text, j.stdout)
			}
		}
		for _, text := range c.fixed {
			if build == shopd.Fixed && !strings.Contains(j.stdout, text) {
				t.Errorf("build %s does not say %s:\n%s", build, text, j.stdout)
			}
		}
		if build == shopd.Fixed &&
			(len(verdict.Fixed) != 2 || !strings.Contains(j.stdout, "fixed    shopd!Receipt::AppendLine") ||
				strings.Contains(climate, "Receipt")) {
			t.Errorf("the fixed leak is not said: %+v\n%s", verdict, j.stdout)
		}
		return
	}
	if verdict.Gate != "failed" || verdict.Schema != "heapdrift.verdict/v1" || verdict.Build != c.build ||
		len(verdict.New) != 2 || junit.Failures < 2 || junit.Errors > 0 {
		t.Errorf("verdict %+v, junit %+v", verdict, junit)
	}
	if l := verdict.Leaks[0]; !l.Fails || l.Change != "new" || l.Class != "leak" {
		t.Errorf("leaks %+v", verdict.Leaks)
	}
	named := false
	for _, r := range sarif.Runs[0].Results {
		for _, l := range r.Locations {
			named = named || r.Level == "error" && r.BaselineState == "new" &&
				l.PhysicalLocation.ArtifactLocation.URI == "order/receipt.cpp" && l.PhysicalLocation.Region.StartLine == 118
		}
	}
	if !named {
		t.Errorf("the leak is not in the log:\n%s", read("heapdrift.sarif"))
	}
	for _, text := range c.failing {
		if !strings.Contains(j.stdout, text) {
			t.Errorf("standard output does not say %s:\n%s", text, j.stdout)
		}
	}
	for name, text := range map[string]string{"comment": comment, "climate": climate, "junit": string(read("junit.xml")),
		"output": j.stdout} {
		if !strings.Contains(text, "Receipt::AppendLine") {
			t.Errorf("the %s does not name the leak:\n%s", name, text)
		}
	}
}
