package minidump_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"heapdrift/ingest/minidump/minidumptest"
)

// A dump that is generated while it is read equals the dump that is written.
func TestDumpMadeWhenRead(t *testing.T) {
	d := everything()
	d.MemoryAt = 0x4000
	d.Memory = []minidumptest.Memory{
		{Address: 0x1000, Bytes: bytesOf(1, 100)}, {Address: 0x2000, Size: 5000},
		{Address: 0x8000, Size: 300, From: bytes.NewReader(bytesOf(2, 300))}, {Address: 0x9000, Size: 77},
	}
	want, file := d.Bytes(), d.File()
	if file.Size() != int64(len(want)) {
		t.Fatalf("%d bytes, want %d", file.Size(), len(want))
	}
	for _, step := range []int{37, 4096, len(want)} {
		for at := 0; at < len(want); at += step {
			got := make([]byte, step+step/2)
			n, err := file.ReadAt(got, int64(at))
			if !bytes.Equal(got[:n], want[at:min(at+len(got), len(want))]) || (n < len(got)) != errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes at %d are others: %v", n, at, err)
			}
		}
	}
	if n, err := file.ReadAt(make([]byte, 1), file.Size()); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes at the end, %v", n, err)
	}
}
