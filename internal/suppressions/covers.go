package suppressions

import (
	"strconv"
	"strings"
)

// A Pattern is the line that Write makes for a frame with a function.
type Pattern struct {
	form   Form
	module string // in lower case; "" for any
	globs  []string
}

// A Name is a function in the spelling of a form, and its module in lower case, "" where unknown.
type Name struct {
	module string
	names  []string
}

// NewPattern makes the pattern of a frame in a form.
func NewPattern(form Form, f Frame) Pattern {
	p := Pattern{form: form, module: strings.ToLower(f.Module), globs: []string{printed(f.Function)}}
	switch form {
	case LSan:
		p.globs[0] = "*" + p.globs[0] + "*"
	case Valgrind:
		p.globs, _ = linkerNames(f.Function)
	}
	return p
}

// NewName makes the name of a frame in a form. The frame is named as in signatures: its module has no extension.
func NewName(form Form, f Frame) Name {
	n := Name{module: strings.ToLower(f.Module), names: []string{f.Function}}
	if form == Valgrind {
		n.names = mangled(f.Function)
	}
	return n
}

// Covers reports whether the pattern matches the function; both must be of one form.
func (p *Pattern) Covers(n *Name) bool {
	if p.form == DrMemory && p.module != "" && n.module != "" && !matches(p.module, n.module) && !matches(p.module, n.module+".dll") {
		return false
	}
	for _, glob := range p.globs {
		for _, name := range n.names {
			if matches(glob, name) {
				return true
			}
		}
		if p.form == LSan && matches(strings.ToLower(glob), n.module) {
			return true
		}
	}
	return false
}

// mangled are the names that the linker may have of a function without arguments, of its name as signatures have it.
// Where the name does not tell a part, it is one of many.
func mangled(name string) []string {
	parts := strings.Split(name, "::")
	if len(parts) == 1 {
		own := strconv.Itoa(len(name)) + name
		return []string{name, "_Z" + own + "v", "_ZL" + own + "v"}
	}
	var b strings.Builder
	b.WriteString("_ZN")
	before := ""
	for i, p := range parts {
		plain, isTemplate := strings.CutSuffix(p, "<T>")
		last := i == len(parts)-1
		if p == "<anonymous>" {
			plain = anonymousPart
		}
		switch {
		case last && p == before:
			b.WriteString("C1")
		case last && p == "~"+before:
			b.WriteString("D1")
		case !isIdentifier(plain): // an operator or a lambda, of which the linker's names have no length
			b.WriteString("Ulv")
		default:
			b.WriteString(strconv.Itoa(len(plain)) + plain)
		}
		if isTemplate {
			b.WriteString("IiE")
		}
		before = plain
	}
	return []string{b.String() + "Ev"}
}

// ReadsAsGlob is the first character of a function's name that the form would read as a wildcard; "" for none.
// Valgrind's mangled names have none.
func ReadsAsGlob(form Form, name string) string {
	special := map[Form]string{LSan: "*$", DrMemory: "*?"}[form]
	if i := strings.IndexAny(name, special); i >= 0 {
		return name[i : i+1]
	}
	return ""
}
