package umdh

import (
	"strings"

	"heapdrift/ingest/capture"
)

// ParseFrame reads a line of a stack as any version of UMDH prints it; blanks around it do not matter. Offsets and
// addresses are hexadecimal, line numbers decimal. address is 0 where the line has none.
//
//	mod!func+00000274 (path, 228)       6.x; file and line where the symbols have them
//	mod!func+A64 (path, 163)            10.x
//	mod!func+0x00000808                 Windows 2000
//	7C8531E4 : mod!func+1               2008: address before the name
//	mod!???+0 : 7FFE82352933            no name: Function is ""
//	<no module>!???+0 : 7FFE82352933    no module either: the Text is empty
//	7FFE82352933                        address only: the Text is empty
//
// The line is read from its right end, because names contain "+", blanks, commas and parentheses, and paths
// contain all of these too.
func ParseFrame(line string) (text capture.FrameText, address uint64, ok bool) {
	line = strings.Trim(line, " \t\r\n")
	if alone, ok := hexAll(line); ok {
		return text, alone, true
	}
	if head, n, ok := hexPrefix(line); ok && strings.HasPrefix(line[n:], " : ") {
		address, line = head, line[n+len(" : "):]
	}
	bang := strings.IndexByte(line, '!')
	if bang <= 0 {
		return capture.FrameText{}, 0, false
	}
	module, name := line[:bang], line[bang+1:]
	if open := sourceOpen(name); open >= 0 {
		text.File, text.Line, _ = cutSource(name[open:]) // one that is not closed is left out
		name = name[:open]
	}
	placed := address != 0 || text.File != ""
	if before, tail, found := cutLast(name, " : "); found {
		if a, ok := hexAll(tail); ok {
			address, name, placed = a, before, true
		}
	}
	if before, tail, found := cutLast(name, "+"); found {
		if offset, ok := hexAll(trim0x(tail)); ok {
			text.Offset, name, placed = offset, before, true
		}
	}
	if name == "" || !placed && strings.ContainsAny(module+name, " \t") {
		return capture.FrameText{}, 0, false // without any of the numbers it may as well be prose
	}
	if name != "???" {
		text.Function = name
	}
	if module != "<no module>" && module != "<nomodule>" {
		text.Module = module
	}
	return text, address, true
}

// sourceOpen finds where " (path, line)" begins, closed or not: the first " (" behind a number that is an offset
// or an address. Blanks with parentheses in the function's name come before that, those in the path behind it.
// It is −1 where there is none.
func sourceOpen(name string) int {
	for from := 0; ; {
		at := strings.Index(name[from:], " (")
		if at < 0 {
			return -1
		}
		at += from
		if _, offset, found := cutLast(name[:at], "+"); found {
			if _, ok := hexAll(trim0x(offset)); ok {
				return at
			}
		}
		if _, address, found := cutLast(name[:at], " : "); found {
			if _, ok := hexAll(address); ok {
				return at
			}
		}
		from = at + 1
	}
}

// cutSource reads " (path, line)".
func cutSource(s string) (file string, line uint32, ok bool) {
	s, closed := strings.CutSuffix(s, ")")
	file, number, found := cutLast(s, ", ")
	if line, ok = decimalAll(number); !ok || !closed || !found || len(file) <= len(" (") {
		return "", 0, false
	}
	return file[len(" ("):], line, true
}

func trim0x(s string) string {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		return s[2:]
	}
	return s
}
