package suppressions

import (
	"fmt"
	"slices"
	"strings"
)

// Write writes an entry in a form. If the form cannot express it, text is "" and reason says why; else reason is "".
//
// LeakSanitizer looks at one frame alone: its line names the first function of the entry, and so also suppresses what
// other callers leak there.
func Write(form Form, s *Suppression) (text, reason string) {
	if s.Pattern != "" && form != LSan {
		return "", "it is about any frame by function, module or file; " + form.Tool() + " has no such entry"
	}
	switch form {
	case LSan:
		return writeLSan(s)
	case Valgrind:
		return writeValgrind(s)
	case DrMemory:
		return writeDrMemory(s)
	}
	return "", fmt.Sprintf("%q is not a form", form)
}

// Comment makes comment lines of a text.
func Comment(text string) string { return "# " + oneLine(text) + "\n" }

// oneLine is a text without line ends and other control characters.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, text))
}

func writeLSan(s *Suppression) (text, reason string) {
	pattern := s.Pattern
	if pattern == "" {
		i := slices.IndexFunc(s.Frames, Frame.chooses)
		switch {
		case i < 0:
			return "", "no frame names a function or module"
		case s.Frames[i].Function == "":
			return "leak:" + oneLine(s.Frames[i].Module) + "\n", ""
		}
		return "leak:" + oneLine(printed(s.Frames[i].Function)) + "\n", ""
	}
	rest, anyStart := strings.CutPrefix(pattern, "*")
	rest, anyEnd := strings.CutSuffix(rest, "*")
	switch {
	case strings.Trim(rest, "*^$") == "":
		return "", "the pattern would suppress every leak"
	case strings.HasPrefix(rest, "^"), strings.HasSuffix(rest, "$"):
		return "", "the pattern begins or ends with an anchor of LeakSanitizer"
	}
	if !anyStart {
		rest = "^" + rest
	}
	if !anyEnd {
		rest += "$"
	}
	return "leak:" + oneLine(rest) + "\n", ""
}

func writeDrMemory(s *Suppression) (text, reason string) {
	var b strings.Builder
	b.WriteString("LEAK\n")
	if s.Name != "" {
		b.WriteString("name=" + oneLine(s.Name) + "\n")
	}
	for _, f := range s.Frames {
		module, function := f.Module, printed(f.Function)
		if module == "" {
			module = "*"
		}
		switch {
		case strings.ContainsAny(module, `/\!`):
			return "", f.Module + " is a path; Dr. Memory knows modules by name"
		case f.Many && f.Module == "":
			b.WriteString("...\n")
			continue
		case f.Many:
			function = "..."
		case f == (Frame{}):
			b.WriteString("*\n")
			continue
		case function == "":
			function = "*"
		}
		b.WriteString(oneLine(module) + "!" + oneLine(function) + "\n")
	}
	return b.String(), ""
}

// printed is a glob for how tools print a function, of its name as signatures have it: they spell template arguments,
// lambdas and anonymous namespaces out.
func printed(function string) string {
	return strings.NewReplacer("<T>", "<*>", "<lambda>", "*lambda*", "<anonymous>", "*anonymous*").Replace(function)
}

func writeValgrind(s *Suppression) (text, reason string) {
	frames := make([][]string, len(s.Frames))
	for i, f := range s.Frames {
		if f.Function != "" {
			names, ok := linkerNames(f.Function)
			if !ok {
				return "", f.Function + " has a part without a mangled name, such as a template or an operator"
			}
			frames[i] = names
			continue
		}
		switch {
		case f.Many && f.Module == "":
			frames[i] = []string{"..."}
		case f.Many:
			return "", f.Module + "!... has no counterpart in Valgrind"
		case f.Module == "":
			frames[i] = []string{"obj:*"}
		default:
			frames[i] = []string{"obj:" + objectGlob(oneLine(f.Module))}
		}
	}
	var written []string
	for variant := range 3 { // names of C as they are, mangled, and mangled with internal linkage
		var b strings.Builder
		for i, names := range frames {
			line := names[min(variant, len(names)-1)]
			if s.Frames[i].Function == "main" {
				line = names[0]
			}
			if s.Frames[i].Function != "" {
				line = "fun:" + line
			}
			b.WriteString("   " + line + "\n")
		}
		if !slices.Contains(written, b.String()) {
			written = append(written, b.String())
		}
	}
	name := oneLine(s.Name)
	if name == "" || name == "{" || name == "}" || name[0] == '#' {
		name = "leak " + name
	}
	var b strings.Builder
	for _, stack := range written {
		b.WriteString("{\n   " + strings.TrimSpace(name) + "\n   Memcheck:Leak\n   match-leak-kinds: all\n" + stack + "}\n")
	}
	return b.String(), ""
}

// objectGlob is a glob for the path of a module.
func objectGlob(module string) string {
	if strings.ContainsAny(module, `/\`) {
		return module
	}
	return "*" + module
}
