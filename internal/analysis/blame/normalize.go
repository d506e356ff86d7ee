package blame

import "strings"

// The spellings that NormalizeFunction brings what compilers number or name after a hash to.
const (
	lambdaName    = "<lambda>"
	anonymousName = "<anonymous>"
	templateName  = "<T>"
)

// rounds bounds how often NormalizeFunction goes over a name: what one round uncovers, a thunk's target or a scope in
// quotes, the next one normalises. Real names need two.
const rounds = 16

// maxName bounds, in bytes, the names that are taken apart: compilers cut or hash theirs at 4096.
const maxName = 8192

// NormalizeFunction brings the names that compilers, debuggers and symbol files give one function to one spelling, so
// that they agree between builds, 32 and 64 bits, and kinds of evidence: arguments, return type, calling convention and
// cv are dropped, template arguments of classes become <T> and those of functions go, lambdas <lambda>, anonymous
// namespaces <anonymous>; numbered parts, clones and hashes go, operators stay. Names of C lose their decoration and
// their leading underscores, of which 32-bit builds have one more. Normalizing twice changes nothing.
func NormalizeFunction(function string) string {
	if isPlainC(function) && !strings.ContainsAny(function, "$.@") { // most names of C
		return undecorate(function)
	}
	if len(function) > maxName {
		return spellOut(function[:maxName])
	}
	s := strings.TrimSpace(function)
	for range rounds {
		next := strings.TrimSpace(normalizeOnce(s))
		if next == s {
			return s
		}
		if next == "" {
			break
		}
		s = next
	}
	return spellOut(function)
}

// spellOut is for what is no name: its letters and digits.
func spellOut(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && !isIdent(byte(r)) || r == '_' || r == '$' {
			return -1
		}
		return r
	}, s)
	if s == "" {
		return "?"
	}
	return s
}

func normalizeOnce(s string) string {
	s = stripTail(stripThunk(s))
	if name, ok := strings.CutPrefix(s, "?"); ok {
		if spelt, ok := plainDecorated(name); ok {
			return spelt
		}
	}
	if isPlainC(s) {
		return undecorate(s)
	}
	w := writer{in: s, out: make([]byte, 0, len(s)+len(lambdaName))}
	w.name()
	return dropFunctionArguments(string(w.out))
}

// dropFunctionArguments takes the template arguments off functions, whose name ends with them or is the scope of a
// lambda: compilers write them where a function stands for itself and leave them out where it was inlined. Those of
// classes stay.
func dropFunctionArguments(s string) string {
	const inScope = templateName + "::" + lambdaName
	for strings.Contains(s, inScope) {
		s = strings.ReplaceAll(s, inScope, "::"+lambdaName)
	}
	for len(s) > len(templateName) && strings.HasSuffix(s, templateName) {
		s = s[:len(s)-len(templateName)]
	}
	return s
}

// isPlainC reports whether a name has none but the characters that C's decorated names have.
func isPlainC(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isIdent(c) && c != '@' && c != '.' {
			return false
		}
	}
	return s != ""
}

// undecorate takes the decoration off a C name: _cdecl, _stdcall@8, @fastcall@8, vectorcall@@16.
func undecorate(s string) string {
	if at := strings.LastIndexByte(s, '@'); at > 0 && at+1 < len(s) && strings.Trim(s[at+1:], "0123456789") == "" {
		if name := strings.Trim(s[:at], "@"); name != "" {
			s = name
		}
	}
	if name := strings.TrimLeft(s, "_"); name != "" {
		s = name
	}
	return numberless(s)
}

// plainDecorated undecorates what a jump of incremental linking names, as in ?f@N@@YAXXZ, where it has neither
// templates nor operators; false for the others.
func plainDecorated(s string) (string, bool) {
	name, _, ok := strings.Cut(s, "@@")
	if !ok {
		return "", false
	}
	parts := strings.Split(name, "@")
	for i, j := 0, len(parts)-1; i <= j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	for _, p := range parts {
		if p == "" || p[0] >= '0' && p[0] <= '9' ||
			strings.ContainsFunc(p, func(r rune) bool { return r >= 0x80 || !isIdent(byte(r)) }) {
			return "", false
		}
	}
	return strings.Join(parts, "::"), true
}

// isIdent reports whether a byte may stand in an identifier; bytes of UTF-8 may.
func isIdent(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
