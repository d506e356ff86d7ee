package blame

import "strings"

// globs are patterns of module names in lower case. Besides * and ?, # stands for one or more digits.
type globs struct {
	exact    map[string]bool
	patterns []glob
}

func newGlobs(patterns ...string) *globs {
	g := &globs{exact: map[string]bool{}}
	for _, p := range patterns {
		if strings.ContainsAny(p, "*?#") {
			g.patterns = append(g.patterns, newGlob(p, true))
			continue
		}
		g.exact[p] = true
	}
	return g
}

// match takes a name in lower case, its runs of digits written as # where the patterns have them.
func (g *globs) match(m *moduleName) bool {
	if g.exact[m.lower] {
		return true
	}
	for _, p := range g.patterns {
		if p.match(m.lower) || strings.IndexByte(p.pattern, '#') >= 0 && p.match(m.digits) {
			return true
		}
	}
	return false
}

// A moduleName is the name of an image as rules see it.
type moduleName struct {
	lower  string // without folder and extension
	digits string // the same, with # for each run of digits
}

func newModuleName(name string) moduleName {
	lower := baseName(name)
	digits := make([]byte, 0, len(lower))
	for i := range len(lower) {
		c := lower[i]
		if c >= '0' && c <= '9' {
			if len(digits) == 0 || digits[len(digits)-1] != '#' {
				digits = append(digits, '#')
			}
			continue
		}
		digits = append(digits, c)
	}
	return moduleName{lower, string(digits)}
}

// imageExtensions are those of the files that Windows loads code from.
var imageExtensions = []string{".exe", ".dll", ".sys", ".ocx", ".drv", ".cpl", ".node", ".pyd", ".xll", ".ax",
	".scr", ".tlb", ".efi", ".mui"}

func baseName(name string) string {
	lower := strings.ToLower(name[strings.LastIndexAny(name, `\/`)+1:])
	for _, e := range imageExtensions {
		if stem, ok := strings.CutSuffix(lower, e); ok && stem != "" {
			return stem
		}
	}
	return lower
}

// NormalizeModule brings the names of an image in different builds together: lower case, without folder and extension,
// and without the version or hash that some builds put behind the name. What belongs to the name stays: msvcr120,
// qt5core.
func NormalizeModule(name string) string {
	s := baseName(name)
	if strings.HasPrefix(s, "api-ms-") || strings.HasPrefix(s, "ext-ms-") {
		return s
	}
	for {
		i := strings.LastIndexAny(s, "-_.")
		if i <= 0 {
			return s
		}
		from := versionStart(s, i)
		if from <= 0 {
			return s
		}
		s = s[:from]
	}
}

// versionStart is where a version begins that ends a name and whose last part follows the separator at i; −1 for none.
func versionStart(s string, i int) int {
	tail := s[i+1:]
	marked := strings.HasPrefix(tail, "v")
	number := strings.TrimPrefix(tail, "v")
	switch {
	case isDigits(number) && (marked || s[i] == '.' || len(number) >= 3):
	case isDigits(number): // one small number may count modules: two in a row are a version
		before := strings.LastIndexAny(s[:i], "-_.")
		if before < 0 || !isDigits(strings.TrimPrefix(s[before+1:i], "v")) {
			return -1
		}
	case len(tail) >= 7 && strings.Trim(tail, "0123456789abcdef") == "" && strings.ContainsAny(tail, "0123456789") &&
		strings.ContainsAny(tail, "abcdef"):
		return i
	default:
		return -1
	}
	// foo-1.2.3: the parts before belong to the version as well
	for {
		before := strings.LastIndexAny(s[:i], "-_.")
		if before <= 0 || !isDigits(strings.TrimPrefix(s[before+1:i], "v")) {
			return i
		}
		i = before
	}
}
