package blame

import "strings"

// ImportLSan translates suppressions of LeakSanitizer: leak:PATTERN. PATTERN matches anywhere in the name of a
// function, module or file of any frame. * matches any text; ^ and $ anchor it to the start and end of the name. Unlike
// in LeakSanitizer, ? matches any one byte.
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
			out.Rules = append(out.Rules, token("frame:", wholePattern(pattern))+" -> "+
				token("known=", "suppressed for LeakSanitizer: "+pattern))
		}
	}
	return out
}

// wholePattern turns a pattern that matches anywhere into one that matches the whole name: * on each side that is not
// anchored.
func wholePattern(pattern string) string {
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
