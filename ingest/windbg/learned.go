package windbg

import "bytes"

// learn keeps what stood before something that only the debugger writes.
func (p *paste) learn(prefix []byte) {
	p.prefix = append(p.prefix[:0], prefix...)
	p.number = -1
	if n, ok := decimal(bytes.TrimRight(bytes.TrimSpace(prefix), ".:)")); ok {
		p.number = n
	}
}

// cutLearned takes the prefix off a line that begins alike. Where the prefix is nothing but a number, it must be the
// next one.
func (p *paste) cutLearned(text []byte) (rest []byte, ok bool) {
	at, ok := p.matchLearned(text)
	if !ok {
		return text, false
	}
	if p.number >= 0 {
		n, _ := decimal(bytes.TrimRight(bytes.TrimSpace(text[:at]), ".:)"))
		const gap = 8 // blank lines may be left out
		if n <= p.number || n > p.number+gap {
			return text, false
		}
		p.number = n
	}
	return text[at:], true
}

// matchLearned tells how long the prefix is in a line that begins alike: digits stand for digits of any number, blanks
// for blanks, all else for itself.
func (p *paste) matchLearned(text []byte) (at int, ok bool) {
	for i := 0; i < len(p.prefix); {
		is := isDigit
		switch c := p.prefix[i]; {
		case isDigit(c):
		case isBlank(c):
			is = isBlank
		case at < len(text) && text[at] == c:
			i, at = i+1, at+1
			continue
		default:
			return 0, false
		}
		i += runLength(p.prefix[i:], is)
		n := runLength(text[at:], is)
		// Blanks at the end of a line are lost.
		if lost := isBlank(p.prefix[i-1]) && i == len(p.prefix) && at == len(text); n == 0 && !lost {
			return 0, false
		}
		at += n
	}
	return at, len(p.prefix) > 0
}
