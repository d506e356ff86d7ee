package pagestest

import (
	"testing"
)

// Must is for steps whose failure a test is not about.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
