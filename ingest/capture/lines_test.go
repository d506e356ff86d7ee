package capture_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
)

// A list without call stacks keeps the stacks that another list has for its blocks; one that points outside is refused.
func TestLines(t *testing.T) {
	c := &capture.Capture{Kind: "crt-leaks", Shape: capture.ShapeExit, Snapshots: make([]capture.Snapshot, 1), Lines: true}
	stack := func(function string) capture.StackID {
		return c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Function: function}, 0)})
	}
	for _, same := range [][]capture.StackID{nil, {stack("A"), stack("B")}} {
		c.Sites = append(c.Sites, capture.Site{Stack: stack("line"), Heap: capture.NoHeap, SameBlocks: same, Usage: make([]capture.Usage, 1)})
	}
	var artifact bytes.Buffer
	if err := c.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	read, err := capture.Read(&artifact)
	if err != nil || !read.Lines || read.Sites[0].SameBlocks != nil || !slices.Equal(read.Sites[1].SameBlocks, c.Sites[1].SameBlocks) {
		t.Fatalf("%+v %v", read, err)
	}
	c.Sites[1].SameBlocks[1] = 4
	artifact.Reset()
	if err := c.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Read(&artifact); !errors.Is(err, capture.ErrArtifact) {
		t.Errorf("a stack that is not there: %v", err)
	}
	c.Lines = false
	artifact.Reset()
	if err := c.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	if read, err := capture.Read(&artifact); err != nil || read.Lines || read.Sites[1].SameBlocks != nil {
		t.Errorf("a list with call stacks: %+v %v", read, err)
	}
}
