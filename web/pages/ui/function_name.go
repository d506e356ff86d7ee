package ui

import (
	"context"
	"html"
	"io"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
)

// A FunctionName is the name of a blamed frame, split for a table into what may be shortened and what may not.
type FunctionName struct {
	Space      string // module and namespaces, muted; long ones with … in the middle
	Name       string // Class::Function
	Unresolved bool   // module+0xRVA or a bare address
}

// CutName splits "module!A::B::C::Function": the first namespace stays, further ones become …, class and function stay.
func CutName(blame string) FunctionName {
	module, function, found := strings.Cut(blame, "!")
	if !found {
		return FunctionName{Name: blame, Unresolved: true}
	}
	parts := splitScopes(function)
	keep := max(0, len(parts)-2)
	space := module + "!"
	switch keep {
	case 0:
	case 1:
		space += shortArguments(parts[0]) + "::"
	default:
		space += shortArguments(parts[0]) + "::…::"
	}
	for i := keep; i < len(parts); i++ {
		parts[i] = shortArguments(parts[i])
	}
	return FunctionName{Space: space, Name: strings.Join(parts[keep:], "::")}
}

// longArguments is from which length template arguments are left out of a table, in bytes.
const longArguments = 28

// shortArguments leaves long template arguments out: they would push the name out of sight.
func shortArguments(part string) string {
	open := strings.IndexByte(part, '<')
	end := strings.LastIndexByte(part, '>')
	if open <= 0 || end-open < longArguments || strings.HasPrefix(part, "operator") {
		return part
	}
	return part[:open+1] + "…" + part[end:]
}

// splitScopes splits a C++ name at the :: that separate scopes, not at those inside <>, () or `'.
func splitScopes(name string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<', '(', '[', '`':
			depth++
		case '>', ')', ']', '\'':
			depth = max(0, depth-1)
		case ':':
			if depth == 0 && i > start && strings.HasPrefix(name[i:], "::") {
				parts = append(parts, name[start:i])
				i++
				start = i + 1
			}
		case 'o':
			if i == start && strings.HasPrefix(name[i:], "operator") {
				i += len("operator") + operatorLength(name[i+len("operator"):]) - 1
			}
		}
	}
	return append(parts, name[start:])
}

// operatorLength is the length of an operator's sign, whose brackets open nothing: "<", "->", "()", "[]".
func operatorLength(rest string) int {
	for _, pair := range []string{"()", "[]"} {
		if strings.HasPrefix(rest, pair) {
			return len(pair)
		}
	}
	n := 0
	for n < len(rest) && n < 3 && strings.IndexByte("<>=!+-*/%^&|~,", rest[n]) >= 0 {
		n++
	}
	return n
}

// frameName prints "module!A::B<C>::Function+0x1f". A line breaks behind the module and behind a scope; there is no
// white space between the parts, so that a copied name is the name.
func frameName(f *analysis.Frame) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		scopes := splitScopes(Printable(f.Function))
		for i := range scopes {
			scopes[i] = html.EscapeString(scopes[i])
		}
		module := ""
		if f.Module != "" {
			module = `<span class="mod">` + html.EscapeString(Printable(f.Module)) + `!</span><wbr>`
		}
		_, err := io.WriteString(w, module+strings.Join(scopes, "::<wbr>")+
			`<span class="off">`+html.EscapeString(frameOffset(f))+`</span>`)
		return err
	})
}

// WholeName prints "module!A::B<C>::Function" so that it is never cut off: a line may break behind the module and
// behind each scope. It has no white space between the parts, so that a copied name is the name.
func WholeName(name string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, wholeName(name))
		return err
	})
}

func wholeName(name string) string {
	module, function, found := strings.Cut(name, "!")
	switch {
	case name == "":
		return `<span class="fn muted">allocations without a stack</span>`
	case !found:
		return `<span class="fn">` + html.EscapeString(Printable(name)) + `</span>`
	}
	var b strings.Builder
	b.WriteString(`<span class="mod">` + html.EscapeString(Printable(module)) + `!</span>`)
	scopes := splitScopes(function)
	for i, scope := range scopes {
		class, behind := "ns", "::"
		if i == len(scopes)-1 {
			class, behind = "fn", ""
		}
		b.WriteString(`<wbr><span class="` + class + `">` + html.EscapeString(Printable(scope)) + behind + `</span>`)
	}
	return b.String()
}
