package cab

// A bitReader reads bits, highest first, from little-endian words of 16 bits. Past the end it reads zeros and sets
// short; an odd last byte counts as the low half of a word.
type bitReader struct {
	data  []byte
	at    int
	hold  uint64 // the next bits, highest first
	count int    // how many of them there are
	short bool
}

// fill makes sure that there are 32 bits, real or not.
func (r *bitReader) fill() {
	for r.count <= 48 {
		var w uint64
		switch {
		case r.at+2 <= len(r.data):
			w = uint64(r.data[r.at]) | uint64(r.data[r.at+1])<<8
		case r.at < len(r.data):
			w = uint64(r.data[r.at])
		}
		r.at += 2
		r.hold |= w << (48 - r.count)
		r.count += 16
	}
}

// bits returns the next n bits, up to 17.
func (r *bitReader) bits(n uint8) uint32 {
	if r.count < 32 {
		r.fill()
	}
	v := uint32(r.hold >> 32 >> (32 - n))
	r.drop(int(n))
	return v
}

// drop removes bits that fill has provided.
func (r *bitReader) drop(n int) {
	r.hold <<= n
	r.count -= n
	if r.at*8-r.count > (len(r.data)+1)&^1*8 {
		r.short = true
	}
}

// toBytes goes from bits to bytes at the next word, at least one bit further.
func (r *bitReader) toBytes() {
	r.fill()
	r.drop(1)
	r.drop(r.count % 16)
	r.at -= r.count / 8
	r.hold, r.count = 0, 0
}

// bytes returns n bytes after toBytes, nil where they are not there.
func (r *bitReader) bytes(n int) []byte {
	if r.at > len(r.data) || n > len(r.data)-r.at {
		r.short = true
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *bitReader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

// skip passes over bytes between words.
func (r *bitReader) skip(n int) { r.bytes(n) }

// rest is how many bytes there are after toBytes.
func (r *bitReader) rest() int { return max(0, len(r.data)-r.at) }
