package blame

import (
	"bytes"
	"strings"
)

// A writer copies a name as it is read, part by part.
type writer struct {
	in  string
	at  int
	out []byte
	// component is where in out the component began that is being copied: behind the last "::".
	component int
}

// name copies the qualified name that a declaration is about. Whatever makes no sense is copied as it is. Each case is
// what a part of a name may begin with, and a method reads the part: the cases stay together, as the first that fits
// decides.
func (w *writer) name() {
	for w.at < len(w.in) {
		switch c := w.in[w.at]; {
		case strings.HasPrefix(w.in[w.at:], "::"):
			w.at += 2
			w.endComponent()
			if len(w.out) > 0 && !bytes.HasSuffix(w.out, []byte("::")) {
				w.out = append(w.out, "::"...)
			}
			w.component = len(w.out)
		case c == '<':
			w.angles()
		case c == '`':
			w.quoted()
		case c == '\'':
			w.itaniumLambda()
		case c == '{':
			w.braces()
		case c == '(':
			if !w.arguments() {
				w.endComponent()
				return
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			w.at++ // what came before is a return type or a calling convention
			w.out, w.component = w.out[:0], 0
		case w.atOperator():
			w.operator()
		case isIdent(c):
			start := w.at
			for w.at < len(w.in) && isIdent(w.in[w.at]) {
				w.at++
			}
			w.out = append(w.out, w.in[start:w.at]...)
		case (c == '*' || c == '&') && len(w.out) == w.component:
			w.at++ // of a return type
		default:
			w.out = append(w.out, c)
			w.at++
		}
	}
	w.endComponent()
}

// endComponent takes the number off the component that was copied, or the component away where it numbers a scope.
func (w *writer) endComponent() {
	c := string(w.out[w.component:])
	switch {
	case c == "":
	case isLocalScope(c) && w.component > 0:
		w.out = w.out[:w.component]
	default:
		w.out = append(w.out[:w.component], numberless(c)...)
	}
}

// atOperator reports whether the word operator stands here, and not only the beginning of another.
func (w *writer) atOperator() bool {
	const word = "operator"
	rest := w.in[w.at:]
	if !strings.HasPrefix(rest, word) || len(w.out) != w.component {
		return false
	}
	return len(rest) > len(word) && !isIdent(rest[len(word)])
}

// angles copies template arguments, or a component in angle brackets: MSVC's lambdas and Rust's implementations.
func (w *writer) angles() {
	end := closing(w.in, w.at)
	if end < 0 {
		w.out = append(w.out, w.in[w.at:]...)
		w.at = len(w.in)
		return
	}
	inner := w.in[w.at+1 : end]
	w.at = end + 1
	if len(w.out) > w.component {
		w.out = append(w.out, templateName...)
		return
	}
	switch {
	case strings.HasPrefix(inner, "lambda_invoker"):
		w.out = append(w.out, "<lambda_invoker>"...)
	case strings.HasPrefix(inner, "lambda"):
		w.out = append(w.out, lambdaName...)
	case inner == "anonymous" || inner == "unnamed" || strings.HasPrefix(inner, "unnamed-") ||
		strings.HasPrefix(inner, "anonymous-"):
		w.out = append(w.out, anonymousName...)
	default:
		w.out = append(w.out, '<')
		w.rust(inner)
		w.out = append(w.out, '>')
	}
}

// rust copies what stands in the angle brackets of <Type as Trait>::function.
func (w *writer) rust(inner string) {
	for i, part := range strings.SplitN(inner, " as ", 2) {
		if i > 0 {
			w.out = append(w.out, " as "...)
		}
		for at := 0; at < len(part); at++ {
			if part[at] == '<' && at > 0 {
				if end := closing(part, at); end > 0 {
					w.out = append(w.out, templateName...)
					at = end
					continue
				}
			}
			w.out = append(w.out, part[at])
		}
	}
}

// quoted copies a component in MSVC's quotes: an anonymous namespace, a function's scope, a name of the compiler's own.
func (w *writer) quoted() {
	end := closingQuote(w.in, w.at)
	if end < 0 {
		w.out = append(w.out, w.in[w.at:]...)
		w.at = len(w.in)
		return
	}
	inner := w.in[w.at+1 : end]
	w.at = end + 1
	switch {
	case strings.HasPrefix(inner, "anonymous"):
		w.out = append(w.out, anonymousName...)
	case isDigits(inner): // the number of a block
	case isCompilersOwn(inner):
		w.out = append(append(append(w.out, '`'), inner...), '\'')
	default: // the function whose scope follows
		w.out = append(w.out, normalizeOnce(strings.TrimSpace(inner))...)
	}
}

// compilersOwn are the beginnings of names that compilers give the functions they write.
var compilersOwn = []string{"dynamic ", "scalar ", "vector ", "eh ", "copy ", "local ", "default ", "managed ", "omni ",
	"placement ", "string", "vbase ", "vftable", "vbtable", "vcall", "typeof", "udt ", "RTTI "}

func isCompilersOwn(s string) bool {
	for _, p := range compilersOwn {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// itaniumLambda copies 'lambda'(int) and 'lambda0'(int), as LLVM's demangler writes them.
func (w *writer) itaniumLambda() {
	end := strings.IndexByte(w.in[w.at+1:], '\'')
	if end < 0 || !strings.HasPrefix(w.in[w.at+1:], "lambda") {
		w.out = append(w.out, '\'')
		w.at++
		return
	}
	w.at += end + 2
	w.out = append(w.out, lambdaName...)
}

// braces copies GCC's {lambda(int)#1} and Rust's {closure#0}, {{closure}} and {impl#2}.
func (w *writer) braces() {
	end := closing(w.in, w.at)
	if end < 0 {
		w.out = append(w.out, w.in[w.at:]...)
		w.at = len(w.in)
		return
	}
	inner := strings.Trim(w.in[w.at+1:end], "{}")
	w.at = end + 1
	switch {
	case strings.HasPrefix(inner, "lambda"), strings.HasPrefix(inner, "closure"):
		w.out = append(w.out, lambdaName...)
	case strings.HasPrefix(inner, "anonymous"), strings.HasPrefix(inner, "unnamed"):
		w.out = append(w.out, anonymousName...)
	default:
		inner, _, _ = strings.Cut(inner, "#")
		w.out = append(append(append(w.out, '{'), inner...), '}')
	}
}

// arguments skips an argument list. It reports false where the name ends with it.
func (w *writer) arguments() bool {
	end := closing(w.in, w.at)
	if end < 0 {
		return false
	}
	inner := w.in[w.at+1 : end]
	if len(w.out) == w.component && strings.HasPrefix(inner, "anonymous") {
		w.out = append(w.out, anonymousName...)
		w.at = end + 1
		return true
	}
	rest := strings.TrimPrefix(w.in[end+1:], " const")
	if !strings.HasPrefix(rest, "::") { // a scope inside the function
		return false
	}
	w.at = len(w.in) - len(rest)
	return true
}
