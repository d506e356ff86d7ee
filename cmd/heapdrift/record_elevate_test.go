package main

import (
	"slices"
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
	if lines := elevatedLines(); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}
