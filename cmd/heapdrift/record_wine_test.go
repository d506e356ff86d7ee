package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/record"
	"heapdrift/internal/testwine"
)

// A recording on Windows sets what it needs, takes its evidence, restores what was there, and ends with the verdict.
func TestRecordOnWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the client for Windows and sets Wine up")
	}
	wine := testwine.Start(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "heapdrift.exe")
	copyProgram(t, testwine.Build(t, ".", "-tags", "client", "-trimpath", "-ldflags=-s -w"), program)
	c := newRecordingClient(&windowsClient{t, wine, program, dir})
	for name, test := range map[string]func(*recordingClient){
		"umdh": recordUMDH, "auto": recordAuto, "dump": recordDump, "trace": recordTrace, "marks": recordMarks, "event": recordEvents, "elevated": recordElevated, "early exit": recordEarlyExit,
		"killed": recordKilled, "ctrl c": recordInterrupted, "push": recordAndPush, "watch": watchAndPush, "watch without the server": watchThroughOutage,
		"self-test": recordSelfTest, "usage": recordUsage,
	} {
		t.Run(name, func(t *testing.T) { test(c.in(t)) })
	}
}

// Snapshots by time, with Microsoft's program: the settings stay until the end, as other programs may look at them.
func recordUMDH(c *recordingClient) {
	out, errs, code := c.run("record", "--evidence", "umdh", "--snapshots", "12", "--every", "100ms", "-o", "umdh é 日本", "--",
		"app.exe", "600000")
	if code != exitLeak || !strings.Contains(out, "LEAK") {
		c.Fatalf("exit code %d, want %d:\n%s%s", code, exitLeak, out, errs)
	}
	s := c.sidecar("umdh é 日本")
	calls := c.called()
	if len(calls) != 12 || len(s.Snapshots) != 12 {
		c.Fatalf("%d calls, %d snapshots: %q", len(calls), len(s.Snapshots), calls)
	}
	for i, call := range calls {
		if !strings.HasPrefix(call, "umdh.exe -p:") || !strings.Contains(call, s.Snapshots[i].File) ||
			!strings.HasSuffix(call, "GlobalFlag=1000 TracingFlags=0") {
			c.Errorf("call %d: %s", i, call)
		}
	}
	if s.State != record.StateEnded || s.Process.Image != "app.exe" || s.Process.PID == 0 || s.Process.Bits != 64 ||
		s.Process.Started.IsZero() || s.Host == "" || !strings.HasPrefix(s.OS, "Windows ") || s.Settings.RestoredAt == nil ||
		len(s.Settings.Changed) != 2 || s.Settings.Task == "" || s.Snapshots[11].Bytes <= s.Snapshots[0].Bytes {
		c.Errorf("sidecar: %+v", s)
	}
	for _, line := range []string{"GlobalFlag: absent → 0x1000", "when the recording ends", "snapshot   12 of 12", "restored   the settings"} {
		if !strings.Contains(errs, line) {
			c.Errorf("does not say %q:\n%s", line, errs)
		}
	}
	c.untouched("app.exe", "")
}

// Wine's heaps are not those of Windows: the own reader recognises none, and umdh.exe takes over.
func recordAuto(c *recordingClient) {
	out, errs, code := c.run("record", "--snapshots", "2", "--every", "100ms", "-o", "auto", "--", "app.exe", "600000")
	if !strings.Contains(errs, "continuing with --evidence umdh") || strings.Contains(errs, "heapdrift: ") {
		c.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if s := c.sidecar("auto"); s.Evidence != "umdh" || len(s.Snapshots) != 2 || len(c.called()) != 2 {
		c.Errorf("sidecar: %+v", s)
	}
	c.untouched("app.exe", "")
}

// Dumps are read by analyze. Wine's heaps are not those of Windows, so that they hold no blocks. +ust that was on stays.
func recordDump(c *recordingClient) {
	const key = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\app.exe`
	add := c.wine.Command(c.Context(), c.dir, "reg", "add", key, "/v", "GlobalFlag", "/t", "REG_SZ", "/d", "0x00001000", "/f")
	if out, errs, code := c.finish(add); code != 0 {
		c.Fatalf("reg add: %d\n%s%s", code, out, errs)
	}
	out, errs, code := c.run("record", "--evidence", "dump", "--snapshots", "1", "--every", "1s", "-o", "dump", "--trace-db", "0",
		"--", "app.exe")
	if code != exitInconclusive || !strings.Contains(out, "app.exe-01.dmp") || !strings.Contains(errs, "nothing on this machine") {
		c.Errorf("exit code %d, want %d:\n%s%s", code, exitInconclusive, out, errs)
	}
	if s := c.sidecar("dump"); len(s.Settings.Changed) != 0 || s.Snapshots[0].Bytes < 1<<20 || s.Snapshots[0].PauseMS <= 0 {
		c.Errorf("sidecar: %+v", s)
	}
	c.untouched("app.exe", "GlobalFlag REG_SZ 0x00001000")
	del := c.wine.Command(c.Context(), c.dir, "reg", "delete", key, "/f")
	if out, errs, code := c.finish(del); code != 0 {
		c.Fatalf("reg delete: %d\n%s%s", code, out, errs)
	}
}

// A trace is started before the program and stopped at the end. The stand-in's file is no trace, which analyze says.
func recordTrace(c *recordingClient) {
	out, errs, code := c.run("record", "--evidence", "trace", "--snapshots", "2", "--every", "500ms", "-o", "trace", "--", "app.exe")
	if code != exitInput || !strings.Contains(errs, "app.exe.etl") {
		c.Errorf("exit code %d, want %d:\n%s%s", code, exitInput, out, errs)
	}
	calls := c.called()
	if len(calls) != 2 || !strings.Contains(calls[0], `-start Z:\`) || !strings.Contains(calls[0], "heapdrift.wprp!Heapdrift -filemode") ||
		!strings.Contains(calls[1], "-stop Z:") || !strings.HasSuffix(calls[1], "GlobalFlag=0 TracingFlags=1") {
		c.Errorf("calls: %q", calls)
	}
	c.untouched("app.exe", "")
}

// start starts a recording that ends later; what it says goes to a file, which its program holds open as well.
func (c *recordingClient) start(args ...string) (cmd *exec.Cmd, said func() string) {
	c.Helper()
	log, err := os.Create(filepath.Join(c.TempDir(), "said.txt"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = log.Close() })
	cmd = c.wine.Command(c.Context(), c.dir, c.program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	return cmd, func() string {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			c.Fatal(err)
		}
		return string(text)
	}
}

// code is the exit code of a program that was started.
func (c *recordingClient) code(cmd *exec.Cmd) int {
	_ = cmd.Wait() // the code says how it ended
	return cmd.ProcessState.ExitCode()
}

// Each mark waits for its snapshot; the work goes into the verdict.
func recordMarks(c *recordingClient) {
	cmd, said := c.start("record", "--evidence", "umdh", "--snapshots", "12", "--per-work", "--work-unit", "document", "-o", "marks",
		"--", "app.exe")
	await.Until(c, "the recording", func() bool { return strings.Contains(said(), "recording  app.exe, PID") })
	for i, args := range [][]string{{"mark", "100"}, {"mark"}, {"mark", "--dir", "marks", "300"}} {
		out, errs, code := c.run(args...)
		if want := "snapshot " + string(rune('1'+i)) + " taken"; code != exitOK || !strings.Contains(out, want) {
			c.Fatalf("%q: exit code %d, want %q:\n%s%s", args, code, want, out, errs)
		}
	}
	for range 9 {
		if _, errs, code := c.run("mark"); code != exitOK {
			c.Fatalf("mark: %d: %s", code, errs)
		}
	}
	if code := c.code(cmd); code != exitLeak || !strings.Contains(said(), "per document") {
		c.Errorf("exit code %d, want %d:\n%s", code, exitLeak, said())
	}
	var work []float64
	for _, shot := range c.sidecar("marks").Snapshots {
		work = append(work, *shot.Work)
	}
	if want := []float64{100, 101, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309}; !slices.Equal(work, want) {
		c.Errorf("work %v, want %v", work, want)
	}
	if _, errs, code := c.run("mark"); code != exitInput || !strings.Contains(errs, "no recording takes marks") {
		c.Errorf("a mark after the end: %d: %s", code, errs)
	}
}

// Another process sets a named event: one that the recording made, and one of its own that stays set until it is reset.
func recordEvents(c *recordingClient) {
	testwine.Compile(c, eventProgram, filepath.Join(c.dir, "setter.exe"), "-municode")
	for name, kind := range map[string]string{"made by the recording": "open", "made by the program": "manual"} {
		event, dir := "heapdrift größe "+kind, "event "+kind
		setter := func(how string) {
			c.Helper()
			if out, errs, code := c.finish(c.wine.Command(c.Context(), c.dir, filepath.Join(c.dir, "setter.exe"), event, how)); code != 0 {
				c.Fatalf("%s: setter.exe: %d\n%s%s", name, code, out, errs)
			}
		}
		if kind == "manual" {
			holder := c.wine.Command(c.Context(), c.dir, filepath.Join(c.dir, "setter.exe"), event, "hold")
			in, err := holder.StdinPipe()
			if err != nil {
				c.Fatal(err)
			}
			out, err := holder.StdoutPipe()
			if err := errors.Join(err, holder.Start()); err != nil {
				c.Fatal(err)
			}
			c.Cleanup(func() { _ = in.Close(); _ = holder.Wait() })
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "there") {
				c.Fatalf("setter.exe: %q, %v", line, err)
			}
		}
		cmd, said := c.start("record", "--evidence", "umdh", "--snapshots", "3", "--mark-event", event, "-o", dir, "--", "app.exe")
		await.Until(c, "the recording", func() bool { return strings.Contains(said(), "recording  app.exe, PID") })
		for i := 1; i <= 3; i++ {
			setter("set")
			await.Until(c, "a snapshot", func() bool { return strings.Contains(said(), "snapshot   "+string(rune('0'+i))+" of 3") })
		}
		if code := c.code(cmd); code != exitInconclusive {
			c.Errorf("%s: exit code %d:\n%s", name, code, said())
		}
		s := c.sidecar(dir)
		if len(s.Snapshots) != 3 || *s.Snapshots[2].Work != 3 || s.Marks != 0 {
			c.Errorf("%s: %+v", name, s)
		}
	}
	c.untouched("app.exe", "")
}

// A program that ends early is told, and what was taken is analysed.
func recordEarlyExit(c *recordingClient) {
	out, errs, code := c.run("record", "--evidence", "umdh", "--snapshots", "1000", "--every", "200ms", "-o", "early", "--",
		"app.exe", "3000", "7")
	if !strings.Contains(errs, "app.exe ended with exit code 7 before snapshot") || code != exitLeak && code != exitInconclusive {
		c.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if s := c.sidecar("early"); s.Process.ExitCode == nil || *s.Process.ExitCode != 7 {
		c.Errorf("sidecar: %+v", s)
	}
	c.untouched("app.exe", "")
}

// A recorder that is killed leaves its undo file, which restores what was there.
func recordKilled(c *recordingClient) {
	const key = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\app.exe`
	add := c.wine.Command(c.Context(), c.dir, "reg", "add", key, "/v", "GlobalFlag", "/t", "REG_SZ", "/d", "0x00000200", "/f")
	if out, errs, code := c.finish(add); code != 0 {
		c.Fatalf("reg add: %d\n%s%s", code, out, errs)
	}
	cmd, said := c.start("record", "--evidence", "dump", "--snapshots", "2", "--every", "1h", "-o", "killed", "--", "app.exe", "120000")
	await.Until(c, "the recording", func() bool { return strings.Contains(said(), "recording  app.exe, PID") })
	if out, errs, code := c.run("record", "--undo"); code != exitSettings || !strings.Contains(errs, "still records app.exe") {
		c.Errorf("undo beside the recorder: %d\n%s%s", code, out, errs)
	}
	if err := cmd.Process.Kill(); err != nil {
		c.Fatal(err)
	}
	c.code(cmd)
	if got := c.settings("app.exe"); got != "GlobalFlag REG_SZ 0x00001200; StackTraceDatabaseSizeInMb REG_DWORD 0x100" {
		c.Errorf("settings after the kill: %s", got)
	}
	if out, _, _ := c.run("record", "--status"); !strings.Contains(out, "GlobalFlag: 0x200 → 0x1200") ||
		!strings.Contains(out, "which has ended") {
		c.Errorf("status: %s", out)
	}
	if out, errs, code := c.run("record", "--evidence", "dump", "-o", "second", "--", "app.exe"); code != exitSettings ||
		!strings.Contains(errs, "record --undo first") {
		c.Errorf("a second recording: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := c.run("record", "--undo"); code != exitOK || !strings.Contains(out, "GlobalFlag of app.exe is 0x200 again") {
		c.Errorf("undo: %d\n%s%s", code, out, errs)
	}
	c.untouched("app.exe", "GlobalFlag REG_SZ 0x00000200")
	if out, errs, code := c.finish(c.wine.Command(c.Context(), c.dir, "reg", "delete", key, "/f")); code != 0 {
		c.Fatalf("reg delete: %d\n%s%s", code, out, errs)
	}
}

// Ctrl C restores the settings and ends the program. Wine takes SIGINT for it; a console that is closed cannot be had.
func recordInterrupted(c *recordingClient) {
	cmd, said := c.start("record", "--evidence", "dump", "--snapshots", "2", "--every", "1h", "-o", "stopped", "--", "app.exe")
	await.Until(c, "the recording", func() bool { return strings.Contains(said(), "recording  app.exe, PID") })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		c.Fatal(err)
	}
	if code := c.code(cmd); code != exitInput || !strings.Contains(said(), "record: interrupted") {
		c.Errorf("exit code %d, want %d:\n%s", code, exitInput, said())
	}
	if s := c.sidecar("stopped"); s.State != record.StateInterrupted || s.Settings.RestoredAt == nil {
		c.Errorf("sidecar: %+v", s)
	}
	c.untouched("app.exe", "")
}

// A recording is pushed with its work, and ends with the gate.
func recordAndPush(c *recordingClient) {
	url := startServer(c.T)
	out, errs, code := c.run("record", "--evidence", "umdh", "--snapshots", "12", "--every", "100ms", "-o", "pushed", "--push", url,
		"--project", "shop", "--build", "7", "--fail-on", "leak", "--", "app.exe")
	if code != exitLeak || !strings.Contains(out, url+"/runs/") || strings.Count(errs, "sent     ") != 12 {
		c.Errorf("exit code %d, want %d:\n%s%s", code, exitLeak, out, errs)
	}
	if s := c.sidecar("pushed"); s.Project != "shop" || s.Build != "7" {
		c.Errorf("sidecar: %+v", s)
	}
	_, errs, code = c.run("record", "--evidence", "umdh", "-o", "none", "--push", "http://127.0.0.1:1", "--project", "shop", "--build", "7",
		"--", "app.exe")
	if code != exitInput || !strings.Contains(errs, "nothing was recorded") || len(c.called()) != 12 {
		c.Errorf("a server that cannot be reached: %d\n%s", code, errs)
	}
}

// A watch makes a run of each start of the program, and pushes its snapshots as they come.
func watchAndPush(c *recordingClient) {
	url := startServer(c.T)
	cmd, said := c.start("watch", "--evidence", "umdh", "--every", "300ms", "-o", "watched", "--push", url, "--project", "shop",
		"--build", "8", "--quiet", "--image", "app.exe")
	for run := 1; run <= 2; run++ {
		await.Until(c, "the watch", func() bool { return strings.Count(said(), "waiting    for app.exe") == run })
		if out, errs, code := c.finish(c.wine.Command(c.Context(), c.dir, filepath.Join(c.dir, "app.exe"), "8000", "0")); code != 0 {
			c.Fatalf("app.exe: %d\n%s%s", code, out, errs)
		}
	}
	await.Until(c, "the end of the second run", func() bool { return strings.Count(said(), "waiting    for app.exe") == 3 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		c.Fatal(err)
	}
	if code := c.code(cmd); code != exitOK {
		c.Errorf("exit code %d:\n%s", code, said())
	}
	pages := map[string]bool{}
	for line := range strings.Lines(said()) {
		if strings.HasPrefix(line, url+"/runs/") {
			pages[strings.TrimSpace(line)] = true
		}
	}
	if len(pages) != 2 {
		c.Errorf("%d runs, want one for each start:\n%s", len(pages), said())
	}
	c.untouched("app.exe", "")
}

// The self-test records a leak of the client's own. The stand-in's logs have its blocks.
func recordSelfTest(c *recordingClient) {
	out, errs, code := c.run("record", "--self-test", "--evidence", "umdh", "--report", "self test.txt")
	report, err := os.ReadFile(filepath.Join(c.dir, "self test.txt"))
	if err != nil || code != exitOK || !strings.Contains(out, "PROVED: ") {
		c.Fatalf("exit code %d, %v:\n%s%s", code, err, out, errs)
	}
	for _, line := range []string{"evidence   umdh, 12 snapshots", "GlobalFlag was 0x1000, is absent again",
		"leaked     11000 blocks of 120 bytes", "found      11000 blocks"} {
		if !strings.Contains(string(report), line) {
			c.Errorf("the report lacks %q:\n%s", line, report)
		}
	}
	c.untouched("heapdrift.exe", "")
}

// Mistakes of the command line are told as such, before anything happens.
func recordUsage(c *recordingClient) {
	for says, args := range map[string][]string{
		"name what to record": {"record"}, "write -- before the program": {"record", "app.exe"},
		"--junit needs --push": {"record", "--junit", "x.xml", "--", "app.exe"}, "no build given": {"record", "--push", "http://127.0.0.1:1", "--project", "p", "--", "app.exe"},
		"a process runs once": {"watch", "--pid", "4"}, "is not an amount of work": {"mark", "many"},
	} {
		if out, errs, code := c.run(args...); code != exitUsage || !strings.Contains(errs, says) {
			c.Errorf("%q: exit code %d, want %q:\n%s%s", args, code, says, out, errs)
		}
	}
	out, errs, code := c.run("record", "--dry-run", "--evidence", "umdh", "--", "app.exe")
	if code != exitOK || !strings.Contains(out, "GlobalFlag: absent → 0x1000") || len(c.undoFiles()) > 0 {
		c.Errorf("--dry-run: exit code %d\n%s%s", code, out, errs)
	}
}
