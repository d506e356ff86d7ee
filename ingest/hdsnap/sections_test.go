package hdsnap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/hdsnap"
)

// artifactStart is what a capture begins with: its magic and its version.
const artifactStart = "hdcap\x01"

// around makes a file of sections, with checksums that fit: damage of a transfer is found by those, and a file that
// somebody made is not.
func around(t testing.TB, sections io.Reader) []byte {
	t.Helper()
	whole := write(t, hdsnap.Header{}, &capture.Capture{Snapshots: make([]capture.Snapshot, 1)})
	b := bytes.NewBuffer(whole[:bytes.Index(whole, []byte(artifactStart))+len(artifactStart)])
	z, err := zstd.NewWriter(b, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<16))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, sections); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sectionsOf are the sections of a file, unpacked.
func sectionsOf(t testing.TB, file []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file[bytes.Index(file, []byte(artifactStart))+len(artifactStart):]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Sections that fit their checksums give a capture that can be written and read again, or an error with a code.
func FuzzSections(f *testing.F) {
	f.Add(sectionsOf(f, write(f, hdsnap.Header{}, &capture.Capture{Snapshots: make([]capture.Snapshot, 1)})))
	f.Fuzz(func(t *testing.T, sections []byte) {
		list, err := hdsnap.Read(t.Context(), bytes.NewReader(around(t, bytes.NewReader(sections))))
		if err != nil {
			if evidence.Refusal(err) == nil {
				t.Fatalf("no refusal: %v", err)
			}
			return
		}
		if _, err := hdsnap.Read(t.Context(), bytes.NewReader(write(t, hdsnap.Header{}, list[0]))); err != nil {
			t.Fatal(err)
		}
		blockSum(list[0])
	})
}

// blockSum visits all that a capture points to, as analysis does.
func blockSum(c *capture.Capture) (sum uint64) {
	for b := range c.Blocks.All() {
		sum += b.Size
	}
	for i := range c.Sites {
		for _, frame := range c.Stacks.Stack(c.Sites[i].Stack) {
			sum += c.Stacks.Frame(frame).Address
		}
	}
	return sum
}

// A file of some kilobytes that unpacks to gigabytes is refused.
func TestBomb(t *testing.T) {
	const unknown, size = 1 << 20, 700 << 20
	head := binary.AppendUvarint(binary.AppendUvarint(nil, unknown), size)
	file := around(t, io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, size)))
	_, err := hdsnap.Read(t.Context(), bytes.NewReader(file))
	if codeOf(err) != hdsnap.CodeDamaged || !errors.Is(err, capture.ErrTooLarge) {
		t.Errorf("%d bytes that unpack to %d: %v", len(file), size, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
