// Package cabtest writes cabinets for tests, fuzz seeds and the demo: stored, MSZIP and LZX with every kind of block.
// The same Cabinet always gives the same bytes. The formats are spelled a second time here on purpose: a mistake in
// the reader must not be made by the writer too.
package cabtest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"time"
)

var le = binary.LittleEndian

// A Method compresses a folder.
type Method uint16

// The methods that are written.
const (
	Stored Method = 0
	MSZIP  Method = 1
	LZX    Method = 3
)

// A Cabinet has one folder with files that follow each other in it.
type Cabinet struct {
	Method Method
	Window int        // log2 of the LZX window; 0 for 15
	LZX    []LZXBlock // kinds and sizes of LZX blocks, repeated; nil for one verbatim block
	Calls  int32      // LZX: bytes of the file whose E8 calls are translated; 0 for none

	Files       []File
	Reserved    [3]uint8 // how many reserved bytes the header, the folder and each block have
	NoChecksums bool     // checksums are 0: not to be checked
}

// A File is a file in a cabinet.
type File struct {
	Name       string
	Content    []byte
	Modified   time.Time
	Attributes uint16
}

const blockMax = 32 << 10

// Bytes returns the cabinet.
func (c *Cabinet) Bytes() ([]byte, error) {
	var content []byte
	for _, f := range c.Files {
		content = append(content, f.Content...)
	}
	blocks, err := c.compress(content)
	if err != nil {
		return nil, err
	}
	reserve := c.Reserved != [3]uint8{}
	header := 36
	if reserve {
		header += 4 + int(c.Reserved[0])
	}
	filesAt := header + 8 + int(c.Reserved[1])
	var list []byte
	offset := uint32(0)
	for _, f := range c.Files {
		list = le.AppendUint32(list, uint32(len(f.Content)))
		list = le.AppendUint32(list, offset)
		list = le.AppendUint16(list, 0)
		list = append(list, dosTime(f.Modified)...)
		list = le.AppendUint16(list, f.Attributes)
		list = append(append(list, f.Name...), 0)
		offset += uint32(len(f.Content))
	}
	dataAt := filesAt + len(list)
	var data []byte
	for i, b := range blocks {
		size := min(blockMax, len(content)-i*blockMax)
		data = c.block(data, b, size)
	}

	out := append([]byte("MSCF"), make([]byte, 4)...)
	out = le.AppendUint32(out, uint32(dataAt+len(data)))
	out = le.AppendUint32(out, 0)
	out = le.AppendUint32(out, uint32(filesAt))
	out = le.AppendUint32(out, 0)
	out = append(out, 3, 1) // version 1.3
	flags := uint16(0)
	if reserve {
		flags = 4
	}
	for _, v := range []uint16{1, uint16(len(c.Files)), flags, 1234, 0} {
		out = le.AppendUint16(out, v)
	}
	if reserve {
		out = le.AppendUint16(out, uint16(c.Reserved[0]))
		out = append(out, c.Reserved[1], c.Reserved[2])
		out = append(out, bytes.Repeat([]byte{0xAA}, int(c.Reserved[0]))...)
	}
	out = le.AppendUint32(out, uint32(dataAt))
	out = le.AppendUint16(out, uint16(len(blocks)))
	method := uint16(c.Method)
	if c.Method == LZX {
		method |= uint16(c.window()) << 8
	}
	out = le.AppendUint16(out, method)
	out = append(out, bytes.Repeat([]byte{0xBB}, int(c.Reserved[1]))...)
	return append(append(out, list...), data...), nil
}

func (c *Cabinet) window() int {
	if c.Window == 0 {
		return 15
	}
	return c.Window
}

// block adds a CFDATA.
func (c *Cabinet) block(out, data []byte, size int) []byte {
	head := le.AppendUint16(nil, uint16(len(data)))
	head = le.AppendUint16(head, uint16(size))
	head = append(head, bytes.Repeat([]byte{0xCC}, int(c.Reserved[2]))...)
	sum := uint32(0)
	if !c.NoChecksums {
		sum = checksum(head, checksum(data, 0))
	}
	out = le.AppendUint32(out, sum)
	return append(append(out, head...), data...)
}

// checksum is the exclusive or of words; what is left over counts with its first byte highest.
func checksum(b []byte, sum uint32) uint32 {
	words := len(b) / 4
	for i := range words {
		sum ^= le.Uint32(b[4*i:])
	}
	rest := b[4*words:]
	for i, c := range rest {
		sum ^= uint32(c) << (8 * (len(rest) - 1 - i))
	}
	return sum
}

func (c *Cabinet) compress(content []byte) ([][]byte, error) {
	switch c.Method {
	case LZX:
		return compressLZX(content, c.window(), c.LZX, c.Calls), nil
	case Stored, MSZIP:
	default:
		return nil, fmt.Errorf("cabtest: method %d", c.Method)
	}
	var blocks [][]byte
	for at := 0; at < len(content); at += blockMax {
		block := content[at:min(at+blockMax, len(content))]
		if c.Method == MSZIP {
			var b bytes.Buffer
			b.WriteString("CK")
			w, err := flate.NewWriterDict(&b, flate.DefaultCompression, content[max(0, at-blockMax):at])
			if err != nil {
				return nil, err
			}
			if _, err := w.Write(block); err != nil {
				return nil, err
			}
			if err := w.Close(); err != nil {
				return nil, err
			}
			block = b.Bytes()
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// dosTime is a date and time as MS-DOS has them; zero for none.
func dosTime(t time.Time) []byte {
	if t.IsZero() {
		return make([]byte, 4)
	}
	b := le.AppendUint16(nil, uint16((t.Year()-1980)<<9|int(t.Month())<<5|t.Day()))
	return le.AppendUint16(b, uint16(t.Hour()<<11|t.Minute()<<5|t.Second()/2))
}
