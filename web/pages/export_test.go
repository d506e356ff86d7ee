package pages

import (
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
)

// CutName shows how the table cuts a blame frame's name.
func CutName(blame string) (space, name string) {
	n := nameOf(blame)
	return n.space, n.name
}

// PageLinks shows which pages the pager names.
var PageLinks = pageLinks

// WantText shows what is to be uploaded for a module, without its markup.
func WantText(t testing.TB, name, pdb, id string, size int64, bits int) string {
	t.Helper()
	text := rendered(t, wantLine("w", wantOf(name, pdb, id, size, bits)))
	_, text, _ = strings.Cut(text, `<span id="w">`)
	text, _, _ = strings.Cut(text, `</span></p>`)
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "")
}

// FrameLine shows how a stack shows a frame.
func FrameLine(t testing.TB, f *analysis.Frame) string {
	t.Helper()
	return rendered(t, frameLine(f, false))
}

func rendered(t testing.TB, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Readable shows what a page does to characters that turn text round.
func Readable(page string) string { return string(readable([]byte(page))) }
