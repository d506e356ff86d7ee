package heapprofile

import (
	"bytes"
	"strings"

	"heapdrift/ingest/capture"
)

// mostModules bounds the modules of a profile.
const mostModules = 1 << 14

// A mapping is the list of modules at the end of a profile. On Linux it is /proc/self/maps, a line for each segment of
// a module; on Windows gperftools and mimalloc print a line of the same form for each module:
//
//	55d0c0de0000-55d0c0e40000 r-xp 00002000 08:01 1234       /srv/app
//	7ff6a1b20000-7ff6a1ba8000 r-xp 00000000 00:00 0           C:\app\app.exe
//
// jemalloc prints no list on Windows (prof_sys.c).
type mapping struct {
	modules []capture.Module
	code    []bool // by module: one of its segments is executable
	starts  []uint64
	read    bool  // a line of the form was read
	other   int64 // lines of other forms
	lost    int64
}

// line takes a line of the list: one segment. Segments of one module follow each other, and the first begins the file.
func (m *mapping) line(text []byte) {
	start, rest, ok := cutHex(text)
	if !ok || len(rest) == 0 || rest[0] != '-' {
		m.other++
		return
	}
	end, rest, ok := cutHex(rest[1:])
	if !ok || end <= start || len(rest) == 0 || rest[0] != ' ' {
		m.other++
		return
	}
	perms, rest := cutWord(rest)
	word, rest := cutWord(rest)
	offset, _, ok := cutHex(word)
	if !ok || len(perms) < 3 {
		m.other++
		return
	}
	m.read = true
	_, rest = cutWord(rest) // device
	_, rest = cutWord(rest) // inode
	path := moduleText(bytes.TrimSuffix(trim(rest), []byte(" (deleted)")))
	if path == "" || path[0] == '[' || offset > start {
		return
	}
	m.add(path, start, end, offset, perms[2] == 'x')
}

func (m *mapping) add(path string, start, end, offset uint64, code bool) {
	if n := len(m.modules) - 1; n >= 0 && m.modules[n].Path == path && (offset > 0 || start == m.starts[n]) {
		last := &m.modules[n]
		if start >= last.Base && end > last.Base+last.Size {
			last.Size = end - last.Base
		}
		m.code[n] = m.code[n] || code
		return
	}
	if len(m.modules) == mostModules {
		m.lost++
		return
	}
	base := start - offset
	m.modules = append(m.modules, capture.Module{Path: path, Base: base, Size: end - base, Symbols: capture.SymbolsNone})
	m.code, m.starts = append(m.code, code), append(m.starts, start)
}

// images are the modules with code, without the fonts and the data that a process maps as well.
func (m *mapping) images() (list []capture.Module) {
	for i := range m.modules {
		if m.code[i] {
			list = append(list, m.modules[i])
		}
	}
	return list
}

// program is the module that is the process's program: the .exe, or else the first that is no library.
func program(modules []capture.Module) string {
	first := ""
	for i := range modules {
		name := modules[i].FileName()
		if strings.HasSuffix(strings.ToLower(name), ".exe") {
			return name
		}
		lower := strings.ToLower(name)
		isLibrary := strings.Contains(lower, ".so") || strings.HasSuffix(lower, ".dll") || strings.HasSuffix(lower, ".dylib")
		if first == "" && !isLibrary {
			first = name
		}
	}
	return first
}

// cutWord takes the first word off a text.
func cutWord(text []byte) (word, rest []byte) {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	n := 0
	for n < len(text) && !isBlank(text[n]) {
		n++
	}
	return text[:n], text[n:]
}

// moduleText is a path as a string of valid UTF-8.
func moduleText(path []byte) string {
	const longest = 4 << 10 // PATH_MAX
	return validText(path, longest)
}
