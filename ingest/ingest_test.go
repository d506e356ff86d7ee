package ingest_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// log is a small raw log; its only block has the given number of bytes.
func log(size int) []byte {
	return fmt.Appendf(nil, `// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:10 - Machine=LAB - PID=42
// Loaded modules:
//     Base Size Module
//                  400000    10000 C:\app.exe
//
// Process modules enumerated.

*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -

*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -

%X bytes + 10 at 3F0880 by BackTraceA1
	401000
	402000

*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -
`, size)
}

func gz(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// filled is a gz of data and 20 MB of a byte behind it.
func filled(data []byte, with byte) []byte {
	return append(gz(data), bytes.Repeat(gz(bytes.Repeat([]byte{with}, 1<<20)), 20)...)
}

func zst(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

type file struct {
	name string
	data []byte
}

func zipped(files ...file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		e, _ := w.Create(f.name)
		_, _ = e.Write(f.data)
	}
	_ = w.Close()
	return b.Bytes()
}

func source(name string, data []byte) ingest.Source {
	return ingest.Source{Name: name, ReaderAt: bytes.NewReader(data), Size: int64(len(data))}
}

// bytesOf reads a source and returns the outstanding bytes of its captures, in order.
func bytesOf(t *testing.T, name string, data []byte) (sizes []int64, warnings []string) {
	t.Helper()
	reading, err := ingest.Read(t.Context(), source(name, data), ingest.Options{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, c := range reading.Captures {
		sizes = append(sizes, c.Total(0).Bytes)
		for _, w := range c.Warnings {
			warnings = append(warnings, w.Message)
		}
	}
	return sizes, warnings
}

func TestWrappings(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want []int64
		left string
	}{
		"plain.txt":    {log(8), []int64{8}, ""},
		"a.txt.gz":     {gz(log(8)), []int64{8}, ""},
		"a.txt.zst":    {zst(log(8)), []int64{8}, ""},
		"twice.gz.zst": {zst(gz(log(8))), []int64{8}, ""},
		"two.gz":       {append(gz(log(8)), gz(log(9))...), []int64{8, 9}, ""},
		"series.zip": {zipped(file{"snap10.txt", log(10)}, file{"snap9.txt", log(9)}, file{"dir/", nil}),
			[]int64{9, 10}, ""},
		"packed.zip": {zipped(file{"a.txt.gz", gz(log(8))}), []int64{8}, ""},
		"readme.zip": {zipped(file{"README.md", []byte("# How this was made\n")}, file{"a.txt", log(8)}), []int64{8},
			"1 file of readme.zip is not evidence and left out: README.md"},
		"wrong-name.gz": {log(7), []int64{7}, ""}, // the content counts
		"series.7z":     {sevenZipped(file{"snap10.txt", log(10)}, file{"snap9.txt", log(9)}), []int64{9, 10}, ""},
		"readme.7z": {sevenZipped(file{"README.md", []byte("# How this was made\n")}, file{"a.txt", log(8)}), []int64{8},
			"1 file of readme.7z is not evidence and left out: README.md"},
	} {
		sizes, warnings := bytesOf(t, name, test.data)
		if !slices.Equal(sizes, test.want) {
			t.Errorf("%s: got %v, want %v", name, sizes, test.want)
		}
		if strings.Join(warnings, "") != test.left {
			t.Errorf("%s: warnings %q, want %q", name, warnings, test.left)
		}
		kind, err := ingest.Inspect(t.Context(), source(name, test.data))
		if err != nil || kind != "umdh" {
			t.Errorf("%s: inspected as %q, %v", name, kind, err)
		}
	}
}

// endless is a zip whose only file unpacks to far more than its size.
func bomb() []byte { return zipped(file{"a.txt", append(log(8), make([]byte, 20<<20)...)}) }

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		code string
		says string
	}{
		"empty.txt":     {nil, evidence.CodeEmptyFile, "empty"},
		"empty.txt.gz":  {gz(nil), evidence.CodeEmptyFile, "empty"},
		"photo.txt":     {[]byte("\xff\xd8\xff\xe0\x00\x10JFIF"), evidence.CodeUnknownFormat, "JPEG"},
		"MEMORY.DMP":    {[]byte("PAGEDU64" + strings.Repeat("\x00", 100)), evidence.CodeKernelDump, "kernel memory dump"},
		"MEMORY.DMP.gz": {gz([]byte("PAGEDUMP")), evidence.CodeKernelDump, "kernel memory dump"},
		"old.hdmp":      {[]byte("USERDUMP\x00"), evidence.CodeUnsupportedFormat, "procdump -ma"},
		"trace.etl":     {[]byte("\x00\x00\x01\x00\x48\x00"), evidence.CodeNotTrace, "ends inside the header"},
		"notes.txt":     {[]byte("We saw the leak on Tuesday.\n"), evidence.CodeUnknownFormat, "not known"},
		"bomb.zip":      {bomb(), evidence.CodeArchiveBomb, "200 times"},
		"bomb.gz":       {filled(log(8), 0), evidence.CodeArchiveBomb, "200 times"},
		"inner.zip": {zipped(file{"b.zip", zipped(file{"a.txt", log(8)})}), evidence.CodeUnsupportedFormat,
			"archive inside an archive"},
		"deep.gz": {gz(gz(gz(log(8)))), evidence.CodeUnsupportedFormat, "archive inside an archive"},
		"cut.gz":  {gz(bytes.Repeat(log(8), 99))[:150], evidence.CodeDamagedArchive, "damaged or cut short"},
		"cut.zip": {zipped(file{"a.txt", log(8)})[:200], evidence.CodeDamagedArchive, "damaged or cut short"},
		"cut.zst": {zst(log(8))[:60], evidence.CodeDamagedArchive, "damaged or cut short"},
		"nothing.zip": {zipped(file{"a.md", []byte("# a")}, file{"b.md", []byte("# b")}),
			evidence.CodeNoEvidence, "no evidence"},
		"hollow.zip": {zipped(), evidence.CodeNoEvidence, "no evidence"},
	} {
		for call, do := range map[string]func() error{
			"inspect": func() error { _, err := ingest.Inspect(t.Context(), source(name, test.data)); return err },
			"read": func() error {
				_, err := ingest.Read(t.Context(), source(name, test.data), ingest.Options{})
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
		}
	}
}

// A damaged archive, cut or with a flipped bit, gives an error with a code or captures, never silence or a panic.
func TestDamagedArchives(t *testing.T) {
	for name, whole := range map[string][]byte{"a.zip": zipped(file{"a.txt", log(8)}, file{"b.txt", log(9)}),
		"a.gz": gz(log(8)), "a.zst": zst(log(8)), "a.7z": sevenZipped(file{"a.txt", log(8)}, file{"b.txt", log(9)})} {
		for at := range whole {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 0x10
			for _, data := range [][]byte{whole[:at], flipped} {
				reading, err := ingest.Read(t.Context(), source(name, data), ingest.Options{})
				var refused *evidence.Error
				if err == nil && len(reading.Captures) == 0 {
					t.Errorf("%s damaged at %d: nothing read and nothing said", name, at)
				} else if err != nil && !errors.As(err, &refused) {
					t.Errorf("%s damaged at %d: %v has no code", name, at, err)
				}
			}
		}
	}
}

func TestContextStopsUnpacking(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the lease is lost")
	cancel(reason)
	if _, err := ingest.Read(ctx, source("a.gz", gz(log(8))), ingest.Options{}); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	last, total := int64(-1), int64(math.MaxInt64)
	data := bytes.Repeat(log(8), 1000)
	if _, err := ingest.Read(t.Context(), source("a.txt", data), ingest.Options{Progress: func(done, all int64) {
		if done < last || done > all {
			t.Errorf("progress went from %d to %d of %d", last, done, all)
		}
		last, total = done, all
	}}); err != nil {
		t.Fatal(err)
	}
	if last != total || total != int64(len(data)) {
		t.Errorf("ended at %d of %d; the source has %d bytes", last, total, len(data))
	}
}

func TestNaturalOrder(t *testing.T) {
	sorted := []string{"", "2", "10", "a", "A1", "a02", "a2", "a10b", "a10c", "b"}
	for i, a := range sorted {
		for k, b := range sorted {
			if got := ingest.NaturalOrder(a, b); cmp.Compare(got, 0) != cmp.Compare(i, k) {
				t.Errorf("%q against %q: %d", a, b, got)
			}
		}
	}
}

func Example() {
	reading, err := ingest.Read(context.Background(),
		source("series.zip", zipped(file{"2.txt", log(30)}, file{"1.txt", log(20)})), ingest.Options{})
	for _, c := range reading.Captures {
		fmt.Println(c.Process.Name, c.Total(0).Bytes)
	}
	fmt.Println(err)
	// Output:
	// app.exe 20
	// app.exe 30
	// <nil>
}

func FuzzRead(f *testing.F) {
	f.Add(log(8))
	f.Add(gz(log(8)))
	f.Add(zipped(file{"a.txt", log(8)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		reading, err := ingest.Read(t.Context(), source("x", data), ingest.Options{})
		if err == nil && len(reading.Captures) == 0 {
			t.Error("nothing read and nothing said")
		}
	})
}
