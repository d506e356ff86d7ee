package cab_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/symbols/cab/cabtest"
)

// small is a cabinet of two files, whose entries begin at 44 and whose blocks begin at 44 + 2*18.
func small(t testing.TB, method cabtest.Method, size int) []byte {
	t.Helper()
	c := cabtest.Cabinet{
		Method: method, Files: []cabtest.File{{Name: "a", Content: content(1, size)}, {Name: "b", Content: content(2, size)}},
		LZX: []cabtest.LZXBlock{{Kind: cabtest.Verbatim, Size: 301}, {Kind: cabtest.Uncompressed, Size: 55},
			{Kind: cabtest.Aligned, Size: 1200}},
	}
	b, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const dataAt = 44 + 2*18

// readAll reads everything and returns the first error.
func readAll(cabinet []byte) error {
	r, err := cab.Open(bytes.NewReader(cabinet), int64(len(cabinet)))
	if err != nil {
		return err
	}
	for _, f := range r.Files() {
		in, err := f.Open()
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, in)
		if err != nil {
			return err
		}
		if n != f.Size {
			return errors.New("fewer bytes than the size says, and no error")
		}
	}
	return nil
}

func TestErrors(t *testing.T) {
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		method cabtest.Method
		change func(b []byte) []byte
		code   string
	}{
		"empty": {0, func([]byte) []byte { return nil }, cab.CodeNotCabinet},
		"other": {0,
			func([]byte) []byte { return []byte("MZ but no cabinet at all, and long enough for a header") }, cab.CodeNotCabinet},
		"version":       {0, func(b []byte) []byte { b[25] = 2; return b }, cab.CodeBadHeader},
		"cut directory": {0, func(b []byte) []byte { return b[:50] }, cab.CodeTruncated},
		"cut data":      {0, func(b []byte) []byte { return b[:len(b)-1] }, cab.CodeTruncated},
		"checksum":      {1, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, cab.CodeBadChecksum},
		"long name": {0, func(b []byte) []byte { return append(b[:60], bytes.Repeat([]byte("x"), 5000)...) },
			cab.CodeBadHeader},
		"folder":        {0, func(b []byte) []byte { b[44+8] = 1; return b }, cab.CodeBadHeader},
		"from before":   {0, func(b []byte) []byte { le.PutUint16(b[44+8:], 0xFFFD); return b }, cab.CodeMultiCabinet},
		"into the next": {0, func(b []byte) []byte { le.PutUint16(b[44+8:], 0xFFFE); return b }, cab.CodeMultiCabinet},
		"both":          {0, func(b []byte) []byte { le.PutUint16(b[44+8:], 0xFFFF); return b }, cab.CodeMultiCabinet},
		"quantum":       {0, func(b []byte) []byte { b[42] = 2; return b }, cab.CodeQuantum},
		"method":        {0, func(b []byte) []byte { b[42] = 9; return b }, cab.CodeMethod},
		"window":        {3, func(b []byte) []byte { b[43] = 22; return b }, cab.CodeBadHeader},
		"size of file": {1, func(b []byte) []byte { le.PutUint32(b[44:], 0xFFFFFFF0); return b },
			cab.CodeOutsideFolder},
		"offset of file": {1, func(b []byte) []byte { le.PutUint32(b[48:], 0xFFFFFFF0); return b },
			cab.CodeOutsideFolder},
		"offset of folder": {1, func(b []byte) []byte { le.PutUint32(b[36:], 0xFFFFFFF0); return b }, cab.CodeTruncated},
		"block too large":  {0, func(b []byte) []byte { le.PutUint16(b[dataAt+6:], 0x8001); return b }, cab.CodeBadData},
		"block of nothing": {0, func(b []byte) []byte { le.PutUint16(b[dataAt+6:], 0); return b }, cab.CodeBadData},
		"stored, other size": {0,
			func(b []byte) []byte { le.PutUint32(b[dataAt:], 0); le.PutUint16(b[dataAt+6:], 7); return b }, cab.CodeBadData},
		"no CK": {1, func(b []byte) []byte { le.PutUint32(b[dataAt:], 0); b[dataAt+8] = 'X'; return b },
			cab.CodeBadData},
		"more than claimed": {1,
			func(b []byte) []byte { le.PutUint32(b[dataAt:], 0); le.PutUint16(b[dataAt+6:], 7); return b }, cab.CodeBadData},
		"kind of block": {3, func(b []byte) []byte { le.PutUint32(b[dataAt:], 0); b[dataAt+9] = 0x70; return b },
			cab.CodeBadData},
	} {
		t.Run(name, func(t *testing.T) {
			err := readAll(c.change(small(t, c.method, 500)))
			var e *evidence.Error
			if !errors.As(err, &e) || e.Code != c.code {
				t.Errorf("the error is %v, want the code %s", err, c.code)
			}
		})
	}
}

// TestNextCabinet reads a block that goes on in the next cabinet of a set.
func TestNextCabinet(t *testing.T) {
	b := small(t, cabtest.Stored, 500)
	names := []byte("next.cab\x00disk 2\x00")
	b = append(b[:36:36], append(names, b[36:]...)...)
	b[30] = 2
	for _, at := range []int{16, 36 + len(names)} {
		binary.LittleEndian.PutUint32(b[at:], binary.LittleEndian.Uint32(b[at:])+uint32(len(names)))
	}
	if err := readAll(b); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(b[dataAt+len(names)+6:], 0)
	var e *evidence.Error
	if err := readAll(b); !errors.As(err, &e) || e.Code != cab.CodeMultiCabinet {
		t.Errorf("the error is %v", err)
	}
}

// TestReadFails: an error of the reader is returned.
func TestReadFails(t *testing.T) {
	broken := readerAt(func([]byte, int64) (int, error) { return 0, iotest.ErrTimeout })
	var e *evidence.Error
	if _, err := cab.Open(broken, 1000); !errors.As(err, &e) || e.Code != cab.CodeReadFailed ||
		!errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("the error is %v", err)
	}
}

type readerAt func([]byte, int64) (int, error)

func (r readerAt) ReadAt(b []byte, at int64) (int, error) { return r(b, at) }

// TestEveryCut cuts cabinets at every byte: reading always ends with a coded error.
func TestEveryCut(t *testing.T) {
	for _, method := range []cabtest.Method{cabtest.Stored, cabtest.MSZIP, cabtest.LZX} {
		whole := small(t, method, 700)
		for n := range whole {
			err := readAll(whole[:n])
			var e *evidence.Error
			if !errors.As(err, &e) {
				t.Fatalf("method %d cut at %d: %v", method, n, err)
			}
		}
	}
}

// TestTurnedBits flips every bit of the directory, and every third bit of the data, of cabinets without checksums. A
// file that is read has the length that the directory states; else reading ends with a coded error.
func TestTurnedBits(t *testing.T) {
	for _, method := range []cabtest.Method{cabtest.Stored, cabtest.MSZIP, cabtest.LZX} {
		c := cabtest.Cabinet{
			Method: method, NoChecksums: true, Files: []cabtest.File{{Name: "a", Content: content(5, 250)}},
			LZX: []cabtest.LZXBlock{{Kind: cabtest.Aligned, Size: 90}, {Kind: cabtest.Uncompressed, Size: 31},
				{Kind: cabtest.Verbatim, Size: 90}},
		}
		whole, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for bit := range len(whole) * 8 {
			if bit > dataAt*8 && bit%3 != 0 {
				continue
			}
			whole[bit/8] ^= 1 << (bit % 8)
			var e *evidence.Error
			if err := readAll(whole); err != nil && !errors.As(err, &e) {
				t.Fatalf("method %d, bit %d: %v", method, bit, err)
			}
			whole[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// TestClosed reads a file that was closed.
func TestClosed(t *testing.T) {
	b := small(t, cabtest.MSZIP, 500)
	r, err := cab.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Files()[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the error is %v", err)
	}
}
