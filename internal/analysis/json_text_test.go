package analysis_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A report reads the same in pieces of any size, and is refused if its end is missing.
func TestReportInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	text, err := os.ReadFile("export/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.TrimRight(text, "\n")
	want := written(t, bytes.NewReader(text))
	if got := written(t, iotest.OneByteReader(bytes.NewReader(text))); got != want {
		t.Errorf("byte by byte it is\n%s", got)
	}
	for cut := range text {
		if _, err := analysis.ReadJSON(bytes.NewReader(text[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) &&
			(cut > 0 || !errors.Is(err, io.EOF)) {
			t.Fatalf("of %d bytes: %v", cut, err)
		}
	}
}

// Fields come in any order: a database keeps none.
func TestReportInAnyOrder(t *testing.T) {
	fields := []string{
		`"schema":"heapdrift.report/v2"`, `"findings":null`,
		`"frames":[{"module":"app","function":"Serve","offset":"0x10","line":7}]`, `"stacks":[[0]]`,
		`"sites":[{"signature":"sig1:a","stack":0}]`, `"process":{"name":"app.exe","pid":7}`,
	}
	want := written(t, strings.NewReader("{"+strings.Join(fields, ",")+"}"))
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		r.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
		if got := written(t, strings.NewReader("{"+strings.Join(fields, ",")+"}")); got != want {
			t.Fatalf("%s\nis read as\n%s\nwant\n%s", strings.Join(fields, ","), got, want)
		}
	}
	for _, lists := range []string{`"sites":null,"frames":null,"stacks":null,"findings":null,`, ""} {
		if _, err := analysis.ReadJSON(strings.NewReader("{" + lists + `"schema":"heapdrift.report/v2"}`)); err != nil {
			t.Errorf("without lists: %v", err)
		}
	}
}

func written(t *testing.T, r io.Reader) string {
	t.Helper()
	report, err := analysis.ReadJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The error about a row has the row's number, also behind more rows than are decoded at once.
func TestWrongRows(t *testing.T) {
	rows := func(n int, row string) string { return strings.TrimSuffix(strings.Repeat(row+",", n), ",") }
	for _, test := range []struct{ name, lists, want string }{
		{"a frame", `"frames":[` + rows(3000, `{"line":7}`) + `,{"line":-7}]`, "field frames: row 3000: "},
		{"the offset of a frame", `"frames":[` + rows(3000, `{"offset":"0x7"}`) + `,{"offset":"seven"}]`,
			"field frames: row 3000: "},
		{"an early row, and another in the same part", `"frames":[{"line":7},{"line":-7},{"line":7},,]`,
			"field frames: row 1: "},
		{"no row", `"frames":[` + rows(3000, `{"line":7}`) + `,,]`, "field frames: row 3000: ',' where a value belongs"},
		{"no comma", `"frames":[{"line":7} {"line":7}]`, "field frames: row 1: '{' where ',' belongs"},
		{"no list", `"frames":{"line":7}`, `field frames: {"line":7} where a list belongs`},
		{"a frame that is not there", `"frames":[{"line":7}],"stacks":[[0],[1]]`, "field stacks: row 1: there is no frame 1"},
		{"an empty stack", `"frames":[{"line":7}],"stacks":[[]]`, "field stacks: row 0: the stack is empty"},
		{"a site", `"frames":[],"stacks":[],"sites":[{"stack":-2}]`, "field sites: row 0: "},
		{"a finding", `"findings":[{"sites":"many"}]`, "field findings: row 0: "},
		{"a finding before the schema", ``, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := `{"schema":"heapdrift.report/v2",` + test.lists + `}`
			if test.lists == "" {
				text, test.want = `{"findings":[{"sites":"many"}],"schema":"heapdrift.report/v2"}`, "field findings: row 0: "
			}
			if _, err := analysis.ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// BenchmarkReadJSON reads the report of 50,000 sites, whose stacks are of 20,000 functions.
func BenchmarkReadJSON(b *testing.B) {
	var c capture.Capture
	c.Snapshots, c.Heaps = make([]capture.Snapshot, 1), []capture.Heap{{Handle: 1}}
	frames := make([]capture.FrameID, 20_000)
	for i := range frames {
		frames[i] = c.Stacks.AddText(capture.FrameText{Module: fmt.Sprintf("mod%03d", i%120),
			Function: fmt.Sprintf("Space%d::Class%d::Function%d", i%40, i%900, i), File: fmt.Sprintf(`c:\src\file%d.cpp`, i%900),
			Line: uint32(i % 3000)}, 0)
	}
	for i := range 50_000 {
		stack := make([]capture.FrameID, 24)
		for k := range stack {
			stack[k] = frames[(i*7919+k*104729)%len(frames)]
		}
		c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack(stack), Trace: uint64(i + 1),
			Usage: []capture.Usage{{Count: int64(i), Bytes: int64(i) * 24}}})
	}
	report, err := analysis.Analyze(b.Context(), []analysis.Input{{Captures: []*capture.Capture{&c}}}, analysis.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.WriteJSON(&text); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analysis.ReadJSON(bytes.NewReader(text.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
