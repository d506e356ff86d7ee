package umdh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh/umdhtest"
)

// readPieces reads a log in pieces of a size, and gives everything that the captures hold, and the error.
func readPieces(t *testing.T, log []byte, size int) string {
	t.Helper()
	r := &reader{ctx: t.Context(), in: newLines(t.Context(), bytes.NewReader(log), size)}
	r.draft = newDraft(r.in)
	captures, err := r.read()
	return everything(captures, err)
}

// everything is all that captures hold, with the numbers of sites, stacks and frames.
func everything(captures []*capture.Capture, err error) string {
	var b strings.Builder
	for _, c := range captures {
		fmt.Fprintln(&b, c.Kind, c.Shape, c.Process, c.Snapshots, c.Modules, c.Heaps, c.Sites, c.Memory, c.Warnings)
		for f := range c.Stacks.FrameCount() {
			frame := c.Stacks.Frame(capture.FrameID(f))
			fmt.Fprintf(&b, "%X %v ", frame.Address, c.Stacks.Text(frame))
		}
		for id := range c.Stacks.Count() {
			fmt.Fprintln(&b, c.Stacks.Stack(capture.StackID(id)))
		}
		for block := range c.Blocks.All() {
			fmt.Fprintf(&b, "%d %X %d\n", block.Site, block.Address, block.Size)
		}
	}
	fmt.Fprintln(&b, err)
	return b.String()
}

// logsToCut are logs of every sort of line, whole and damaged.
func logsToCut(t *testing.T) map[string][]byte {
	t.Helper()
	p := umdhtest.Invent(3, umdhtest.ProcessSize{Modules: 3, Stacks: 5, Blocks: 25, Heaps: 2})
	var snapshot, diff bytes.Buffer
	if err := errors.Join(p.WriteSnapshot(&snapshot, p.Snapshot(0)),
		p.WriteDiff(&diff, p.Snapshot(0), p.Snapshot(1), umdhtest.Hex)); err != nil {
		t.Fatal(err)
	}
	const start, end = "*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n",
		"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	raw := snapshot.Bytes()
	lf := bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	deep := start + "1 bytes + 2 at 10010 by BackTraceA\n" + strings.Repeat("\t7FF1\n\n", maxDepth+3) +
		"3 bytes + 2 at 10020 by BackTrace0\n\t7FF2\n4 bytes + 2 at 10020 by BackTraceA\n" + end
	utf16 := []byte("\xFF\xFE")
	for _, c := range lf[:min(len(lf), 3000)] {
		utf16 = append(utf16, c, 0)
	}
	return map[string][]byte{
		"LF": lf, "CR LF": bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n")),
		"CR":       bytes.ReplaceAll(lf, []byte("\n"), []byte("\r")),
		"CR CR LF": bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\r\n")),
		"UTF-16":   utf16, "difference": diff.Bytes(), "cut": lf[:len(lf)*2/3], "two": append(bytes.Clone(lf), raw...),
		"mixed":              append(bytes.Clone(diff.Bytes()), raw...),
		"lists modules only": lf[:bytes.IndexByte(lf, '*')], "too deep": []byte(deep),
		"lower case and aliases": []byte(start +
			"1 bytes + 2 at 10010 by BackTracea\n\t7ff1\nAlias\n\t7FF2\n\t7FF3\n1 bytes + 2 at 10020 by BackTraceA\nprose\n2 bytes + 2 at 10030 by BackTraceb\n\t7FF4\n1 bytes + 2 at 10040 by BackTrace0B\n" + end),
		"long lines": []byte(start + "1 bytes + 2 at 10010 by BackTraceA\n" + strings.Repeat("x", 3000) +
			"\n1 bytes + 2 at 10010 by BackTraceA\n\t77\n" + strings.Repeat("\x00", 2000)),
	}
}

// Wherever a log is cut into pieces, it gives the same captures, numbers and places of warnings included.
func TestCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, log := range logsToCut(t) {
		want := readPieces(t, log, len(log)+lineRoom)
		sizes := []int{}
		for size := 1; size <= len(log)+1; size += 1 + size/15 {
			sizes = append(sizes, size)
		}
		for _, size := range sizes {
			if got := readPieces(t, log, size); got != want {
				t.Fatalf("%s in pieces of %d bytes:\n%.3000s\nwant\n%.3000s", name, size, got, want)
			}
		}
	}
}

// A log that is read in two pieces, divided at any place, gives what it gives whole.
func TestCutOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for name, log := range logsToCut(t) {
		want := readPieces(t, log, len(log)+lineRoom)
		for at := 1; at < len(log); at += 1 + len(log)/250 {
			r := &reader{ctx: t.Context(), in: newLines(t.Context(), bytes.NewReader(log), at)}
			r.in.fill()
			r.in.pieces.size = len(log) + lineRoom
			r.draft = newDraft(r.in)
			captures, err := r.read()
			if got := everything(captures, err); got != want {
				t.Fatalf("%s, cut at %d:\n%.3000s\nwant\n%.3000s", name, at, got, want)
			}
		}
	}
}

// A log gives the same captures in whatever pieces it is read, and by however many goroutines.
func TestReadBeside(t *testing.T) {
	p := umdhtest.Invent(9, umdhtest.ProcessSize{Modules: 9, Stacks: 300, Blocks: 9000, Heaps: 3})
	var log bytes.Buffer
	if err := p.WriteSnapshot(&log, p.Snapshot(0)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		damaged := bytes.Clone(log.Bytes())
		for range round * 3 { // a few bytes are wrong
			damaged[rng.IntN(len(damaged))] = "\n\t* 0Z"[rng.IntN(6)]
		}
		before := runtime.GOMAXPROCS(1)
		want := readPieces(t, damaged, len(damaged)+lineRoom)
		runtime.GOMAXPROCS(max(before, 3))
		got := readPieces(t, damaged, 100+rng.IntN(30_000))
		runtime.GOMAXPROCS(before)
		if got != want {
			t.Fatalf("round %d differs", round)
		}
	}
}

// Cancelling a read ends its other goroutines, and nothing more is read from the source.
func TestStopBeside(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	p := umdhtest.Invent(9, umdhtest.ProcessSize{Modules: 9, Stacks: 300, Blocks: 9000})
	var log bytes.Buffer
	if err := p.WriteSnapshot(&log, p.Snapshot(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	src := &stoppingSource{log: bytes.NewReader(log.Bytes()), after: log.Len() / 2, stop: cancel}
	r := &reader{ctx: ctx, in: newLines(ctx, src, 1000)}
	r.draft = newDraft(r.in)
	captures, err := r.read()
	reads := src.reads
	if !errors.Is(err, context.Canceled) || len(captures) != 1 || captures[0].Blocks.Len() == 0 {
		t.Errorf("%d captures, %v", len(captures), err)
	}
	runtime.Gosched()
	if src.reads != reads {
		t.Error("the source is read after the end")
	}
}

// stoppingSource is a source that calls stop after so many bytes, and goes on.
type stoppingSource struct {
	log   *bytes.Reader
	after int
	stop  func()
	reads int
}

func (s *stoppingSource) Read(b []byte) (int, error) {
	s.reads++
	n, err := s.log.Read(b[:min(len(b), 500)])
	if s.after -= n; s.after < 0 {
		s.stop()
	}
	return n, err
}
