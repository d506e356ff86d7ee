package umdh_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/internal/corpus"
)

// samples are the real logs and excerpts, with what their index says of them: how many entries, what they hold (old
// and new for differences), and what has to be said.
var samples = map[string]string{
	"codeatcpp-2009.diff-hex.flattened.excerpt.txt":                 "1: 0 in 0, 752 in 1; truncated",
	"heapprofiler.umdh-input-sample.raw.txt":                        "2: 2 in 2; truncated partial-heap",
	"itwin-imodel-native-303.total-decimal.excerpt.txt":             "0: 0 in 0, 0 in 0; base-assumed unattributed-overhead inconsistent",
	"ko-notes.diff-decimal-and-total.excerpt.txt":                   "1: 131072 in 2, 262144 in 4; inconsistent stack-missing malformed",
	"mahdytech-2019.x64.diff-decimal.excerpt.txt":                   "1: 0 in 0, 154944 in 1; truncated",
	"mahdytech-2019.x64.raw.excerpt.txt":                            "1: 48 in 1; truncated",
	"mongodb-SERVER-13743.x64.dbghelp-ranges.flattened.excerpt.txt": "0: 0 in 0, 0 in 0; truncated",
	"msdocs-win2000-era.diff.excerpt.txt":                           "1: 40432 in 58, 61712 in 58; truncated stack-missing",
	"msdocs-win2000-era.raw-symbolised.excerpt.txt":                 "1: 21280 in 20; truncated",
	"mskb-umdh-win11-sdk-bug.warnings.excerpt.txt":                  "0: 0 in 0; umdh-broken-sdk",
	"ohjeongwook-2008.addr-prefixed-frames.excerpt.txt":             "1: 14040 in 27, 13520 in 26; truncated",
	"onecode-CppResourceLeaks.x86-win7.diff-hex.excerpt.txt":        "2: 8216 in 1, 44666000 in 89332; truncated",
	"onecode-CppResourceLeaks.x86-win7.single-v.excerpt.txt":        "1: 0 in 0, 8216 in 1; truncated",
	"pyumdh.tests.test.af1d937.raw.log":                             "9: 918 in 9; stack-missing",
	"pyumdh.tests.test.ee7e27b.raw.log":                             "11: 1050 in 11; ambiguous-stack stack-missing",
	"silverlight-npctrl.win7.diff-hex.annotated.excerpt.txt":        "1: 65552 in 1, 39643280 in 28; truncated",
	"strontic.umdh-10.0.19041.1-x64.empty-diff.txt":                 "0: 0 in 0, 0 in 0; ",
	"strontic.umdh-10.0.19041.1-x64.usage-stderr.excerpt.txt":       "no-umdh-data",
	"wuzh1230-2013.x86.dbghelp-banner.excerpt.txt":                  "0: 0 in 0, 0 in 0; truncated",
	"zblair-slideshare.msvcr80d.diff-decimal.excerpt.txt":           "1: 4096 in 1, 487424 in 119; truncated",
	"zh-hugo-2025.x64.diff-hex.excerpt.txt":                         "1: 5044 in 85, 251428 in 4342; truncated stack-missing",
	"zh-hugo-2025.x64.raw.excerpt.txt":                              "1: 52 in 1; truncated stack-missing",
	"zh-notes-msvcr80.x86.diff-hex.excerpt.txt":                     "1: 38655992 in 732936, 44566142 in 903328; truncated",
	"zh-notes-msvcr80.x86.raw.excerpt.txt":                          "1: 198 in 1; truncated",

	"encodings/real-derived.cp1251-path.raw.log":        "11: 1050 in 11; ambiguous-stack stack-missing encoding-guessed",
	"encodings/real-derived.crlf.raw.log":               "11: 1050 in 11; ambiguous-stack stack-missing",
	"encodings/real-derived.truncated-midstack.raw.log": "1: 100 in 1; truncated partial-heap",
	"encodings/real-derived.utf16be-bom.raw.log":        "11: 1050 in 11; ambiguous-stack stack-missing",
	"encodings/real-derived.utf16le-bom-crlf.raw.log":   "11: 1050 in 11; ambiguous-stack stack-missing",
	"encodings/real-derived.utf8-nonascii-path.raw.log": "11: 1050 in 11; ambiguous-stack stack-missing",
}

// summary prints a capture in the form of the table samples.
func summary(c *capture.Capture) string {
	entries := int64(c.Blocks.Len())
	if entries == 0 {
		entries = int64(len(c.Sites))
	}
	var held []string
	for i := range c.Snapshots {
		u := c.Total(i)
		held = append(held, fmt.Sprintf("%d in %d", u.Bytes, u.Count))
	}
	return fmt.Sprintf("%d: %s; %s", entries, strings.Join(held, ", "), codes(c))
}

func TestSamples(t *testing.T) {
	root := corpus.Path(t, "umdh")
	met := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "INDEX.md" || filepath.Base(filepath.Dir(path)) == "related" {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		met[name] = true
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		captures, err := umdh.Read(context.Background(), bytes.NewReader(log), umdh.Options{})
		got := ""
		switch {
		case err != nil:
			got = code(err)
		case len(captures) == 1:
			got = summary(captures[0])
		}
		if got != samples[name] {
			t.Errorf("%s: %s, want %s", name, got, samples[name])
		}
		if sniffed := umdh.Sniff(log[:min(len(log), 64<<10)]); sniffed != (err == nil) {
			t.Errorf("%s: Sniff says %v, Read %v", name, sniffed, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range samples {
		if !met[name] {
			t.Errorf("%s is not in the corpus", name)
		}
	}
}

// Logs of other tools are not taken for UMDH logs.
func TestRelatedAreRefused(t *testing.T) {
	files, err := filepath.Glob(corpus.Path(t, "umdh", "related") + "/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if umdh.Sniff(text) {
			t.Errorf("%s is taken for UMDH", filepath.Base(file))
		}
	}
	for _, other := range []string{corpus.Path(t, "umdh", "INDEX.md"), corpus.Path(t, "lab", "README.md"), "umdh.go",
		"raw.go", "cases_test.go", "umdhtest/snapshot.go", "umdhtest/diff.go"} {
		text, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		if umdh.Sniff(text[:min(len(text), 64<<10)]) {
			t.Errorf("%s is taken for UMDH", filepath.Base(other))
		}
	}
}
