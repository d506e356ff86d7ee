package etl_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/evidence"
)

// TestOpenErrors checks what is said of files that are no trace, or not one.
func TestOpenErrors(t *testing.T) {
	good := newTiny(nil).file
	change := func(at int, v uint64) []byte {
		b := bytes.Clone(good)
		le.PutUint64(b[at:], v)
		return b
	}
	const payload = 0x48 + 0x20
	lznt1 := bytes.Clone(session(compressed))
	lznt1[0x2C] = 2
	for name, test := range map[string]struct {
		files [][]byte
		code  string
	}{
		"no file":       {nil, etl.CodeNoSource},
		"empty":         {[][]byte{{}}, etl.CodeNotETL},
		"text":          {[][]byte{bytes.Repeat([]byte("no trace "), 100)}, etl.CodeNotETL},
		"cut header":    {[][]byte{good[:payload+0x100]}, etl.CodeBadHeader},
		"no frequency":  {[][]byte{change(payload+0x100, 0)}, etl.CodeBadClock},
		"unknown clock": {[][]byte{change(payload+0x110, 9)}, etl.CodeBadClock},
		"LZNT1":         {[][]byte{lznt1}, etl.CodeUnsupported},
		"other boot":    {[][]byte{good, change(payload+0xF8, 133975730000000000)}, etl.CodeOtherBoot},
		"other clock":   {[][]byte{good, change(payload+0x100, 3_000_000)}, etl.CodeOtherBoot},
	} {
		_, err := etl.Open(t.Context(), sources(test.files...), etl.Options{})
		var e *evidence.Error
		if !errors.As(err, &e) || e.Code != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
	if !etl.Sniff(good) || etl.Sniff(good[:0x60]) || etl.Sniff(make([]byte, etl.SniffSize)) {
		t.Error("Sniff does not tell a trace from none")
	}
}

// failingFile is a file that cannot be read behind a point.
type failingFile struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk")

func (f failingFile) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

// TestReadFails checks that a failing reader is reported as such, from Open and from Events.
func TestReadFails(t *testing.T) {
	file := session(0)
	for from := int64(0); from <= 0x680; from += 0x80 { // nothing that is read lies behind
		source := etl.Source{Name: "a.etl", ReaderAt: failingFile{bytes.NewReader(file), from}, Size: int64(len(file))}
		trace, err := etl.Open(t.Context(), []etl.Source{source}, etl.Options{})
		if err == nil {
			err = trace.Events(t.Context(), func(*etl.Event) error { return nil })
		}
		var e *evidence.Error
		if !errors.Is(err, errDisk) || !errors.As(err, &e) || e.Code != etl.CodeReadFailed {
			t.Fatalf("from %#x: %v", from, err)
		}
	}
}

// TestStops checks that passes end with their context, and with an error of the callback, and can be begun again.
func TestStops(t *testing.T) {
	trace := open(t, lab(t, "F/cpus_64.etl"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDisk)
	if err := trace.Events(ctx, func(*etl.Event) error { return nil }); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	n := 0
	if err := trace.Events(t.Context(), func(*etl.Event) error { n++; return errDisk }); !errors.Is(err,
		errDisk) || n != 1 {
		t.Error(n, err)
	}
	if first, second := checkOrder(t, trace), checkOrder(t, trace); first != second || first != 5049 {
		t.Errorf("%d events, then %d", first, second)
	}
	if _, err := etl.Open(ctx, sources(lab(t, "F/cpus_64.etl")), etl.Options{}); !errors.Is(err, errDisk) {
		t.Error(err)
	}
}

// TestOperationsStop checks that operations end with their context at any point, and with an error of the callback.
func TestOperationsStop(t *testing.T) {
	f := etltest.Format{Keys: 5, BufferSize: 0x2000}
	trace := open(t, etltest.Invent(10, etltest.ScenarioSize{}).File(f))
	all := 0
	if _, err := trace.Operations(t.Context(), etl.JoinOptions{},
		func(*etl.Operation) error { all++; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{1, 2, all / 2, all} {
		n := 0
		joined, err := trace.Operations(t.Context(), etl.JoinOptions{}, func(*etl.Operation) error {
			if n++; n == after {
				return errDisk
			}
			return nil
		})
		if !errors.Is(err, errDisk) || n != after || joined == nil {
			t.Errorf("%d operations of %d, %v", n, after, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		n = 0
		if _, err := trace.Operations(ctx, etl.JoinOptions{}, func(*etl.Operation) error {
			if n++; n == after {
				cancel(errDisk)
			}
			return nil
		}); err != nil && !errors.Is(err, errDisk) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDisk)
	if _, err := trace.OperationBatches(ctx, etl.JoinOptions{},
		func([]etl.Operation) error { return nil }); !errors.Is(err, errDisk) {
		t.Error(err)
	}
}
