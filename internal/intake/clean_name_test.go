package intake

import (
	"strings"
	"testing"
)

// A name is the last element of a path of any system, of 200 characters at most; none is an error.
func TestCleanName(t *testing.T) {
	long := strings.Repeat("é", 200)
	for given, want := range map[string]string{
		"a.txt": "a.txt", `C:\logs\a.txt`: "a.txt", "/tmp/a.txt": "a.txt", " a.txt ": "a.txt", `C:\logs/b\`: "b",
		long: long, long + "x": long, "": "", ".": "", "/": "", `\`: "", " ": "", "\x07": "",
	} {
		got, err := cleanName(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}
