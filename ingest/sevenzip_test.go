package ingest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// A sevenZip writes a 7z with one folder by the words of 7zFormat.txt. Zero fields make one that is right.
type sevenZip struct {
	coder   []byte // of the folder; Copy
	claimed uint64 // number of files in the header
	streams uint64 // and of pack streams
	sums    bool   // checksums of the files
	wrong   bool   // which are wrong
	damaged string // the file whose checksum alone is wrong
}

// number writes a NUMBER in its longest form.
func number(v uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xFF}, v) }

func (z sevenZip) file(files ...file) []byte {
	var body, names []byte
	for _, f := range files {
		body = append(body, f.data...)
		for _, unit := range utf16.Encode([]rune(f.name + "\x00")) {
			names = binary.LittleEndian.AppendUint16(names, unit)
		}
	}
	n := uint64(len(files))
	if z.claimed == 0 {
		z.claimed = n
	}
	if z.streams == 0 {
		z.streams = 1
	}
	if z.coder == nil {
		z.coder = []byte{0x01, 0x00}
	}
	h := []byte{0x01, 0x04, 0x06} // Header, MainStreamsInfo, PackInfo
	h = append(append(h, number(0)...), number(z.streams)...)
	h = append(append(h, 0x09), number(uint64(len(body)))...)
	h = append(h, 0x00, 0x07, 0x0B, 1, 0, 1) // UnpackInfo, Folder, one coder
	h = append(h, z.coder...)
	h = append(append(h, 0x0C), number(uint64(len(body)))...)
	h = append(h, 0x00, 0x08, 0x0D) // SubStreamsInfo, NumUnpackStream
	h = append(append(h, number(n)...), 0x09)
	for _, f := range files[:max(0, len(files)-1)] {
		h = append(h, number(uint64(len(f.data)))...)
	}
	if z.sums {
		h = append(h, 0x0A, 1)
		for _, f := range files {
			sum := crc32.ChecksumIEEE(f.data)
			if z.wrong || f.name == z.damaged {
				sum++
			}
			h = binary.LittleEndian.AppendUint32(h, sum)
		}
	}
	h = append(h, 0x00, 0x00, 0x05) // FilesInfo
	h = append(append(h, number(z.claimed)...), 0x11)
	h = append(append(h, number(uint64(len(names)+1))...), 0)
	h = append(append(h, names...), 0x00, 0x00)
	return framed7z(body, h)
}

// framed7z puts the SignatureHeader before packed streams and their header.
func framed7z(body, header []byte) []byte {
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(body)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(header)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(header))
	all := binary.LittleEndian.AppendUint32([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), crc32.ChecksumIEEE(start))
	return append(append(append(all, start...), body...), header...)
}

// sevenZipped is a 7z of files, one behind the other.
func sevenZipped(files ...file) []byte { return sevenZip{sums: true}.file(files...) }

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// props is a coder with properties.
func props(method string, properties ...byte) []byte {
	coder := append([]byte{0x20 | byte(len(method))}, method...)
	return append(append(coder, byte(len(properties))), properties...)
}

func Test7zClaims(t *testing.T) {
	log := file{"a.txt", log(8)}
	for name, test := range map[string]struct {
		data []byte
		code string
		says string
	}{
		"4 billion files":           {sevenZip{claimed: 1 << 32}.file(log), evidence.CodeArchiveBomb, "4294967296 files"},
		"more files than there are": {sevenZip{claimed: 3}.file(log), evidence.CodeDamagedArchive, "damaged"},
		"4 billion streams":         {sevenZip{streams: 1 << 32}.file(log), evidence.CodeDamagedArchive, "contradicts itself"},
		"LZMA with 4 GB": {sevenZip{coder: props("\x03\x01\x01", 0x5D, 0xFF, 0xFF, 0xFF, 0xFF)}.file(log),
			evidence.CodeUnsupportedFormat, "4095 MB"},
		"LZMA2 with 4 GB": {sevenZip{coder: props("\x21", 40)}.file(log), evidence.CodeUnsupportedFormat, "4096 MB"},
		"LZMA2 with too much": {sevenZip{coder: props("\x21", 41)}.file(log),
			evidence.CodeDamagedArchive, "contradicts itself"},
		"PPMd with 4 GB": {sevenZip{coder: props("\x03\x04\x01", 6, 0xFF, 0xFF, 0xFF, 0xFF)}.file(log),
			evidence.CodeUnsupportedFormat, "4095 MB"},
		"Delta without a distance": {sevenZip{coder: []byte{0x01, 0x03}}.file(log),
			evidence.CodeDamagedArchive, "contradicts itself"},
		"Zstandard": {sevenZip{coder: props("\x04\xf7\x11\x01", 1, 5, 0)}.file(log),
			evidence.CodeUnsupportedFormat, "04f71101"},
		"not LZMA": {sevenZip{coder: props("\x03\x01\x01", 0x5D, 0, 0, 1, 0)}.file(log),
			evidence.CodeDamagedArchive, "damaged"},
		"not PPMd": {sevenZip{coder: props("\x03\x04\x01", 6, 0, 0, 1, 0)}.file(log),
			evidence.CodeDamagedArchive, "damaged"},
		"wrong checksum": {sevenZip{sums: true, wrong: true}.file(log),
			evidence.CodeDamagedArchive, "checksum is wrong"},
		"nothing":                  {framed7z(nil, nil), evidence.CodeNoEvidence, "no evidence"},
		"no end of the header":     {framed7z(nil, []byte{0x01, 0x04}), evidence.CodeDamagedArchive, "cut short"},
		"encoded without a folder": {framed7z(nil, []byte{0x17, 0x00}), evidence.CodeDamagedArchive, "contradicts itself"},
		"a part of several":        {sevenZipped(log)[:500], evidence.CodeDamagedArchive, "several volumes"},
		"password.7z":              {testdata(t, "password.7z"), evidence.CodeUnsupportedFormat, "password"},
		"password-header.7z":       {testdata(t, "password-header.7z"), evidence.CodeUnsupportedFormat, "password"},
		"bomb.7z":                  {testdata(t, "bomb.7z"), evidence.CodeArchiveBomb, "200 times"},
		"bomb-before-another.7z":   {testdata(t, "bomb-before-another.7z"), evidence.CodeArchiveBomb, "200 times"},
		"an archive in an archive": {sevenZipped(file{"b.7z", sevenZipped(log)}), evidence.CodeUnsupportedFormat,
			"archive inside an archive"},
		"an archive in a compressed": {gz(sevenZipped(log)), evidence.CodeUnsupportedFormat, "archive inside an archive"},
	} {
		for call, do := range map[string]func() error{
			"inspect": func() error { _, err := ingest.Inspect(t.Context(), source("a.7z", test.data)); return err },
			"read": func() error {
				_, err := ingest.Read(t.Context(), source("a.7z", test.data), ingest.Options{})
				return err
			},
		} {
			if underRace && test.code == evidence.CodeArchiveBomb && call == "read" {
				continue
			}
			err := do()
			var refused *evidence.Error
			if !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s %s: got %v, want %s saying %q", call, name, err, test.code, test.says)
			}
			if refused != nil && !strings.Contains(refused.File, "a.7z") {
				t.Errorf("%s %s: the error does not name the file: %v", call, name, err)
			}
		}
	}
}

// Files behind an unwanted file are unpacked; files of a damaged archive are reported as lost.
func TestUnpack7z(t *testing.T) {
	files := []file{{"b", []byte("second name, first in the archive")}, {"a", []byte("no")}, {"c.gz", gz([]byte("third"))}}
	got, err := unpacked(t.Context(), "x.7z", sevenZipped(files...))
	if want := "x.7z/b=second name, first in the archive true|a!not-wanted|x.7z/c.gz=third true"; err != nil ||
		strings.Join(got, "|") != want {
		t.Errorf("%q %v, want %q", got, err, want)
	}
	got, err = unpacked(t.Context(), "x.7z", sevenZip{sums: true, wrong: true}.file(files...))
	if want := "b!damaged-archive|a!damaged-archive|c.gz!damaged-archive"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

// What lies in a folder behind damage is lost, down to a file of one byte; what lies before it is not. An empty file
// lies in no folder.
func TestUnpack7zBehindDamage(t *testing.T) {
	files := []file{{"a", []byte("first")}, {"b", []byte("second")}, {"c", []byte("3")}, {"d", nil}, {"e", []byte("4")}}
	for damaged, want := range map[string]string{
		"":  "x.7z/a=first true|x.7z/b=second true|x.7z/c=3 true|x.7z/d= true|x.7z/e=4 true",
		"a": "a: its checksum is wrong|b: it lies behind damage|c: it lies behind damage|x.7z/d= true|e: it lies behind damage",
		"b": "x.7z/a=first true|b: its checksum is wrong|c: it lies behind damage|x.7z/d= true|e: it lies behind damage",
		"e": "x.7z/a=first true|x.7z/b=second true|x.7z/c=3 true|x.7z/d= true|e: its checksum is wrong",
	} {
		var got []string
		err := ingest.Unpack(t.Context(), source("x.7z", sevenZip{sums: true, damaged: damaged}.file(files...)),
			func(m ingest.Member) error {
				text, err := io.ReadAll(m)
				if err == nil {
					got = append(got, fmt.Sprintf("%s=%s %t", m.Name, text, m.Packed))
				}
				return err
			}, func(name string, e *evidence.Error) {
				got = append(got, fmt.Sprintf("%s: %v", name, e.Err))
			})
		if strings.Join(got, "|") != want || err != nil {
			t.Errorf("with %q damaged: %q %v\nwant %q", damaged, got, err, want)
		}
	}
}

func FuzzUnpack7z(f *testing.F) {
	f.Add(sevenZipped(file{"a.txt", []byte("text")}, file{"b.gz", gz([]byte("text"))}))
	f.Add(testdata(f, "pair-solid-lzma2.7z"))
	f.Add(testdata(f, "pair-ppmd.7z"))
	f.Add(testdata(f, "password-header.7z"))
	f.Add(sevenZip{coder: props("\x21", 0)}.file(file{"a.txt", []byte("\x01\x00\x03text\x00")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 32 {
			return
		}
		// The checksums would keep nearly everything out.
		start := data[12:32]
		at, size := 32+binary.LittleEndian.Uint64(start), binary.LittleEndian.Uint64(start[8:])
		if room := uint64(len(data)); at <= room && size <= room-at {
			binary.LittleEndian.PutUint32(start[16:], crc32.ChecksumIEEE(data[at:at+size]))
		}
		binary.LittleEndian.PutUint32(data[8:], crc32.ChecksumIEEE(start))
		copy(data, "7z\xbc\xaf\x27\x1c")
		_, err := unpacked(t.Context(), "x", data)
		var refused *evidence.Error
		if err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}
