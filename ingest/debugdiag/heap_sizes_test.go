package debugdiag_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/debugdiag/debugdiagtest"
)

// What a heap reserved and committed stands in its details and in the rankings of heaps: either alone tells it.
func TestHeapSizesFromEither(t *testing.T) {
	const mb = 1 << 20
	for name, drop := range map[string][2]string{
		"without rankings": {" heaps by ", " heaps in order of "},
		"without details":  {"Heap Details", "Some Details"},
	} {
		page := everything(debugdiagtest.English).HTML()
		without := bytes.ReplaceAll(page, []byte(drop[0]), []byte(drop[1]))
		if bytes.Equal(page, without) {
			t.Fatalf("%s: %q is not in the page", name, drop[0])
		}
		c := read(t, debugdiagtest.Wrap(without, "B"))
		if len(c.Memory.Heaps) != 2 || c.Memory.Heaps[0].Reserved != 64*mb || c.Memory.Heaps[0].Committed != 40*mb ||
			c.Memory.Heaps[1].Reserved != 16*mb || c.Memory.Heaps[1].Committed != 3*mb {
			t.Errorf("%s: %+v", name, c.Memory.Heaps)
		}
	}
}
