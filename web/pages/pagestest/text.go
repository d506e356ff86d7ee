package pagestest

import (
	"html"
	"strings"
	"testing"
)

// Words is the visible text of a page.
func Words(page string) string {
	var text strings.Builder
	for page != "" {
		before, tag, _ := strings.Cut(page, "<")
		text.WriteString(before + " ")
		_, page, _ = strings.Cut(tag, ">")
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// Has checks that a page holds texts in this order.
func Has(t testing.TB, page string, texts ...string) {
	t.Helper()
	rest := page
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("the page lacks %q, or has it before %q", text, texts[0])
			return
		}
		rest = after
	}
}

// LinkOf is the address that the link with the text leads to.
func LinkOf(t testing.TB, page, text string) string {
	t.Helper()
	before, _, found := strings.Cut(page, text)
	at := strings.LastIndex(before, `href="`)
	if !found || at < 0 {
		t.Fatalf("the page has no link %q", text)
	}
	to, _, _ := strings.Cut(before[at+len(`href="`):], `"`)
	return html.UnescapeString(to)
}

// Lacks checks that a page holds none of the texts.
func Lacks(t testing.TB, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}
