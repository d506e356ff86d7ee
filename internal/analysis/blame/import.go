package blame

import "strings"

// A RuleImport is the translation of another tool's file to rules, and the lines of the file that have none.
type RuleImport struct {
	Rules    []string // lines for ParseRules, in the order that gives the other tool's meaning
	Rejected []RejectedLine
}

// A RejectedLine is a line that has no translation.
type RejectedLine struct {
	Line         int    // from 1
	Text, Reason string // the line, and why it has no translation
}

// lines numbers the lines of a text from 1, trimmed.
func lines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		text = strings.TrimPrefix(text, "\uFEFF")
		for n := 1; text != ""; n++ {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			if !yield(n, strings.TrimSpace(line)) {
				return
			}
		}
	}
}

// token writes a condition or an action so that ParseRules reads it as one.
func token(key, value string) string {
	if !strings.ContainsAny(value, " \t\"#") {
		return key + value
	}
	body := strings.TrimRight(value, `\`) // a backslash before a quote would escape it
	return key + `"` + strings.ReplaceAll(body, `"`, `\"`) + `"` + value[len(body):]
}
