package blame

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTitle bounds titles, in characters; maxVia the plumbing that they name.
const maxTitle, maxVia = 255, 3

// title tells people a signature: origin via plumbing | blame. What is the blame frame's own is said once.
func title(stack []*Class, p MarkedStack, blame *Class) string {
	blamed := blame.label()
	switch p.Marks[p.Blame].Layer {
	case LayerApp, LayerThirdParty, LayerSystem:
	case LayerPlumbing:
		return shorten(blamed, maxTitle-20) + " (library code only)"
	case LayerBase:
		return shorten(blamed, maxTitle-25) + " (start of a thread only)"
	default:
		return shorten(blamed, maxTitle-17) + " (allocator only)"
	}
	if p.Origin >= p.Blame {
		return shorten(blamed, maxTitle)
	}
	module, _, _ := strings.Cut(blame.Name(), "!")
	inner := strings.TrimPrefix(stack[p.Origin].label(), module+"!")
	via := make([]string, 0, maxVia+1)
	for i := p.Blame - 1; i > p.Origin; i-- { // outermost first: that is what the blamed function calls
		if p.Marks[i].Layer != LayerPlumbing {
			continue
		}
		name := strings.TrimPrefix(stack[i].label(), module+"!")
		if name == inner || slices.Contains(via, name) {
			continue
		}
		if len(via) == maxVia {
			via = append(via, "…")
			break
		}
		via = append(via, name)
	}
	if len(via) > 0 {
		inner += " via " + strings.Join(via, ", ")
	}
	blamed = shorten(blamed, maxTitle*2/3)
	return shorten(inner, maxTitle-3-utf8.RuneCountInString(blamed)) + " | " + blamed
}

// escapeTitle makes a name fit for one line of text.
func escapeTitle(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7F {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7F || r == utf8.RuneError {
					return utf8.RuneError
				}
				return r
			}, s)
		}
	}
	return s
}

// shorten cuts a text to a number of characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	for i := range s {
		if most--; most == 0 {
			return s[:i] + "…"
		}
	}
	return s
}
