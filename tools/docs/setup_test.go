package docs

import (
	"regexp"
	"strings"
	"testing"
)

// Whoever sets a machine up does it by one script: CI, its workflow, the dev container and people.
func TestOneSetup(t *testing.T) {
	for _, name := range []string{".ci/run", ".github/workflows/ci.yml", ".devcontainer/devcontainer.json", "Makefile"} {
		text := read(t, name)
		if !strings.Contains(text, "tools/setup/setup.sh") || strings.Contains(text, "apt-get") {
			t.Errorf("%s does not leave the installation of packages to tools/setup/setup.sh", name)
		}
	}
}

// The dev container has the version of Go that the module asks for.
func TestDevContainer(t *testing.T) {
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	got := regexp.MustCompile(`"image": "golang:(\d+\.\d+)-bookworm"`).FindStringSubmatch(read(t, ".devcontainer/devcontainer.json"))
	if want == nil || got == nil || got[1] != want[1] {
		t.Errorf("the dev container has %q, go.mod asks for %q", got, want)
	}
}

// Every target that CONTRIBUTING.md names is one of the Makefile.
func TestTargets(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, page := range []string{"CONTRIBUTING.md", "README.md", "docs/adding-a-format.md"} {
		for _, m := range regexp.MustCompile("(?m)(?:`|^ +)make ([a-z-]+)").FindAllStringSubmatch(read(t, page), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+": ") {
				t.Errorf("%s names make %s, which is no target", page, m[1])
			}
		}
	}
}
