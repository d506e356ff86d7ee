package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/blob"
)

// realEnv names the URL of a real S3 to test as well. What the tests write there lies below prefixes of their own and
// stays.
const realEnv = "HEAPDRIFT_TEST_S3_URL"

// stores are what the contract is tested with.
func stores() map[string]func(*testing.T) blob.Store {
	all := map[string]func(*testing.T) blob.Store{"disk": newDisk, "s3": newS3}
	if os.Getenv(realEnv) != "" {
		all["s3-real"] = newRealS3
	}
	return all
}

func newDisk(t *testing.T) blob.Store {
	t.Helper()
	return openDisk(t, t.TempDir())
}

func newS3(t *testing.T) blob.Store {
	t.Helper()
	return newFakeS3(t).open(t)
}

func newRealS3(t *testing.T) blob.Store {
	t.Helper()
	bucket, query, _ := strings.Cut(os.Getenv(realEnv), "?")
	name := strings.ReplaceAll(t.Name(), "/", "-")
	return must[blob.Store](t)(blob.Open(t.Context(), fmt.Sprintf("%s/%s-%d?%s", bucket, name, rand.Uint32(), query)))
}

func openDisk(t testing.TB, dir string) blob.Store {
	t.Helper()
	return must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir))
}

// must is for steps that a test is not about: their failure ends it.
func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// noises are the longest noises so far, by seed.
var noises struct {
	sync.Mutex
	of [256][]byte
}

// noise is the beginning of the random bytes of a seed. Callers must not change it.
func noise(seed byte, n int) []byte {
	noises.Lock()
	defer noises.Unlock()
	if len(noises.of[seed]) < n {
		b := make([]byte, n)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
		noises.of[seed] = b
	}
	return noises.of[seed][:n:n]
}

func put(t testing.TB, s blob.Store, key string, content []byte) {
	t.Helper()
	if n := must[int64](t)(s.Put(t.Context(), key, bytes.NewReader(content))); n != int64(len(content)) {
		t.Fatalf("Put returns %d of %d bytes", n, len(content))
	}
}

func get(t testing.TB, s blob.Store, key string) []byte {
	t.Helper()
	r := must[blob.Reader](t)(s.Open(t.Context(), key))
	defer func() { _ = r.Close() }()
	b := bytes.NewBuffer(make([]byte, 0, r.Size()+bytes.MinRead)) // it never grows
	must[int64](t)(b.ReadFrom(io.NewSectionReader(r, 0, r.Size())))
	return b.Bytes()
}

func keys(t testing.TB, s blob.Store, prefix string) []string {
	t.Helper()
	found := []string{}
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, info.Key)
	}
	return found
}

func wantKeys(t testing.TB, s blob.Store, prefix string, want ...string) {
	t.Helper()
	if got := keys(t, s, prefix); !slices.Equal(got, want) {
		t.Errorf("keys with prefix %q: %q, want %q", prefix, got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for _, size := range []int{0, 1, blob.BlockBytes - 1, 3*blob.BlockBytes + 7, blob.UploadPart - 1, blob.UploadPart,
				2*blob.UploadPart + 1} {
				content := noise(1, size)
				put(t, s, "a/blob", content)
				if info := must[blob.Info](t)(s.Stat(t.Context(), "a/blob")); info.Key != "a/blob" || info.Size != int64(size) ||
					info.Modified.IsZero() {
					t.Errorf("%d bytes: Stat says %+v", size, info)
				}
				if !bytes.Equal(get(t, s, "a/blob"), content) {
					t.Errorf("%d bytes: read back something else", size)
				}
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, "dir/blob", []byte("x"))
			for _, key := range []string{"blob", "dir", "dir/blob/below", "dir/other"} { // "dir" starts a key but is none
				if _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("Open %s: %v", key, err)
				}
				if _, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("Stat %s: %v", key, err)
				}
				if err := s.Rename(t.Context(), key, "elsewhere"); !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("Rename %s: %v", key, err)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					t.Errorf("Delete %s: %v", key, err)
				}
			}
			wantKeys(t, s, "", "dir/blob")
		})
	}
}

func TestKeys(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			ctx := t.Context()
			for _, key := range []string{
				"", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/..", ".", "./a", ".hidden", "a/.b", `a\b`, "C:a",
				"a b", "ä", "a\x00", "a\n",
				"a?b", "a%2fb", strings.Repeat("x", 201), strings.Repeat("x/", 260) + "x",
			} {
				_, put := s.Put(ctx, key, strings.NewReader("x"))
				_, open := s.Open(ctx, key)
				_, stat := s.Stat(ctx, key)
				for doing, err := range map[string]error{
					"Put": put, "Open": open, "Stat": stat, "Delete": s.Delete(ctx, key),
					"Rename from": s.Rename(ctx, key, "good"), "Rename to": s.Rename(ctx, "good", key),
				} {
					if err == nil || errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), "key") {
						t.Errorf("%s %.40q: error %v", doing, key, err)
					}
				}
			}
			for _, key := range []string{"a", "A-b_c.d/0", "x..y/z.", strings.Repeat("x", 200)} {
				put(t, s, key, []byte(key))
				if got := get(t, s, key); string(got) != key {
					t.Errorf("%q holds %q", key, got)
				}
			}
			for _, prefix := range []string{"/", "..", "a/../", "a//"} {
				for _, err := range s.List(ctx, prefix) {
					if err == nil {
						t.Errorf("List %q lists", prefix)
					}
				}
			}
		})
	}
}

func TestList(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			wantKeys(t, s, "")
			all := []string{"a", "b-c", "b.c", "b/1", "b/10", "b/2", "b/x/y", "b0", "bb/1"} // in the order of bytes
			for i := range all {
				put(t, s, all[(i*5)%len(all)], []byte("content"))
			}
			wantKeys(t, s, "", all...)
			wantKeys(t, s, "b", all[1:]...)
			wantKeys(t, s, "b/", "b/1", "b/10", "b/2", "b/x/y")
			wantKeys(t, s, "b/1", "b/1", "b/10")
			wantKeys(t, s, "b/x/", "b/x/y")
			wantKeys(t, s, "b/x/y/")
			wantKeys(t, s, "nothing/here")
			for info, err := range s.List(t.Context(), "b0") {
				if err != nil || info.Size != 7 || info.Modified.IsZero() {
					t.Errorf("%+v, %v", info, err)
				}
			}
			for _, err := range s.List(t.Context(), "") {
				if err != nil {
					t.Error(err)
				}
				break // must not call again
			}
			for info, err := range s.List(t.Context(), "b/") { // deleted while listed
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Delete(t.Context(), info.Key); err != nil {
					t.Fatal(err)
				}
			}
			wantKeys(t, s, "b", "b-c", "b.c", "b0", "bb/1")
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errCause)
			var last error
			for _, err := range s.List(ctx, "") {
				last = err
			}
			if !errors.Is(last, errCause) {
				t.Errorf("cancelled: %v", last)
			}
		})
	}
}

var (
	errCause  = errors.New("a reason of one's own")
	errSource = errors.New("the source failed")
)

// A Put whose source fails, or whose context ends, leaves what was there before and nothing else.
func TestFailedPut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, size := range []int{0, 1000, blob.UploadPart - 1, blob.UploadPart + 5} {
		for name, end := range map[string]struct {
			source func(cancel context.CancelCauseFunc) error
			want   error
		}{
			"error":     {func(context.CancelCauseFunc) error { return errSource }, errSource},
			"cut":       {func(context.CancelCauseFunc) error { return io.ErrUnexpectedEOF }, io.ErrUnexpectedEOF}, // a connection
			"cancelled": {func(cancel context.CancelCauseFunc) error { cancel(errCause); return nil }, errCause},   // and more comes
		} {
			t.Run(fmt.Sprintf("%d-%s", size, name), func(t *testing.T) {
				for name, open := range stores() {
					t.Run(name, func(t *testing.T) {
						s := open(t)
						put(t, s, "a/blob", []byte("before"))
						for _, key := range []string{"a/blob", "new/blob"} {
							ctx, cancel := context.WithCancelCause(t.Context())
							source := io.MultiReader(bytes.NewReader(noise(1, size)), io.LimitReader(readFunc(func(p []byte) (int, error) {
								err := end.source(cancel)
								return min(1, len(p)), err
							}), 100_000))
							n, err := s.Put(ctx, key, source)
							if n != 0 || !errors.Is(err, end.want) || !strings.Contains(err.Error(), key) {
								t.Errorf("Put %s returns %d, %v", key, n, err)
							}
							cancel(nil)
						}
						wantKeys(t, s, "", "a/blob")
						if got := get(t, s, "a/blob"); string(got) != "before" {
							t.Errorf("holds %d bytes", len(got))
						}
					})
				}
			})
		}
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// While a blob is replaced again and again, readers see one version or the other, whole.
func TestReplaceIsAtomic(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			versions := [2][]byte{bytes.Repeat([]byte("a"), 3*blob.BlockBytes), bytes.Repeat([]byte("b"), 2*blob.BlockBytes)}
			put(t, s, "k/blob", versions[0])
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := range 10 {
					if _, err := s.Put(t.Context(), "k/blob", bytes.NewReader(versions[(i+1)%2])); err != nil {
						t.Error(err)
					}
				}
			}()
			whole, replaced := 0, 0
			for running := true; running || whole == 0; {
				select {
				case <-done:
					running = false
				default:
				}
				r := must[blob.Reader](t)(s.Open(t.Context(), "k/blob"))
				got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
				switch {
				case err != nil && strings.Contains(err.Error(), "replaced"):
					replaced++
				case err != nil || !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]):
					t.Fatalf("read %d bytes that are neither version: %v", len(got), err)
				default:
					whole++
				}
				_ = r.Close()
			}
			t.Logf("%d whole reads, %d told that the blob was replaced", whole, replaced)
		})
	}
}

func TestRename(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, "from/1", []byte("one"))
			put(t, s, "from/2", []byte("two"))
			for _, step := range []struct {
				from, to, content string
				left              []string
			}{
				{"from/1", "to/deep/1", "one", []string{"from/2", "to/deep/1"}},
				{"from/2", "to/deep/1", "two", []string{"to/deep/1"}}, // replaces
				{"to/deep/1", "to/deep/1", "two", []string{"to/deep/1"}},
				{"to/deep/1", "top", "two", []string{"top"}},
			} {
				if err := s.Rename(t.Context(), step.from, step.to); err != nil {
					t.Fatal(err)
				}
				wantKeys(t, s, "", step.left...)
				if got := get(t, s, step.to); string(got) != step.content {
					t.Errorf("%s holds %q", step.to, got)
				}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errCause)
			if err := s.Rename(ctx, "top", "other"); !errors.Is(err, errCause) {
				t.Errorf("cancelled: %v", err)
			}
			wantKeys(t, s, "", "top")
		})
	}
}

// A blob that is too large to be copied by one request is copied in parts.
func TestRenameInParts(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			blob.SetCopyPart(s, 8<<20)
			content := noise(1, 12<<20+3)
			put(t, s, "from", content)
			if err := s.Rename(t.Context(), "from", "to"); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(get(t, s, "to"), content) {
				t.Error("read something else")
			}
			wantKeys(t, s, "", "to")
		})
	}
}

func TestReaderAtEdges(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			const size = 2*blob.BlockBytes + 100
			content := noise(7, size)
			put(t, s, "blob", content)
			put(t, s, "empty", nil)
			r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
			for _, c := range []struct {
				off int64
				len int
				n   int
				err error
			}{
				{0, 0, 0, nil},
				{0, 1, 1, nil},
				{0, size, size, nil},
				{0, size + 1, size, io.EOF},
				{size - 1, 1, 1, nil},
				{size - 1, 2, 1, io.EOF},
				{size, 1, 0, io.EOF},
				{size + 1, 1, 0, io.EOF},
				{1 << 50, 1, 0, io.EOF},
				{blob.BlockBytes - 1, 2, 2, nil},
				{blob.BlockBytes, blob.BlockBytes, blob.BlockBytes, nil},
				{1, 2 * blob.BlockBytes, 2 * blob.BlockBytes, nil},
				{blob.BlockBytes + 1, 5 * blob.BlockBytes, size - blob.BlockBytes - 1, io.EOF},
				{1, 10 * blob.MaxRunBytes, size - 1, io.EOF},
			} {
				p := make([]byte, c.len)
				n, err := r.ReadAt(p, c.off)
				if n != c.n || err != c.err { //nolint:errorlint // io.EOF itself is the contract
					t.Errorf("ReadAt(%d bytes, %d): %d, %v; want %d, %v", c.len, c.off, n, err, c.n, c.err)
				} else if n > 0 && !bytes.Equal(p[:n], content[c.off:c.off+int64(n)]) {
					t.Errorf("ReadAt(%d bytes, %d) reads something else", c.len, c.off)
				}
			}
			if n, err := r.ReadAt(make([]byte, 1), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
				t.Errorf("before the start: %d, %v", n, err)
			}
			empty := must[blob.Reader](t)(s.Open(t.Context(), "empty"))
			if n, err := empty.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF || empty.Size() != 0 { //nolint:errorlint // as above
				t.Errorf("empty blob: %d, %v, size %d", n, err, empty.Size())
			}
			if err := errors.Join(r.Close(), empty.Close()); err != nil {
				t.Error(err)
			}
			if n, err := r.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: %d, %v", n, err)
			}
		})
	}
}

// A reader fails once the context that opened it ends, even if it could read before.
func TestReaderEndsWithContext(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, "blob", []byte("content"))
			ctx, cancel := context.WithCancelCause(t.Context())
			r := must[blob.Reader](t)(s.Open(ctx, "blob"))
			defer func() { _ = r.Close() }()
			if _, err := r.ReadAt(make([]byte, 1), 0); err != nil {
				t.Fatal(err)
			}
			cancel(errCause)
			if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, errCause) {
				t.Errorf("read after the end: %v", err)
			}
			if _, err := s.Open(ctx, "blob"); !errors.Is(err, errCause) {
				t.Errorf("open after the end: %v", err)
			}
			if _, err := s.Stat(ctx, "blob"); !errors.Is(err, errCause) {
				t.Errorf("stat after the end: %v", err)
			}
		})
	}
}

func TestParallelReads(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			content := noise(3, blob.CacheBytes+5*blob.BlockBytes+11) // more than is kept
			put(t, s, "blob", content)
			r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
			defer func() { _ = r.Close() }()
			var group sync.WaitGroup
			for seed := range uint64(8) {
				group.Go(func() {
					random := rand.New(rand.NewPCG(seed, 0))
					p := make([]byte, blob.BlockBytes/2)
					for range 30 {
						off := random.Int64N(r.Size())
						n, err := r.ReadAt(p[:random.IntN(len(p))], off)
						if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], content[off:off+int64(n)]) {
							t.Errorf("at %d: %d bytes, %v", off, n, err)
						}
					}
				})
			}
			group.Wait()
		})
	}
}
