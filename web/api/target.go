package api

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"heapdrift/internal/leaks"
	"heapdrift/web/problem"
)

// maxBranch is how long the name of a branch may be, in bytes; git itself takes 255.
const maxBranch = 255

// targetOf reads where evidence belongs from the fields of a request, and checks it before a byte of the file is read.
func targetOf(field func(name string) string) (leaks.Target, error) {
	t := leaks.Target{
		Project: field("project"), Build: field("build"), Scenario: field("scenario"), Run: field("run"),
		Branch: strings.TrimSpace(field("branch")), WorkUnit: field("work_unit"),
	}
	if text := strings.TrimSpace(field("sequence")); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return t, problem.Invalid("sequence", "sequence: %q is not a whole number", text)
		}
		t.Sequence = &n
	}
	if text := strings.TrimSpace(field("work")); text != "" {
		work, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return t, problem.Invalid("work", "work: %q is not a number", text)
		}
		t.Work = &work
	}
	if len(t.Branch) > maxBranch || !utf8.ValidString(t.Branch) || strings.ContainsFunc(t.Branch, unicode.IsControl) {
		return t, problem.Invalid("branch", "branch: at most %d bytes of text without control characters", maxBranch)
	}
	return t, t.Normalize()
}
