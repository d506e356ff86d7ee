package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// InspectStart says of the beginning of a file what Inspect says of the whole file, in the same words.
func TestInspectStartAgreesWithInspect(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want ingest.FileStart // of its refusal the code alone
	}{
		"snap1.log":  {log(8), ingest.FileStart{Name: "a UMDH log"}},
		"heap.etl":   {trace(), ingest.FileStart{Name: "a trace"}},
		"series.zip": {zipped(file{"a.txt", log(8)}), ingest.FileStart{Packed: "a zip archive"}},
		"series.7z":  {sevenZipped(file{"a.txt", log(8)}), ingest.FileStart{Packed: "a 7z archive"}},
		"a.txt.gz":   {gz(log(8)), ingest.FileStart{Packed: "a gz file"}},
		"a.txt.zst":  {zst(log(8)), ingest.FileStart{Packed: "a zst file"}},
		"empty.txt":  {nil, ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeEmptyFile}}},
		"photo.log": {[]byte("\xff\xd8\xff\xe0\x00\x10JFIF"),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeUnknownFormat}}},
		"MEMORY.DMP": {[]byte("PAGEDU64" + strings.Repeat("\x00", 100)),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeKernelDump}}},
		"app.pdb": {[]byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS"),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeUnsupportedFormat}}},
		"notes.txt": {[]byte("We saw the leak on Tuesday.\n"),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeUnknownFormat}}},
		"renamed.etl": {[]byte(strings.Repeat("no trace ", 999)),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeNotTrace}}},
		"zeros.etl": {make([]byte, ingest.HeadBytes+1),
			ingest.FileStart{Refused: &evidence.Error{Code: evidence.CodeNotTrace}}},
		"long log.txt": {log(8 + ingest.HeadBytes), ingest.FileStart{Name: "a UMDH log"}},
	} {
		got := ingest.InspectStart(name, test.data[:min(len(test.data), ingest.HeadBytes)])
		kind, err := ingest.Inspect(t.Context(), source(name, test.data))
		if got.Name != test.want.Name || got.Packed != test.want.Packed ||
			(got.Refused == nil) != (test.want.Refused == nil) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
			continue
		}
		var refused *evidence.Error
		switch {
		case got.Refused == nil && err != nil:
			t.Errorf("%s: the door refuses what was called %+v: %v", name, got, err)
		case got.Name != "" && got.Name != ingest.Formats().Name(string(kind)):
			t.Errorf("%s: called %s, and the door takes it as %s", name, got.Name, kind)
		case got.Refused != nil &&
			(!errors.As(err, &refused) || refused.Error() != got.Refused.Error() || refused.Code != test.want.Refused.Code):
			t.Errorf("%s: said %v, the door says %v", name, got.Refused, err)
		}
	}
}
