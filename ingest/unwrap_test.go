package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// unpacked lists what Unpack visits as name=content, and what is refused as name!code. Files that begin with "no" are
// refused by visit.
func unpacked(ctx context.Context, name string, data []byte) (list []string, err error) {
	err = ingest.Unpack(ctx, source(name, data), func(m ingest.Member) error {
		if bytes.HasPrefix(m.Head, []byte("no")) {
			return &evidence.Error{Code: "not-wanted", File: m.Name}
		}
		text, err := io.ReadAll(m)
		list = append(list, fmt.Sprintf("%s=%s %t", m.Name, text, m.Packed))
		return err
	}, func(name string, e *evidence.Error) { list = append(list, name+"!"+e.Code) })
	return list, err
}

func TestUnpack(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		want []string
		code string
	}{
		{"a", []byte("text"), []string{"a=text false"}, ""},
		{"a", nil, []string{"a= false"}, ""},
		{"a", []byte("no"), nil, "not-wanted"},
		{"a.gz", gz([]byte("text")), []string{"a.gz=text true"}, ""},
		{"a.zst", zst(gz([]byte("text"))), []string{"a.zst=text true"}, ""},
		{"a.gz", gz(gz(gz([]byte("text")))), nil, "unsupported-format"},
		{"a.zip", zipped(file{"b10", []byte("x")}, file{"b9.gz", gz([]byte("y"))}, file{"d/", nil}, file{"c", []byte("no")},
			file{"e.zip", zipped()}),
			[]string{"a.zip/b9.gz=y true", "a.zip/b10=x true", "c!not-wanted", "e.zip!unsupported-format"}, ""},
		{"a.zip", zipped(file{"b.gz", gz([]byte("text"))[:5]}, file{"c", []byte("x")}),
			[]string{"b.gz!damaged-archive", "a.zip/c=x true"}, ""},
		{"a.zip", zipped(), nil, ""},
		{"a.zip", zipped(file{"b", []byte("x")})[:40], nil, "damaged-archive"},
	} {
		got, err := unpacked(t.Context(), test.name, test.data)
		code := ""
		var refused *evidence.Error
		if errors.As(err, &refused) {
			code = refused.Code
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if !slices.Equal(got, test.want) || code != test.code {
			t.Errorf("%s: %q %v, want %q %s", test.name, got, err, test.want, test.code)
		}
	}
}

// The output of a further unpacking by the caller counts against the size of the source.
func TestUnpackingFurther(t *testing.T) {
	var total int64
	err := ingest.Unpack(t.Context(), source("a", bytes.Repeat([]byte("x"), 1000)), func(m ingest.Member) error {
		_, _ = io.Copy(io.Discard, m)
		n, err := io.Copy(io.Discard, m.Unpacking(io.LimitReader(zeros{}, 1<<30)))
		total = n
		return err
	}, nil)
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Code != evidence.CodeArchiveBomb || total > 32<<20 {
		t.Errorf("%v after %d bytes", err, total)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestUnpackBombAmongOthers(t *testing.T) {
	got, err := unpacked(t.Context(), "a.zip",
		zipped(file{"a", []byte("x")}, file{"b.gz", filled(nil, 0)}, file{"c", []byte("y")}))
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Code != evidence.CodeArchiveBomb ||
		slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "a.zip/c") }) {
		t.Errorf("%v", err)
	}
}

func TestUnpackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := unpacked(ctx, "a", []byte("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// failingSource is a source that cannot be read behind its beginning.
type failingSource struct{ *bytes.Reader }

func (f failingSource) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > 100 {
		return 0, errStore
	}
	return f.Reader.ReadAt(p, off)
}

var errStore = errors.New("the store does not answer")

// A source that cannot be read is not damaged evidence: it may be read again later.
func TestUnreadableSource(t *testing.T) {
	for name, data := range map[string][]byte{
		"a.txt": log(8), "a.gz": gz(log(8)), "a.zst": zst(log(8)), "a.zip": zipped(file{"a.txt", log(8)}),
		"a.7z": sevenZipped(file{"a.txt", log(8)}), "a.etl": trace(), "a.etl.gz": gz(trace()),
	} {
		_, err := ingest.Read(t.Context(),
			ingest.Source{Name: name, ReaderAt: failingSource{bytes.NewReader(data)}, Size: int64(len(data))}, ingest.Options{})
		var refused *evidence.Error
		if !errors.Is(err, errStore) || errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Zip methods that are not supported, such as the one Windows Explorer uses for large files, are refused by name.
func TestZipMethods(t *testing.T) {
	data := zipped(file{"a.txt", log(8)})
	directory := bytes.Index(data, []byte("PK\x01\x02"))
	method := bytes.Clone(data)
	method[8], method[directory+10] = 9, 9
	locked := bytes.Clone(data)
	locked[6] |= 1
	locked[directory+8] |= 1
	for says, data := range map[string][]byte{"method of zip that is not read (9)": method, "with a password": locked} {
		_, err := ingest.Inspect(t.Context(), source("a.zip", data))
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != evidence.CodeUnsupportedFormat || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func ExampleUnpack() {
	archive := zipped(file{"b.txt", []byte("second")}, file{"a.txt", []byte("first")}, file{"c.zip", zipped()})
	err := ingest.Unpack(context.Background(), source("all.zip", archive), func(m ingest.Member) error {
		text, err := io.ReadAll(m)
		fmt.Printf("%s: %s\n", m.Name, text)
		return err
	}, func(name string, e *evidence.Error) { fmt.Println(name, e.Code) })
	fmt.Println(err)
	// Output:
	// all.zip/a.txt: first
	// all.zip/b.txt: second
	// c.zip unsupported-format
	// <nil>
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("text"))
	f.Add(gz([]byte("text")))
	f.Add(zst([]byte("text")))
	f.Add(zipped(file{"a.txt", []byte("text")}, file{"b.gz", gz([]byte("text"))}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := unpacked(t.Context(), "x", data)
		var refused *evidence.Error
		if err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}
