package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/corpus"
	"heapdrift/internal/golden"
)

// writeFile writes a file into a folder of the test's and returns its path.
func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCensusGolden(t *testing.T) {
	s := etltest.Invent(3, etltest.ScenarioSize{Steps: 60})
	merged := writeFile(t, "merged.etl",
		s.File(etltest.Format{Compressed: true, Keys: 8, EventsLost: 12, DropBuffers: []int{2}, BufferSize: 0x4000}))
	kernel, heap := s.Pair(etltest.Format{Build: 7601, BufferSize: 0x4000, Unfinished: true})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(kernel)
	_ = z.Close()
	pair := []string{writeFile(t, "kernel.etl.gz", packed.Bytes()), writeFile(t, "heap.etl", heap)}
	for name, args := range map[string][]string{
		"merged.txt": {merged}, "merged.json": {"--format", "json", merged}, "pair.txt": pair,
		"pair.json": append(pair, "--format=json"),
	} {
		out, errOut, code := cli(t, append([]string{"etl", "census"}, args...)...)
		if code != exitOK || errOut != "" {
			t.Errorf("%s: exit %d, %s", name, code, errOut)
		}
		golden.Check(t, filepath.Join("testdata", "census", name), out)
	}
}

func TestCensusRefuses(t *testing.T) {
	text := writeFile(t, "notes.txt", []byte("We saw the leak on Tuesday.\n"))
	zeros := writeFile(t, "zeros.etl", make([]byte, 9000))
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "no files given"},
		{[]string{"--format", "xml", text}, exitUsage, `"xml" is none of text, json`},
		{[]string{"--nonsense"}, exitUsage, "nonsense"},
		{[]string{filepath.Join(t.TempDir(), "absent.etl")}, exitInput, "absent.etl"},
		{[]string{text}, exitInput, "format is not known"},
		{[]string{zeros}, exitInput, "all zero"},
	} {
		out, errOut, code := cli(t, append([]string{"etl", "census"}, test.args...)...)
		if code != test.code || !strings.Contains(errOut, test.says) || out != "" {
			t.Errorf("%v: exit %d, %q, %q", test.args, code, errOut, out)
		}
	}
}

// The text that people paste contains the class that Windows' own tools counted.
func TestCensusCorpus(t *testing.T) {
	out, errOut, code := cli(t, "etl", "census", "--format", "json",
		corpus.Path(t, "etl", "perfview", "net.4.5.2.x64.etl.zip"))
	var c census
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitOK {
		t.Fatalf("exit %d, %s, %v", code, errOut, err)
	}
	if c.Events != 179474 || len(c.Files) != 1 || c.Files[0].Build != 9200 || c.Files[0].Compressed != 359 {
		t.Errorf("%d events, %+v", c.Events, c.Files)
	}
	for _, n := range c.Classes {
		if n.OpName == "KeyDelete" && n.Events != 1909 {
			t.Errorf("%+v", n)
		}
	}
}
