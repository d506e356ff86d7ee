package debugdiag

import "strings"

// reportFor is the dump that a title "Report for app.dmp" names; "" where the title is another.
func reportFor(text string) string {
	s := scan{rest: text}
	s.word("report for ")
	return s.line()
}

// heapTitle is the address and the name in a title such as "Heap 1 - 0x00150000 | Default process heap".
func heapTitle(text string) (address, name string, ok bool) {
	s := scan{rest: text}
	s.word("heap ")
	if numbered := s; !s.failed {
		if numbered.digits(1, len(text)); numbered.option(" - ") {
			s = numbered
		}
	}
	address = s.rest
	s.word("0x")
	s.run(1, len(text), isHexOfWindbg)
	if address = address[:len(address)-len(s.rest)]; s.failed || s.rest == "" {
		return address, "", !s.failed
	}
	s.option(" ")
	s.word("|")
	if s.rest != " " {
		s.option(" ")
	}
	name = s.line()
	return address, name, !s.failed
}

// leakTrackVersion is the version in "LeakTrack Version Loaded: 1.2.3"; "" where the text is another.
func leakTrackVersion(text string) string {
	s := scan{rest: text}
	s.word("LeakTrack Version Loaded:")
	s.rest = strings.TrimLeft(s.rest, " ")
	return s.version()
}

// sampleTitle is "Call stack sample 7", which a text begins with; else "".
func sampleTitle(text string) string {
	s := scan{rest: text}
	s.word("Call stack sample ")
	s.digits(1, len(text))
	if s.failed {
		return ""
	}
	return text[:len(text)-len(s.rest)]
}

// toolVersion is the version of the tool in "Debug Diagnostic Tool version 2.3" or "DebugDiag v2.3", anywhere in a text.
func toolVersion(text string) string {
	for i := range len(text) {
		if text[i]|0x20 != 'd' || i > 0 && isWord(text[i-1]) {
			continue
		}
		s := scan{rest: text[i:]}
		s.word("debug")
		s.option(" ")
		if s.word("diag"); s.option("nostic") {
			s.option(" tool")
		}
		s.option(",")
		if s.word(" "); !s.option("version ") {
			s.word("v")
		}
		if v := s.version(); v != "" {
			return v
		}
	}
	return ""
}

// allocationSize is what follows in "Allocation Size - 1,024"; "" where the text is another.
func allocationSize(text string) string {
	s := scan{rest: text}
	s.word("Allocation Size")
	s.rest = strings.TrimLeft(s.rest, " ")
	if !s.option("-") {
		s.word(":")
	}
	if trimmed := strings.TrimLeft(s.rest, " "); trimmed != "" || s.rest == "" {
		s.rest = trimmed
	} else {
		s.rest = " "
	}
	return s.line()
}

// hasOldFacts reports whether a page has a fact that reports of all versions begin with, as the first cell of a row:
// pages about DebugDiag quote it as prose.
func hasOldFacts(page string) bool {
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 {
			return false
		}
		page = page[at:]
		s := scan{rest: page}
		if s.word("<td"); !s.failed && s.toEndOfTag() && beginsFacts(s) {
			return true
		}
		page = page[1:]
	}
}

// toEndOfTag takes everything up to the end of a tag.
func (s *scan) toEndOfTag() bool {
	_, rest, found := strings.Cut(s.rest, ">")
	if found {
		s.rest = rest
	}
	return found
}

// beginsFacts reports whether a cell begins with the fact, behind blanks and tags of text.
func beginsFacts(s scan) bool {
	for {
		before := len(s.rest)
		s.rest = strings.TrimLeft(s.rest, " \t\n\f\r")
		s.option("&nbsp;")
		tag := scan{rest: s.rest}
		if tag.option("<") {
			tag.option("/")
			switch name := tag.run(0, len(tag.rest), isWord); strings.ToLower(name) {
			case "b", "font", "p", "span", "strong":
				if !tag.toEndOfTag() {
					return false
				}
				s.rest = tag.rest
			}
		}
		if len(s.rest) == before {
			return s.option("Type of Analysis Performed")
		}
	}
}
