package leakdiag_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/leakdiag"
	"heapdrift/internal/golden"
)

func render(captures []*capture.Capture) string {
	var b strings.Builder
	for _, c := range captures {
		fmt.Fprintf(&b, "%s lower bound %t\n", c.Kind, c.Snapshots[0].LowerBound)
		for i := range c.Sites {
			s := &c.Sites[i]
			heap := "no heap"
			if s.Heap != capture.NoHeap {
				heap = fmt.Sprintf("heap %#x", c.Heaps[s.Heap].Handle)
			}
			fmt.Fprintf(&b, "  %d bytes in %d, %s\n", s.Usage[0].Bytes, s.Usage[0].Count, heap)
			for _, id := range c.Stacks.Stack(s.Stack) {
				f := c.Stacks.Frame(id)
				var text capture.FrameText
				if t := c.Stacks.Text(f); t != nil {
					text = *t
				}
				fmt.Fprintf(&b, "    %s!%s +%#x @%#x %s:%d\n", text.Module, text.Function, text.Offset, f.Address, text.File, text.Line)
			}
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(&b, "  warning %s %d %s: %s\n", w.Code, w.Count, w.Place, w.Message)
		}
	}
	return b.String()
}

func sample(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile("testdata/sample.xml")
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// The two stacks of the sample hold 19,456 bytes in 19 blocks and 60 bytes in 3, whatever the text is stored as.
func TestSample(t *testing.T) { // go test ./ingest/leakdiag -update rewrites
	log := sample(t)
	utf := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(log)) {
		utf = binary.LittleEndian.AppendUint16(utf, unit)
	}
	for name, in := range map[string][]byte{
		"plain": []byte(log), "CR LF": []byte(strings.ReplaceAll(log, "\n", "\r\n")), "UTF-16": utf,
		"in lower case": []byte(strings.NewReplacer("STACK", "stack", "FRAME", "frame", "LEAKS", "leaks", "addr=", "ADDRESS=", "dll=", "Module=").Replace(log)),
	} {
		captures, err := leakdiag.Read(t.Context(), iotest.HalfReader(bytes.NewReader(in)))
		if err != nil || !leakdiag.Sniff(in) {
			t.Errorf("%s: %v, recognised %t", name, err, leakdiag.Sniff(in))
		}
		golden.Check(t, "testdata/stacks.golden", render(captures))
		if sum := captures[0].Total(0); sum != (capture.Usage{Count: 22, Bytes: 19516}) {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

// The sample of the package comment is read as a log.
func TestSampleOfComment(t *testing.T) {
	captures, err := leakdiag.Read(t.Context(), strings.NewReader(golden.Samples(t, "leakdiag.go", "package")[0]))
	const want = `leakdiag lower bound false
  19456000 bytes in 19000, heap 0x7d0000
    app!Cache::Add +0x2c @0x40102c c:\src\cache.cpp:88
    kernel32!BaseThreadInitThunk +0x19 @0x75c1a019 :0
`
	if got := render(captures); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// A log that is cut behind any line gives the whole stacks before the cut, and says that it is cut.
func TestCut(t *testing.T) {
	var cut strings.Builder
	for line := range strings.Lines(sample(t)) {
		cut.WriteString(line)
		captures, err := leakdiag.Read(t.Context(), strings.NewReader(cut.String()))
		want := int64(3 * (strings.Count(cut.String(), "</STACK>") / 2)) // of the second
		if strings.Contains(cut.String(), "</STACK>") {
			want += 19
		}
		whole := strings.Contains(cut.String(), "</LEAKS>")
		if want == 0 {
			if r := evidence.Refusal(err); r == nil || r.Code != leakdiag.CodeNoData {
				t.Errorf("behind %q: %v", line, err)
			}
			continue
		}
		if err != nil || len(captures) != 1 || captures[0].Total(0).Count != want || captures[0].Snapshots[0].LowerBound == whole ||
			(len(captures[0].Warnings) == 0) != whole {
			t.Errorf("behind %q: %v\n%s", line, err, render(captures))
		}
	}
}

func TestCases(t *testing.T) {
	const frame = `<FRAME dll="app.exe" function="main" addr="0x1"/>`
	for name, test := range map[string]struct{ log, want string }{
		"without a total":       {`<LEAKS><STACK numallocs="3" size="8">` + frame + `</STACK></LEAKS>`, "24 bytes in 3"},
		"without numbers":       {`<LEAKS><STACK><FRAME/></STACK><STACK numallocs="1" totalsize="8">` + frame + `</STACK></LEAKS>`, "warning malformed 1 line 1: Stacks without a number"},
		"without frames":        {`<LEAKS><STACK numallocs="1" totalsize="8"/></LEAKS>`, "warning stack-missing 1"},
		"without LEAKS":         {`<STACK numallocs="1" totalsize="8">` + frame + `</STACK>`, "8 bytes in 1"},
		"without names":         {`<LEAKS><STACK numallocs="1" totalsize="8"><FRAME addr="0x401000"/></STACK></LEAKS>`, "! +0x0 @0x401000"},
		"a stack without end":   {`<LEAKS><STACK numallocs="1" totalsize="8">` + frame + `<STACK numallocs="2" totalsize="16">` + frame + `</STACK></LEAKS>`, "16 bytes in 2"},
		"numbers that overflow": {`<LEAKS><STACK numallocs="99999999999999999999" totalsize="8"/><STACK numallocs="18446744073709551615" size="18446744073709551615">` + frame + `</STACK></LEAKS>`, "bytes in 1099511627776"},
	} {
		captures, err := leakdiag.Read(t.Context(), strings.NewReader(test.log))
		if got := render(captures); err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	two := strings.Repeat(`<LEAKS><STACK numallocs="1" totalsize="8">`+frame+`</STACK></LEAKS>`, 2)
	if captures, err := leakdiag.Read(t.Context(), strings.NewReader(two)); err != nil || len(captures) != 2 {
		t.Errorf("%d logs of two, %v", len(captures), err)
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := leakdiag.Read(t.Context(), iotest.ErrReader(broken))
	if !errors.Is(err, broken) || evidence.IsRefusal(err) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := leakdiag.Read(ctx, strings.NewReader(sample(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, other := range []string{"", "<LEAKS>", "<html>leaks</html>", "Detected memory leaks!", "<Root><Snapshot/></Root>"} {
		if leakdiag.Sniff([]byte(other)) {
			t.Errorf("%q is recognised", other)
		}
	}
}

func FuzzRead(f *testing.F) { // its corpus: a file below testdata/fuzz/FuzzRead for each input that matters
	f.Add([]byte(sample(f)))
	f.Fuzz(func(t *testing.T, log []byte) {
		leakdiag.Sniff(log)
		captures, err := leakdiag.Read(t.Context(), bytes.NewReader(log))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			var artifact bytes.Buffer
			if err := c.Write(&artifact); err != nil {
				t.Fatal(err)
			}
			if _, err := capture.Read(&artifact); err != nil {
				t.Fatal(err)
			}
		}
	})
}
