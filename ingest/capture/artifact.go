package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The artifact of a capture:
//
//	magic    "hdcap"      5 bytes
//	version  1            1 byte
//	sections              zstd stream of: tag uvarint, length uvarint, payload; in the order of the tags
//
// A reader skips sections whose tag it does not know, so new kinds of facts (a timeline, an allocation table,
// the address space) are added as sections without a new version. Numbers in payloads are varints; a count
// is a claim and is checked against the bytes that are there.
const (
	artifactMagic   = "hdcap"
	artifactVersion = 1
	// maxSection bounds one section: 1 GiB holds the block log of some 150 million blocks.
	maxSection = 1 << 30
)

const (
	tagHeader = iota + 1
	tagSnapshots
	tagModules
	tagHeaps
	tagTexts
	tagFrames
	tagStacks
	tagSites
	tagBlocks
	tagWarnings
)

// ErrArtifact is what reading a damaged or foreign artifact gives.
var ErrArtifact = errors.New("capture: not a capture artifact of a known version")

// Write writes c as an artifact.
func (c *Capture) Write(w io.Writer) error {
	if _, err := io.WriteString(w, artifactMagic+string(rune(artifactVersion))); err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	var e encoder
	for _, section := range []struct {
		tag  uint64
		fill func(*encoder, *Capture)
	}{
		{tagHeader, putHeader}, {tagSnapshots, putSnapshots}, {tagModules, putModules}, {tagHeaps, putHeaps},
		{tagTexts, putTexts}, {tagFrames, putFrames}, {tagStacks, putStacks}, {tagSites, putSites},
		{tagBlocks, putBlocks}, {tagWarnings, putWarnings},
	} {
		e.b = e.b[:0]
		section.fill(&e, c)
		head := binary.AppendUvarint(binary.AppendUvarint(nil, section.tag), uint64(len(e.b)))
		if _, err := z.Write(head); err != nil {
			return fmt.Errorf("capture: write artifact: %w", err)
		}
		if _, err := z.Write(e.b); err != nil {
			return fmt.Errorf("capture: write artifact: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("capture: write artifact: %w", err)
	}
	return nil
}

// Read reads an artifact that Write made. Its error wraps ErrArtifact where the bytes are not one.
func Read(r io.Reader) (*Capture, error) {
	head := make([]byte, len(artifactMagic)+1)
	if _, err := io.ReadFull(r, head); err != nil || string(head) != artifactMagic+string(rune(artifactVersion)) {
		return nil, ErrArtifact
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("capture: read artifact: %w", err)
	}
	defer z.Close()
	in := bufio.NewReaderSize(z, 64<<10)
	c := &Capture{}
	for seen := 0; ; seen++ {
		tag, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) && seen > 0 { // no zstd frame at all also ends cleanly
			return c, c.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: section tag: %w", ErrArtifact, err)
		}
		length, err := binary.ReadUvarint(in)
		if err != nil || length > maxSection {
			return nil, fmt.Errorf("%w: section %d: bad length", ErrArtifact, tag)
		}
		take := sections[tag]
		if take == nil {
			if _, err := io.CopyN(io.Discard, in, int64(length)); err != nil {
				return nil, fmt.Errorf("%w: section %d: %w", ErrArtifact, tag, err)
			}
			continue
		}
		payload, err := io.ReadAll(io.LimitReader(in, int64(length))) // grows with what is there, not with the claim
		if err != nil || uint64(len(payload)) < length {
			return nil, fmt.Errorf("%w: section %d is cut", ErrArtifact, tag)
		}
		d := decoder{b: payload}
		take(&d, c)
		if d.bad {
			return nil, fmt.Errorf("%w: section %d is damaged", ErrArtifact, tag)
		}
	}
}

var sections = map[uint64]func(*decoder, *Capture){
	tagHeader: takeHeader, tagSnapshots: takeSnapshots, tagModules: takeModules, tagHeaps: takeHeaps,
	tagTexts: takeTexts, tagFrames: takeFrames, tagStacks: takeStacks, tagSites: takeSites,
	tagBlocks: takeBlocks, tagWarnings: takeWarnings,
}

// check refuses captures whose parts point outside each other, so that users of a Capture need not.
func (c *Capture) check() error {
	s := &c.Stacks
	for _, f := range s.frames {
		if f.Text != 0 && int(f.Text) >= len(s.texts) {
			return fmt.Errorf("%w: frame names text %d of %d", ErrArtifact, f.Text, len(s.texts))
		}
	}
	for _, f := range s.flat {
		if int(f) >= len(s.frames) {
			return fmt.Errorf("%w: stack names frame %d of %d", ErrArtifact, f, len(s.frames))
		}
	}
	for i := range c.Sites {
		site := &c.Sites[i]
		ok := int(site.Stack) < s.Count() && site.Heap >= NoHeap && int(site.Heap) < len(c.Heaps) && len(site.Usage) == len(c.Snapshots)
		for _, alias := range site.Aliases {
			ok = ok && int(alias) < s.Count()
		}
		if !ok {
			return fmt.Errorf("%w: site %d points outside the capture", ErrArtifact, i)
		}
	}
	n := 0
	for b := range c.Blocks.All() {
		if int(b.Site) >= len(c.Sites) {
			return fmt.Errorf("%w: block %d names site %d of %d", ErrArtifact, n, b.Site, len(c.Sites))
		}
		n++
	}
	if n != c.Blocks.n {
		return fmt.Errorf("%w: %d blocks of %d", ErrArtifact, n, c.Blocks.n)
	}
	return nil
}

// encoder appends varints and strings.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}
func (e *encoder) bool(v bool) {
	var bit uint64
	if v {
		bit = 1
	}
	e.uint(bit)
}
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.int(0)
		return
	}
	e.int(t.Unix())
}

// decoder reads what encoder wrote. The first underflow makes it bad and everything after it zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.b, d.bad = nil, true
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) bool() bool { return d.uint() != 0 }

func (d *decoder) time() time.Time {
	if s := d.int(); s != 0 {
		return time.Unix(s, 0).UTC()
	}
	return time.Time{}
}

// count reads how many elements follow, each of at least the given number of bytes.
func (d *decoder) count(least int) int {
	n := d.uint()
	if n > uint64(len(d.b)/least) {
		d.b, d.bad = nil, true
		return 0
	}
	return int(n)
}
