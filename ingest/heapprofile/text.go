package heapprofile

import (
	"bytes"
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// Limits on what a profile gives, which bound memory. What is beyond them is counted, and not read.
const (
	mostSites  = 1 << 20
	mostFrames = 256     // of a stack
	mostStored = 1 << 25 // frames of all stacks together
)

// A section is a part of the text.
type section int

const (
	inStart   section = iota // before the header
	inSymbols                // names in front of a profile: symbols.go
	inBlocks                 // blocks by stack
	inMaps                   // the list of modules: maps.go
)

// A profile is a text while it is read.
type profile struct {
	in      *lines
	header  header
	begun   bool // the header was read
	section section
	sites   siteList
	modules mapping
	symbols symbols
	named   bool // there are symbols

	open  bool     // a stack of jemalloc waits for its numbers
	words []uint64 // addresses of the stack at hand
	stack []capture.FrameID
	total counts // recorded, as t* of jemalloc's header says where the header itself does not
	sum   counts // recorded, of all stacks
	noted bool   // total is known

	malformed tally
	negative  tally
	broken    bool // the text ends inside an entry
}

// counts are recorded blocks and their bytes.
type counts struct{ blocks, bytes int64 }

// A tally counts lines of one sort.
type tally struct {
	n    int64
	line int64 // of the first
}

func (t *tally) add(line int64) {
	if t.n++; t.n == 1 {
		t.line = line
	}
}

// A header is the first line of a profile.
type header struct {
	kind  capture.Kind
	word  string // behind the @, "heap_v2"
	rate  int64  // bytes from one recorded allocation to the next, on average; 0 where none is said
	total counts
	noted bool // it says the total
}

func newProfile(ctx context.Context, r io.Reader) *profile {
	return &profile{in: newLines(ctx, r), sites: newSiteList()}
}

// read reads the text. The error says why it is no profile of live blocks.
func (p *profile) read() (*capture.Capture, *evidence.Error) {
	for {
		line, ok := p.in.next()
		if !ok {
			break
		}
		text := trim(line)
		if len(text) == 0 {
			continue
		}
		if p.in.cut && !p.whole(text) {
			p.broken = true
			break
		}
		if p.in.long {
			p.malformed.add(p.in.number)
			continue
		}
		if refused := p.line(text); refused != nil {
			return nil, refused
		}
	}
	if !p.begun && p.in.err == nil {
		return nil, &evidence.Error{Code: CodeNoData, Message: "no header of a heap profile was found",
			Do: "upload the .heap file as the allocator wrote it"}
	}
	p.broken = p.broken || p.open || !p.noted
	return p.finish(), nil
}

// whole reports whether a line without an end can be believed: in the list of modules one that ends as the name of an
// image does. Elsewhere digits may be missing.
func (p *profile) whole(text []byte) bool {
	if p.section != inMaps {
		return false
	}
	for _, end := range []string{"]", ".dll", ".exe"} {
		if n := len(text) - len(end); n >= 0 && bytes.EqualFold(text[n:], []byte(end)) {
			return true
		}
	}
	return false
}

// line takes a line without blanks at its ends.
func (p *profile) line(text []byte) *evidence.Error {
	switch p.section {
	case inStart:
		return p.start(text)
	case inSymbols:
		if bytes.Equal(text, []byte("---")) {
			p.section = inStart
			return nil
		}
		if !p.symbols.line(text) {
			p.malformed.add(p.in.number)
		}
	case inBlocks:
		p.block(text)
	case inMaps:
		p.modules.line(text)
	}
	return nil
}

// start takes a line before the blocks.
func (p *profile) start(text []byte) *evidence.Error {
	switch {
	case bytes.HasPrefix(text, []byte("--- symbol")):
		p.section, p.named = inSymbols, true
		return nil
	case p.named && bytes.HasPrefix(text, []byte("--- ")): // --- heap
		return nil
	}
	h, ok := parseHeader(text)
	switch {
	case !ok:
		return &evidence.Error{Code: CodeNoData, Message: "the first line is no header of a heap profile",
			Do: "upload the .heap file as the allocator wrote it"}
	case h.word == "growth" || h.word == "growthz" || h.word == "fragmentation" || h.word == "fragmentationz":
		return &evidence.Error{Code: CodeNotLive,
			Message: "the profile counts " + h.word + " of the heap, and not held blocks",
			Do:      "write heap profiles: HEAPPROFILE=prefix, or MallocExtension::GetHeapSample"}
	}
	p.header, p.total, p.noted, p.begun, p.section = h, h.total, h.noted, true, inBlocks
	return nil
}

// parseHeader reads the first line of a profile.
func parseHeader(text []byte) (h header, ok bool) {
	if rest, ok := bytes.CutPrefix(text, []byte("heap_v2/")); ok {
		h.kind, h.word = KindJemalloc, "heap_v2"
		h.rate, rest, ok = cutNumber(rest)
		return h, ok && len(rest) == 0
	}
	rest, ok := bytes.CutPrefix(text, []byte("heap profile:"))
	if !ok {
		return h, false
	}
	h.kind, h.noted = KindGperftools, true
	if h.total, rest, ok = cutCounts(rest); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(trim(rest), []byte("@")); !ok {
		return h, false
	}
	word, rate, rated := bytes.Cut(trim(rest), []byte("/"))
	const longest = 32
	if len(word) == 0 || len(word) > longest {
		return h, false
	}
	h.word = string(word)
	if rated {
		if h.rate, _, ok = cutNumber(rate); !ok {
			return h, false
		}
	}
	switch h.word {
	case "heap": // the first version of the layout says twice the rate
		h.rate /= 2
	case "heapprofile":
		h.rate = 0
	}
	return h, true
}

// cutCounts reads "28: 1368 [91: 4444]": live blocks and bytes, and what was ever allocated, which nobody needs.
func cutCounts(text []byte) (c counts, rest []byte, ok bool) {
	if c.blocks, rest, ok = cutNumber(text); !ok || len(rest) == 0 || rest[0] != ':' {
		return c, rest, false
	}
	if c.bytes, rest, ok = cutNumber(rest[1:]); !ok {
		return c, rest, false
	}
	open := bytes.IndexByte(rest, '[')
	end := bytes.IndexByte(rest, ']')
	if open < 0 || end < open || len(trim(rest[:open])) > 0 {
		return c, rest, false
	}
	return c, rest[end+1:], true
}

// block takes a line of the blocks.
func (p *profile) block(text []byte) {
	switch c := text[0]; {
	case c == '@':
		p.open = p.addresses(text[1:])
		if !p.open {
			p.malformed.add(p.in.number)
		}
	case c == 't':
		p.threads(text)
	case c >= '0' && c <= '9':
		held, rest, ok := cutCounts(text)
		rest = trim(rest)
		if !ok || len(rest) == 0 || rest[0] != '@' || !p.addresses(rest[1:]) {
			p.malformed.add(p.in.number)
			return
		}
		p.add(held)
	case bytes.HasPrefix(text, []byte("MAPPED_LIBRARIES")), bytes.HasPrefix(text, []byte("--- Memory map")):
		p.section = inMaps
	case c == '#': // a comment
	case c == '-' && len(text) > 1 && text[1] != '-':
		p.negative.add(p.in.number)
	default:
		p.malformed.add(p.in.number)
	}
}

// threads takes "t*: 28: 1368 [0: 0]", of all threads, and "t3: …", of one, which is in that of all.
func (p *profile) threads(text []byte) {
	rest, all := bytes.CutPrefix(text, []byte("t*:"))
	if !all {
		if _, rest, ok := cutNumber(text[1:]); !ok || len(rest) == 0 || rest[0] != ':' {
			p.malformed.add(p.in.number)
		}
		return
	}
	held, _, ok := cutCounts(rest)
	switch {
	case !ok:
		p.malformed.add(p.in.number)
	case p.open:
		p.add(held)
	case !p.noted:
		p.total, p.noted = held, true
	default:
		p.malformed.add(p.in.number)
	}
	p.open = false
}

// addresses reads a stack, and reports false where a word is no address.
func (p *profile) addresses(text []byte) bool {
	const widest = 16 // digits
	p.words = p.words[:0]
	for at := 0; ; {
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		if at == len(text) {
			break
		}
		if at+1 < len(text) && text[at] == '0' && text[at+1]|0x20 == 'x' {
			at += 2
		}
		address, begin := uint64(0), at
		for ; at < len(text); at++ {
			digit := hexDigit[text[at]]
			if digit == noDigit {
				break
			}
			address = address<<4 | uint64(digit)
		}
		if at == begin || at-begin > widest || at < len(text) && !isBlank(text[at]) {
			return false
		}
		if address != 0 && len(p.words) < mostFrames { // gperftools ends some stacks in a 0
			p.words = append(p.words, address)
		}
	}
	p.stack = p.sites.stacks.AddAddresses(p.stack[:0], p.words)
	return true
}

// add counts recorded blocks of the stack at hand in.
func (p *profile) add(held counts) {
	if held.blocks == 0 && held.bytes == 0 {
		return // all of them are freed
	}
	p.sum.blocks, p.sum.bytes = p.sum.blocks+min(held.blocks, mostHeld), p.sum.bytes+min(held.bytes, mostHeld)
	p.sites.add(p.stack, estimate(held.blocks, held.bytes, p.header.rate))
}
