package blame

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/suppressions"
)

// ImportSuppressions translates suppressions of LeakSanitizer, Valgrind and Dr. Memory to rules that mark leaks as
// known. Unlike in LeakSanitizer, ? matches any one byte.
func ImportSuppressions(text string) RuleImport {
	list, rejected := suppressions.Parse(text)
	var out RuleImport
	for i := range list {
		rule, reason := suppressionRule(&list[i])
		if reason != "" {
			text := list[i].Name
			if text == "" {
				text = list[i].Form.Tool()
			}
			rejected = append(rejected, suppressions.Rejection{Line: list[i].Line, Text: text, Reason: reason})
			continue
		}
		out.Rules = append(out.Rules, rule)
	}
	sorting.Stable(rejected, func(a, b suppressions.Rejection) int { return a.Line - b.Line })
	for _, r := range rejected {
		out.Rejected = append(out.Rejected, RejectedLine{r.Line, r.Text, r.Reason})
	}
	return out
}

// suppressionRule is the rule of one entry. reason says why no rule can have it; "" where one can.
func suppressionRule(s *suppressions.Suppression) (rule, reason string) {
	condition := token("frame:", s.Pattern)
	if s.Pattern == "" {
		condition = token("stack:", stackText(s.Frames))
	}
	why := "suppressed for " + s.Form.Tool()
	if s.Name != "" {
		why += ": " + s.Name
	}
	rule = condition + " -> " + token("known=", why)
	_, err := ParseRules(rule)
	if wrong := RuleErrors(err); len(wrong) > 0 {
		return "", "no rule can have it: " + wrong[0].Message
	}
	return rule, ""
}

// stackText writes frames as the value of stack:.
func stackText(frames []suppressions.Frame) string {
	texts := make([]string, len(frames))
	for i, f := range frames {
		function := cmp.Or(f.Function, "*")
		if f.Many {
			function = manyFrames
		}
		switch {
		case f.Module != "":
			texts[i] = withoutExtension(f.Module) + "!" + function
		case strings.Contains(function, "!"):
			texts[i] = "*!" + function
		default:
			texts[i] = function
		}
		texts[i] = strings.ReplaceAll(strings.ReplaceAll(texts[i], " <", "?<"), "< ", "<?") // no separators
	}
	return strings.Join(texts, frameSeparator)
}

// importedExtensions end the names of images. Evidence without paths names modules without them.
var importedExtensions = []string{".exe", ".dll", ".ocx", ".*"}

// withoutExtension takes the extension off a module, unless what is left would be for modules of all names.
func withoutExtension(module string) string {
	i := strings.LastIndexByte(module, '.')
	if i <= 0 || strings.ContainsAny(module, `/\`) || !slices.Contains(importedExtensions, strings.ToLower(module[i:])) ||
		strings.Trim(module[:i], "*?") == "" {
		return module
	}
	return module[:i]
}
