package symsrv

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A PathMapping says where a directory of the Windows machine is on this machine: everything below Windows is searched
// below Local. Windows is compared without regard to case and to the kind of slash; of several that match, the longest
// counts.
type PathMapping struct {
	Windows string // C:\Symbols, \\server\share
	Local   string // /mnt/sym
}

// ParseMapping reads C:\Symbols=/mnt/sym.
func ParseMapping(text string) (PathMapping, error) {
	from, to, ok := strings.Cut(text, "=")
	m := PathMapping{Windows: strings.TrimSpace(from), Local: strings.TrimSpace(to)}
	if !ok || m.Windows == "" || m.Local == "" {
		return PathMapping{}, &Error{Code: CodeBadMapping,
			Message: fmt.Sprintf(`%q maps nothing: write a Windows directory, "=" and a directory here, as in C:\Symbols=/mnt/sym`, text)}
	}
	return m, nil
}

// slashed returns the path with forward slashes and none at its end.
func slashed(path string) string {
	return strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
}

// mapped returns the directory that stands for a prefix of path, and the rest with slashes. It is not ok if no
// mapping covers the path, or if the rest climbs out of it.
func mapped(path string, maps []PathMapping) (base, rest string, ok bool) {
	path = slashed(path)
	longest := -1
	for _, m := range maps {
		from := slashed(m.Windows)
		if len(from) <= longest || len(path) < len(from) || !strings.EqualFold(path[:len(from)], from) {
			continue
		}
		if tail := path[len(from):]; tail == "" || tail[0] == '/' {
			longest, base, rest, ok = len(from), m.Local, strings.Trim(tail, "/"), true
		}
	}
	return base, rest, ok && !climbs(rest)
}

func climbs(path string) bool {
	return slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

// foreign tells whether the path is one of a Windows machine: a drive, a share, or rooted with a backslash.
func foreign(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	drive := len(path) >= 2 && path[1] == ':' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
	return drive || strings.HasPrefix(path, `\`)
}

// native turns a path that is not foreign into one that the system opens: sym\dir is sym/dir.
func native(path string) string {
	if runtime.GOOS != "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	return filepath.Clean(path)
}
