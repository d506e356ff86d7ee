package minidumptest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf16"
)

// Bytes is the dump in memory.
func (d Dump) Bytes() []byte {
	head, at := d.head()
	size := max(at, int64(len(head)))
	for _, m := range d.Memory {
		size += int64(m.size())
	}
	b := make(memoryFile, 0, size)
	if _, err := d.write(&b, head, at); err != nil {
		panic(err) // of a description that cannot be a dump: an error of the test
	}
	return b
}

// Create writes the dump to a file and returns its size.
func (d Dump) Create(path string) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	size, err := d.WriteTo(f)
	return size, errors.Join(err, f.Close())
}

// WriteTo writes the dump and returns its size. Zeros of memory are not written, but the last.
func (d Dump) WriteTo(w io.WriterAt) (int64, error) {
	head, at := d.head()
	return d.write(w, head, at)
}

// write writes the dump with its head; the bytes of memory begin at at.
func (d Dump) write(w io.WriterAt, head []byte, at int64) (int64, error) {
	if _, err := w.WriteAt(head, 0); err != nil {
		return 0, err
	}
	end, last := int64(len(head)), int64(len(head))
	var buf []byte // of all copies: a dump has hundreds of ranges
	for _, m := range d.Memory {
		if m.Bytes == nil && m.From != nil && uint64(len(buf)) < min(m.Size, copied) {
			buf = make([]byte, min(m.Size, copied))
		}
		written, err := copyMemory(w, at, m, buf)
		if err != nil {
			return 0, err
		}
		if written {
			last = at + int64(m.size())
		}
		at += int64(m.size())
		end = max(end, at)
	}
	if last < end {
		if _, err := w.WriteAt([]byte{0}, end-1); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// head is all but the bytes of memory, and where these begin.
func (d Dump) head() (head []byte, memory int64) {
	b := &builder{}
	b.bytes = make([]byte, 32+12*d.streams())
	d.describe(b)
	memory = d.listMemory(b)
	d.finish(b)
	return b.bytes, memory
}

// copied is how many bytes of memory are copied at a time, at most.
const copied = 1 << 20

// copyMemory writes the bytes of a range through buf, and reports whether there were any.
func copyMemory(w io.WriterAt, at int64, m Memory, buf []byte) (bool, error) {
	switch {
	case m.Bytes != nil:
		_, err := w.WriteAt(m.Bytes, at)
		return len(m.Bytes) > 0, err
	case m.From == nil || m.Size == 0:
		return false, nil
	}
	for done := uint64(0); done < m.Size; {
		p := buf[:min(uint64(len(buf)), m.Size-done)]
		if n, err := m.From.ReadAt(p, int64(done)); n < len(p) {
			return true, fmt.Errorf("minidumptest: memory at %#x: %w", m.Address, err)
		}
		if _, err := w.WriteAt(p, at+int64(done)); err != nil {
			return true, err
		}
		done += uint64(len(p))
	}
	return true, nil
}

// A builder makes all of a dump but its memory.
type builder struct {
	bytes   []byte
	streams []entry
}

type entry struct {
	kind     uint32
	at, size int
}

func (b *builder) u8(v uint8)   { b.bytes = append(b.bytes, v) }
func (b *builder) u16(v uint16) { b.bytes = append(b.bytes, byte(v), byte(v>>8)) }
func (b *builder) u32(v uint32) { b.u16(uint16(v)); b.u16(uint16(v >> 16)) }
func (b *builder) u64(v uint64) { b.u32(uint32(v)); b.u32(uint32(v >> 32)) }

func (b *builder) u32s(vs ...uint32) {
	for _, v := range vs {
		b.u32(v)
	}
}

func (b *builder) u64s(vs ...uint64) {
	for _, v := range vs {
		b.u64(v)
	}
}

// zeros adds n of them.
func (b *builder) zeros(n int) { b.bytes = append(b.bytes, make([]byte, n)...) }

// blob adds what streams refer to and returns where it is.
func (b *builder) blob(p []byte) uint32 {
	b.align(4)
	at := len(b.bytes)
	b.bytes = append(b.bytes, p...)
	return uint32(at)
}

func (b *builder) align(to int) {
	for len(b.bytes)%to != 0 {
		b.u8(0)
	}
}

// text adds a MINIDUMP_STRING, whose length does not count its zero; "" is none.
func (b *builder) text(s string) uint32 {
	if s == "" {
		return 0
	}
	units := utf16.Encode([]rune(s))
	b.align(4)
	at := len(b.bytes)
	b.u32(uint32(2 * len(units)))
	for _, u := range append(units, 0) {
		b.u16(u)
	}
	return uint32(at)
}

// fixedText adds UTF-16 in a field of n units.
func (b *builder) fixedText(s string, n int) {
	units := utf16.Encode([]rune(s))
	for i := range n {
		if i < len(units) && i < n-1 {
			b.u16(units[i])
		} else {
			b.u16(0)
		}
	}
}

// stream adds a stream that write writes. What it refers to must have been added before.
func (b *builder) stream(kind uint32, write func()) {
	b.align(8)
	at := len(b.bytes)
	write()
	b.streams = append(b.streams, entry{kind, at, len(b.bytes) - at})
}

// finish fills in the header and the directory.
func (d Dump) finish(b *builder) {
	head := &builder{}
	head.bytes = append(head.bytes, "MDMP"...)
	head.u16(0xA793)
	head.u16(0x61B1) // of the writer
	head.u32s(uint32(d.streams()), 32, 0, seconds(d.Time))
	flags := d.Flags
	if flags == 0 && len(d.Memory) > 0 && !d.Small {
		flags = 0x1826
	}
	head.u64(flags)
	for _, s := range b.streams {
		head.u32s(s.kind, uint32(s.size), uint32(s.at))
	}
	copy(b.bytes, head.bytes)
}

func seconds(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(t.Unix())
}

// filetime counts 100 ns since 1601.
func filetime(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.Unix()+11644473600)*10_000_000 + uint64(t.Nanosecond()/100)
}

// A memoryFile is what is written to it, for which its capacity has room; that holds zeros.
type memoryFile []byte

func (f *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	*f = (*f)[:max(len(*f), int(at)+len(p))]
	return copy((*f)[at:], p), nil
}
