package capture_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
)

// A list without call stacks keeps what is known of its lines; lines that point outside, or of other sites, are refused.
func TestLines(t *testing.T) {
	c := &capture.Capture{Kind: "crt-leaks", Shape: capture.ShapeExit, Snapshots: make([]capture.Snapshot, 1), Lines: []capture.Line{}}
	stack := func(function string) capture.StackID {
		return c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Function: function}, 0)})
	}
	written := func() (*capture.Capture, error) {
		var artifact bytes.Buffer
		if err := c.Write(&artifact); err != nil {
			t.Fatal(err)
		}
		return capture.Read(&artifact)
	}
	if read, err := written(); err != nil || read.Lines == nil {
		t.Errorf("a clean list: %+v %v", read, err)
	}
	for _, same := range [][]capture.StackID{nil, {stack("A"), stack("B")}} {
		c.Sites = append(c.Sites, capture.Site{Stack: stack("line"), Heap: capture.NoHeap, Usage: make([]capture.Usage, 1)})
		c.Lines = append(c.Lines, capture.Line{SameBlocks: same, BeforeTests: capture.Usage{Count: int64(len(same)), Bytes: 70}})
	}
	if read, err := written(); err != nil || !reflect.DeepEqual(read.Lines, c.Lines) {
		t.Fatalf("%+v %v", read, err)
	}
	for name, lines := range map[string][]capture.Line{
		"a stack that is not there": {{}, {SameBlocks: []capture.StackID{4}}},
		"one line for two sites":    {{}},
	} {
		c.Lines = lines
		if _, err := written(); !errors.Is(err, capture.ErrArtifact) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.Lines = nil
	if read, err := written(); err != nil || read.Lines != nil {
		t.Errorf("a list with call stacks: %+v %v", read, err)
	}
}
