package blame

import "strings"

// ImportLSan translates suppressions of LeakSanitizer: leak:PATTERN, where PATTERN stands anywhere in the function,
// module or file of any frame, * is any text, ^ its beginning and $ its end. Here a ? in a pattern stands for any one
// character.
func ImportLSan(text string) RuleImport {
	var out RuleImport
	for n, line := range lines(text) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		kind, pattern, ok := strings.Cut(line, ":")
		pattern = strings.TrimSpace(pattern)
		switch {
		case !ok:
			out.Rejected = append(out.Rejected, RejectedLine{n, line, `no ":"; a line reads leak:PATTERN`})
		case kind != "leak":
			out.Rejected = append(out.Rejected, RejectedLine{n, line, "not about leaks: only leak: lines are imported"})
		case strings.Trim(pattern, "*^$") == "":
			out.Rejected = append(out.Rejected, RejectedLine{n, line, "the pattern would suppress every leak"})
		default:
			out.Rules = append(out.Rules, token("frame:", anchored(pattern))+" -> "+
				token("known=", "suppressed for LeakSanitizer: "+pattern))
		}
	}
	return out
}

// anchored makes a pattern that is looked for anywhere one that covers the whole text.
func anchored(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "^"); ok {
		pattern = rest
	} else {
		pattern = "*" + pattern
	}
	if rest, ok := strings.CutSuffix(pattern, "$"); ok {
		return rest
	}
	return pattern + "*"
}
