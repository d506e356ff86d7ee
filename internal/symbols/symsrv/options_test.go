package symsrv

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Limits that are not given are those of the documentation; those that are given stay.
func TestDefaultLimits(t *testing.T) {
	want := Limits{
		Connect: 10 * time.Second, Header: 30 * time.Second, Stall: 30 * time.Second, Whole: time.Hour, Wait: time.Minute,
		Retries: 3, Backoff: 500 * time.Millisecond, MaxWait: 30 * time.Second, Down: 30 * time.Second,
		Redirects: 5, Parallel: 4, MaxBytes: 8 << 30, Missing: time.Hour, Named: 256,
		BelowDepth: 12, BelowEntries: 200_000,
	}
	if got := (Limits{}).withDefaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	given := Limits{Connect: 1, Header: 2, Stall: 3, Whole: 4, Wait: 5, Retries: 6, Backoff: 7, MaxWait: 8, Down: 9,
		Redirects: 10, Parallel: 11, MaxBytes: 12, Missing: 13, Named: 14, BelowDepth: 15, BelowEntries: 16}
	if got := given.withDefaults(); got != given {
		t.Errorf("%+v, want %+v", got, given)
	}
	got := Limits{Retries: -1, Backoff: -1, MaxBytes: math.MaxInt64}.withDefaults()
	if got.Retries != 0 || got.Backoff != 0 || got.MaxBytes != math.MaxInt64-1 {
		t.Errorf("%+v", got)
	}
}

// An answer that is forgotten is gone from memory and from disk, and others stay. Without a folder there is nothing on
// disk, and no file of that name in the working directory is touched.
func TestForgottenAnswers(t *testing.T) {
	const url, other = "https://host.example/a", "https://host.example/b"
	t.Chdir(t.TempDir())
	for _, directory := range []string{"", t.TempDir()} {
		m := &missCache{directory: directory, keep: time.Hour}
		m.add(url, ResultNotFound, "")
		m.add(other, ResultMismatch, "wrong")
		bystander := filepath.Base(m.file(url))
		if directory == "" {
			if err := os.WriteFile(bystander, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.forget(url)
		if _, known := m.when(url); known {
			t.Errorf("in %q: the answer is known still", directory)
		}
		if a, known := m.when(other); !known || a.detail != "wrong" {
			t.Errorf("in %q: the other answer is %+v, %t", directory, a, known)
		}
		if _, err := os.Stat(m.file(url)); (err == nil) != (directory == "") {
			t.Errorf("in %q: its file: %v", directory, err)
		}
	}
}
