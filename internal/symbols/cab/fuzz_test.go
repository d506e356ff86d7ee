package cab_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/symbols/cab/cabtest"
)

func FuzzOpen(f *testing.F) {
	for _, method := range []cabtest.Method{cabtest.Stored, cabtest.MSZIP, cabtest.LZX} {
		f.Add(small(f, method, 400))
	}
	c := cabtest.Cabinet{Method: cabtest.LZX, Calls: 5000, Window: 17, NoChecksums: true, Reserved: [3]uint8{1, 2, 3},
		Files: []cabtest.File{{Name: "a", Content: content(7, 600)}}}
	seed, err := c.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := cab.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i, f := range r.Files() {
			if i == 4 {
				break
			}
			in, err := f.Open()
			if err != nil {
				continue
			}
			var e *evidence.Error
			switch n, err := io.Copy(io.Discard, in); {
			case err == nil && n != f.Size:
				t.Errorf("%d bytes of %d, and no error", n, f.Size)
			case err != nil && !errors.As(err, &e):
				t.Errorf("an error of no kind: %v", err)
			}
		}
	})
}
