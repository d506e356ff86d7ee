package ui

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
)

// Readable returns a text as a page shows it, with characters that reverse the direction of text made harmless.
func Readable(page string) string { return string(readable([]byte(page))) }

// FrameLine shows how a stack shows a frame.
func FrameLine(t testing.TB, f *analysis.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := frameLine(f, false, Source{}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
