package main

import (
	"path/filepath"
	"strings"

	"heapdrift/internal/testwine"
)

// Who is no administrator gets the lines to run, and with --elevate the recording: in the same console and folder, with
// the same arguments and environment, and with the exit code. Wine's "runas" asks nobody.
func recordElevated(c *recordingClient) {
	testwine.Compile(c, limitedProgram, filepath.Join(c.dir, "limited.exe"), "-municode", "-ladvapi32")
	limited := func(args ...string) (string, string, int) {
		c.Helper()
		return c.finish(c.wine.Command(c.Context(), c.dir, filepath.Join(c.dir, "limited.exe"),
			append([]string{c.program}, args...)...))
	}
	out, errs, code := limited("record", "--evidence", "umdh", "-o", "denied", "--", "app.exe")
	if code != exitSettings || !strings.Contains(errs, "add --elevate") || !strings.Contains(errs, "elevated   pushd ") {
		c.Errorf("without --elevate: %d\n%s%s", code, out, errs)
	}
	c.Setenv("HEAPDRIFT_PROJECT", "größe 日本")
	const scenario = `a "quoted" one \`
	out, errs, code = limited("record", "--elevate", "--token", "secret", "--evidence", "umdh", "--snapshots", "12", "--every", "100ms",
		"--scenario", scenario, "-o", "elevated é 日本", "--", "app.exe", "600000")
	if code != exitLeak || !strings.Contains(out, "LEAK") || !strings.Contains(errs, "restarting as administrator") ||
		!strings.Contains(errs, "snapshot   12 of 12") {
		c.Fatalf("exit code %d, want %d:\n%s%s", code, exitLeak, out, errs)
	}
	if s := c.sidecar("elevated é 日本"); s.Project != "größe 日本" || s.Scenario != scenario || len(s.Settings.Changed) != 2 ||
		s.Settings.RestoredAt == nil {
		c.Errorf("sidecar: %+v", s)
	}
	c.untouched("app.exe", "")
	out, errs, code = limited("record", "--undo", "--elevate")
	if code != exitOK || !strings.Contains(out, "No recording has left settings behind") {
		c.Errorf("undo: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := c.run("record", "--elevated-from=heapdrift-ABC", "--", "app.exe"); code != exitInput {
		c.Errorf("a parent that does not exist: %d\n%s%s", code, out, errs)
	}
}
