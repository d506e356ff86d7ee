package sandbox

import (
	"path"
	"strings"
	"unicode"
)

// mostWhy is how many bytes of the text of a panic are shown to users.
const mostWhy = 200

// panicOf finds in what a process has said last why it panicked, and the innermost function of this program that was
// running then, with its file and line. why is "" where it did not panic, where is "" where no such function is known.
// A task reads untrusted files: neither has control characters, and both are short.
func panicOf(said string) (why, where string) {
	lines := strings.Split(said, "\n")
	at := -1
	for i, line := range lines {
		for _, begin := range []string{"panic: ", "fatal error: "} {
			if text, ok := strings.CutPrefix(line, begin); ok && at < 0 {
				at, why = i, shown(text)
			}
		}
	}
	if at < 0 {
		return "", ""
	}
	for i := at + 1; i+1 < len(lines); i++ {
		function, inProgram := strings.CutPrefix(lines[i], modulePath)
		file, isFrame := strings.CutPrefix(lines[i+1], "\t")
		if !inProgram || !isFrame || strings.HasPrefix(function, ownPath) {
			continue
		}
		file, _, _ = strings.Cut(file, " +0x")
		return why, shown(withoutArguments(function)) + " (" + shown(path.Base(file)) + ")"
	}
	return why, ""
}

// The functions of this program begin with modulePath, those of this package with ownPath after it.
const (
	modulePath = "heapdrift/"
	ownPath    = "internal/sandbox."
)

// withoutArguments cuts the arguments off a function as traces of goroutines have it: "a.(*B).C(0x1, 0x2)".
func withoutArguments(function string) string {
	if at := strings.LastIndexByte(function, '('); at > 0 {
		return function[:at]
	}
	return function
}

// shown is a short text without control characters.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	if len(text) > mostWhy {
		text = strings.ToValidUTF8(text[:mostWhy], "") + "…"
	}
	return text
}
