package symbols

import (
	"regexp"
	"strings"
	"testing"
)

// WantText shows what is to be uploaded for a module, without its markup.
func WantText(t testing.TB, name, pdb, id string, size int64, bits int) string {
	t.Helper()
	var b strings.Builder
	if err := wantLine("w", wantOf(name, pdb, id, size, bits)).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), `<span id="w">`)
	text, _, _ = strings.Cut(text, `</span></p>`)
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "")
}
