package cabtest

// An LZXBlock is the kind and size of a block; the last one is as long as what is left.
type LZXBlock struct {
	Kind LZXKind
	Size int // bytes of content; at most 0xFFFFFF
}

// An LZXKind is a kind of block.
type LZXKind uint32

// The kinds of blocks.
const (
	Verbatim     LZXKind = 1
	Aligned      LZXKind = 2
	Uncompressed LZXKind = 3
)

// An lzxWriter compresses content greedily. It writes a frame for each 32 KiB; no match leaves its frame or block.
type lzxWriter struct {
	content []byte
	window  int
	slots   int
	at      int
	last    [1 << 16]int32 // last place of three bytes of a hash, and 1
	before  []int32        // for each place the one before it of the same hash, and 1
	recent  [3]uint32
	mainLen []uint8
	lenLen  []uint8
	bits    bitWriter
	frames  [][]byte
}

// A token is a literal or a match.
type token struct {
	main   int // symbol of the main tree
	length int // symbol of the length tree; -1: none
	extra  uint32
	bits   int // of extra
	size   int // bytes of content
}

func compressLZX(content []byte, window int, blocks []LZXBlock, calls int32) [][]byte {
	slots := []int{30, 32, 34, 36, 38, 42, 50}[window-15]
	w := &lzxWriter{
		content: translateCalls(content, calls), window: 1 << window, slots: slots, before: make([]int32, len(content)),
		recent: [3]uint32{1, 1, 1}, mainLen: make([]uint8, 256+8*slots), lenLen: make([]uint8, 249),
	}
	if calls > 0 {
		w.bits.put(1, 1)
		w.bits.put(uint32(calls)>>16, 16)
		w.bits.put(uint32(calls)&0xFFFF, 16)
	} else {
		w.bits.put(0, 1)
	}
	if len(blocks) == 0 {
		blocks = []LZXBlock{{Verbatim, 0xFFFFFF}}
	}
	for i := 0; w.at < len(content); i++ {
		b := blocks[i%len(blocks)]
		w.block(b.Kind, min(max(1, b.Size), len(content)-w.at))
	}
	w.cut()
	return w.frames
}

// translateCalls replaces the operands of E8 by where they go to, frame by frame and not in the last 10 bytes of one.
func translateCalls(content []byte, size int32) []byte {
	out := append([]byte(nil), content...)
	if size <= 0 {
		return out
	}
	for start := 0; start < len(out); start += blockMax {
		end := min(start+blockMax, len(out)) - 10
		for i := start; i < end; i++ {
			if out[i] != 0xE8 {
				continue
			}
			rel := int64(int32(le.Uint32(out[i+1:])))
			switch at := int64(i); {
			case rel >= -at && rel < int64(size)-at:
				le.PutUint32(out[i+1:], uint32(rel+at))
			case rel >= int64(size)-at && rel < int64(size):
				le.PutUint32(out[i+1:], uint32(rel-int64(size)))
			}
			i += 4
		}
	}
	return out
}

func (w *lzxWriter) block(kind LZXKind, size int) {
	w.bits.put(uint32(kind), 3)
	w.bits.put(uint32(size)>>8, 16)
	w.bits.put(uint32(size)&0xFF, 8)
	end := w.at + size
	if kind == Uncompressed {
		w.bits.toBytes()
		for _, r := range w.recent {
			w.bits.out = le.AppendUint32(w.bits.out, r)
		}
		for w.at < end {
			n := min(end-w.at, blockMax-w.at%blockMax)
			w.bits.out = append(w.bits.out, w.content[w.at:w.at+n]...)
			for range n {
				w.remember()
			}
			if w.at == end && size%2 == 1 {
				w.bits.out = append(w.bits.out, 0)
			}
			w.frame()
		}
		return
	}
	start := w.at
	var tokens []token
	for w.at < end {
		tokens = append(tokens, w.next(end))
	}
	w.at = start
	w.tokens(kind, tokens)
}

// next finds the next token.
func (w *lzxWriter) next(end int) token {
	limit := min(end-w.at, blockMax-w.at%blockMax, 257)
	best, offset := 0, 0
	if w.at+3 <= len(w.content) {
		place := int(w.last[w.hash()]) - 1
		for range 16 {
			if place < 0 || w.at-place > w.window-3 {
				break
			}
			n := 0
			for n < limit && w.content[place+n] == w.content[w.at+n] {
				n++
			}
			if n > best {
				best, offset = n, w.at-place
			}
			place = int(w.before[place]) - 1
		}
	}
	if best < 3 {
		t := token{main: int(w.content[w.at]), length: -1, size: 1}
		w.remember()
		return t
	}
	for range best {
		w.remember()
	}
	return w.match(best, uint32(offset))
}

// remember makes the place one that matches may refer to.
func (w *lzxWriter) remember() {
	if w.at+3 <= len(w.content) {
		h := w.hash()
		w.before[w.at], w.last[h] = w.last[h], int32(w.at+1)
	}
	w.at++
}

func (w *lzxWriter) hash() uint16 {
	b := w.content[w.at:]
	return uint16(b[0]) ^ uint16(b[1])<<5 ^ uint16(b[2])<<8
}

// match is the token of a match: slots 0 to 2 are the last three offsets, the others begin at offset + 2.
func (w *lzxWriter) match(size int, offset uint32) token {
	t := token{length: -1, size: size}
	slot := -1
	for i, r := range w.recent {
		if r == offset {
			slot = i
			w.recent[0], w.recent[i] = w.recent[i], w.recent[0]
			break
		}
	}
	if slot < 0 {
		formatted := offset + 2
		base := uint32(0)
		for slot = 0; ; slot++ {
			extra := min(17, max(0, slot/2-1))
			if formatted < base+1<<extra {
				t.extra, t.bits = formatted-base, extra
				break
			}
			base += 1 << extra
		}
		w.recent = [3]uint32{offset, w.recent[0], w.recent[1]}
	}
	header := min(size-2, 7)
	if header == 7 {
		t.length = size - 9
	}
	t.main = 256 + slot*8 + header
	return t
}

// frame ends a frame where the content is at the end of one.
func (w *lzxWriter) frame() {
	if w.at%blockMax == 0 {
		w.cut()
	}
}

func (w *lzxWriter) cut() {
	w.bits.flush()
	if len(w.bits.out) > 0 {
		w.frames = append(w.frames, w.bits.out)
	}
	w.bits.out = nil
}
