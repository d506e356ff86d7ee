package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKit(t *testing.T) {
	t.Setenv("HEAPDRIFT_URL", "")
	dir := filepath.Join(t.TempDir(), "kit")
	out, stderr, code := cli(t, "kit", "--project", "shop", "--image", "app.exe", "--evidence", "wpr", "--url",
		"http://heapdrift:8080", "--scenario", "soak", "-o", dir)
	files := strings.Fields(out)
	if code != exitOK || len(files) != 6 || files[0] != filepath.Join(dir, "1-enable.cmd") {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	text, err := os.ReadFile(files[3])
	if want := `"http://heapdrift:8080/api/v1/evidence?project=shop&scenario=soak&build=%BUILD%`; err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("%s (%v) has no %s:\n%s", files[3], err, want, text)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--image", "app.exe", "--project", "shop"}, "no server given"},
		{[]string{"--image", "app.exe", "--project", "shop", "--url", "x"}, "--url"},
		{[]string{"--image", "app", "--project", "shop", "--url", "http://h"}, "--image"},
		{[]string{"--image", "app.exe", "--project", "shop", "--url", "http://h", "--evidence", "x"}, "umdh, wpr,"},
		{[]string{"app.exe"}, "takes no"},
	} {
		_, stderr, code := cli(t, append([]string{"kit"}, test.args...)...)
		if code != exitUsage || !strings.Contains(stderr, test.says) {
			t.Errorf("%q: exit code %d, want %q: %s", test.args, code, test.says, stderr)
		}
	}
}
