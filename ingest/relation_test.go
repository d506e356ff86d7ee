package ingest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl/etltest"
)

// A merged trace is read without the files that it was made from, whichever of them are given and in whatever order.
func TestMergedBesideRaw(t *testing.T) {
	s := etltest.Invent(1, etltest.ScenarioSize{})
	merged := s.File(etltest.Format{})
	kernel, heap := s.Pair(etltest.Format{})
	file := func(name string, content []byte) ingest.Source {
		return ingest.Source{Name: name, ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	}
	sources := map[string]ingest.Source{"m": file("merged.etl", merged), "k": file("kernel.etl", kernel),
		"h": file("heap.etl", heap)}
	want := totals(t, sources["m"])
	for order, left := range map[string]string{"mkh": "kernel.etl, heap.etl", "khm": "kernel.etl, heap.etl",
		"hm": "heap.etl", "kh": "", "m": ""} {
		var list []ingest.Source
		for _, letter := range strings.Split(order, "") {
			list = append(list, sources[letter])
		}
		r, err := ingest.ReadTogether(t.Context(), list, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(r.Captures); got != want {
			t.Errorf("%s: %d bytes held, want %d", order, got, want)
		}
		i := slices.IndexFunc(r.Captures[0].Warnings,
			func(w capture.Warning) bool { return strings.Contains(w.Message, "was merged from them") })
		if left == "" != (i < 0) || i >= 0 && !strings.HasPrefix(r.Captures[0].Warnings[i].Message, left+" left out") {
			t.Errorf("%s: %+v", order, r.Captures[0].Warnings)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func totals(t *testing.T, src ingest.Source) int64 {
	t.Helper()
	r, err := ingest.Read(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	return sum(r.Captures)
}

func sum(captures []*capture.Capture) (held int64) {
	for _, c := range captures {
		held += c.Held()
	}
	return held
}
