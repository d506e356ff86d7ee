package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
)

// scenario is the content of all traces in these tests, except where a test says otherwise.
func scenario() *etltest.Scenario {
	return etltest.Invent(1, etltest.ScenarioSize{Steps: 20, Stacks: 4})
}

func trace() []byte { return scenario().File(etltest.Format{BufferSize: 0x1000}) }

func pair() (kernel, heap []byte) { return scenario().Pair(etltest.Format{BufferSize: 0x1000}) }

// alien is a trace of another boot, with or without memory events.
func alien(memory bool) []byte {
	s := scenario()
	s.Start += 10_000_000_000_000
	if !memory {
		s.Heaps, s.Blocks, s.Regions = nil, nil, nil
	}
	return s.File(etltest.Format{BufferSize: 0x1000})
}

// told prints a reading, a line for each capture.
func told(r *ingest.Reading) string {
	var b strings.Builder
	for _, c := range r.Captures {
		fmt.Fprintf(&b, "%s %d: %d sites, %d heaps\n", c.Process.Name, c.Process.PID, len(c.Sites), len(c.Heaps))
	}
	if r.Rows != nil {
		fmt.Fprintf(&b, "%d rows, %d of sites\n", r.Rows.Len(), len(r.Meta.Sites))
	}
	return b.String()
}

func read(t *testing.T, sources ...ingest.Source) (string, []capture.Warning, error) {
	t.Helper()
	do := func() (*ingest.Reading, error) { return ingest.ReadTogether(t.Context(), sources, ingest.Options{}) }
	if len(sources) == 1 {
		do = func() (*ingest.Reading, error) { return ingest.Read(t.Context(), sources[0], ingest.Options{}) }
	}
	r, err := do()
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	var warnings []capture.Warning
	if len(r.Captures) > 0 {
		warnings = r.Captures[0].Warnings
	}
	return told(r), warnings, err
}

// emptyTemp makes a folder for temporary files, and fails the test where something is left in it.
func emptyTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
}

func TestWrappedTraces(t *testing.T) {
	emptyTemp(t)
	whole := trace()
	want, _, err := read(t, source("a.etl", whole))
	if err != nil || !strings.Contains(want, "battery.exe") {
		t.Fatalf("%s %v", want, err)
	}
	kernel, heap := pair()
	wantPair, _, err := read(t, source("kernel.etl", kernel), source("heap.etl", heap))
	if err != nil || !strings.Contains(wantPair, "battery.exe") {
		t.Fatalf("%s %v", wantPair, err)
	}
	pdb := []byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00")
	perfView := zipped(file{"PerfViewData.etl", whole}, file{"symbols/app.pdb/1/app.pdb", pdb},
		file{"symbols/b.pdb/1/b.pdb", pdb}, file{"LogFile.txt", []byte("Started\r\n")})
	session := zipped(file{"[Content_Types].xml", []byte("<?xml?>")}, file{"x/kernel.etl", kernel},
		file{"x/heap.etl", heap}, file{"metadata.xml", []byte("<?xml?>")})
	for name, test := range map[string]struct {
		data    []byte
		want    string
		warning string
	}{
		"a.etl.gz":  {gz(whole), want, ""},
		"a.etl.zst": {zst(whole), want, ""},
		"a.7z":      {sevenZipped(file{"a.etl", whole}), want, ""},
		"twice.zst": {zst(gz(whole)), want, ""},
		"a.etl.zip": {perfView, want,
			"Upload the archive as symbols too (heapdrift symbols add, or PUT /api/v1/symbols): a.etl.zip has 2 PDBs or images"},
		"a.diagsession": {session, wantPair, ""},
		"pair.zip":      {zipped(file{"kernel.etl.gz", gz(kernel)}, file{"heap.etl", heap}), wantPair, ""},
		"pair.7z":       {sevenZipped(file{"kernel.etl", kernel}, file{"heap.etl", heap}), wantPair, ""},
		"lzma2.7z":      {testdata(t, "pair-solid-lzma2.7z"), wantPair, ""},
		"ppmd.7z":       {testdata(t, "pair-ppmd.7z"), wantPair, ""},
		"mixed.zip": {zipped(file{"1.txt", log(8)}, file{"a.etl", whole}, file{"z.txt", log(9)}), want,
			"Upload the other evidence (2) as a run: mixed.zip also holds a trace"},
		"badlog.zip": {zipped(file{"1.txt", log(8)[:400]}, file{"a.etl", whole}), want,
			"Upload the other evidence (1) as a run: badlog.zip also holds a trace"},
		"empty.zip": {zipped(file{"a.etl", whole}, file{"b.etl", nil}, file{"c.txt", nil}), want,
			"1 file of empty.zip is not evidence and left out: b.etl"},
		"zeros.zip": {zipped(file{"a.etl", whole}, file{"b.etl", make([]byte, 9000)}), want,
			"1 file of zeros.zip is not evidence and left out: b.etl"},
		"idle.etl.gz": {filled(whole, 0xFF), want, ""}, // no bomb
		"boots.zip": {zipped(file{"a.etl", whole}, file{"b.etl", alien(false)}), want,
			"of another boot or clock than boots.zip/a.etl, without memory events, and left out: boots.zip/b.etl"},
	} {
		got, warnings, err := read(t, source(name, test.data))
		if err != nil || got != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, test.want)
		}
		var said []string
		for _, w := range warnings {
			if w.Code == capture.Unsupported {
				said = append(said, w.Message)
			}
		}
		if len(said) > 1 || test.warning == "" && len(said) > 0 || !strings.HasPrefix(strings.Join(said, ""), test.warning) {
			t.Errorf("%s: warned %q, want %q", name, said, test.warning)
		}
		kind, err := ingest.Inspect(t.Context(), source(name, test.data))
		if err != nil || kind != "etl" {
			t.Errorf("%s: inspected as %q, %v", name, kind, err)
		}
	}
	got, _, err := read(t, source("kernel.etl.gz", gz(kernel)), source("heap.zip", zipped(file{"heap.etl", heap})))
	if err != nil || got != wantPair {
		t.Errorf("each packed: %v\n%s", err, got)
	}
}

func TestRefusedTraces(t *testing.T) {
	emptyTemp(t)
	whole := trace()
	kernel, heap := pair()
	for name, test := range map[string]struct {
		data       []byte
		code, says string
	}{
		"empty.etl":      {nil, evidence.CodeEmptyFile, "empty"},
		"zeros.etl":      {make([]byte, 70000), evidence.CodeNotTrace, "first 65536 bytes are all zero"},
		"cut.etl":        {whole[:50], evidence.CodeNotTrace, "50 bytes and ends inside the header"},
		"text.etl":       {[]byte(strings.Repeat("not a trace\n", 20)), evidence.CodeNotTrace, "6e 6f 74 20 61"},
		"cut-header.etl": {whole[:0x100], etl.CodeBadHeader, "cut short"},
		"twoboots.zip": {zipped(file{"a.etl", whole}, file{"b.etl", alien(true)}), etl.CodeOtherBoot,
			"twoboots.zip/a.etl were recorded in different boots"},
		"none.etl":   {alien(false), tracecapture.CodeNoMemory, "neither heap nor VirtualAlloc"},
		"none.zip":   {zipped(file{"a.etl", alien(false)}), tracecapture.CodeNoMemory, "neither heap nor VirtualAlloc"},
		"cut.etl.gz": {gz(whole)[:900], evidence.CodeDamagedArchive, "damaged or cut short"},
		"inner.zip": {zipped(file{"a.etl.zip", zipped(file{"a.etl", whole})}), evidence.CodeUnsupportedFormat,
			"archive inside an archive"},
	} {
		_, _, err := read(t, source(name, test.data))
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s saying %q", name, err, test.code, test.says)
		}
	}
	for name, test := range map[string]struct {
		sources    []ingest.Source
		code, says string
	}{
		"a log among them": {[]ingest.Source{source("kernel.etl", kernel), source("a.txt", log(8))}, evidence.CodeNoEvidence,
			"a.txt: this holds no trace"},
		"other boots": {[]ingest.Source{source("a.etl", whole), source("b.etl.gz", gz(alien(true)))}, etl.CodeOtherBoot,
			"b.etl.gz: this file and a.etl"},
		"one is damaged": {[]ingest.Source{source("h.gz", gz(heap)), source("k.gz", gz(kernel)[:700])},
			evidence.CodeDamagedArchive, "k.gz: the archive is damaged"},
		"nothing": {[]ingest.Source{source("a.etl.gz", gz(nil)), source("b.etl", heap)},
			evidence.CodeEmptyFile, "a.etl.gz"},
	} {
		_, _, err := read(t, test.sources...)
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s saying %q", name, err, test.code, test.says)
		}
	}
}

// stoppingReader is a reader that cancels after so many bytes.
type stoppingReader struct {
	*bytes.Reader
	left   int
	cancel func()
}

func (s *stoppingReader) ReadAt(p []byte, off int64) (int, error) {
	if s.left -= len(p); s.left < 0 {
		s.cancel()
	}
	return s.Reader.ReadAt(p, off)
}

func TestCancelledTraces(t *testing.T) {
	emptyTemp(t)
	kernel, heap := pair()
	for name, data := range map[string][]byte{"a.etl": trace(),
		"a.zip": zipped(file{"kernel.etl", kernel}, file{"heap.etl", heap}),
		"a.7z":  sevenZipped(file{"kernel.etl", kernel}, file{"heap.etl", heap})} {
		for left := 0; left < len(data); left += 10000 {
			ctx, cancel := context.WithCancel(t.Context())
			src := ingest.Source{Name: name, ReaderAt: &stoppingReader{bytes.NewReader(data), left, cancel},
				Size: int64(len(data))}
			r, err := ingest.Read(ctx, src, ingest.Options{})
			if cancel(); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s after %d bytes: %v", name, left, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTraceProgress(t *testing.T) {
	kernel, heap := pair()
	for name, sources := range map[string][]ingest.Source{
		"plain":  {source("kernel.etl", kernel), source("heap.etl", heap)},
		"packed": {source("kernel.etl.gz", gz(kernel)), source("heap.etl.zst", zst(heap))},
		"mixed":  {source("kernel.etl.gz", gz(kernel)), source("heap.etl", heap)},
	} {
		var dones []int64
		last, whole := int64(0), sources[0].Size+sources[1].Size
		r, err := ingest.ReadTogether(t.Context(), sources, ingest.Options{Progress: func(done, total int64) {
			if done < last || done > total || total != whole {
				t.Errorf("%s: from %d to %d of %d", name, last, done, total)
			}
			last = done
			dones = append(dones, done)
		}})
		if err != nil || last != whole || len(slices.Compact(dones)) < 2 {
			t.Errorf("%s: %v, %v of %d", name, err, dones, whole)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A damaged trace, cut or with wrong bits, packed or not, is read as far as it goes or refused; silence is a fault.
func TestDamagedTraces(t *testing.T) {
	emptyTemp(t)
	_, heap := pair()
	packed := sevenZipped(file{"heap.etl", heap})
	for at := 0; at < len(heap); at += 613 {
		for _, data := range [][]byte{heap[:at], etltest.Flipped(heap, uint64(at), 20), gz(heap[:at]), packed[:at],
			etltest.Flipped(packed, uint64(at), 3)} {
			r, err := ingest.Read(t.Context(), source("a.etl", data), ingest.Options{})
			if err == nil && len(r.Captures) == 0 {
				t.Errorf("cut at %d: nothing read and nothing said", at)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func ExampleReadTogether() {
	kernel, heap := pair()
	r, err := ingest.ReadTogether(context.Background(),
		[]ingest.Source{source("kernel.etl", kernel), source("heap.etl.gz", gz(heap))}, ingest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = r.Close() }()
	for _, c := range r.Captures {
		fmt.Println(c.Process.Name, c.Process.PID)
	}
	// Output:
	// meter32.exe 7260
	// brief.exe 9000
	// battery.exe 5128
	// again.exe 9000
}
