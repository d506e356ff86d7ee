package ui

import (
	"html"
	"regexp"
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

// folds are what a stack folds, and classes those of its lines.
var (
	folds = regexp.MustCompile(`<details><summary>(.*?)</summary>.*?</details>`)
	lines = regexp.MustCompile(`<li class="(.*?)"><span class="fn" title="(.*?)">.*?</li>`)
	marks = regexp.MustCompile(`<[^>]*>`)
)

// StackLine is how a stack is drawn, on a line: what is folded in brackets, and a star before the frame to blame.
func StackLine(t testing.TB, stack []*analysis.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := Stack(PartsOfStack(stack), true, Source{}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	text := folds.ReplaceAllString(b.String(), " [$1] ")
	text = lines.ReplaceAllStringFunc(text, func(line string) string {
		m := lines.FindStringSubmatch(line)
		if strings.Contains(m[1], "blame") {
			return " *" + m[2]
		}
		return " " + m[2]
	})
	return strings.Join(strings.Fields(html.UnescapeString(marks.ReplaceAllString(text, ""))), " ")
}

// FrameName is the text of a frame's name.
func FrameName(t testing.TB, f *analysis.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := frameName(f).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(marks.ReplaceAllString(b.String(), ""))
}
