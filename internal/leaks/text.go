package leaks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnnamedActor is the actor in the audit of changes that do not say who made them.
const UnnamedActor = "somebody"

// IsSingleLine reports whether text is valid UTF-8 without control characters, and so without line ends. The database
// takes no other.
func IsSingleLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// NormalizeLines returns a text of several lines with line ends "\n" and without a byte order mark. Its error is a
// *FieldError that names the line that is not text.
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
