package allocations

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestLibraryBelievesClaims holds the reason why reading is our own: parquet-go allocates what a damaged file of a few
// bytes claims. Where a later version bounds every claim by the bytes that are there, this test fails, and docs/adr/0010
// is to be decided again.
func TestLibraryBelievesClaims(t *testing.T) {
	const claim = 32 << 20
	listOf := func(field byte) []byte { // a footer whose only field is a list of so many structs
		return binary.AppendUvarint([]byte{field<<4 | thriftList, 0xf0 | thriftStruct}, claim/64)
	}
	damaged := func(page *format.PageHeader) func() {
		file := writeNumbers(t)
		start := bytes.Index(file, []byte("PAR1")) + 4
		var protocol thrift.CompactProtocol
		header, err := thrift.Marshal(&protocol, page)
		if err != nil {
			t.Fatal(err)
		}
		copy(file[start:], header)
		return func() {
			f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			pages := f.RowGroups()[0].ColumnChunks()[0].Pages()
			_, _ = pages.ReadPage()
			_ = pages.Close()
		}
	}
	footer := func(b []byte) func() {
		return func() {
			var protocol thrift.CompactProtocol
			var data format.FileMetaData
			_ = thrift.Unmarshal(&protocol, b, &data)
		}
	}
	tail := append([]byte("PAR1"), binary.LittleEndian.AppendUint32(nil, claim)...)
	tail = append(tail, "PAR1"...)
	for name, read := range map[string]func(){
		"the length of a footer": func() { _, _ = parquet.OpenFile(bytes.NewReader(tail), int64(len(tail))) },
		"a list of columns":      footer(listOf(2)),
		"a list of row groups":   footer(listOf(4)),
		"the size of a page":     damaged(&format.PageHeader{UncompressedPageSize: claim, CompressedPageSize: claim}),
	} {
		if got := allocatedBy(read); got < claim/2 {
			t.Errorf("%s: a claim of %d bytes allocates %d: the library bounds it now", name, claim, got)
		}
	}
}

// TestOwnReaderBoundsClaims is the same claim about a footer, read by us.
func TestOwnReaderBoundsClaims(t *testing.T) {
	const claim = 32 << 20
	for _, field := range []byte{2, 4, 5} {
		b := binary.AppendUvarint([]byte{field<<4 | thriftList, 0xf0 | thriftStruct}, claim)
		if got := allocatedBy(func() { _, _ = readFooter(b) }); got > 1<<20 {
			t.Errorf("field %d: a footer of %d bytes allocates %d", field, len(b), got)
		}
	}
}

// writeNumbers is a Parquet file of a few numbers.
func writeNumbers(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	rows := make([]struct{ A int64 }, 1000)
	for i := range rows {
		rows[i].A = int64(i * i * i)
	}
	if err := parquet.Write(io.Writer(&file), rows); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// allocatedBy is how many bytes a call allocates, those freed meanwhile too.
func allocatedBy(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
