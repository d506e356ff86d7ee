package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/hdsnap"
	"heapdrift/internal/testwine"
)

// victim is a program with known memory: 3,000 blocks of 100 bytes in a heap of its own, 8 MB of VirtualAlloc, and a
// thread that counts. For each line of its input it tells how often that thread was suspended, and how far it is. From a
// line "A" on, nobody may open it.
const victim = `#include <windows.h>
#include <sddl.h>
#include <stdio.h>
static volatile LONG counted;
static DWORD WINAPI count(void *unused) { for (;;) { InterlockedIncrement(&counted); Sleep(0); } }
int main(void) {
	HANDLE heap = HeapCreate(0, 0, 0), thread = CreateThread(0, 0, count, 0, 0, 0);
	for (int i = 0; i < 3000; i++) memset(HeapAlloc(heap, 0, 100), 'x', 100);
	memset(VirtualAlloc(0, 8 << 20, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE), 1, 8 << 20);
	for (int i = 0; i < 5; i++) CreateEventA(0, 0, 0, 0);
	printf("%lu\n", GetCurrentProcessId());
	fflush(stdout);
	for (char line[64]; fgets(line, sizeof line, stdin);) {
		PSECURITY_DESCRIPTOR nobody;
		if (*line == 'A' && !(ConvertStringSecurityDescriptorToSecurityDescriptorA("D:P(D;;GA;;;WD)", SDDL_REVISION_1, &nobody, 0) &&
			SetKernelObjectSecurity(GetCurrentProcess(), DACL_SECURITY_INFORMATION, nobody))) return 8;
		DWORD suspended = SuspendThread(thread);
		ResumeThread(thread);
		printf("%lu %ld\n", suspended, counted);
		fflush(stdout);
	}
	return 7;
}`

// A runningVictim is the victim under Wine.
type runningVictim struct {
	*testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	pid string
}

func startVictim(t *testing.T, w *windowsClient) *runningVictim {
	t.Helper()
	testwine.Compile(t, victim, filepath.Join(w.dir, "victim.exe"), "-ladvapi32")
	v := &runningVictim{T: t, cmd: w.wine.Command(t.Context(), w.dir, filepath.Join(w.dir, "victim.exe"))}
	var err error
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.out = bufio.NewScanner(out)
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = v.cmd.Process.Kill() // it has ended, as a rule
		_ = v.cmd.Wait()
	})
	v.pid = v.line()
	return v
}

func (v *runningVictim) line() string {
	v.Helper()
	if !v.out.Scan() {
		v.Fatalf("the program said nothing more: %v", v.out.Err())
	}
	return strings.TrimSpace(v.out.Text())
}

// ask sends a line and returns what the program answers.
func (v *runningVictim) ask(line string) string {
	v.Helper()
	if _, err := io.WriteString(v.in, line); err != nil {
		v.Fatal(err)
	}
	return v.line()
}

// state asks how often the counting thread is suspended, and how far it has counted.
func (v *runningVictim) state() (suspended, counted int) {
	v.Helper()
	if _, err := fmt.Sscan(v.ask("?\n"), &suspended, &counted); err != nil {
		v.Fatal(err)
	}
	return suspended, counted
}

// A snapshot of a process under Wine has its modules, regions and counters. Heaps of Wine are not those of Windows,
// which it says. The process goes on.
func TestSnapshotOnWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the client for Windows and sets Wine up")
	}
	wine := testwine.Start(t)
	w := &windowsClient{t, wine, testwine.Build(t, ".", "-tags", "client", "-trimpath", "-ldflags=-s -w"), t.TempDir()}
	v := startVictim(t, w)
	_, before := v.state()
	out, errs, code := w.run("snapshot", "--pid", v.pid, "-o", `größe.hdsnap`, "--build", "12", "--branch", "topic/größe", "--commit", "c0ffee", "--work", "40")
	if code != exitInconclusive || !strings.Contains(errs, "No Windows heap was found in the snapshot") {
		t.Errorf("exit code %d, want %d:\n%s%s", code, exitInconclusive, out, errs)
	}
	for _, want := range []string{`victim\.exe, PID ` + v.pid + `: 0 B in 0 blocks of 0 heaps`,
		`The process was suspended for 0\.\d+ s\. .* were read while it was suspended`, `wrote größe\.hdsnap \(.*KB\)`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	if suspended, after := v.state(); suspended != 0 || after <= before {
		t.Errorf("the process counted from %d to %d and is suspended %d times", before, after, suspended)
	}
	file, err := os.ReadFile(filepath.Join(w.dir, "größe.hdsnap"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdsnap.ReadHeader(bytes.NewReader(file))
	if err != nil || strconv.Itoa(int(h.Process.PID)) != v.pid || h.Process.Started.IsZero() ||
		h.Build != "12" || h.Branch != "topic/größe" || h.Commit != "c0ffee" || *h.Work != 40 ||
		h.Cost.PauseNS <= 0 || !strings.HasPrefix(h.System, "Windows ") || h.Process.Started.After(h.TakenAt) {
		t.Errorf("header %+v, %v", h, err)
	}
	list, err := hdsnap.Read(t.Context(), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	checkVictim(t, list[0])
	if out, errs, code := w.run("analyze", `größe.hdsnap`); code != exitInconclusive {
		t.Errorf("analyze: exit code %d\n%s%s", code, out, errs)
	}
	if out, errs, code := w.run("snapshot", "--pid", "4294967292"); code != exitInput ||
		!strings.Contains(errs, "no process has this number") {
		t.Errorf("no process: exit code %d\n%s%s", code, out, errs)
	}
	snapshotElevated(w, v)
	_ = v.in.Close()
	if _ = v.cmd.Wait(); v.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the process ended with %d", v.cmd.ProcessState.ExitCode())
	}
}

// A process that Windows does not let be read is tried again as administrator with --elevate, in the same console.
// Without it the lines to run are printed. Wine's "runas" asks nobody, and its administrators may do what all users may:
// the second try fails as the first.
func snapshotElevated(w *windowsClient, v *runningVictim) {
	v.ask("A\n")
	testwine.Compile(w.T, limitedProgram, filepath.Join(w.dir, "limited.exe"), "-municode", "-ladvapi32")
	limited := func(args ...string) (string, string, int) {
		w.Helper()
		return w.finish(w.wine.Command(w.Context(), w.dir, filepath.Join(w.dir, "limited.exe"),
			append([]string{w.program, "snapshot", "--pid", v.pid}, args...)...))
	}
	const refused, restarted, lines = "Windows does not let it be read", "restarting as administrator", "elevated   pushd "
	out, errs, code := limited("-o", "denied.hdsnap")
	if code != exitInput || !strings.Contains(errs, refused) || !strings.Contains(errs, "add --elevate") ||
		!strings.Contains(errs, lines) || strings.Contains(errs, restarted) {
		w.Errorf("without --elevate: exit code %d\n%s%s", code, out, errs)
	}
	out, errs, code = limited("--elevate", "-o", "denied.hdsnap")
	if code != exitInput || strings.Count(errs, restarted) != 1 || strings.Count(errs, refused) != 1 || strings.Contains(errs, lines) {
		w.Errorf("with --elevate: exit code %d\n%s%s", code, out, errs)
	}
}

// checkVictim compares what the system says of the victim with what it has done.
func checkVictim(t *testing.T, c *capture.Capture) {
	t.Helper()
	names := map[string]*capture.Module{}
	for i := range c.Modules {
		names[strings.ToLower(c.Modules[i].FileName())] = &c.Modules[i]
	}
	for _, name := range []string{"victim.exe", "ntdll.dll", "kernel32.dll", "kernelbase.dll"} {
		if m := names[name]; m == nil || m.Base == 0 || m.Size == 0 {
			t.Errorf("module %s: %+v", name, m)
		}
	}
	s := c.Memory.Space
	if s == nil || s.PrivateBytes < 8<<20 || len(s.Uses) == 0 {
		t.Fatalf("space %+v", s)
	}
	if !slices.ContainsFunc(s.Largest, func(r capture.Reservation) bool {
		return r.Committed == 8<<20 && r.Protect == "PAGE_READWRITE"
	}) {
		t.Errorf("8 MB of VirtualAlloc are not among %+v", s.Largest)
	}
	if len(c.Memory.Threads) != 2 || !strings.HasPrefix(c.Memory.Threads[0].Start, "victim.exe+") ||
		c.Memory.Threads[0].Committed == 0 {
		t.Errorf("threads %+v", c.Memory.Threads)
	}
	if c.Process.Bits != 64 || c.Process.Machine == "" || c.Snapshots[0].TakenAt.IsZero() {
		t.Errorf("%+v %+v", c.Process, c.Snapshots)
	}
}
