package pagestest

import (
	"testing"
)

// Must returns a function that returns the value of a call and fails the test for its error.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
