package capture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
)

// withMemory is a snapshot that tells where the memory is.
func withMemory() *capture.Capture {
	c := sample()
	c.Sites[1].Unreachable = true
	c.Memory = &capture.Memory{
		Source: "dump",
		Space: &capture.Space{
			Uses: []capture.UseTotal{{Name: capture.UseHeap, Regions: 2, Reserved: 1 << 20, Committed: 4096,
				Private: 4096, Largest: 1 << 19}},
			States:      []capture.Share{{Name: "MEM_COMMIT", Regions: 1, Bytes: 4096}},
			Largest:     []capture.Reservation{{Address: 0x10000, Use: capture.UsePrivate, Reserved: 65536, Committed: 4096}},
			LargestFree: 1 << 40, LargestFreeAt: 1 << 41,
		},
		Heaps: []capture.HeapFacts{{Handle: 0x3f0000, Kind: "NT heap", Reserved: 1 << 20, Committed: 4096,
			Busy: capture.Usage{Count: 2, Bytes: 30, Overhead: 18}}},
		Groups: []capture.BlockGroup{{By: capture.BySize, Size: 24, Usage: capture.Usage{Count: 2, Bytes: 48},
			Unreachable: &capture.Usage{Count: 1, Bytes: 24}}},
		Claims: []capture.ToolConclusion{{Stack: 1, Type: "Heap allocation(s)", Percent: 97,
			Samples: []capture.Sample{{Title: "Call stack sample 1", Stack: 1, Size: 24}}}},
		Samples: []capture.Sample{{Stack: 1, Address: 0x20, Unreachable: true}},
		Gaps:    []capture.Gap{{What: "segment", Heap: 0x3f0000, Address: 0x400000, Bytes: 8192, Why: "not in the dump"}},
	}
	return c
}

func TestMemoryRoundTrip(t *testing.T) {
	c := withMemory()
	read, err := capture.Read(bytes.NewReader(artifact(t, c)))
	if err != nil || !reflect.DeepEqual(read.Memory, c.Memory) || !reflect.DeepEqual(read.Sites, c.Sites) {
		t.Fatalf("%v\n%+v\nwant\n%+v", err, read.Memory, c.Memory)
	}
}

func TestFactsHaveNoSites(t *testing.T) {
	c := withMemory()
	c.Shape, c.Snapshots = capture.ShapeFacts, c.Snapshots[:1]
	for i := range c.Sites {
		c.Sites[i].Usage = c.Sites[i].Usage[:1]
	}
	if _, err := capture.Read(bytes.NewReader(artifact(t, c))); !errors.Is(err, capture.ErrArtifact) {
		t.Errorf("facts with sites: %v", err)
	}
	c.Sites, c.Blocks = nil, capture.Blocks{}
	if _, err := capture.Read(bytes.NewReader(artifact(t, c))); err != nil {
		t.Error(err)
	}
	c.Memory.Claims[0].Samples[0].Stack = 99
	if _, err := capture.Read(bytes.NewReader(artifact(t, c))); !errors.Is(err, capture.ErrArtifact) {
		t.Errorf("a stack that is not there: %v", err)
	}
	c.Memory = nil
	if _, err := capture.Read(bytes.NewReader(artifact(t, c))); !errors.Is(err, capture.ErrArtifact) {
		t.Errorf("facts without any: %v", err)
	}
}

func TestAddress(t *testing.T) {
	text, err := json.Marshal(map[string]capture.Address{"at": 0x7ffe0000})
	if err != nil || string(text) != `{"at":"0x7ffe0000"}` {
		t.Fatalf("%s %v", text, err)
	}
	var back struct{ At capture.Address }
	if err := json.Unmarshal(text, &back); err != nil || back.At != 0x7ffe0000 {
		t.Errorf("%v %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"at":"here"}`), &back); err == nil {
		t.Error("a word was read as an address")
	}
}

// Artifacts of DebugDiag that are stored already have the margin under its old name.
func TestMarginOfStoredClaim(t *testing.T) {
	var m capture.Memory
	if err := json.Unmarshal([]byte(`{"claims":[{"Margin":512}]}`), &m); err != nil || m.Claims[0].UsageMargin != 512 {
		t.Errorf("%+v, %v", m.Claims, err)
	}
}
