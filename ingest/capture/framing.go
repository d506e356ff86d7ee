package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// maxSection bounds one section: 1 GiB holds the block log of some 150 million blocks.
const maxSection = 1 << 30

// A section is a part of an artifact with its tag.
type section struct {
	tag uint64
	put func(*encoder)
}

// compressors are encoders of zstd that are not in use, one for each core. Making one costs more than compressing a
// small artifact: it clears megabytes. A sync.Pool would lose them at each collection, which those megabytes bring on.
var compressors = make(chan *zstd.Encoder, runtime.GOMAXPROCS(0))

// compressor is an encoder that writes to w.
func compressor(w io.Writer) (*zstd.Encoder, error) {
	select {
	case z := <-compressors:
		z.Reset(w)
		return z, nil
	default:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}
}

// spare keeps an encoder for the next artifact, where there is room for it.
func spare(z *zstd.Encoder) {
	z.Reset(nil) // it must not keep its writer
	select {
	case compressors <- z:
	default:
	}
}

// writeArtifact writes sections in the framing that the artifacts of this package share.
func writeArtifact(w io.Writer, magic string, sections []section) error {
	if _, err := io.WriteString(w, magic+string(rune(artifactVersion))); err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	z, err := compressor(w)
	if err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	defer spare(z)
	var e encoder
	for _, s := range sections {
		e.b = e.b[:0]
		s.put(&e)
		head := binary.AppendUvarint(binary.AppendUvarint(nil, s.tag), uint64(len(e.b)))
		if _, err := z.Write(head); err != nil {
			return fmt.Errorf("capture: write artifact: %w", err)
		}
		if _, err := z.Write(e.b); err != nil {
			return fmt.Errorf("capture: write artifact: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	return nil
}

// A bounded reader fails where more comes than is allowed.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// readArtifact hands each section to what takes its tag; others are skipped. At most most bytes are unpacked.
func readArtifact(r io.Reader, most int64, magic string, takers map[uint64]func(*decoder)) error {
	head := make([]byte, len(magic)+1)
	if _, err := io.ReadFull(r, head); err != nil {
		return fmt.Errorf("%w: %w", ErrArtifact, err) // of the context too: who has left is told apart from who has sent damage
	}
	if string(head) != magic+string(rune(artifactVersion)) {
		return ErrArtifact
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return fmt.Errorf("capture: read artifact: %w", err)
	}
	defer z.Close()
	in := bufio.NewReaderSize(&bounded{z, most}, 64<<10)
	for seen := 0; ; seen++ {
		tag, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) && seen > 0 { // no zstd frame at all also ends cleanly
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: section tag: %w", ErrArtifact, err)
		}
		length, err := binary.ReadUvarint(in)
		if err != nil {
			return fmt.Errorf("%w: section %d: length: %w", ErrArtifact, tag, err)
		}
		if length > maxSection {
			return fmt.Errorf("%w: section %d: bad length", ErrArtifact, tag)
		}
		take := takers[tag]
		if take == nil {
			if _, err := io.CopyN(io.Discard, in, int64(length)); err != nil {
				return fmt.Errorf("%w: section %d: %w", ErrArtifact, tag, err)
			}
			continue
		}
		payload, err := io.ReadAll(io.LimitReader(in, int64(length))) // grows with what is there, not with the claim
		if err != nil {
			return fmt.Errorf("%w: section %d is cut: %w", ErrArtifact, tag, err)
		}
		if uint64(len(payload)) < length {
			return fmt.Errorf("%w: section %d is cut", ErrArtifact, tag)
		}
		d := decoder{b: payload}
		take(&d)
		if d.bad {
			return fmt.Errorf("%w: section %d is damaged", ErrArtifact, tag)
		}
	}
}

// encoder appends varints and strings.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}
func (e *encoder) bool(v bool) {
	var bit uint64
	if v {
		bit = 1
	}
	e.uint(bit)
}
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.int(0)
		return
	}
	e.int(t.Unix())
}

// decoder reads what encoder wrote. The first underflow makes it bad and everything after it zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.b, d.bad = nil, true
		return ""
	}
	s := storable(d.b[:n])
	d.b = d.b[n:]
	return s
}

// storable is a text as databases take it. Names come from evidence, which may be damaged: bytes that are not UTF-8,
// and NUL, which PostgreSQL refuses, are replaced. Everything that a server stores of evidence was an artifact before.
func storable(b []byte) string {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}

func (d *decoder) bool() bool { return d.uint() != 0 }

func (d *decoder) time() time.Time {
	if s := d.int(); s != 0 {
		return time.Unix(s, 0).UTC()
	}
	return time.Time{}
}

// count reads how many elements follow, each of at least the given number of bytes.
func (d *decoder) count(least int) int {
	n := d.uint()
	if n > uint64(len(d.b)/least) {
		d.b, d.bad = nil, true
		return 0
	}
	return int(n)
}
