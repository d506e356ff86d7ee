//go:build !windows

package elevate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/testwine"
)

// The tests for Windows pass under Wine, which starts a program "as administrator" without asking.
func TestUnderWine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tests for Windows and sets Wine up")
	}
	wine, dir := testwine.Start(t), filepath.Join(t.TempDir(), "größe 日本")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "elevate.test.exe")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := wine.Command(t.Context(), dir, program, "-test.run=^TestOnWindows", "-test.v").CombinedOutput()
	if passed := strings.Count(string(out), "--- PASS: TestOnWindows"); err != nil || passed < 4 {
		t.Errorf("%v\n%s", err, out)
	}
}
