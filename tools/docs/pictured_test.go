package docs

import (
	"regexp"
	"strings"
	"testing"
)

// mentioned is a declaration with its package, between other words.
var mentioned = regexp.MustCompile(`(?:^|[^\w./])([a-z]+)\.([A-Z]\w*)`)

// The pictures and the table "Where is …?" of the architecture name declarations that exist.
func TestPicturedNames(t *testing.T) {
	text := read(t, "docs/architecture.md")
	parts := strings.Split(text, "```")
	var shown strings.Builder
	for i := 1; i < len(parts); i += 2 {
		shown.WriteString(parts[i])
	}
	_, table, _ := strings.Cut(text, "## Where is …?")
	shown.WriteString(table)
	found := 0
	for _, m := range mentioned.FindAllStringSubmatch(shown.String(), -1) {
		found++
		if !standard[m[1]] && !declares(t, m[1], m[2]) {
			t.Errorf("docs/architecture.md shows %s.%s, which no package %s declares", m[1], m[2], m[1])
		}
	}
	const least = 12
	if found < least {
		t.Errorf("found %d declarations in the pictures; there were at least %d", found, least)
	}
}
