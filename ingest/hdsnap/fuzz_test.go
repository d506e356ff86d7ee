package hdsnap_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/hdsnap"
)

// Any file gives a snapshot that can be written and read again, or an error with a code.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := hdsnap.Read(t.Context(), bytes.NewReader(data))
		if err != nil {
			if evidence.Refusal(err) == nil {
				t.Fatalf("no refusal: %v", err)
			}
			return
		}
		h, err := hdsnap.ReadHeader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := hdsnap.Write(&again, *h, list[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := hdsnap.Read(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
	})
}
