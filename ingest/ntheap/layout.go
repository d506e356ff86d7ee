package ntheap

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// layoutTable is layouts.txt, packed. tools/heaplayouts makes it; its head says what it holds and where that is from.
//
//go:embed layouts.txt.gz
var layoutTable string

// A layout is where the fields of structures lie in one version of Windows.
type layout struct {
	name   string // for people: "10.0.19041 x64 (embedded)"
	bits   int
	builds []Version
	types  Types
}

// tableTypes are structures of the embedded table.
type tableTypes map[string]structure

type structure struct {
	size   uint64
	fields map[string]uint64
}

func (t tableTypes) Offset(typ, field string) (uint64, bool) {
	at, ok := t[typ].fields[field]
	return at, ok
}

func (t tableTypes) Size(typ string) (uint64, bool) {
	s, ok := t[typ]
	return s.size, ok && s.size > 0
}

// embedded are the layouts of the table.
var embedded = sync.OnceValue(func() []*layout {
	text, err := unpackLayouts(layoutTable)
	if err != nil {
		panic(err)
	}
	all, err := parseLayouts(text)
	if err != nil {
		panic(err) // the table is part of the program, and a test parses it
	}
	return all
})

func unpackLayouts(packed string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("layouts.txt.gz: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("layouts.txt.gz: %w", err)
	}
	return string(text), nil
}

func parseLayouts(text string) ([]*layout, error) {
	var all []*layout
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "#") {
			continue
		}
		if words[0] == "layout" {
			l, err := parseLayout(words)
			if err != nil {
				return nil, fmt.Errorf("layouts.txt line %d: %w", n+1, err)
			}
			all = append(all, l)
			continue
		}
		if len(all) == 0 || len(words)%2 != 0 {
			return nil, fmt.Errorf("layouts.txt line %d: no structure of a layout", n+1)
		}
		s := structure{fields: map[string]uint64{}}
		for i := 1; i < len(words); i += 2 { // size, then name and offset by turns
			at, err := strconv.ParseUint(words[i], 0, 32)
			if err != nil {
				return nil, fmt.Errorf("layouts.txt line %d: %w", n+1, err)
			}
			if i == 1 {
				s.size = at
			} else {
				s.fields[words[i-1]] = at
			}
		}
		all[len(all)-1].types.(tableTypes)[words[0]] = s
	}
	return all, nil
}

// parseLayout takes the line that begins a layout: its processor and its builds.
func parseLayout(words []string) (*layout, error) {
	if len(words) < 3 || words[1] != "x86" && words[1] != "x64" {
		return nil, fmt.Errorf("%q begins no layout", words)
	}
	l := &layout{bits: 32, types: tableTypes{}}
	if words[1] == "x64" {
		l.bits = 64
	}
	for _, word := range words[2:] {
		var v Version
		if _, err := fmt.Sscanf(word, "%d.%d.%d", &v.Major, &v.Minor, &v.Build); err != nil {
			return nil, fmt.Errorf("build %q: %w", word, err)
		}
		l.builds = append(l.builds, v)
	}
	return l, nil
}
