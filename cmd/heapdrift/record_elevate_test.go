package main

import (
	"slices"
	"strings"
	"testing"
)

// The lines for an administrator hold the words of the call, as Windows takes a line apart.
func TestElevatedLines(t *testing.T) {
	got := linesOf(`C:\my work`, `C:\w\heapdrift.exe`, []string{"record", "--build", "a b", "--", "app.exe", `say "hi"`, `dir\`, `dir x\`, "", `a\"b`, "x&y"})
	want := []string{`pushd "C:\my work"`,
		`C:\w\heapdrift.exe record --build "a b" -- app.exe "say \"hi\"" dir\ "dir x\\" "" "a\\\"b" "x&y"`}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	got = linesOf(`C:\w`, "heapdrift", []string{"record", "--token", "secret", "-token=secret", "--token=secret", "token=x", "--", "-token"})
	if want := `heapdrift record --token TOKEN --token=TOKEN --token=TOKEN token=x -- -token`; got[1] != want {
		t.Errorf("%s\nwant %s", got[1], want)
	}
	for line, want := range map[string][2]string{
		"record --token secret --pid 7":                    {"record --pid 7", "secret"},
		"watch -token=secret --image a.exe":                {"watch --image a.exe", "secret"},
		"record --pid 7 --token":                           {"record --pid 7", ""},
		"record token=x --tokens y -- app.exe --token own": {"record token=x --tokens y -- app.exe --token own", ""},
	} {
		if rest, token := withoutToken(strings.Fields(line)); strings.Join(rest, " ") != want[0] || token != want[1] {
			t.Errorf("%s: %q, %q", line, rest, token)
		}
	}
	if lines := elevatedLines(); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}
