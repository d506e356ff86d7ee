package symsrv_test

import (
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

// TestArchives takes app.pdb from archives in a store that is only read.
func TestArchives(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		detail              string // empty: found
	}{
		{"a cabinet", "app.pd_", cabinet("app.pdb", right), ""},
		{"a cabinet under the plain name, of a renamed file", "app.pdb", cabinet("renamed.pdb", right), ""},
		{"a zip", "app.pd_", zipped(t, "app.pdb", right), ""},
		{"a zip with more in it", "app.pd_", zipped(t, "dir/", "", "readme.txt", "x", "dir/App.PDB", right), ""},
		{"a zip of other files", "app.pd_", zipped(t, "a", "right", "b", "right"), "2 files, none of them called app.pdb"},
		{"a zip of a folder", "app.pd_", zipped(t, "app.pdb/", ""), "there is nothing in the archive"},
		{"a bomb", "app.pd_", zipped(t, "app.pdb", strings.Repeat(right, 10000)), "larger than"},
		{"the wrong file", "app.pd_", zipped(t, "app.pdb", wrong), "another build"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, lines := expanded(t, c.file, c.content)
			if c.detail == "" && (found == "" || read(t, found) != right) ||
				c.detail != "" && (found != "" || !strings.Contains(lines[0], c.detail)) {
				t.Errorf("%q", lines)
			}
		})
	}
}

// expanded looks for app.pdb in a store that holds the content under a file name.
func expanded(t *testing.T, file, content string) (string, []string) {
	t.Helper()
	root := plant(t, map[string]string{in + file: content})
	opt := symsrv.Options{Cache: t.TempDir(), Check: check, Limits: symsrv.Limits{MaxBytes: 1 << 16}}
	return find(t, parse(t, "srv*"+root, opt), app)
}

// TestDamagedArchives cuts archives at every byte and changes every byte: no file is found in a cut archive, and a file
// found in a changed zip is whole.
func TestDamagedArchives(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, content := range map[string]string{"cabinet": cabinet("app.pdb", right),
		"zip": zipped(t, "app.pdb", right)} {
		for at := range len(content) {
			if found, lines := expanded(t, "app.pd_", content[:at]); found != "" {
				t.Errorf("%s cut at %d: %q", name, at, lines)
			}
			changed := []byte(content)
			changed[at] ^= 0x10
			// Our cabinet has no checksums, so the check alone guards its content.
			if found, _ := expanded(t, "app.pd_", string(changed)); found != "" && name == "zip" && read(t, found) != right {
				t.Errorf("%s changed at %d: %q", name, at, read(t, found))
			}
		}
	}
}
