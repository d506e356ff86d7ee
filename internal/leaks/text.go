package leaks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnnamedActor is the actor of changes that do not say whose they are.
const UnnamedActor = "somebody"

// IsSingleLine reports whether text may stand in a line: valid, without control characters. The database takes no other.
func IsSingleLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// NormalizeLines is a text of several lines with ends as files have them on this side. Its error is a *FieldError that says
// which line is no text.
func NormalizeLines(text string) (string, error) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if !IsSingleLine(strings.ReplaceAll(line, "\t", " ")) {
			return "", wrongField("body", "line %d is not text in UTF-8, or has control characters", number)
		}
	}
	return text, nil
}
