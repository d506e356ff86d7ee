package deploycheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The scripts that pages load are byte for byte those that tools/vendor-assets took from the packages that it names,
// each with its licence beside it, and the folder holds nothing else.
func TestVendoredScripts(t *testing.T) {
	for dir, packages := range map[string][]string{
		"web/assets/vendor": {"htmx-ext-sse", "htmx.org", "tus-js-client"},
		"web/testdata":      {"axe-core"},

		"web/testdata/speedscope": {"speedscope"},
	} {
		var records []struct {
			Name, Version, License, Integrity, File, SHA256 string
			BundledIn                                       string `json:"bundled_in"` // only its licence is a file of its own
		}
		if err := json.Unmarshal([]byte(read(t, dir+"/VERSIONS.json")), &records); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		var names []string
		known := map[string]bool{"VERSIONS.json": true}
		for _, r := range records {
			if r.BundledIn == "" && !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
			known[r.File] = true
			sum := sha256.Sum256([]byte(read(t, filepath.Join(dir, r.File))))
			if got := hex.EncodeToString(sum[:]); got != r.SHA256 {
				t.Errorf("%s/%s has digest %s, recorded for %s %s is %s", dir, r.File, got, r.Name, r.Version, r.SHA256)
			}
			if !strings.HasPrefix(r.Integrity, "sha512-") || r.Version == "" || r.License == "" {
				t.Errorf("%s: incomplete record %+v", dir, r)
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, packages) {
			t.Errorf("%s records %v, want %v", dir, names, packages)
		}
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if dir == "web/assets/vendor" && !known[entry.Name()] {
				t.Errorf("%s/%s comes from no recorded package", dir, entry.Name())
			}
		}
	}
}
