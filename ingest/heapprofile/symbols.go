package heapprofile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"heapdrift/ingest/capture"
)

// symbols are the names that pprof --raw and jeprof --raw put in front of a profile. Functions that are inlined there
// stand behind their callers (jeprof, FetchSymbols and TranslateStack):
//
//	--- symbol
//	binary=/srv/app
//	0x000055d0c0de1f05 Cache::Add(int)
//	0x000055d0c0de2a0f main--Cache::Fill
//	---
//	--- heap
//	heap profile: …
//
// The addresses are those of calls, one below the return address, but for the innermost frame.
type symbols struct {
	names  map[uint64][]string // the innermost function first
	binary string
	lost   int64
}

const (
	mostNames       = 1 << 20
	longestFunction = 4 << 10
)

// line takes a line of the section, and reports false where it is neither a name nor a setting.
func (s *symbols) line(text []byte) bool {
	if path, ok := bytes.CutPrefix(text, []byte("binary=")); ok {
		s.binary = moduleText(path)
		return true
	}
	if !bytes.HasPrefix(text, []byte("0x")) {
		return bytes.IndexByte(text, '=') > 0 // another setting
	}
	address, rest, ok := cutHex(text)
	if !ok {
		return false
	}
	if len(s.names) >= mostNames {
		s.lost++
		return true
	}
	var names []string
	for name := range strings.SplitSeq(validText(trim(rest), longestFunction), "--") {
		if name != "" && !strings.HasPrefix(name, "0x") { // an address that jeprof found no name for
			names = append([]string{name}, names...)
		}
	}
	if len(names) > 0 {
		if s.names == nil {
			s.names = map[uint64][]string{}
		}
		s.names[address] = names
	}
	return true
}

// of are the functions at a return address, the innermost first; nil where none is known.
func (s *symbols) of(address uint64) []string {
	if names := s.names[address-1]; names != nil {
		return names
	}
	return s.names[address]
}

// apply names the frames of a capture: all of its stacks are made anew.
func (s *symbols) apply(c *capture.Capture) {
	if len(s.names) == 0 {
		return
	}
	old, named := c.Stacks, capture.Stacks{}
	places := capture.NewModuleMap(c.Modules)
	var ids []capture.FrameID
	for i := range c.Sites {
		ids = ids[:0]
		for _, id := range old.Stack(c.Sites[i].Stack) {
			address := old.Frame(id).Address
			module, at := "", places.Find(address)
			if at >= 0 {
				module = c.Modules[at].Name()
			}
			functions := s.of(address)
			for k, name := range functions {
				text := capture.FrameText{Module: module, Function: name, Inline: k < len(functions)-1}
				if text.Inline {
					ids = append(ids, named.AddText(text, 0))
				} else {
					ids = append(ids, named.AddText(text, address))
				}
			}
			if len(functions) == 0 {
				ids = append(ids, named.AddAddress(address))
			} else if at >= 0 {
				c.Modules[at].Symbols = capture.SymbolsText
			}
		}
		c.Sites[i].Stack = named.AddStack(ids)
	}
	c.Stacks = named
}

// validText makes bytes a string that can be stored: what is not UTF-8 and control characters are replaced.
func validText(b []byte, most int) string {
	if len(b) > most {
		b = b[:most]
	}
	plain := true
	for _, c := range b {
		plain = plain && c >= ' ' && c <= '~'
	}
	if plain {
		return string(b)
	}
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return utf8.RuneError
		}
		return r
	}, bytes.ToValidUTF8(b, []byte("\uFFFD"))))
}
