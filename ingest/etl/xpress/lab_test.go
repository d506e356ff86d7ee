package xpress_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"

	"heapdrift/ingest/etl/xpress"
	"heapdrift/ingest/etl/xpress/xpresstest"
	"heapdrift/internal/corpus"
)

// A stream is the content of a compressed buffer of a trace.
type stream struct {
	at   int // in the file
	data []byte
	size int // of the output
}

// streams lists the compressed buffers of a trace: BufferSize at 0x00, Offset (FilledBytes) at 0x30 and BufferFlag at
// 0x34 of each buffer's header of 0x48 bytes.
func streams(t testing.TB, elements ...string) []stream {
	t.Helper()
	file := trace(t, corpus.Path(t, elements...))
	var all []stream
	le := binary.LittleEndian
	for at := 0; at+0x48 <= len(file); {
		size, filled := int(le.Uint32(file[at:])), int(le.Uint32(file[at+0x30:]))
		if size < 0x48 || size > len(file)-at {
			t.Fatalf("buffer at %#x has %#x bytes", at, size)
		}
		if le.Uint16(file[at+0x34:])&0x40 != 0 {
			all = append(all, stream{at, file[at+0x48 : at+size], filled - 0x48})
		}
		at += size
	}
	return all
}

// trace reads a trace, or the first one of a zip.
func trace(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".zip") {
		return file
	}
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, ".etl") {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if file, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("no trace in %s", path)
	return nil
}

var compressed = [][]string{
	{"etl", "perfview", "net.4.5.2.x64.etl.zip"},
	{"etl", "perfview", "net.4.5.2.x86.etl.zip"},
	{"etl", "perfview", "SelfDescribingSingleEvent.etl"},
	{"etl", "perfview", "smallEtlFile.etl"},
	{"lab", "A", "etl_x64", "merged_compressed.etl"},
	{"lab", "A", "etl_x64", "merged_keys_compressed.etl"},
	{"lab", "A", "etl_wow64", "merged_keys_compressed.etl"},
	{"lab", "B", "memory_keys_compressed.etl"},
}

// Every compressed buffer decodes to exactly the size its header says, and its events end there: what follows the
// last event's 8-byte boundary is the output's end.
func TestRealBuffers(t *testing.T) {
	for _, elements := range compressed {
		t.Run(elements[len(elements)-1], func(t *testing.T) {
			all := streams(t, elements...)
			if len(all) == 0 {
				t.Fatal("no compressed buffer")
			}
			for i, s := range all {
				out := make([]byte, s.size)
				n, err := xpress.Decode(out, s.data)
				if err != nil || n != s.size {
					t.Fatalf("buffer at %#x: %d of %d bytes, %v", s.at, n, s.size, err)
				}
				if end := events(out); end != s.size {
					t.Fatalf("buffer at %#x: events end at %#x of %#x", s.at, end, s.size)
				}
				if i%32 > 0 { // the rest would be slow
					continue
				}
				again := xpresstest.Plain(out)
				back := make([]byte, s.size)
				if _, err := xpress.Decode(back, again); err != nil || !bytes.Equal(back, out) {
					t.Fatalf("buffer at %#x: own stream of it differs (%v)", s.at, err)
				}
			}
		})
	}
}

// events walks the events of a buffer by their sizes, at +4 or +0 depending on the header's type, and returns where
// they end.
func events(b []byte) int {
	at := 0
	for len(b)-at >= 8 && b[at+3]&0x80 != 0 {
		size := binary.LittleEndian.Uint16(b[at:])
		switch b[at+2] {
		case 0x01, 0x02, 0x03, 0x04, 0x10, 0x11:
			size = binary.LittleEndian.Uint16(b[at+4:])
		}
		if size < 8 {
			break
		}
		at += (int(size) + 7) &^ 7
	}
	return at
}

// The speed is that of the output.
func BenchmarkDecode(b *testing.B) {
	for _, elements := range compressed {
		all := streams(b, elements...)
		if len(all) < 10 {
			continue
		}
		b.Run(elements[len(elements)-2]+"/"+elements[len(elements)-1], func(b *testing.B) {
			total, most := 0, 0
			for _, s := range all {
				total, most = total+s.size, max(most, s.size)
			}
			out := make([]byte, most)
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range all {
					if _, err := xpress.Decode(out[:s.size], s.data); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
