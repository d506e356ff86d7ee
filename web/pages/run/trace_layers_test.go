package run

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// The layer of leaks lies on top of the rest. Its thickness is that of the instants, straight between them, and it is
// whole up to the end of the process.
func TestLayersOfTrace(t *testing.T) {
	r := &analysis.Report{
		Trace:     &analysis.Trace{ToNS: 40, ExitedNS: new(int64(30))},
		Snapshots: []analysis.Snapshot{{AtNS: 0}, {AtNS: 20}, {AtNS: 40}},
	}
	c := timeChart{span: capture.Window{To: 40}}
	bands := c.growing(r,
		[]band{{"stable", "did not change", []float64{9, 9, 9}}, {"growing", "growing", []float64{10, 10, 0}},
			{"leak", "leak", []float64{0, 100, 0}}})
	line := analysis.Timeline{AtNS: []int64{0, 10, 20, 25, 30}, LastBytes: []int64{100, 200, 300, 300, 0},
		MaxBytes: []int64{100, 200, 300, 300, 0}}
	layers := c.layersOf(line, bands, func(bytes int64) float64 { return 1000 - float64(bytes) }, 1000)
	want := []layer{
		{"a-leak", "leak", "M0 900H250V800H500V700H750V1000H1000V1000H0Z"},
		{"a-growing", "growing", "M0 900H250V850H500V800H750V1000H1000V1000H0Z"},
		{"t-area", "the rest", "M0 910H250V860H500V810H750V1000H1000V1000H0Z"},
	}
	if len(layers) != len(want) {
		t.Fatalf("%d layers: %+v", len(layers), layers)
	}
	for i := range want {
		if layers[i] != want[i] {
			t.Errorf("layer %+v, want %+v", layers[i], want[i])
		}
	}
	c.lanes = []lane{{layers: layers[2:]}, {layers: layers}}
	names := ""
	for _, l := range c.legend() {
		names += l.name + ", "
	}
	if names != "leak, growing, the rest, " {
		t.Errorf("the legend has %s", names)
	}
}
