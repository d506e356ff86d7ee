package blame

import "strings"

// symbols are the operators that are no words, the longest first.
var symbols = []string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "==", "!=", "&&", "||",
	"++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=",
	"<", ">", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ","}

// operator copies an operator's name with its symbol, its word, or the type that it converts to.
func (w *writer) operator() {
	const word = "operator"
	w.at += len(word)
	rest := strings.TrimLeft(w.in[w.at:], " ")
	w.at = len(w.in) - len(rest)
	w.out = append(w.out, word...)
	if symbol := operatorSymbol(rest); symbol != "" {
		w.out = append(w.out, symbol...)
		w.at += len(symbol)
		w.operatorArguments()
		return
	}
	if rest == "" || rest[0] == '(' {
		return
	}
	if strings.HasPrefix(rest, `""`) {
		w.out = append(w.out, `""`...)
		w.at += 2
		w.skipSpaces()
		return
	}
	if word := allocationWord(rest); word != "" {
		w.out = append(append(w.out, ' '), word...)
		w.at += len(word)
		w.skipSpaces()
		if strings.HasPrefix(w.in[w.at:], "[]") {
			w.out = append(w.out, "[]"...)
			w.at += 2
		}
		w.operatorArguments()
		return
	}
	w.out = append(w.out, ' ')
	w.conversion()
}

// operatorSymbol is the symbol that a text begins with; "" for none.
func operatorSymbol(rest string) string {
	for _, s := range symbols {
		if !strings.HasPrefix(rest, s) {
			continue
		}
		if s[0] == '<' && len(s) > 1 && opensTemplate(rest[len(s):]) {
			return s[:len(s)-1] // operator<<int> is operator< of int
		}
		return s
	}
	return ""
}

// allocationWord is new or delete, where a text begins with it; "" else.
func allocationWord(rest string) string {
	for _, s := range []string{"new", "delete"} {
		if tail, ok := strings.CutPrefix(rest, s); ok && (tail == "" || !isIdent(tail[0])) {
			return s
		}
	}
	return ""
}

// operatorArguments goes on to the template arguments behind an operator, which may stand apart from it.
func (w *writer) operatorArguments() {
	if strings.HasPrefix(w.in[w.at:], " <") {
		w.at++
	}
}

func (w *writer) skipSpaces() {
	for w.at < len(w.in) && w.in[w.at] == ' ' {
		w.at++
	}
}

// opensTemplate reports whether a text closes an angle bracket that it has not opened, before its arguments begin.
func opensTemplate(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue
			}
			if depth--; depth < 0 {
				return true
			}
		case '(':
			if depth == 0 {
				return false
			}
		}
	}
	return false
}

// conversion copies the type of a conversion operator, up to its arguments.
func (w *writer) conversion() {
	space := false
	for w.at < len(w.in) {
		switch c := w.in[w.at]; {
		case c == '(':
			return
		case c == ' ':
			space = true
			w.at++
			continue
		case c == '<':
			end := closing(w.in, w.at)
			if end < 0 {
				w.out = append(w.out, w.in[w.at:]...)
				w.at = len(w.in)
				return
			}
			w.out = append(w.out, templateName...)
			w.at = end + 1
			continue
		case isIdent(c) && (w.out[len(w.out)-1] == '>' || space && isIdent(w.out[len(w.out)-1])):
			w.out = append(w.out, ' ')
		}
		space = false
		w.out = append(w.out, w.in[w.at])
		w.at++
	}
}
