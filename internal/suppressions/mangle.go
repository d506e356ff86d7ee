package suppressions

import (
	"strconv"
	"strings"
)

// sourceName is the name of a function as in the source, of a name as the linker has it, which may have wildcards. It
// knows names of C, functions, and members of classes and namespaces without template arguments:
//
//	_ZN5Cache3PutEi   Cache::Put        N…E: nested; K, V, R, O before the first part: const, volatile, & and &&
//	_ZN5CacheC2Ev     Cache::Cache      C1 to C5: constructors, D0 to D5: destructors
//	_ZL4initv         init              L: with internal linkage
//	_Z4init*          init              a wildcard behind its length is for arguments
//	_ZN5Cache*        Cache::*          or, where the name is nested, for members
//	_ZN*5Cache3PutE*  *Cache::Put       a wildcard before a name stands for scopes and qualifiers
//
// ok is false for all others.
func sourceName(linker string) (name string, ok bool) {
	if plain, ok := allocatingOperators[strings.TrimRight(linker[:min(len(linker), 4)], "*?")]; ok && len(linker) >= 4 {
		return plain, true
	}
	rest, mangled := strings.CutPrefix(linker, "_Z")
	if !mangled {
		return linker, true
	}
	rest, nested := strings.CutPrefix(rest, "N")
	if !nested { // the length before the name ends it: wildcards are for its arguments
		name, _, ok = part(strings.TrimPrefix(rest, "L"))
		return name, ok
	}
	wild := strings.HasPrefix(rest, "*")
	parts, rest := nestedParts(strings.TrimLeft(rest, "*KVROr"))
	if len(parts) == 0 || rest != "*" && !strings.HasPrefix(rest, "E") {
		return "", false
	}
	name = strings.Join(parts, "::")
	if wild {
		name = "*" + name
	}
	if rest == "*" {
		if len(parts) == 1 { // of a class or namespace
			name += "::"
		}
		name += "*"
	}
	return name, true
}

// nestedParts reads the parts of a nested name, up to the E behind them, or to what is no name.
func nestedParts(rest string) (parts []string, behind string) {
	for {
		next, behind, found := part(strings.TrimPrefix(rest, "L"))
		if !found {
			break
		}
		if next == anonymousPart {
			next = "*anonymous*"
		}
		parts, rest = append(parts, next), behind
	}
	if len(parts) == 0 || len(rest) < 2 || rest[0] != 'C' && rest[0] != 'D' || !strings.Contains("012345?", rest[1:2]) {
		return parts, rest
	}
	last := parts[len(parts)-1]
	if rest[0] == 'D' {
		last = "~" + last
	}
	if rest = rest[2:]; rest == "" || rest[0] == '*' {
		rest = "E"
	}
	return append(parts, last), rest
}

// anonymousPart is the anonymous namespace.
const anonymousPart = "_GLOBAL__N_1"

// allocatingOperators begin stacks of allocations.
var allocatingOperators = map[string]string{"_Znw": "operator new", "_Zna": "operator new[]", "_Zn": "operator new"}

// part reads a name with its length before it.
func part(s string) (name, rest string, ok bool) {
	digits := 0
	for digits < len(s) && digits < 4 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n == 0 || n > len(s)-digits {
		return "", s, false
	}
	name = s[digits : digits+n]
	if !isIdentifier(name) {
		return "", s, false
	}
	return name, s[digits+n:], true
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
		if digit := c >= '0' && c <= '9' && i > 0; !letter && !digit {
			return false
		}
	}
	return s != ""
}

// linkerNames are globs for what the linker may call a function, of its name as signatures have it: a C name may be
// mangled or not. ok is false where the name has parts that are not identifiers, such as operators and lambdas.
func linkerNames(name string) (globs []string, ok bool) {
	parts := strings.Split(name, "::")
	if len(parts) == 1 {
		if !isIdentifier(name) {
			return nil, false
		}
		mangled := strconv.Itoa(len(name)) + name
		return []string{name, "_Z" + mangled + "*", "_ZL" + mangled + "*"}, true
	}
	var b strings.Builder
	b.WriteString("_ZN*")
	for i, p := range parts {
		plain, isTemplate := strings.CutSuffix(p, "<T>")
		last := i == len(parts)-1 && i > 0
		switch {
		case p == "<anonymous>":
			plain = anonymousPart
		case last && p == parts[i-1]:
			b.WriteString("C?E*")
			return []string{b.String()}, true
		case last && p == "~"+parts[i-1]:
			b.WriteString("D?E*")
			return []string{b.String()}, true
		}
		if isTemplate || !isIdentifier(plain) {
			return nil, false
		}
		b.WriteString(strconv.Itoa(len(plain)) + plain)
	}
	b.WriteString("E*")
	return []string{b.String()}, true
}
