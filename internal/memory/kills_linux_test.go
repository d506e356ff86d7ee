package memory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKills(t *testing.T) {
	for text, want := range map[string]int64{
		"nr_free_pages 9\noom_kill 3\nnuma_hit 1\n": 3,
		"nr_free_pages 9\n":                         0,
		"oom_kill many\n":                           0,
		"":                                          0,
	} {
		file := filepath.Join(t.TempDir(), "vmstat")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := killsIn(file); got != want {
			t.Errorf("%q: %d kills, want %d", text, got, want)
		}
	}
	if killsIn(filepath.Join(t.TempDir(), "none")) != 0 {
		t.Error("kills in a file that is not there")
	}
}
