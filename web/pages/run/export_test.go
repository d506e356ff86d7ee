package run

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// PageLinks shows which pages the pager names.
var PageLinks = pageLinks

// FrameLine shows how a stack shows a frame.
func FrameLine(t testing.TB, f *analysis.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := frameLine(f, false, ui.Source{}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
