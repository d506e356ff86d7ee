// Package testwine runs programs of Windows in tests, under Wine:
//
//	wine := testwine.Start(t)
//	out, err := wine.Command(ctx, dir, testwine.Build(t, "./cmd/heapdrift"), "version").Output()
package testwine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/needs"
)

// random is the one function that programs of Go need and Wine 8 lacks: random bytes of bcryptprimitives.dll.
const random = `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG size);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
`

// stopTime is how long Wine's server may take to end.
const stopTime = time.Minute

// A Wine is an installation of Wine, with its own registry and drive C.
type Wine struct {
	program string
	prefix  string
}

// Start installs a Wine, which takes seconds, and removes it when the test ends. It skips the test where Wine or a
// compiler for Windows is not installed.
func Start(t testing.TB) *Wine {
	t.Helper()
	w := &Wine{find(t), filepath.Join(t.TempDir(), "wine")}
	needs.Program(t, compiler)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		stop := exec.CommandContext(ctx, "wineserver", "-k")
		stop.Env = w.environment()
		_ = stop.Run() // it has ended with its last program, as a rule
	})
	run(t, w.Command(t.Context(), "", "wineboot", "-i"))
	w.compileLibrary(t)
	return w
}

// find returns the path of Wine for programs of 64 bit. Debian keeps it out of the PATH.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return needs.Program(t, "wine")
}

// compiler makes programs of Windows from C.
const compiler = "x86_64-w64-mingw32-gcc"

// Compile compiles the text of a C file to a Windows program, or to a library if path ends in .dll.
func Compile(t testing.TB, text, path string, flags ...string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source.c")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-O1", "-o", path, source}
	if strings.HasSuffix(path, ".dll") {
		args = append(args, "-shared")
	}
	run(t, exec.CommandContext(t.Context(), needs.Program(t, compiler), append(args, flags...)...))
}

func (w *Wine) compileLibrary(t testing.TB) {
	t.Helper()
	Compile(t, random, filepath.Join(w.prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll"), "-ladvapi32")
}

// Build builds a Windows program from a package of Go, and returns its path.
func Build(t testing.TB, pkg string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg)+".exe")
	args := append([]string{"build", "-o", path}, flags...)
	build := exec.CommandContext(t.Context(), "go", append(args, pkg)...)
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	run(t, build)
	return path
}

// Command runs a Windows program with its arguments in the folder dir; "" is the folder of the test.
func (w *Wine) Command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.program, append([]string{program}, args...)...)
	cmd.Dir, cmd.Env = dir, w.environment()
	return cmd
}

// CtrlC is what a terminal sends for Ctrl+C.
const CtrlC = "\x03"

// InConsole runs a Windows program in a console window, with its arguments. Its standard input is the keyboard. Its
// output is the drawing of the window; Printed takes the text out of it.
func (w *Wine) InConsole(t testing.TB, dir, program string, args ...string) *exec.Cmd {
	t.Helper()
	line := make([]string, 0, len(args)+2)
	for _, arg := range append([]string{w.program, program}, args...) {
		line = append(line, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	// exec, since Ctrl C reaches every program of the console: a shell that waits for Wine would end with its own code.
	command := "exec " + strings.Join(line, " ")
	cmd := exec.CommandContext(t.Context(), needs.Program(t, "script"), "-qec", command, os.DevNull)
	cmd.Dir, cmd.Env = dir, w.environment()
	return cmd
}

// drawing are the codes with which Wine moves and hides the cursor.
var drawing = regexp.MustCompile(`\x1b\[[?0-9;]*[A-Za-z]`)

// Printed is the text in the output of a program that InConsole ran.
func Printed(output string) string { return drawing.ReplaceAllString(output, "") }

// environment is without a screen, and in UTF-8, as which Wine takes arguments and names of files.
func (w *Wine) environment() []string {
	return append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEARCH=win64", "WINEDEBUG=-all", "DISPLAY=", "LC_ALL=C.UTF-8",
		"WINEDLLOVERRIDES=mscoree,mshtml=")
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// Drive is the folder that is drive C.
func (w *Wine) Drive() string { return filepath.Join(w.prefix, "drive_c") }
