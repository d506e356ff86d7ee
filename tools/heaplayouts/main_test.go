package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
)

// unpacked is a file of the corpus without its compression.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	path := corpus.Path(t, "layouts", name)
	text, err := exec.CommandContext(t.Context(), needs.Program(t, "xz"), "-dc", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFresh makes the table anew and compares it with the one that is embedded.
func TestFresh(t *testing.T) {
	public := filepath.Join(t.TempDir(), "public.json")
	if err := os.WriteFile(public, unpacked(t, "ntdll_public_pdb_layouts.json.xz"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"-public", public, "-ntdll", corpus.Path(t, "layouts", "ntdll_only_layouts.json"),
		"-segment", corpus.Path(t, "layouts", "ntdll_segment_heap_15063_17134_17763_x64.json")}
	if err := run(args, bytes.NewReader(unpacked(t, "nt_pdb_layouts_by_build.json.xz")), &out); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../ingest/ntheap/layouts.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), kept) {
		t.Error("ingest/ntheap/layouts.txt is not what the tool makes; its comment says how to make it")
	}
}

func TestBadSources(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.json")
	if err := os.WriteFile(good, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ in, public, ntdll, want string }{
		{"", good, good, "standard input"},
		{"{}", "nowhere.json", good, "-public"},
		{"{}", good, "nowhere.json", "-ntdll"},
		{"{}", good, good, "-ntdll"}, // the list lacks the structures
	} {
		if err := run([]string{"-public", test.public, "-ntdll", test.ntdll}, strings.NewReader(test.in),
			&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestBadSegmentSources checks that lists of structures of segment heaps are refused where a build is missing, or a
// line cannot be read.
func TestBadSegmentSources(t *testing.T) {
	builds := func(types string) string {
		return `{"15063.413": ` + types + `, "17134.523": ` + types + `, "17763.107": ` + types + `}`
	}
	for _, test := range []struct{ text, want string }{
		{"", "-segment"},
		{"[]", "-segment"},
		{"{}", "-segment: build"},
		{builds(`[]`), "-segment: build"},
		{builds(`{"_HEAP": {"Size": "eight"}}`), "-segment: _HEAP of"},
		{builds(`{"_HEAP": {"Size": "0x8", "Fields": [["0x0", "u32"]]}}`), "without a name"},
		{builds(`{"_HEAP": {"Size": "0x8", "Fields": [["zero", "u32", "Flags"]]}}`), "-segment: _HEAP.Flags"},
		{builds(`{"_HEAP": {"Size": "0x8", "Fields": [["0x4", "u32", "Flags[2]", "0:1"]]}}`), ""},
	} {
		path := filepath.Join(t.TempDir(), "segment.json")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var s sources
		err := s.readSegment(path)
		if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", test.text, err)
		}
		if at, ok := s.segment["17134.523"]["_HEAP"].fields["Flags"]; test.want == "" && (err != nil || !ok || at != 4) {
			t.Errorf("%s: %v, a field at %d", test.text, err, at)
		}
	}
	var s sources
	if err := s.readSegment("nowhere.json"); err == nil || !strings.Contains(err.Error(), "-segment") {
		t.Errorf("nowhere: %v", err)
	}
}
