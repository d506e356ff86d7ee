package task

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/symbols"
)

// A storedFile is a file of evidence that knows whether it is open.
type storedFile struct {
	*bytes.Reader
	open *int
}

func (f *storedFile) Close() error { *f.open--; return nil }

// A storedHost has files by name. A file without content cannot be opened.
type storedHost struct {
	Host
	names  []string
	files  map[string][]byte
	open   int
	opened []string
}

var errStorage = errors.New("the storage does not answer")

func (h *storedHost) Open(_ context.Context, file int) (symbols.Content, error) {
	content := h.files[h.names[file]]
	if content == nil {
		return nil, errStorage
	}
	h.open++
	h.opened = append(h.opened, h.names[file])
	return &storedFile{bytes.NewReader(content), &h.open}, nil
}

// join joins files in the order given.
func (h *storedHost) join(ctx context.Context, names ...string) (*recording, error) {
	h.names, h.opened = names, nil
	r := &recording{host: h}
	for _, name := range names {
		r.files = append(r.files, File{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(h.files[name]))})
	}
	for i := range names {
		if err := r.join(ctx, i); err != nil {
			return r, err
		}
	}
	return r, nil
}

func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func newStoredHost(t *testing.T) *storedHost {
	t.Helper()
	s := etltest.Invent(1, etltest.ScenarioSize{Steps: 400})
	kernel, heap := s.Pair(etltest.Format{})
	return &storedHost{files: map[string][]byte{
		"kernel.etl": kernel, "heap.etl": heap, "copy.etl": kernel, "kernel.zip": zipped(t, "kernel.etl", kernel),
		"merged.etl": s.File(etltest.Format{}),
		"boot.etl":   etltest.Invent(9, etltest.ScenarioSize{Steps: 40}).File(etltest.Format{Frequency: 3_000_000}),
		"notes.txt":  []byte("no trace"),
	}}
}

// A task reads the files of one recording together. A file that it covers needs no task of its own: the sessions of one
// recording, the same file again, and the same file in an archive. Others stay for their own task, and are closed.
func TestFilesOfOneRecording(t *testing.T) {
	h := newStoredHost(t)
	for _, test := range []struct {
		files, pieces string
		covered       []int
	}{
		{"kernel.etl", "kernel.etl", []int{0}},
		{"kernel.etl heap.etl", "kernel.etl heap.etl", []int{0, 1}},
		{"heap.etl kernel.etl", "heap.etl kernel.etl", []int{0, 1}},
		{"kernel.etl copy.etl", "kernel.etl", []int{0, 1}},
		{"kernel.etl kernel.zip", "kernel.etl", []int{0, 1}},
		{"kernel.etl heap.etl kernel.zip copy.etl", "kernel.etl heap.etl", []int{0, 1, 2, 3}},
		{"kernel.etl boot.etl heap.etl", "kernel.etl heap.etl", []int{0, 2}},
		{"boot.etl kernel.etl heap.etl", "boot.etl", []int{0}},
		{"merged.etl kernel.etl heap.etl", "merged.etl", []int{0}},
		{"kernel.etl merged.etl", "kernel.etl", []int{0}},
		{"kernel.etl notes.txt heap.etl", "kernel.etl heap.etl", []int{0, 2}},
	} {
		r, err := h.join(t.Context(), strings.Fields(test.files)...)
		if err != nil {
			t.Fatalf("%s: %v", test.files, err)
		}
		var pieces []string
		for _, p := range r.pieces {
			pieces = append(pieces, p.Name)
		}
		if strings.Join(pieces, " ") != test.pieces || !slices.Equal(r.covered, test.covered) {
			t.Errorf("%s: %q are one recording, which covers %d", test.files, pieces, r.covered)
		}
		if h.open != len(r.pieces) {
			t.Errorf("%s: %d files are open, %d are read", test.files, h.open, len(r.pieces))
		}
		if strings.Contains(test.files, "copy.etl") && slices.Contains(h.opened, "copy.etl") {
			t.Errorf("%s: the same content was opened twice", test.files)
		}
		if r.close(); h.open != 0 {
			t.Errorf("%s: %d files stay open", test.files, h.open)
		}
	}
}

// A file that cannot be opened for now ends the task, which is tried again: else the recording would be read without
// it.
func TestFileThatCannotBeOpened(t *testing.T) {
	h := newStoredHost(t)
	for _, files := range [][]string{{"away.etl"}, {"kernel.etl", "away.etl"}, {"kernel.etl", "heap.etl", "away.etl"}} {
		r, err := h.join(t.Context(), files...)
		if !errors.Is(err, errStorage) {
			t.Errorf("%q: %v", files, err)
		}
		if r.close(); h.open != 0 {
			t.Errorf("%q: %d files stay open", files, h.open)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, err := h.join(ctx, "kernel.etl", "heap.etl")
	if r.close(); !errors.Is(err, context.Canceled) || h.open != 0 {
		t.Errorf("canceled: %v, %d files stay open", err, h.open)
	}
}

// The same files give the same captures, whichever came first.
func TestOrderOfUploadsDoesNotMatter(t *testing.T) {
	h := newStoredHost(t)
	for _, files := range [][]string{{"kernel.etl", "heap.etl"}, {"heap.etl", "kernel.etl"}} {
		r, err := h.join(t.Context(), files...)
		if err != nil {
			t.Fatal(err)
		}
		reading, err := r.read(t.Context(), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.pieces[0].Name != "heap.etl" || r.pieces[1].Name != "kernel.etl" || len(reading.Captures) == 0 {
			t.Errorf("%q: read as %s, %s: %d captures", files, r.pieces[0].Name, r.pieces[1].Name, len(reading.Captures))
		}
		if err := reading.Close(); err != nil {
			t.Error(err)
		}
		r.close()
	}
}
