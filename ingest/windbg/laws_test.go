package windbg_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/windbg"
)

// everything is the logs of all cases, one behind the other in an order that does not change.
func everything() string {
	var names []string
	for name := range cases {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		_, log, _ := strings.Cut(cases[name], "\n=\n")
		b.WriteString(log)
		b.WriteString("\n0:000> .echo\n")
	}
	return b.String()
}

// A log that is cut anywhere gives rows of the whole log and no others.
func TestCutAnywhere(t *testing.T) {
	p := invent(7, 2, 8)
	log := p.summary() + p.sizes() + p.leaks()
	whole := read(t, log)[0].Memory
	for n := range len(log) {
		captures, err := windbg.Read(t.Context(), strings.NewReader(log[:n]))
		if len(captures) == 0 {
			var ours *evidence.Error
			if !errors.As(err, &ours) || ours.Code != windbg.CodeNoData {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		m := captures[0].Memory
		for i, h := range m.Heaps {
			if h != whole.Heaps[i] {
				t.Fatalf("cut at %d: heap %+v, want %+v", n, h, whole.Heaps[i])
			}
		}
		for _, g := range m.Groups {
			if g.Unreachable == nil && !hasGroup(whole.Groups, int64(g.Heap), g.Size, g.Usage.Count) {
				t.Fatalf("cut at %d: group %+v is not in the whole log", n, g)
			}
		}
		for i, s := range m.Samples {
			if s != whole.Samples[i] {
				t.Fatalf("cut at %d: sample %+v, want %+v", n, s, whole.Samples[i])
			}
		}
		complete := n >= len(log)-1
		if said := slices.ContainsFunc(captures[0].Warnings,
			func(w capture.Warning) bool { return w.Code.Lossy() }); said == complete && m.Reach != nil {
			t.Fatalf("cut at %d of %d: %v", n, len(log), captures[0].Warnings)
		}
	}
}

// A log with flipped bits gives valid captures or an error.
func TestFlippedBits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	log := []byte(everything())
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		damaged := bytes.Clone(log)
		for range 1 + random.IntN(40) {
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		captures, err := windbg.Read(t.Context(), bytes.NewReader(damaged))
		if err != nil && len(captures) > 0 {
			t.Fatalf("%v beside %d captures", err, len(captures))
		}
		for _, c := range captures {
			valid(t, c)
		}
	}
}

// valid checks the laws of every capture, whatever its source.
func valid(t *testing.T, c *capture.Capture) {
	t.Helper()
	var artifact bytes.Buffer
	if err := c.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Read(&artifact); err != nil {
		t.Fatalf("%v in\n%s", err, render(c))
	}
	m := c.Memory
	for _, h := range m.Heaps {
		if h.Reserved < 0 || h.Committed < 0 || h.Free.Bytes < 0 || h.Blocks.Bytes < 0 {
			t.Errorf("heap %+v", h)
		}
	}
	for _, g := range m.Groups {
		if g.Size < 0 || g.Usage.Bytes < 0 || g.Usage.Count < 0 {
			t.Errorf("group %+v", g)
		}
	}
	if m.Space != nil {
		for i, u := range m.Space.Uses {
			if u.Reserved < 0 || u.Regions < 0 ||
				i > 0 && slices.Index(capture.UseNames, u.Name) <= slices.Index(capture.UseNames, m.Space.Uses[i-1].Name) {
				t.Errorf("use %+v", u)
			}
		}
	}
	for _, h := range m.Managed {
		if h.Bytes < 0 || h.Small < 0 || h.Large < 0 || h.Pinned < 0 {
			t.Errorf("managed %+v", h)
		}
	}
	if r := m.Reach; r != nil && (r.Unreachable.Bytes < 0 || r.Unreachable.Count < 0) {
		t.Errorf("reach %+v", r)
	}
}

// The encoding of a log, and the pace at which it arrives, do not change its captures.
func TestEncodings(t *testing.T) {
	log := everything()
	want := renderAll(read(t, log))
	wide := func(order binary.ByteOrder, mark bool) []byte {
		units := utf16.Encode([]rune(log))
		if mark {
			units = append([]uint16{0xFEFF}, units...)
		}
		out := make([]byte, 2*len(units))
		for i, u := range units {
			order.PutUint16(out[2*i:], u)
		}
		return out
	}
	for name, in := range map[string][]byte{
		"with CR LF":                    []byte(strings.ReplaceAll(log, "\n", "\r\n")),
		"UTF-8 with a mark":             []byte("\uFEFF" + log),
		"UTF-16, little-endian":         wide(binary.LittleEndian, true),
		"UTF-16, big-endian":            wide(binary.BigEndian, true),
		"with blanks that do not break": []byte(strings.ReplaceAll(log, "  ", "\u00A0 ")),
	} {
		captures, err := windbg.Read(t.Context(), bytes.NewReader(in))
		if got := renderAll(captures); err != nil || got != want {
			t.Errorf("%s: %v\n%s", name, err, difference(got, want))
		}
		if !windbg.Sniff(in) {
			t.Errorf("%s: not recognised", name)
		}
	}
	captures, err := windbg.Read(t.Context(), iotest.OneByteReader(strings.NewReader(log)))
	if got := renderAll(captures); err != nil || got != want {
		t.Errorf("byte by byte: %v\n%s", err, difference(got, want))
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		captures, err := windbg.Read(t.Context(), bytes.NewReader(wide(order, false)))
		if err != nil || !slices.ContainsFunc(captures[len(captures)-1].Warnings,
			func(w capture.Warning) bool { return w.Code == capture.EncodingGuessed }) {
			t.Errorf("UTF-16 without a mark, %v: %v", order, err)
		}
	}
}

func renderAll(captures []*capture.Capture) string {
	var b strings.Builder
	for _, c := range captures {
		b.WriteString(render(c))
	}
	return b.String()
}

// difference shows the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}

// The order of commands does not matter within an instant.
func TestOrderOfCommands(t *testing.T) {
	p := invent(3, 3, 20)
	outputs := []string{p.summary(), p.sizes(), p.leaks(),
		"0:000> !eeheap -gc\nNumber of GC Heaps: 1\n013e0000 013e1000 013e35f8 0x000025f8(9720)\nGC Heap Size   0x25f8(9720)\n"}
	facts := func(order ...int) string {
		var log strings.Builder
		for _, i := range order {
			log.WriteString(outputs[i])
		}
		c := read(t, log.String())
		if len(c) != 1 {
			t.Fatalf("order %v: %d instants", order, len(c))
		}
		lines := strings.Split(render(c[0]), "\n")[1:] // the first names the commands in their order
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	want := facts(0, 1, 2, 3)
	for _, order := range [][]int{{3, 2, 1, 0}, {2, 1, 0, 3}, {1, 3, 0, 2}, {2, 3, 1, 0}} {
		if got := facts(order...); got != want {
			t.Errorf("order %v: %s", order, difference(got, want))
		}
	}
}

func TestLimits(t *testing.T) {
	p := invent(1, 1, 10_050)
	m := read(t, p.leaks())[0].Memory
	if len(m.Samples) != 10_000 || m.Reach.Unreachable.Count != 10_050 ||
		!strings.Contains(m.Reach.Note, "the first of them listed") {
		t.Errorf("%d samples of %d blocks: %s", len(m.Samples), m.Reach.Unreachable.Count, m.Reach.Note)
	}
	long := "0:000> !heap -s\n" + strings.Repeat("x", 1<<20) + "\n" + p.summary()
	c := read(t, long)[0]
	if len(c.Memory.Heaps) != 1 || len(c.Warnings) != 2 || c.Warnings[0].Code != capture.Malformed ||
		c.Warnings[0].Place != "line 2" {
		t.Errorf("a long line: %v", c.Warnings)
	}
	var many strings.Builder
	for i := range 5000 {
		many.WriteString(strings.Replace(p.summary(), "01000000", "0"+string(rune('1'+i%8))+"000000", 1))
	}
	captures := read(t, many.String())
	if w := captures[len(captures)-1].Warnings; len(captures) >= 5000 || w[len(w)-1].Code != capture.Truncated {
		t.Errorf("%d captures, %v", len(captures), w)
	}
}

func TestErrors(t *testing.T) {
	failed := errors.New("the disk is gone")
	var ours *evidence.Error
	captures, err := windbg.Read(t.Context(),
		io.MultiReader(strings.NewReader(invent(1, 2, 0).summary()), iotest.ErrReader(failed)))
	if len(captures) != 1 || !errors.As(err, &ours) || ours.Code != windbg.CodeReadFailed || !errors.Is(err, failed) {
		t.Errorf("a reader that fails: %d captures, %v", len(captures), err)
	}
	for _, log := range []string{"", "hello\n", "0:000> !heap -s\n", "0:000> k\nntdll!NtWait+0xc\n"} {
		if _, err := windbg.Read(t.Context(), strings.NewReader(log)); !errors.As(err, &ours) ||
			ours.Code != windbg.CodeNoData || !strings.Contains(err.Error(), ".logopen") {
			t.Errorf("%q: %v", log, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := windbg.Read(ctx, strings.NewReader(everything())); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	endless := io.MultiReader(strings.NewReader(everything()), endlessReader{cancel: cancel})
	if _, err := windbg.Read(ctx, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends while reading: %v", err)
	}
}

// endlessReader returns lines without end, and cancels the reading.
type endlessReader struct{ cancel context.CancelFunc }

func (e endlessReader) Read(p []byte) (int, error) {
	e.cancel()
	return copy(p, "0:000> k\n"), nil
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		"Microsoft (R) Windows Debugger Version 10.0.19041.685 X86\n": true,
		"Opened log file 'c:\\heap.log'\n":                            true,
		"0:000> !heap -s\n":                                           true,
		"lkd> !address -summary\n":                                    true,
		"  Entry     User      Heap      Segment       Size  PrevSize  Unused    Flags\n": true,
		"--- Usage Summary ---------------- RgnCount ----------- Total Size -------- %\n": true,
		"0:000> dps 1000\n":                         false,
		"Open the dump, run\n!eeheap -gc\nand look": false,
		"<html><pre>\n0:000> !heap -s\n":            true,
		"// UMDH: version 6.1\n":                    false,
		"MDMP\x00\x00\x00\x00":                      false,
		"":                                          false,
	} {
		if windbg.Sniff([]byte(text)) != want {
			t.Errorf("%q is taken for a log: %t", text, !want)
		}
	}
}
