package hdsnap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/hdsnap"
	"heapdrift/ingest/ntheap/ntheaptest"
	"heapdrift/internal/golden"
)

var (
	taken  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	header = hdsnap.Header{
		Process: hdsnap.Process{Started: taken.Add(-time.Hour)}, TakenAt: taken, Host: "BUILD7", System: "Windows 10.0.19045",
		Writer: "heapdrift 0.1.0", Project: "shop", Build: "4812", Branch: "main", Commit: "1f0c", Scenario: "soak",
		Work: new(int64(1200)), WorkUnit: "document",
		Cost: &hdsnap.Cost{PauseNS: 12e6, TotalNS: 80e6, BytesRead: 5 << 20, Regions: 300, Vanished: 1, Cloned: true},
	}
)

// snapshotOf makes a capture of a process with stacks.
func snapshotOf(t testing.TB) *capture.Capture {
	t.Helper()
	data := dumptest.Of(ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 7, Stacks: true, LFH: true,
		Heaps: 1, Segments: 1, Blocks: 20}), dumptest.Program{PID: 42, Time: taken}).Bytes()
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{BlocksOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t testing.TB, h hdsnap.Header, c *capture.Capture) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := hdsnap.Write(&b, h, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte) *capture.Capture {
	t.Helper()
	list, err := hdsnap.Read(t.Context(), bytes.NewReader(data))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d captures, %v", len(list), err)
	}
	return list[0]
}

// text is what a capture says, with its first blocks.
func text(c *capture.Capture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %+v %s\n%+v\n", c.Kind, c.Shape, c.Process, c.Snapshots[0].WallClock(), c.Total(0))
	for _, m := range c.Modules {
		fmt.Fprintf(&b, "module %s %#x %#x %s %s\n", m.FileName(), m.Base, m.Size, m.PDB, m.DebugID)
	}
	for _, h := range c.Heaps {
		fmt.Fprintf(&b, "heap %#x\n", h.Handle)
	}
	n := 0
	for block := range c.Blocks.All() {
		if n++; n > 20 {
			break
		}
		s := &c.Sites[block.Site]
		fmt.Fprintf(&b, "block %#x %d bytes, heap %d", block.Address, block.Size, s.Heap)
		if stack := c.Stacks.Stack(s.Stack); len(stack) > 0 {
			fmt.Fprintf(&b, ", %d frames from %#x on", len(stack), c.Stacks.Frame(stack[0]).Address)
		}
		b.WriteByte('\n')
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "%s %d %s\n", w.Code, w.Count, w.Message)
	}
	return b.String()
}

// facts is what a capture says of the memory beside its sites.
func facts(t testing.TB, c *capture.Capture) string {
	t.Helper()
	text, err := json.Marshal(c.Memory)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The sample is a snapshot as the first version wrote it: later versions read it alike.
func TestGolden(t *testing.T) {
	if os.Getenv("HEAPDRIFT_WRITE_SAMPLE") != "" {
		if err := os.WriteFile("testdata/sample.hdsnap", write(t, header, snapshotOf(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sample, err := os.ReadFile("testdata/sample.hdsnap")
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdsnap.ReadHeader(bytes.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/read.golden", fmt.Sprintf("%+v\nwork %d, cost %+v\n", withoutPointers(*h), *h.Work, *h.Cost)+
		text(read(t, sample)))
}

func withoutPointers(h hdsnap.Header) hdsnap.Header {
	h.Work, h.Cost = nil, nil
	return h
}

// What was written is read: the header, and the capture but for its kind and the machine.
func TestWrittenIsRead(t *testing.T) {
	want := snapshotOf(t)
	data := write(t, header, want)
	h, err := hdsnap.ReadHeader(bytes.NewReader(data))
	if err != nil || h.Process.Name != want.Process.Name || h.Process.PID != 42 || h.Process.Bits != 64 ||
		h.Host != "BUILD7" ||
		!h.TakenAt.Equal(taken) || h.TakenAt.Format("-07:00") != "+01:00" || *h.Work != 1200 || *h.Cost != *header.Cost {
		t.Errorf("header %+v, %v", h, err)
	}
	got := read(t, data)
	if got.Kind != hdsnap.Kind || got.Process.Machine != "BUILD7" || want.Kind != dump.Kind {
		t.Errorf("%s %+v; the capture that was written is %s", got.Kind, got.Process, want.Kind)
	}
	var artifact bytes.Buffer
	if err := got.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	work := capture.Work{Count: 1200, Unit: "document"}
	if again, err := capture.Read(&artifact); err != nil || again.Work == nil || *again.Work != work {
		t.Errorf("work %+v, %v", again.Work, err)
	}
	want.Kind, want.Process.Machine = got.Kind, got.Process.Machine
	if g, w := text(got)+facts(t, got), text(want)+facts(t, want); g != w {
		t.Errorf("%s\nwant\n%s", g, w)
	}
}

// Facts without a site are a snapshot too; captures over time are none.
func TestShapes(t *testing.T) {
	noSites := &capture.Capture{Shape: capture.ShapeFacts, Snapshots: make([]capture.Snapshot, 1),
		Memory: &capture.Memory{Source: "snapshot"}}
	if got := read(t, write(t, hdsnap.Header{}, noSites)); got.Shape != capture.ShapeFacts {
		t.Errorf("shape %d", got.Shape)
	}
	for _, c := range []*capture.Capture{{Shape: capture.ShapeDifference, Snapshots: make([]capture.Snapshot, 2)},
		{Shape: capture.ShapeTrace, Snapshots: make([]capture.Snapshot, 1)}, {}} {
		if err := hdsnap.Write(io.Discard, hdsnap.Header{}, c); err == nil {
			t.Errorf("shape %d with %d instants was written", c.Shape, len(c.Snapshots))
		}
	}
	long := hdsnap.Header{Build: strings.Repeat("b", 70000)}
	if err := hdsnap.Write(io.Discard, long, noSites); err == nil {
		t.Error("a header of more than 64 KiB was written")
	}
}

func codeOf(err error) string {
	var refused *evidence.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

// A file that is cut at any byte is refused, with the place.
func TestCutAtEveryByte(t *testing.T) {
	data := write(t, header, snapshotOf(t))
	for n := range data {
		list, err := hdsnap.Read(t.Context(), bytes.NewReader(data[:n]))
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != hdsnap.CodeTruncated || len(list) > 0 || refused.Offset > int64(n) {
			t.Fatalf("cut at %d of %d: %d captures, %v", n, len(data), len(list), err)
		}
	}
}

// A file with a flipped bit is refused: the header and the capture have checksums.
func TestFlippedBits(t *testing.T) {
	data := write(t, header, snapshotOf(t))
	for i := range data {
		data[i] ^= 1 << (i % 8)
		list, err := hdsnap.Read(t.Context(), bytes.NewReader(data))
		if err == nil || len(list) > 0 || evidence.Refusal(err) == nil {
			t.Errorf("bit %d of byte %d of %d flipped: %d captures, %v", i%8, i, len(data), len(list), err)
		}
		data[i] ^= 1 << (i % 8)
	}
	if _, err := hdsnap.Read(t.Context(), bytes.NewReader(append(data, "more"...))); codeOf(err) != hdsnap.CodeDamaged &&
		codeOf(err) != hdsnap.CodeTruncated {
		t.Errorf("four bytes more: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	data := write(t, header, snapshotOf(t))
	changed := func(at int, b ...byte) []byte {
		return append(append(bytes.Clone(data[:at]), b...), data[at+len(b):]...)
	}
	broken := iotest.ErrReader(io.ErrClosedPipe)
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx  context.Context
		r    io.Reader
		code string
	}{
		"later version": {t.Context(), bytes.NewReader(changed(8, 2)), hdsnap.CodeVersion},
		"another file":  {t.Context(), strings.NewReader(strings.Repeat("no ", 10)), hdsnap.CodeDamaged},
		"long header":   {t.Context(), bytes.NewReader(changed(10, 1, 0, 1, 0)), hdsnap.CodeDamaged},
		"line ends": {t.Context(), bytes.NewReader(bytes.Replace(data, []byte("\r\n"), []byte("\n"), 1)),
			hdsnap.CodeDamaged},
		"failing reader":  {t.Context(), io.MultiReader(bytes.NewReader(data[:300]), broken), hdsnap.CodeReadFailed},
		"failing capture": {t.Context(), io.MultiReader(bytes.NewReader(data[:len(data)-9]), broken), hdsnap.CodeReadFailed},
		"ended":           {ended, bytes.NewReader(data), context.Canceled.Error()},
	} {
		list, err := hdsnap.Read(test.ctx, test.r)
		if codeOf(err) != test.code || len(list) > 0 {
			t.Errorf("%s: %d captures, %v; want %s", name, len(list), err, test.code)
		}
	}
	if list, err := hdsnap.Read(t.Context(), iotest.OneByteReader(bytes.NewReader(data))); err != nil || len(list) != 1 {
		t.Errorf("byte by byte: %v", err)
	}
}
