package umdh

import "encoding/binary"

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

// scan takes entries, addresses of stacks and blank lines off the front of b while they have exactly the form
// that UMDH writes. It returns how many bytes and lines that were; any other line is for the careful reading.
func (s *snapshot) scan(b []byte, line int64) (taken int, lines int64) {
	if !s.fits(int64(len(b)) << 32) { // below 4 GiB a line, and far fewer lines than bytes
		return 0, 0 // the careful reading checks every sum
	}
	for ; taken+lineRoom <= len(b); lines++ {
		p := (*[lineRoom]byte)(b[taken:])
		var end uint
		switch p[0] {
		case '\t':
			address, at, bad := hexField(p, 1)
			if end = lineEndAt(p, at); at == 1 || bad != 0 || end == 0 || !s.frame(address) {
				return taken, lines
			}
		case '\r', '\n':
			end = lineEndAt(p, 0)
		default:
			end = s.scanEntry(p, line+lines+1)
		}
		if end == 0 {
			return taken, lines
		}
		taken += int(end)
	}
	return taken, lines
}

// scanEntry takes the entry that p begins with, and returns its length with the line's end, or 0.
//
// Its speed is that of the chain of places in the line, each of which depends on the length of the field before
// it. So lengths are guessed where they rarely change, and checked beside the chain.
func (s *snapshot) scanEntry(p *[lineRoom]byte, line int64) uint {
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
		if x &= 1<<(8*n) - 1; n == 0 {
			return 0
		}
		if end = lineEndAt(p, at+n); end == 0 {
			return 0
		}
	}
	if ok&isPair == 0 || bad != 0 {
		return 0
	}
	site := s.last
	if x != s.lastText {
		known := false
		if site, known = s.places.find(x, uint32(s.heap)); !known {
			if site, known = s.siteOfText(x, n, line); !known {
				return 0
			}
		}
		s.lastText = x
	}
	s.block(site, requested, overhead, address)
	return end
}

// siteOfText finds or makes the site of an id given as n characters. ok is false if they are no number.
func (s *snapshot) siteOfText(text uint64, n uint, line int64) (at uint32, ok bool) {
	var spelled [8]byte
	binary.LittleEndian.PutUint64(spelled[:], text)
	id, ok := hexAll(spelled[:n])
	if !ok {
		return 0, false
	}
	at = s.siteOf(id, line)
	s.places.intern(text, uint32(s.heap), at) // where it is not spelled as siteOf would
	return at, true
}

// A near is what the addresses of neighbours share: all digits but the last four.
type near struct {
	mask   uint64 // of the characters that are shared
	text   uint64 // these characters; 1, which they never are, where the last address has too few or too many
	prefix uint   // how many
	value  uint64 // of the address with zeros for the rest
}

func newNear() near { return near{text: 1} }

func (n *near) set(p *[lineRoom]byte, at, digits uint, address uint64) {
	if *n = newNear(); digits > 4 && digits <= 12 {
		n.prefix = digits - 4
		n.mask = 1<<(8*n.prefix) - 1
		n.text, n.value = binary.LittleEndian.Uint64(p[at:])&n.mask, address&^0xFFFF
	}
}
