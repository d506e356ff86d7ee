package debugdiag

import "strings"

// A scan takes the parts of a text from its beginning. Where a part is missing it fails, and takes nothing more.
// Letters are compared without their case. Regular expressions would be 0.25 MB of the client.
type scan struct {
	rest   string
	failed bool
}

// option takes a word if it comes next.
func (s *scan) option(word string) bool {
	if s.failed || len(s.rest) < len(word) || !strings.EqualFold(s.rest[:len(word)], word) {
		return false
	}
	s.rest = s.rest[len(word):]
	return true
}

// word takes a word, which must come next.
func (s *scan) word(word string) { s.failed = !s.option(word) }

// digits takes digits: as many as there are, up to most. There must be least.
func (s *scan) digits(least, most int) string { return s.run(least, most, isDigit) }

// run takes bytes of a kind: as many as there are, up to most. There must be least.
func (s *scan) run(least, most int, is func(byte) bool) string {
	n := 0
	for n < len(s.rest) && n < most && is(s.rest[n]) {
		n++
	}
	if s.failed = s.failed || n < least; s.failed {
		return ""
	}
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

// version takes numbers with points between them.
func (s *scan) version() string {
	all := s.rest
	s.digits(1, len(s.rest))
	for next := *s; !next.failed; {
		*s = next
		next.word(".")
		next.digits(1, len(next.rest))
	}
	if s.failed {
		return ""
	}
	return all[:len(all)-len(s.rest)]
}

// line takes the rest of the text, which must be one line and not empty.
func (s *scan) line() string {
	if s.failed = s.failed || s.rest == "" || strings.Contains(s.rest, "\n"); s.failed {
		return ""
	}
	return s.rest
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool { return isDigit(b) || b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' }

func isHexOfWindbg(b byte) bool { return isDigit(b) || b == '`' || b|0x20 >= 'a' && b|0x20 <= 'f' }
