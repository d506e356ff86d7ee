package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/blob"
)

// The digest of "abc" is the example of FIPS 180-2, appendix B.1.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestPutContent(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			digest, err := blob.PutContent(t.Context(), s, iotest.OneByteReader(strings.NewReader("abc")))
			if want := (blob.Digest{SHA256: abc, Bytes: 3}); err != nil || digest != want {
				t.Fatalf("%+v, %v", digest, err)
			}
			if got := get(t, s, "sha256/ba/"+abc); string(got) != "abc" || blob.ContentKey(abc) != "sha256/ba/"+abc {
				t.Errorf("holds %q under %s", got, blob.ContentKey(abc))
			}
			first := must[blob.Info](t)(s.Stat(t.Context(), blob.ContentKey(abc)))
			await.Until(t, "the next second: S3 counts no less", func() bool { return time.Since(first.Modified) > time.Second })
			must[blob.Digest](t)(blob.PutContent(t.Context(), s, strings.NewReader("abc")))
			if again := must[blob.Info](t)(s.Stat(t.Context(), blob.ContentKey(abc))); !again.Modified.Equal(first.Modified) {
				t.Error("known content was written once more")
			}
			wantKeys(t, s, "", "sha256/ba/"+abc)
		})
	}
}

// A blob whose length differs from that of its content is damaged: it is replaced.
func TestPutContentMendsDamage(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, blob.ContentKey(abc), []byte("ab"))
			must[blob.Digest](t)(blob.PutContent(t.Context(), s, strings.NewReader("abc")))
			if got := get(t, s, blob.ContentKey(abc)); string(got) != "abc" {
				t.Errorf("holds %q", got)
			}
			wantKeys(t, s, "", blob.ContentKey(abc))
		})
	}
}

func TestPutContentFails(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			digest, err := blob.PutContent(t.Context(), s, io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(errSource)))
			if !errors.Is(err, errSource) || digest != (blob.Digest{}) {
				t.Errorf("%+v, %v", digest, err)
			}
			wantKeys(t, s, "")
		})
	}
}

func TestPutContentConcurrently(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			const writers = 12
			contents := [][]byte{noise(1, 2<<20), noise(2, 3<<20+1)}
			var group sync.WaitGroup
			for i := range writers {
				group.Go(func() {
					content := contents[i%2]
					digest, err := blob.PutContent(t.Context(), s, bytes.NewReader(content))
					if sum := sha256.Sum256(content); err != nil || digest.SHA256 != hex.EncodeToString(sum[:]) ||
						digest.Bytes != int64(len(content)) {
						t.Errorf("%+v, %v", digest, err)
					}
				})
			}
			group.Wait()
			found := keys(t, s, "")
			if len(found) != len(contents) {
				t.Errorf("%d writers left %q", writers, found)
			}
			for _, key := range found {
				if sum := sha256.Sum256(get(t, s, key)); key != blob.ContentKey(hex.EncodeToString(sum[:])) {
					t.Errorf("%s holds other content", key)
				}
			}
		})
	}
}

func TestSweepIncoming(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, blob.ContentKey(abc), []byte("abc"))
			for range 3 {
				put(t, s, blob.IncomingKey(), []byte("left by a crash"))
			}
			if n, err := blob.SweepIncoming(t.Context(), s, time.Hour); n != 0 || err != nil {
				t.Errorf("young ones: %d, %v", n, err)
			}
			swept := 0
			await.Until(t, "the end of those that are older than a millisecond", func() bool { // S3 counts seconds
				n, err := blob.SweepIncoming(t.Context(), s, time.Millisecond)
				if err != nil {
					t.Fatal(err)
				}
				swept += n
				return swept == 3
			})
			wantKeys(t, s, "", blob.ContentKey(abc))
		})
	}
}

func BenchmarkPut(b *testing.B) {
	for _, store := range []struct {
		name string
		open func() blob.Store
	}{
		{"disk", func() blob.Store { return openDisk(b, b.TempDir()) }},
		{"s3", func() blob.Store { return newFakeS3(b).open(b) }}, // mostly what gofakes3 takes
	} {
		for _, size := range []int{64 << 10, 8 << 20, 64 << 20} {
			for _, way := range []string{"Put", "PutContent"} {
				b.Run(fmt.Sprintf("%s/%s-%dKiB", store.name, way, size>>10), func(b *testing.B) {
					s, content := store.open(), slices.Clone(noise(1, size))
					b.SetBytes(int64(size))
					for i := 0; b.Loop(); i++ {
						content[0], content[1], content[2] = byte(i), byte(i>>8), byte(i>>16) // new content each time
						var err error
						if way == "Put" {
							_, err = s.Put(b.Context(), "blob", bytes.NewReader(content))
						} else {
							var digest blob.Digest
							if digest, err = blob.PutContent(b.Context(), s, bytes.NewReader(content)); err == nil {
								err = s.Delete(b.Context(), blob.ContentKey(digest.SHA256))
							}
						}
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// Putting old content again renews its age, because unreferenced content is deleted by age.
func TestPutContentRenewsAge(t *testing.T) {
	dir := t.TempDir()
	s := openDisk(t, dir)
	put := func() time.Time {
		t.Helper()
		digest := must[blob.Digest](t)(blob.PutContent(t.Context(), s, strings.NewReader("content")))
		return must[blob.Info](t)(s.Stat(t.Context(), blob.ContentKey(digest.SHA256))).Modified
	}
	put()
	sum := sha256.Sum256([]byte("content"))
	path := filepath.Join(dir, blob.ContentKey(hex.EncodeToString(sum[:])))
	for age, renewed := range map[time.Duration]bool{blob.KeptFor/2 - time.Minute: false,
		blob.KeptFor/2 + time.Minute: true} {
		old := time.Now().Add(-age)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if now := put(); (time.Since(now) < age/2) != renewed {
			t.Errorf("content of %v: modified %v", age, now)
		}
	}
}
