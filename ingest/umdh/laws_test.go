package umdh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/umdh"
	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/corpus"
)

func readWhole(t testing.TB, in []byte) []*capture.Capture {
	t.Helper()
	captures, err := umdh.Read(t.Context(), bytes.NewReader(in), umdh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return captures
}

// listing prints captures: one line a site with its id, heap, usage at each snapshot and stacks.
func listing(captures []*capture.Capture) string {
	var b strings.Builder
	for _, c := range captures {
		for _, s := range c.Sites {
			fmt.Fprintf(&b, "%X in %d: %+v", s.Trace, s.Heap, s.Usage)
			for _, id := range append([]capture.StackID{s.Stack}, s.AliasStacks...) {
				for _, f := range c.Stacks.Stack(id) {
					frame := c.Stacks.Frame(f)
					if text := c.Stacks.Text(frame); text != nil {
						fmt.Fprintf(&b, " %+v", *text)
					}
					fmt.Fprintf(&b, " %X", frame.Address)
				}
				b.WriteString(";")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func warned(captures []*capture.Capture) string {
	var list []string
	for _, c := range captures {
		for _, w := range c.Warnings {
			list = append(list, string(w.Code))
		}
	}
	return strings.Join(list, " ")
}

// invented is a made-up process's logs: two snapshots and their difference in both bases.
func invented(t testing.TB, seed uint64, size umdhtest.ProcessSize) (p *umdhtest.Invention, logs map[string][]byte) {
	t.Helper()
	p, logs = umdhtest.Invent(seed, size), map[string][]byte{}
	for name, write := range map[string]func(io.Writer) error{
		"first":   func(w io.Writer) error { return p.WriteSnapshot(w, p.Snapshot(0)) },
		"second":  func(w io.Writer) error { return p.WriteSnapshot(w, p.Snapshot(1)) },
		"hex":     func(w io.Writer) error { return p.WriteDiff(w, p.Snapshot(0), p.Snapshot(1), umdhtest.Hex) },
		"decimal": func(w io.Writer) error { return p.WriteDiff(w, p.Snapshot(0), p.Snapshot(1), umdhtest.Decimal) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		logs[name] = b.Bytes()
	}
	return p, logs
}

// Captures of the logs of an invented process hold what the process held, by stack and in all.
func TestInventedProcess(t *testing.T) {
	for seed := range uint64(8) {
		for _, bits := range []int{32, 64} {
			p, logs := invented(t, seed, umdhtest.ProcessSize{Bits: bits, Heaps: 1 + int(seed%3)})
			for k, name := range []string{"first", "second"} {
				c := readWhole(t, logs[name])[0]
				want := umdhtest.Total(p.ByStack(p.Snapshot(k)))
				if got := c.Total(0); got != (capture.Usage{Count: want.Count, Bytes: want.Requested, Overhead: want.Overhead}) {
					t.Errorf("seed %d, %d bit, %s: %+v, want %+v", seed, bits, name, got, want)
				}
				if int64(c.Blocks.Len()) != want.Count || int(c.Process.Bits) != bits {
					t.Errorf("seed %d, %s: %d blocks, %d bit", seed, name, c.Blocks.Len(), c.Process.Bits)
				}
				checkBlocks(t, c)
			}
			old, now := p.ByStack(p.Snapshot(0)), p.ByStack(p.Snapshot(1))
			var growth int64
			for i := range now {
				growth += now[i].Requested - old[i].Requested
			}
			for _, name := range []string{"hex", "decimal"} {
				c := readWhole(t, logs[name])[0]
				if got := c.Total(1).Bytes - c.Total(0).Bytes; got != growth ||
					strings.Trim(warned([]*capture.Capture{c}), " ") != "no-symbols" {
					t.Errorf("seed %d, %d bit, %s: growth %d, want %d; warnings %s", seed, bits, name, got, growth,
						warned([]*capture.Capture{c}))
				}
			}
		}
	}
}

// checkBlocks compares the log of blocks with the sites that it belongs to.
func checkBlocks(t *testing.T, c *capture.Capture) {
	t.Helper()
	sum := make([]capture.Usage, len(c.Sites))
	for b := range c.Blocks.All() {
		sum[b.Site].Count++
		sum[b.Site].Bytes += int64(b.Size)
	}
	for i := range c.Sites {
		if u := c.Sites[i].Usage[0]; u.Count != sum[i].Count || u.Bytes != sum[i].Bytes {
			t.Fatalf("site %d has %+v, its blocks %+v", i, u, sum[i])
		}
	}
}

func utf16Of(text []byte, bigEndian, bom bool) []byte {
	units := utf16.Encode([]rune(string(text)))
	if bom {
		units = append([]uint16{0xFEFF}, units...)
	}
	var out []byte
	for _, u := range units {
		if bigEndian {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// The same text in another encoding or with other line ends is the same capture.
func TestEncodingsAreEqual(t *testing.T) {
	_, logs := invented(t, 3, umdhtest.ProcessSize{})
	for name, log := range logs {
		want := listing(readWhole(t, log))
		lf := bytes.ReplaceAll(log, []byte("\r\n"), []byte("\n"))
		for variant, in := range map[string][]byte{
			"LF": lf, "BOM": append([]byte("\xef\xbb\xbf"), log...), "padded": append(slices.Clone(log), make([]byte, 3000)...),
			"UTF-16LE": utf16Of(log, false, true), "UTF-16BE": utf16Of(log, true, true),
			"UTF-16LE without BOM": utf16Of(lf, false, false), "UTF-16BE without BOM": utf16Of(lf, true, false),
		} {
			if got := listing(readWhole(t, in)); got != want {
				t.Errorf("%s as %s differs:\n%s\nwant\n%s", name, variant, got, want)
			}
			if !umdh.Sniff(in[:min(len(in), 64<<10)]) {
				t.Errorf("%s as %s is not recognised", name, variant)
			}
		}
	}
}

func TestConcatenation(t *testing.T) {
	_, logs := invented(t, 4, umdhtest.ProcessSize{})
	one, two := readWhole(t, logs["first"]), readWhole(t, logs["second"])
	both := readWhole(t, slices.Concat(logs["first"], logs["second"]))
	if len(both) != 2 || listing(both) != listing(one)+listing(two) {
		t.Errorf("%d captures, not the two that were put together", len(both))
	}
}

// Reading in small pieces gives what reading at once gives.
func TestAnyPieces(t *testing.T) {
	_, logs := invented(t, 5, umdhtest.ProcessSize{})
	for name, log := range logs {
		want := listing(readWhole(t, log))
		for _, size := range []int{1, 7, 4096} {
			got, err := umdh.Read(t.Context(), &pieces{log, size}, umdh.Options{})
			if err != nil || listing(got) != want {
				t.Errorf("%s in pieces of %d: %v", name, size, err)
			}
		}
	}
}

type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// cutAnywhere reads a log cut every step bytes. A cut log holds no more than the whole, unless the proof of the number
// base is cut off and a warning says so; it holds less only with a warning or an error, or if the cut lies between
// heaps.
func cutAnywhere(t *testing.T, name string, log []byte, step int) {
	t.Helper()
	whole, err := umdh.Read(t.Context(), bytes.NewReader(log), umdh.Options{})
	if err != nil {
		return // not UMDH at all
	}
	most := held(whole)
	for n := 0; n < len(log); n += step {
		captures, err := umdh.Read(t.Context(), bytes.NewReader(log[:n]), umdh.Options{})
		if err != nil {
			var refused *evidence.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
			continue
		}
		if got := held(captures); got > most && !strings.Contains(warned(captures), string(capture.BaseAssumed)) {
			t.Fatalf("%s cut at %d holds %d bytes, the whole %d", name, n, got, most)
		} else if got < most && warned(captures) == "" && !betweenHeaps(log[:n]) {
			t.Fatalf("%s cut at %d lost %d bytes without a word", name, n, most-got)
		}
	}
}

// betweenHeaps reports whether a log ends behind the last line of a heap. UMDH does not say which heap is the last, so
// nothing shows that another heap is missing.
func betweenHeaps(log []byte) bool {
	text := bytes.TrimSpace(bytes.ReplaceAll(log, []byte{0}, nil))
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	return bytes.HasPrefix(last, []byte("*- - - - - - - - - - End of data")) && bytes.HasSuffix(last, []byte("- - - -"))
}

// held sums all sides of all captures.
func held(captures []*capture.Capture) (sum int64) {
	for _, c := range captures {
		for i := range c.Snapshots {
			sum += c.Total(i).Bytes
		}
	}
	return sum
}

func TestCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	_, logs := invented(t, 6, umdhtest.ProcessSize{Stacks: 5, Blocks: 8})
	for name, log := range logs {
		cutAnywhere(t, name, log, 1)
		cutAnywhere(t, name+" UTF-16", utf16Of(log, false, true), 3)
	}
}

func TestCorpusCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	every := os.Getenv("HEAPDRIFT_EVERY_BYTE") != "" // minutes
	err := filepath.WalkDir(corpus.Path(t, "umdh"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		log, err := os.ReadFile(path)
		step := 5 // logs of our own are cut at every byte
		switch {
		case every:
			step = 1
		case filepath.Base(filepath.Dir(path)) == "encodings": // of one of the logs beside
			step = 11
		}
		if err == nil {
			cutAnywhere(t, d.Name(), log, step)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"A/umdh_x64/snap1.txt", "A/umdh_x64/diff_1_3.hex.txt", "A/umdh_x86/diff_1_3.dec.txt",
		"C/umdh_x86/snap4.txt", "U/alias.txt", "U/utf16le_bom.txt"} {
		log, err := os.ReadFile(corpus.Path(t, "lab", file))
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(log)/120)
		if every {
			step = 1
		}
		cutAnywhere(t, file, log, step)
	}
}

// The values that the samples' own projects expect of them.
func TestCorpusSamples(t *testing.T) {
	for file, want := range map[string]string{
		"pyumdh.tests.test.ee7e27b.raw.log":                             "modules 17, heaps 2, entries 11, aliases 5, deepest 32",
		"heapprofiler.umdh-input-sample.raw.txt":                        "modules 118, heaps 1, entries 2, aliases 0, deepest 32",
		"encodings/real-derived.utf16le-bom-crlf.raw.log":               "modules 17, heaps 2, entries 11, aliases 5, deepest 32",
		"encodings/real-derived.utf16be-bom.raw.log":                    "modules 17, heaps 2, entries 11, aliases 5, deepest 32",
		"encodings/real-derived.cp1251-path.raw.log":                    "modules 17, heaps 2, entries 11, aliases 5, deepest 32",
		"onecode-CppResourceLeaks.x86-win7.diff-hex.excerpt.txt":        "modules 4, heaps 0, entries 2, aliases 0, deepest 18",
		"strontic.umdh-10.0.19041.1-x64.empty-diff.txt":                 "modules 0, heaps 0, entries 0, aliases 0, deepest 0",
		"mskb-umdh-win11-sdk-bug.warnings.excerpt.txt":                  "modules 0, heaps 0, entries 0, aliases 0, deepest 0",
		"itwin-imodel-native-303.total-decimal.excerpt.txt":             "modules 0, heaps 0, entries 0, aliases 0, deepest 0",
		"mongodb-SERVER-13743.x64.dbghelp-ranges.flattened.excerpt.txt": "",
	} {
		log, err := os.ReadFile(filepath.Join(corpus.Path(t, "umdh"), file))
		if err != nil {
			t.Fatal(err)
		}
		captures, err := umdh.Read(t.Context(), bytes.NewReader(log), umdh.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		c := captures[0]
		var entries int64
		aliases, deepest := 0, 0
		seen := map[uint64]bool{}
		for _, s := range c.Sites {
			for _, u := range s.Usage {
				if c.Shape == capture.ShapeSnapshot {
					entries += u.Count
				}
			}
			if c.Shape == capture.ShapeDifference {
				entries++
			}
			if !seen[s.Trace] {
				aliases += len(s.AliasStacks)
				seen[s.Trace] = true
			}
			deepest = max(deepest, len(c.Stacks.Stack(s.Stack)))
		}
		got := fmt.Sprintf("modules %d, heaps %d, entries %d, aliases %d, deepest %d", len(c.Modules), len(c.Heaps),
			entries, aliases, deepest)
		if want != "" && got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func TestContextEndsReading(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the lease is lost")
	cancel(reason)
	_, logs := invented(t, 7, umdhtest.ProcessSize{})
	if _, err := umdh.Read(ctx, bytes.NewReader(logs["first"]), umdh.Options{}); !errors.Is(err, reason) &&
		!errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSniffRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"empty": "", "JPEG": "\xff\xd8\xff\xe0\x00\x10JFIF", "zip": "PK\x03\x04\x14\x00",
		"PDB": "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00", "prose": "The quick brown fox.\nIt jumps.\n",
		"C": "int main(void)\n{\n\treturn 0;\n}\n", "HTML": "<!DOCTYPE html><html><body>// UMDH: version 6</body></html>",
		"zeros":                  strings.Repeat("\x00", 4096),
		"HTML below empty lines": "\r\n\t <HTML>\n" + rawEntries, "part of HTML": "<body>\n" + rawEntries,
		"a head of HTML": "<head>\n" + rawEntries, "XML": "<?xml version=\"1.0\"?>\n" + rawEntries,
		"rich text": "{\\rtf1\n" + rawEntries, "a control character at the beginning": "\x01\n" + rawEntries,
		"control characters": rawEntries + strings.Repeat("\x01", 1+len(rawEntries)/99),
	} {
		if umdh.Sniff([]byte(in)) {
			t.Errorf("%s is taken for UMDH", name)
		}
	}
	for name, in := range map[string]string{
		"a header before damage": "//  \r\n// UMDH: version 10.0: Logtime 2025-03-04 12:10\r\n" + rawEntries + strings.Repeat("\x02\x01", 4096),
		"a difference before damage": "// Debug library initialized ...\r\n7FF654800000-7FF654805FFF DBGHELP: app - private symbols & lines\r\n" +
			strings.Repeat("\x02\x01", 4096),
		"markup further down": rawEntries + "<html>", "few control characters": strings.Repeat(rawEntries, 2) + "\x01",
		"an escape, blanks and an end of file": "\x1b\t\v\f\n" + rawEntries + "\x1a", "padding": rawEntries + strings.Repeat("\x00", 99),
	} {
		if !umdh.Sniff([]byte(in)) {
			t.Errorf("%s is not taken for UMDH", name)
		}
	}
}
