package blame

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/internal/suppressions"
)

// ImportSuppressions translates suppressions of LeakSanitizer, Valgrind and Dr. Memory to rules that mark leaks as
// known. Unlike in LeakSanitizer, ? matches any one byte.
func ImportSuppressions(text string) RuleImport {
	list, rejected := suppressions.Parse(text)
	var out RuleImport
	for i := range list {
		s := &list[i]
		condition := token("frame:", s.Pattern)
		if s.Pattern == "" {
			condition = token("stack:", stackText(s.Frames))
		}
		why := "suppressed for " + s.Form.Tool()
		if s.Name != "" {
			why += ": " + s.Name
		}
		out.Rules = append(out.Rules, condition+" -> "+token("known=", why))
	}
	for _, r := range rejected {
		out.Rejected = append(out.Rejected, RejectedLine{r.Line, r.Text, r.Reason})
	}
	return out
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

func withoutExtension(module string) string {
	i := strings.LastIndexByte(module, '.')
	if i <= 0 || strings.ContainsAny(module, `/\`) || !slices.Contains(importedExtensions, strings.ToLower(module[i:])) {
		return module
	}
	return module[:i]
}
