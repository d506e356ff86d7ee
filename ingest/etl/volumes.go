package etl

import "strings"

// path maps a path of the kernel to one with a drive letter.
func (s *imageTable) path(nt string) string {
	const systemRoot = `\SystemRoot\`
	for _, v := range s.volumes {
		prefix := strings.TrimSuffix(v.NT, `\`)
		if rest, ok := cutPrefixFold(nt, prefix); ok && (rest == "" || rest[0] == '\\') {
			return strings.TrimSuffix(v.DOS, `\`) + rest
		}
	}
	if s.windows == "" {
		return nt
	}
	if rest, ok := cutPrefixFold(nt, systemRoot); ok {
		return strings.TrimSuffix(s.windows, `\`) + `\` + rest
	}
	// A path like \Windows\System32\ntdll.dll, on the volume of Windows.
	if len(s.windows) > 2 && s.windows[1] == ':' {
		if _, ok := cutPrefixFold(nt, s.windows[2:]); ok {
			return s.windows[:2] + nt
		}
	}
	return nt
}

// cutPrefixFold is strings.CutPrefix without regard to the case of ASCII letters.
func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
