package umdh

import (
	"bytes"
	"encoding/binary"
)

// Words of an entry as they are compared in the buffer, eight characters at once.
var (
	wordBytes = binary.LittleEndian.Uint64([]byte(" bytes +"))
	wordAt    = binary.LittleEndian.Uint32([]byte(" at "))
	wordBy    = binary.LittleEndian.Uint64([]byte(" by Back"))
	wordTrace = binary.LittleEndian.Uint64([]byte("ackTrace")) // overlaps " by Back"
)

const (
	lengthPlus = uint(len(" bytes + "))
	lengthAt   = uint(len(" at "))
	lengthBy   = uint(len(" by BackTrace"))
)

// lineRoom is what a line that scan takes must find ahead of it in the buffer: more than the longest entry.
const lineRoom = 128

// hexField reads up to 16 hexadecimal digits at p[at:]. end is where they end; bad is 0 if they are digits all.
func hexField(p *[lineRoom]byte, at uint) (value uint64, end uint, bad uint64) {
	x := binary.LittleEndian.Uint64(p[at:])
	n := hexLength(x)
	v, bad := hexNibbles(x, n)
	value = packed(v)
	if n < 8 || p[at+8] < '0' {
		return value, at + n, bad
	}
	x = binary.LittleEndian.Uint64(p[at+8:])
	n = hexLength(x)
	v, worse := hexNibbles(x, n)
	return value<<(4*n) | packed(v), at + 8 + n, bad | worse
}

// lineEndAt is the place behind the LF or CR LF at p[at:], 0 where there is neither.
func lineEndAt(p *[lineRoom]byte, at uint) uint {
	if p[at] == '\r' {
		at++
	}
	if p[at] != '\n' {
		return 0
	}
	return at + 1
}

// A scanner reads the lines of a piece that have exactly the form that UMDH writes. It knows nothing of what is before
// the piece: whether the lines count, and for which heap, is for who takes the runs.
type scanner struct {
	p    *piece
	run  run
	near sharedDigits
}

// scan finds the runs of a piece.
func (p *piece) scan() {
	p.runs, p.entries, p.stacks, p.frames = p.runs[:0], p.entries[:0], p.stacks[:0], p.frames[:0]
	room := p.text[:len(p.text):cap(p.text)]
	room = room[:min(cap(room), len(room)+lineRoom)] // what lies behind the text is behind a line end, and not read as a number
	s := scanner{p: p, near: noDigits()}
	for at := 0; at < len(p.text); {
		s.run = run{from: at, entries: len(p.entries), stacks: len(p.stacks)}
		if at = s.lines(room, at); s.run.lines > 0 {
			s.run.to, s.run.entriesEnd, s.run.stacksEnd = at, len(p.entries), len(p.stacks)
			p.runs = append(p.runs, s.run)
		}
		next := bytes.IndexByte(p.text[at:], '\n') // the line that is not taken
		if next < 0 {
			return
		}
		at += next + 1
	}
}

// lines takes entries, addresses of stacks and blank lines from a place on while they have their form, and returns the
// place behind them.
func (s *scanner) lines(room []byte, at int) int {
	for p := s.p; at+lineRoom <= len(room) && at < len(p.text); s.run.lines++ {
		line := (*[lineRoom]byte)(room[at:])
		var end uint
		switch line[0] {
		case '\t':
			address, digits, bad := hexField(line, 1)
			if end = lineEndAt(line, digits); digits == 1 || bad != 0 || end == 0 {
				return at
			}
			s.frame(address)
		case '\r', '\n':
			end = lineEndAt(line, 0)
		default:
			end = s.entry(line, at)
		}
		if end == 0 || at+int(end) > len(p.text) {
			return at
		}
		at += int(end)
	}
	return at
}

// frame adds an address to the stack of the last entry of the run, or of the one before the run.
func (s *scanner) frame(address uint64) {
	p := s.p
	p.frames = append(p.frames, address)
	n := len(p.stacks)
	if n == s.run.stacks || p.stacks[n-1].entries != len(p.entries) {
		p.stacks = append(p.stacks, listedStack{entries: len(p.entries), from: len(p.frames) - 1})
		n++
	}
	p.stacks[n-1].to = len(p.frames)
}

// entry takes the entry that p begins with, and returns its length with the line's end, or 0.
//
// Its speed is that of the chain of places in the line, each of which depends on the length of the field before
// it. So lengths are guessed where they rarely change, and checked beside the chain. For the same reason it is one
// function: a part of it would be called for every block of a log.
func (s *scanner) entry(p *[lineRoom]byte, place int) uint {
	x := binary.LittleEndian.Uint64(p[:])
	at := hexLength(x)
	var requested, overhead, address uint64
	ok, bad := uint16(isPair), uint64(0)
	if at-1 < 4 {
		requested, ok = hexShort(x, at)
	} else {
		if at == 0 {
			return 0
		}
		requested, bad = hexNibbles(x, at)
		requested = packed(requested)
	}
	if binary.LittleEndian.Uint64(p[at:]) != wordBytes || p[at+8] != ' ' {
		return 0
	}
	at += lengthPlus
	if p[at+2] == ' ' {
		pair := hexPair[binary.LittleEndian.Uint16(p[at:])]
		overhead, ok = uint64(pair&0xFF), ok&pair
		at += 2
	} else {
		start, worse := at, uint64(0)
		if overhead, at, worse = hexField(p, at); at == start || at > start+8 {
			return 0
		}
		bad |= worse
	}
	if binary.LittleEndian.Uint32(p[at:]) != wordAt {
		return 0
	}
	at += lengthAt

	near := &s.near
	end := at + near.prefix + 4
	if binary.LittleEndian.Uint64(p[at:])&near.mask == near.text && binary.LittleEndian.Uint64(p[end:]) == wordBy {
		high, low := hexPair[binary.LittleEndian.Uint16(p[end-4:])], hexPair[binary.LittleEndian.Uint16(p[end-2:])]
		address, ok = near.value|uint64(high&0xFF)<<8|uint64(low&0xFF), ok&high&low
	} else {
		start, worse := at, uint64(0)
		if address, end, worse = hexField(p, start); end == start || binary.LittleEndian.Uint64(p[end:]) != wordBy {
			return 0
		}
		bad |= worse
		near.set(p, start, end-start, address)
	}
	if binary.LittleEndian.Uint64(p[end+5:]) != wordTrace {
		return 0
	}
	at = end + lengthBy

	x = binary.LittleEndian.Uint64(p[at:])
	n := hexLength(x)
	if n == 8 && p[at+8] == '\r' && p[at+9] == '\n' {
		end = at + 10
	} else {
		if n == 0 {
			return 0
		}
		if end = lineEndAt(p, at+n); end == 0 {
			return 0
		}
	}
	id, worse := hexNibbles(x, n)
	if ok&isPair == 0 || bad|worse != 0 {
		return 0
	}
	s.p.entries = append(s.p.entries, listedEntry{
		id: uint32(packed(id)), requested: uint32(requested), overhead: uint32(overhead), address: address, at: uint32(place),
		line: uint32(s.run.lines + 1),
	})
	return end
}

// sharedDigits are the digits that the addresses of neighbours share: all but the last four.
type sharedDigits struct {
	mask   uint64 // of the characters that are shared
	text   uint64 // these characters; 1, which they never are, where the last address has too few or too many
	prefix uint   // how many
	value  uint64 // of the address with zeros for the rest
}

func noDigits() sharedDigits { return sharedDigits{text: 1} }

func (n *sharedDigits) set(p *[lineRoom]byte, at, digits uint, address uint64) {
	if *n = noDigits(); digits > 4 && digits <= 12 {
		n.prefix = digits - 4
		n.mask = 1<<(8*n.prefix) - 1
		n.text, n.value = binary.LittleEndian.Uint64(p[at:])&n.mask, address&^0xFFFF
	}
}
