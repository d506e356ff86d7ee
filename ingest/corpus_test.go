package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/etl"
	"heapdrift/internal/corpus"
)

// Published archives hold as many events as their baselines say.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	emptyTemp(t)
	for _, test := range []struct {
		file          string
		files, events int64
	}{
		{"etwanalyzer/TraceLoggingTester.7z", 1, 172716},
		{"perfview/net.4.5.2.x64.etl.zip", 1, 179474},
		{"perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip", 4, 16335 + 62379 + 22035 + 4},
		{"perfview/gcrundownevents.etl.zip", 1, 112},
		{"perfview/primitive-types.etl.zip", 1, 7},
		{"misc/monogame_PerfViewData.etl.zip", 1, 104},
	} {
		if underRace && test.events > 100_000 {
			continue
		}
		data, err := os.ReadFile(corpus.Path(t, "etl", filepath.FromSlash(test.file)))
		if err != nil {
			t.Fatal(err)
		}
		traces, err := ingest.OpenTraces(t.Context(), []ingest.Source{source(filepath.Base(test.file), data)}, nil)
		if err != nil {
			t.Errorf("%s: %v", test.file, err)
			continue
		}
		if len(traces.Warnings) > 0 {
			t.Errorf("%s: warned %v", test.file, traces.Warnings)
		}
		trace, err := etl.Open(t.Context(), traces.Files, etl.Options{})
		if err != nil {
			t.Fatalf("%s: %v", test.file, err)
		}
		events := int64(0)
		if err := trace.Events(t.Context(), func(*etl.Event) error { events++; return nil }); err != nil {
			t.Fatal(err)
		}
		if int64(len(traces.Files)) != test.files || events != test.events {
			t.Errorf("%s: %d files, %d events; want %d, %d", test.file, len(traces.Files), events, test.files, test.events)
		}
		if err := traces.Close(); err != nil {
			t.Error(err)
		}
	}
}
