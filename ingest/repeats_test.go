package ingest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/etltest"
)

// One recording that was merged in several ways is one, in whatever order it is given; other recordings are added.
func TestOneRecordingMergedInSeveralWays(t *testing.T) {
	s := etltest.Invent(1, etltest.ScenarioSize{})
	file := func(name string, content []byte) ingest.Source {
		return ingest.Source{Name: name, ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	}
	kernel, heap := s.Pair(etltest.Format{})
	sources := map[string]ingest.Source{"p": file("plain.etl", s.File(etltest.Format{})),
		"c": file("packed.etl", s.File(etltest.Format{Compressed: true, BufferSize: 128 << 10})),
		"k": file("keys.etl", s.File(etltest.Format{Compressed: true, Keys: 64})),
		"h": file("heap.etl", heap), "s": file("kernel.etl", kernel)}
	want := totals(t, sources["p"])
	for order, left := range map[string]int{"pck": 2, "kcp": 2, "pc": 1, "pp": 1, "cshk": 2, "hs": 0} {
		var list []ingest.Source
		for _, letter := range strings.Split(order, "") {
			list = append(list, sources[letter])
		}
		r, err := ingest.ReadTogether(t.Context(), list, ingest.Options{})
		if err != nil {
			t.Fatalf("%s: %v", order, err)
		}
		if got := sum(r.Captures); got != want {
			t.Errorf("%s: %d bytes held, want %d", order, got, want)
		}
		n := 0
		for _, w := range r.Captures[0].Warnings {
			if strings.Contains(w.Message, " left out: ") {
				n++
			}
			if w.Code.Lossy() {
				t.Errorf("%s: %+v", order, w)
			}
		}
		if n != left {
			t.Errorf("%s: %d warnings, want %d: %+v", order, n, left, r.Captures[0].Warnings)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A recording that comes later in another packing is known; another one of the same boot is not.
func TestLaterRepeatIsKnown(t *testing.T) {
	s := etltest.Invent(1, etltest.ScenarioSize{})
	open := func(content []byte) *ingest.UnpackedTraces {
		traces, err := ingest.OpenTraces(t.Context(), []ingest.Source{{Name: "a.etl", ReaderAt: bytes.NewReader(content), Size: int64(len(content))}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return traces
	}
	plain, packed := open(s.File(etltest.Format{})), open(s.File(etltest.Format{Compressed: true}))
	other := open(etltest.Invent(2, etltest.ScenarioSize{}).File(etltest.Format{}))
	for _, test := range []struct {
		name string
		a, b *ingest.UnpackedTraces
		want ingest.Relation
	}{{"packed after plain", plain, packed, ingest.KnownFiles}, {"plain after packed", packed, plain, ingest.KnownFiles},
		{"another", plain, other, ingest.OtherRecording}} {
		got, err := test.a.Compare(context.Background(), test.b)
		if err != nil || got != test.want {
			t.Errorf("%s: %d, %v", test.name, got, err)
		}
	}
}
