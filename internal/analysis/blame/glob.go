package blame

import "strings"

// A glob is a pattern of * for any text and ? for any one byte. The zero glob matches nothing; "*" everything.
type glob struct {
	pattern string
	fold    bool // letters of either case are equal; the pattern is in lower case
}

// MatchGlob reports whether a pattern of * and ? covers a whole text, in any case.
func MatchGlob(pattern, text string) bool { return newGlob(pattern, true).match(text) }

func newGlob(pattern string, fold bool) glob {
	if fold {
		pattern = strings.ToLower(pattern)
	}
	for strings.Contains(pattern, "**") {
		pattern = strings.ReplaceAll(pattern, "**", "*")
	}
	return glob{pattern, fold}
}

// match reports whether the pattern covers the whole text. Its time is the product of both lengths at worst.
func (g glob) match(s string) bool {
	p, star, from := 0, -1, 0
	for i := 0; i < len(s); {
		switch {
		case p < len(g.pattern) && g.pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(g.pattern) && (g.pattern[p] == '?' || g.pattern[p] == g.at(s, i)):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(g.pattern[p:], "*") == ""
}

func (g glob) at(s string, i int) byte {
	c := s[i]
	if g.fold && c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// literal is the text before the first wildcard.
func (g glob) literal() string {
	if i := strings.IndexAny(g.pattern, "*?"); i >= 0 {
		return g.pattern[:i]
	}
	return g.pattern
}
