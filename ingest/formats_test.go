package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag/debugdiagtest"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/ntheap/ntheaptest"
)

const (
	heapLog = "0:000> !heap -stat -h 00460000\n heap @ 00460000\ngroup-by: TOTSIZE max-display: 20\n    size     #blocks     total     ( %) (percent of total busy bytes)\n" +
		"    100 10 - 1000  (50.00)\n    80 20 - 1000  (50.00)\n"
	regions = `<?xml version="1.0"?><Root><Snapshots><Snapshot><MemoryRegions><Region Address="65536" Size="4096" Commit="4096" PrivateBytes="4096" UseType="4" Type="Private Data" Protection="Read/Write"/></MemoryRegions></Snapshot></Snapshots></Root>`
	stops   = `<?xml version="1.0" encoding="UTF-8" ?><avrf:logfile xmlns:avrf="Application Verifier"><avrf:logSession TimeStarted="2026-01-02 : 03:04:05" PID="42" Version="2"><avrf:logEntry Time="2026-01-02 : 03:04:06" LayerName="Leak" StopCode="0x900" Severity="Error">` +
		`<avrf:message>A heap allocation was leaked.</avrf:message><avrf:parameter1>0x1000 - Address of the leaked allocation.</avrf:parameter1><avrf:stackTrace><avrf:trace>app!main+10 (c:\a.cpp @ 7)</avrf:trace></avrf:stackTrace></avrf:logEntry></avrf:logSession></avrf:logfile>`
)

func dumpOf(seed uint64) []byte {
	return dumptest.Of(ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: seed, Heaps: 1, Segments: 1,
		Blocks: 20}), dumptest.Program{PID: 42}).Bytes()
}

// The content of a file decides its format, whether the file is packed or not. Formats whose samples are not made here
// have a file testdata/sample.* in the package of their reader.
func TestFormats(t *testing.T) {
	type sample struct {
		data  []byte
		kind  evidence.Kind
		gives capture.Kind
	}
	samples := map[string]sample{
		"app.dmp":     {dumpOf(1), "minidump", "minidump"},
		"report.mht":  {debugdiagtest.Walkthrough().MIME(), "debugdiag-report", "debugdiag-report"},
		"report.html": {debugdiagtest.Walkthrough().HTML(), "debugdiag-report", "debugdiag-report"},
		"session.log": {[]byte(heapLog), "windbg-log", "windbg-log"},
		"app.mmp":     {[]byte(regions), "vmmap", "vmmap"},
		"app.xml":     {[]byte(stops), "appverifier-log", "appverifier-log"},
		"app.log":     {log(8), "umdh", "umdh-snapshot"},
	}
	formats, has := ingest.Formats(), map[evidence.Kind]bool{"etl": true} // of several files: traces_test.go
	for _, s := range samples {
		has[s.kind] = true
	}
	kept, err := filepath.Glob("*/testdata/sample.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kept {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kind, err := ingest.Inspect(t.Context(), source(name, data))
		if err != nil || has[kind] {
			t.Errorf("%s is %q, %v: it is to be of a format without another sample", name, kind, err)
			continue
		}
		has[kind] = true
		samples[filepath.Base(name)] = sample{data, kind, capture.Kind(formats.Of(kind).CaptureKinds[0])}
	}
	for _, f := range formats {
		if !has[f.Kind] {
			t.Errorf("%s has no sample: put one into testdata/sample%s of its reader", f.Kind, append(f.Extensions, ".txt")[0])
		}
	}
	for name, test := range samples {
		for _, packed := range []struct {
			name string
			data []byte
		}{{name, test.data}, {name + ".gz", gz(test.data)}, {name + ".zst", zst(test.data)},
			{name + ".zip", zipped(file{name, test.data}, file{"notes.md", []byte("# notes")})}} {
			src := source(packed.name, packed.data)
			kind, err := ingest.Inspect(t.Context(), src)
			if err != nil || kind != test.kind {
				t.Errorf("%s is %q, %v", packed.name, kind, err)
			}
			r, err := ingest.Read(t.Context(), src, ingest.Options{})
			if err != nil || len(r.Captures) != 1 || r.Captures[0].Kind != test.gives {
				t.Errorf("%s: %v, %+v", packed.name, err, r)
			}
		}
	}
}

// The dumps of an archive are read as a series, in the order of the numbers in their names, and other evidence beside
// them is read as well.
func TestArchiveOfDumps(t *testing.T) {
	src := source("all.zip",
		zipped(file{"app-10.dmp", dumpOf(3)}, file{"app-9.dmp", dumpOf(2)}, file{"session.log", []byte(heapLog)}))
	if kind, err := ingest.Inspect(t.Context(), src); err != nil || kind != "minidump" {
		t.Errorf("%q %v", kind, err)
	}
	r, err := ingest.Read(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, c := range r.Captures {
		kinds = append(kinds, string(c.Kind))
	}
	if got := strings.Join(kinds, " "); got != "minidump minidump windbg-log" {
		t.Fatalf("captures %s", got)
	}
	for i, seed := range []uint64{2, 3} {
		alone, err := ingest.Read(t.Context(), source("alone.dmp", dumpOf(seed)), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Captures[i].Memory.Heaps, alone.Captures[0].Memory.Heaps; !reflect.DeepEqual(got, want) {
			t.Errorf("capture %d is %+v, want %+v", i, got, want)
		}
	}
}

// A dump without heaps does not keep the other dumps of an archive from being read.
func TestArchiveWithADumpOfACrash(t *testing.T) {
	crash := dumptest.Of(ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win7x64, Heaps: 1, Segments: 1, Blocks: 5}),
		dumptest.Program{})
	crash.Small, crash.Flags, crash.Memory = true, 0x1000, crash.Memory[:1]
	for name, test := range map[string]struct {
		files    []file
		captures int
		code     string
	}{
		"beside a full dump": {[]file{{"a-crash.dmp", crash.Bytes()}, {"b.dmp", dumpOf(3)}}, 1, ""},
		"alone":              {[]file{{"a-crash.dmp", crash.Bytes()}}, 0, evidence.CodeNoHeapMemory},
		"beside another": {[]file{{"a-crash.dmp", crash.Bytes()}, {"b-crash.dmp", crash.Bytes()}}, 0,
			evidence.CodeNoEvidence},
	} {
		r, err := ingest.Read(t.Context(), source("all.zip", zipped(test.files...)), ingest.Options{})
		var refused *evidence.Error
		if errors.As(err, &refused) != (test.code != "") || refused != nil && refused.Code != test.code ||
			len(r.Captures) != test.captures {
			t.Errorf("%s: %v, %d captures", name, err, len(r.Captures))
		}
		if test.captures > 0 &&
			!strings.Contains(r.Captures[0].Warnings[len(r.Captures[0].Warnings)-1].Message, "a-crash.dmp") {
			t.Errorf("%s: %+v", name, r.Captures[0].Warnings)
		}
	}
}

// Every row of the table of formats is complete: pages, the API and documents rely on its words.
func TestRows(t *testing.T) {
	formats, captures := ingest.Formats(), map[string]bool{}
	for _, f := range formats {
		if f.Kind == "" || f.Name == "" || f.Plural == "" || f.Tools == "" || len(f.CaptureKinds) == 0 || f.Sniff == nil {
			t.Errorf("%q lacks facts: %+v", f.Kind, f)
		}
		if first := formats.Of(f.Kind); !slices.Equal(first.CaptureKinds, f.CaptureKinds) {
			t.Errorf("two formats are called %q", f.Kind)
		}
		for _, kind := range f.CaptureKinds {
			if captures[kind] {
				t.Errorf("two formats give captures of the kind %q", kind)
			}
			captures[kind] = true
		}
	}
	random := map[evidence.Kind]bool{"minidump": true, "etl": true, "umdh": false, "windbg-log": false}
	for kind, want := range random {
		if formats.Of(kind).Random != want {
			t.Errorf("%s: read at random %v", kind, !want)
		}
	}
	for kind, want := range map[string]int{"minidump": 4, "vmmap": 3, "debugdiag-report": 2, "windbg-log": 1, "etl": 0,
		"umdh-diff": 0, "unknown": 0} {
		if got := formats.Rank(kind); got != want {
			t.Errorf("rank of %s: %d, want %d", kind, got, want)
		}
	}
	if got := formats.Name("etl") + ", " + formats.Name("unknown"); got != "a trace, unknown" {
		t.Errorf("names %s", got)
	}
}
