package heapprofile

import (
	"bytes"
	"slices"
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
	count  int                 // of names
	binary string
	lost   int64
}

const (
	mostNames       = 1 << 20 // of all addresses together; one address has up to mostFrames
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
	if s.count >= mostNames {
		s.lost++
		return true
	}
	var names []string
	for name := range strings.SplitSeq(validText(trim(rest), longestFunction), "--") {
		if name != "" && !strings.HasPrefix(name, "0x") { // an address that jeprof found no name for
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return true
	}
	slices.Reverse(names)
	names = names[:min(len(names), mostFrames, mostNames-s.count)]
	if s.names == nil {
		s.names = map[uint64][]string{}
	}
	s.names[address] = slices.Clone(names)
	s.count += len(names)
	return true
}

// of are the functions at a return address, the innermost first; nil where none is known.
func (s *symbols) of(address uint64) []string {
	if names := s.names[address-1]; names != nil {
		return names
	}
	return s.names[address]
}

// apply names the frames of a capture: all of its stacks are made anew. Named stacks obey the limits of others; lost is
// how many blocks are in stacks beyond them.
func (s *symbols) apply(c *capture.Capture) (lost int64) {
	if len(s.names) == 0 {
		return 0
	}
	named, places := newSiteList(), capture.NewModuleMap(c.Modules)
	made := map[uint64][]capture.FrameID{} // by address with names
	var ids []capture.FrameID
	for i := range c.Sites {
		ids = ids[:0]
		for _, id := range c.Stacks.Stack(c.Sites[i].Stack) {
			address := c.Stacks.Frame(id).Address
			functions := s.of(address)
			if len(functions) == 0 {
				ids = append(ids, named.stacks.AddAddress(address))
				continue
			}
			if made[address] == nil {
				made[address] = framesOf(functions, address, c.Modules, places, named.stacks)
			}
			ids = append(ids, made[address]...)
			if len(ids) >= mostFrames {
				break
			}
		}
		named.add(ids[:min(len(ids), mostFrames)], c.Sites[i].Usage[0])
	}
	c.Stacks, c.Sites = *named.stacks, named.sites
	return named.lost
}

// framesOf makes the frames of an address: functions that are inlined there, and then the function itself.
func framesOf(functions []string, address uint64, modules []capture.Module, places *capture.ModuleMap,
	to *capture.Stacks) (frames []capture.FrameID) {
	module := ""
	if at := places.Find(address); at >= 0 {
		module = modules[at].Name()
		modules[at].Symbols = capture.SymbolsText
	}
	for k, name := range functions {
		text := capture.FrameText{Module: module, Function: name, Inline: k < len(functions)-1}
		if text.Inline {
			frames = append(frames, to.AddText(text, 0))
		} else {
			frames = append(frames, to.AddText(text, address))
		}
	}
	return frames
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
