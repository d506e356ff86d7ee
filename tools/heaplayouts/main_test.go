package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
)

// unpacked is a file of the corpus without its compression.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	path := corpus.Path(t, "layouts", name)
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("xz is not installed")
	}
	text, err := exec.CommandContext(t.Context(), "xz", "-dc", path).Output()
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
	args := []string{"-public", public, "-ntdll", corpus.Path(t, "layouts", "ntdll_only_layouts.json")}
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
		{"{}", good, good, "-ntdll"}, // it lacks the structures
	} {
		if err := run([]string{"-public", test.public, "-ntdll", test.ntdll}, strings.NewReader(test.in), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
