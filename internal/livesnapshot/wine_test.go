//go:build !windows

package livesnapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/testwine"
)

// counting is a program with a thread that counts as fast as it can. It prints its number and where it counts.
const counting = `#include <windows.h>
#include <stdio.h>
static volatile LONG64 counted;
static DWORD WINAPI count(void *unused) { for (;;) counted++; }
int main(void) {
	CreateThread(0, 0, count, 0, 0, 0);
	printf("%lu %p\n", GetCurrentProcessId(), (void *)&counted);
	fflush(stdout);
	getchar();
	return 0;
}`

// The tests for Windows pass under Wine, as far as it has the calls.
func TestUnderWine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tests for Windows and sets Wine up")
	}
	wine, dir := testwine.Start(t), t.TempDir()
	testwine.Compile(t, counting, filepath.Join(dir, "counting.exe"))
	program := filepath.Join(dir, "livesnapshot.test.exe")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := wine.Command(t.Context(), dir, program, "-test.run=^TestOnWindows", "-test.v").CombinedOutput()
	passed, skipped := strings.Count(string(out), "--- PASS: TestOnWindows"), strings.Count(string(out), "--- SKIP")
	if err != nil || passed < 4 || skipped > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
