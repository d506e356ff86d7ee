package exitlog_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/exitlog"
)

// A leak belongs to the test that it was printed under, whatever framework runs it; what is printed after the summary
// belongs to none. Each log has the leaks of two tests and one after all tests.
func TestFrameworks(t *testing.T) {
	t.Parallel()
	for framework, want := range map[string][2]string{
		"catch2":  {"cache evicts", "cache loads"},
		"doctest": {"evicts when full", "loads"},
		"boost":   {"eviction/full", "load"},
		"vstest":  {"EvictsWhenFull", "LoadsFile"},
		"mstest":  {`Evicts (capacity: 3, "full")`, "Loads"},
	} {
		log, err := os.ReadFile("testdata/tests-" + framework + ".log")
		if err != nil {
			t.Fatal(err)
		}
		captures, err := exitlog.Read(t.Context(), bytes.NewReader(log))
		if err != nil || len(captures) != 3 {
			t.Errorf("%s: %d captures, %v", framework, len(captures), err)
			continue
		}
		for i, test := range []string{want[0], want[1], ""} {
			if total := captures[i].Total(0); captures[i].Test != test || total != (capture.Usage{Count: 1, Bytes: 64 >> i}) {
				t.Errorf("%s: %+v of test %q, want %q", framework, total, captures[i].Test, test)
			}
		}
		// Lists that come again are counted again, at the sites that are there.
		twice, err := exitlog.Read(t.Context(), strings.NewReader(string(log)+string(log)))
		if err != nil || len(twice) != 3 || len(twice[0].Sites) != 1 || twice[0].Total(0).Count != 2 {
			t.Errorf("%s, twice: %d captures, %v", framework, len(twice), err)
		}
	}
}

// A stack that comes again is one site, for each reach of its blocks, and another stack is another.
func TestStacksComeAgain(t *testing.T) {
	t.Parallel()
	log, err := os.ReadFile("testdata/drmemory.log")
	if err != nil {
		t.Fatal(err)
	}
	once, err := exitlog.Read(t.Context(), bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	thrice, err := exitlog.Read(t.Context(), strings.NewReader(strings.Repeat(string(log)+"\n", 3)))
	if err != nil || len(thrice) != len(once) {
		t.Fatalf("%d captures for %d, %v", len(thrice), len(once), err)
	}
	for i, c := range once {
		if len(thrice[i].Sites) != len(c.Sites) {
			t.Errorf("%d sites for %d", len(thrice[i].Sites), len(c.Sites))
			continue
		}
		for k, site := range c.Sites {
			if got := thrice[i].Sites[k]; got.Reach != site.Reach || got.Usage[0].Count < 2*site.Usage[0].Count {
				t.Errorf("site %d: %+v for %+v", k, got, site)
			}
		}
	}
}
