package sevenzip

import (
	"encoding/binary"
	"errors"
	"io"
)

// A converter makes relative addresses of the absolute ones that a filter wrote into the branches of a program. It
// returns how many bytes it has converted: the rest is given to it again, with what follows.
type converter func(b []byte) int

// filtered opens a filter.
func filtered(newConverter func() converter) func([]byte, uint64, []io.Reader) (io.Reader, error) {
	return func(_ []byte, _ uint64, in []io.Reader) (io.Reader, error) {
		return &filterReader{r: in[0], convert: newConverter()}, nil
	}
}

// A filterReader converts what it reads. The last bytes, which are no whole branch, stay as they are.
type filterReader struct {
	r         io.Reader
	convert   converter
	b         []byte // read, and not yet given
	converted int    // of these
	err       error  // of r
	room      [32 << 10]byte
}

func (f *filterReader) Read(p []byte) (int, error) {
	for f.converted == 0 {
		switch {
		case f.err == nil:
			n := copy(f.room[:], f.b)
			m, err := io.ReadFull(f.r, f.room[n:])
			if f.err = err; errors.Is(err, io.ErrUnexpectedEOF) {
				f.err = io.EOF
			}
			f.b = f.room[:n+m]
			f.converted = f.convert(f.b)
		case len(f.b) == 0 || !errors.Is(f.err, io.EOF):
			return 0, f.err
		default:
			f.converted = len(f.b)
		}
	}
	n := copy(p, f.b[:f.converted])
	f.b, f.converted = f.b[n:], f.converted-n
	return n, nil
}

// openDelta adds to each byte the one that lies a distance of up to 256 bytes before it.
func openDelta(properties []byte, _ uint64, in []io.Reader) (io.Reader, error) {
	return &deltaReader{r: in[0], distance: int(properties[0]) + 1}, nil
}

type deltaReader struct {
	r        io.Reader
	distance int
	before   [256]byte // a ring of the last bytes
	at       int
}

func (d *deltaReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	for i := range p[:n] {
		d.before[d.at] += p[i]
		p[i] = d.before[d.at]
		if d.at++; d.at == d.distance {
			d.at = 0
		}
	}
	return n, err
}

// newX86 converts the E8 and E9 branches of x86 and x64 (BCJ; Bra86.c). mask says in which of the last bytes one of
// them was seen that was no branch.
func newX86() converter {
	const size = 5
	var address, mask uint32
	isHigh := func(b byte) bool { return b == 0 || b == 0xFF }
	return func(b []byte) int {
		at := 0
		for {
			from := at
			for at+size <= len(b) && b[at]&0xFE != 0xE8 {
				at++
			}
			if skipped := at - from; skipped > 2 {
				mask = 0
			} else {
				mask >>= skipped
			}
			if at+size > len(b) {
				address += uint32(at)
				return at
			}
			if mask != 0 && (mask > 4 || mask == 3 || isHigh(b[at+int(mask>>1)+1])) || !isHigh(b[at+4]) {
				mask = mask>>1 | 4
				at++
				continue
			}
			here := address + uint32(at) + size
			v := binary.LittleEndian.Uint32(b[at+1:]) - here
			if mask != 0 {
				shift := mask & 6 << 2
				if isHigh(byte(v >> shift)) {
					v = v ^ (0x100<<shift - 1) - here
				}
				mask = 0
			}
			binary.LittleEndian.PutUint32(b[at+1:], v)
			b[at+4] = -(b[at+4] & 1)
			at += size
		}
	}
}

// words converts programs of whole words of 4 bytes.
func words(order binary.ByteOrder, convert func(word, address uint32) uint32) converter {
	var address uint32
	return func(b []byte) int {
		whole := len(b) &^ 3
		for w := b[:whole]; len(w) > 0; w = w[4:] {
			order.PutUint32(w, convert(order.Uint32(w), address))
			address += 4
		}
		return whole
	}
}

func newARM() converter {
	return words(binary.LittleEndian, func(w, address uint32) uint32 {
		if w>>24 != 0xEB {
			return w
		}
		return 0xEB000000 | (w-(address+8)>>2)&0x00FFFFFF
	})
}

func newPPC() converter {
	return words(binary.BigEndian, func(w, address uint32) uint32 {
		if w&0xFC000003 != 0x48000001 {
			return w
		}
		return 0x48000000 | (w-address)&0x03FFFFFF
	})
}

func newSPARC() converter {
	return words(binary.BigEndian, func(w, address uint32) uint32 {
		if w>>22 != 0x100 && w>>22 != 0x1FF {
			return w
		}
		const sign = 1 << 24
		v := (w<<2-address)&(2*sign-1) - sign
		return 0x40000000 | (v^0xFF000000)>>2
	})
}

// newARM64 converts BL, and ADRP within 512 MB (Bra.c).
func newARM64() converter {
	return words(binary.LittleEndian, func(w, address uint32) uint32 {
		if w>>26 == 0x94000000>>26 {
			return 0x94000000 | (w-address>>2)&0x03FFFFFF
		}
		const flag, mask = 1 << 20, 1<<24 - 2<<20
		v := w - 0x90000000
		if v&0x9F000000 != 0 {
			return w
		}
		if v += flag; v&mask != 0 {
			return w
		}
		page := v&0xFFFFFFE0 | v>>26
		page -= address >> 9 &^ 7
		return 0x90000000 | v&0x1F | page<<26 | 0x00FFFFE0&(page&(2*flag-1)-flag)
	})
}
