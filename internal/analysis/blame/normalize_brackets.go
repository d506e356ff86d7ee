package blame

import "strings"

// closing finds the bracket that closes the one at the offset; -1 for none. Arrows close nothing.
func closing(s string, open int) int {
	var stack []byte
	for i := open; i < len(s); i++ {
		switch c := s[i]; c {
		case '(', '{', '[':
			stack = append(stack, c)
		case '<':
			if i == open || !isOperatorAt(s, i) {
				stack = append(stack, c)
			}
		case '>':
			if s[i-1] == '-' || isOperatorAt(s, i) {
				continue
			}
			if stack[len(stack)-1] != '<' {
				continue // a comparison inside parentheses
			}
			stack = stack[:len(stack)-1]
		case ')', '}', ']':
			want := byte('(')
			if c != ')' {
				want = c - 2
			}
			for len(stack) > 1 && stack[len(stack)-1] == '<' { // a comparison as well
				stack = stack[:len(stack)-1]
			}
			if stack[len(stack)-1] != want {
				return -1
			}
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			return i
		}
	}
	return -1
}

// isOperatorAt reports whether an angle bracket is part of the name of an operator.
func isOperatorAt(s string, i int) bool {
	from := i
	for from > 0 && strings.IndexByte("<>=-", s[from-1]) >= 0 && i-from < 3 {
		from--
	}
	head := s[:from]
	const word = "operator"
	return strings.HasSuffix(head, word) && (len(head) == len(word) || !isIdent(head[len(head)-len(word)-1]))
}

// closingQuote finds the ' that closes the ` at the offset; they nest, and names stand in ” inside them.
func closingQuote(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '`':
			depth++
		case '\'':
			if s[i-1] == ' ' { // `dynamic initializer for 'x''
				end := strings.IndexByte(s[i+1:], '\'')
				if end < 0 {
					return -1
				}
				i += 1 + end
				continue
			}
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
