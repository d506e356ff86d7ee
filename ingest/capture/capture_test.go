package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"heapdrift/ingest/capture"
)

func Example() { // a snapshot of one process, written and read back
	var c capture.Capture
	c.Kind, c.Snapshots = capture.KindUMDHSnapshot, make([]capture.Snapshot, 1)
	stack := c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddAddress(0x401000), c.Stacks.AddAddress(0x402000)})
	c.Sites = append(c.Sites,
		capture.Site{Stack: stack, Heap: capture.NoHeap, Usage: []capture.Usage{{Count: 2, Bytes: 200}}})

	var artifact bytes.Buffer
	if err := c.Write(&artifact); err != nil {
		fmt.Println(err)
	}
	read, err := capture.Read(&artifact)
	fmt.Println(read.Total(0).Bytes, len(read.Stacks.Stack(read.Sites[0].Stack)), err)
	// Output: 200 2 <nil>
}

// BenchmarkWrite writes a small artifact.
func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	c := sample()
	for b.Loop() {
		if err := c.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// sample has every part filled.
func sample() *capture.Capture {
	c := &capture.Capture{
		Kind: capture.KindUMDHDiff, Shape: capture.ShapeDifference,
		Process:   capture.Process{Name: "app.exe", PID: 4242, Bits: 64, Machine: "LAB"},
		Snapshots: []capture.Snapshot{{}, {TakenAt: time.Date(2025, 3, 4, 12, 10, 0, 0, time.UTC), LowerBound: true}},
		Modules: []capture.Module{{Path: `C:\app\app.exe`, Base: 0x7FF654800000, Size: 0x6000, PDB: "app.pdb",
			DebugID: "00", Symbols: capture.SymbolsPrivate}},
		Heaps:    []capture.Heap{{Handle: 0x1D147000000, Partial: true}},
		Warnings: []capture.Warning{{Code: capture.Truncated, Message: "cut", Place: "line 3", Count: 1}},
	}
	text := c.Stacks.AddText(capture.FrameText{Module: "app", Function: "main", Offset: 0x1f, File: `c:\a.cpp`,
		Line: 12, Inline: true}, 0)
	raw := c.Stacks.AddAddress(0x7FF654801000)
	one, two := c.Stacks.AddStack([]capture.FrameID{raw, text}), c.Stacks.AddStack([]capture.FrameID{text})
	c.Sites = []capture.Site{
		{Stack: one, AliasStacks: []capture.StackID{two}, Heap: 0, Trace: 0xBD55953A,
			Usage: []capture.Usage{{1, 2, 3}, {-4, 1 << 60, 6}}},
		{Heap: capture.NoHeap, Kind: capture.KindVirtual, Usage: []capture.Usage{{}, {7, 8, 9}}},
	}
	for _, b := range []capture.Block{{1, 0x1000, 8}, {0, 1<<64 - 1, 1 << 63}, {1, 0, 0}} {
		c.Blocks.Add(b)
	}
	return c
}

func artifact(t testing.TB, c *capture.Capture) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Compressors of artifacts are reused: neither content nor a writer's error passes from one artifact to the next.
func TestArtifactsAreIndependent(t *testing.T) {
	want := artifact(t, sample())
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for i := range 8 {
				if err := sample().Write(&cutting{room: 3 + i}); !errors.Is(err, io.ErrShortWrite) {
					t.Errorf("to a writer with room for %d bytes: %v", 3+i, err)
				}
				other := sample()
				other.Process.Name = strings.Repeat(fmt.Sprint("another ", k), 30_000*i)
				var b bytes.Buffer
				if err := other.Write(&b); err != nil {
					t.Error(err)
				}
				if read, err := capture.Read(&b); err != nil || read.Process.Name != other.Process.Name {
					t.Errorf("another: %v", err)
				}
				b.Reset()
				if err := sample().Write(&b); err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Errorf("%v, or %d other bytes", err, b.Len())
				}
			}
		})
	}
	all.Wait()
}

// cutting is a writer with room for so many bytes.
type cutting struct{ room int }

func (c *cutting) Write(p []byte) (int, error) {
	n := min(c.room, len(p))
	if c.room -= n; n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

func TestRoundTrip(t *testing.T) {
	c := sample()
	read, err := capture.Read(bytes.NewReader(artifact(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"process": {c.Process, read.Process}, "snapshots": {c.Snapshots, read.Snapshots},
		"modules": {c.Modules, read.Modules},
		"heaps":   {c.Heaps, read.Heaps}, "sites": {c.Sites, read.Sites}, "warnings": {c.Warnings, read.Warnings},
		"blocks": {slices.Collect(c.Blocks.All()), slices.Collect(read.Blocks.All())}, "kind": {c.Kind, read.Kind},
		"shape": {c.Shape, read.Shape},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: wrote %+v, read %+v", name, pair[0], pair[1])
		}
	}
	for id := range capture.StackID(c.Stacks.Count()) {
		want, got := c.Stacks.Stack(id), read.Stacks.Stack(id)
		if !slices.Equal(want, got) {
			t.Errorf("stack %d: wrote %v, read %v", id, want, got)
		}
	}
	for id := range capture.FrameID(c.Stacks.FrameCount()) {
		want, got := c.Stacks.Frame(id), read.Stacks.Frame(id)
		if want != got || !reflect.DeepEqual(c.Stacks.Text(want), read.Stacks.Text(got)) {
			t.Errorf("frame %d: wrote %+v, read %+v", id, want, got)
		}
	}
	// Stacks that were read go on interning where the writer stopped.
	if again := read.Stacks.AddText(capture.FrameText{Module: "app", Function: "main", Offset: 0x1f, File: `c:\a.cpp`, Line: 12,
		Inline: true}, 0); again != 0 {
		t.Errorf("known text became frame %d", again)
	}
	read.Blocks.Add(capture.Block{Site: 1, Address: 0x20, Size: 5})
	if all := slices.Collect(read.Blocks.All()); len(all) != 4 ||
		all[3] != (capture.Block{Site: 1, Address: 0x20, Size: 5}) {
		t.Errorf("block added after reading: %+v", all)
	}
}

func TestReadRefusesEveryCut(t *testing.T) {
	whole := artifact(t, sample())
	for n := range whole {
		if _, err := capture.Read(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("cut at %d of %d was read without an error", n, len(whole))
		}
	}
}

// A caller that reads from a store must be able to tell a failure of the store from damage of the artifact.
func TestReadKeepsTheReadersError(t *testing.T) {
	whole := artifact(t, sample())
	for n := range whole {
		r := io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(context.Canceled))
		if _, err := capture.Read(r); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestWriteReportsFailure(t *testing.T) {
	if err := sample().Write(failingWriter{}); err == nil {
		t.Error("a writer that fails was not noticed")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzRead(f *testing.F) {
	f.Add(artifact(f, sample()))
	f.Add([]byte("hdcap\x01"))
	traces, _ := twoProcesses(f)
	f.Add(artifact(f, traces[0]))
	f.Add(artifact(f, withSurvivals(f)))
	f.Add(artifact(f, withMemory()))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := capture.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := capture.Read(bytes.NewReader(artifact(t, c)))
		if err != nil || !reflect.DeepEqual(c.Sites, again.Sites) || !reflect.DeepEqual(c.Trace, again.Trace) {
			t.Errorf("what was read does not survive a second round: %v", err)
		}
	})
}

func TestForeignBytes(t *testing.T) {
	for _, data := range []string{"", "hdcap", "hdcap\x02", "PK\x03\x04", "hdcap\x01garbage"} {
		if _, err := capture.Read(bytes.NewReader([]byte(data))); err == nil {
			t.Errorf("%q was read as an artifact", data)
		} else if data == "PK\x03\x04" && !errors.Is(err, capture.ErrArtifact) {
			t.Errorf("%q: %v does not wrap ErrArtifact", data, err)
		}
	}
}

func TestModuleMap(t *testing.T) {
	m := capture.NewModuleMap([]capture.Module{{Path: "b", Base: 0x2000, Size: 0x1000},
		{Path: "a", Base: 0x1000, Size: 0x800}, {Path: "name only"}, {Path: "top", Base: 1<<64 - 0x1000, Size: 0x1000}})
	for address, want := range map[uint64]int{0: -1, 0xfff: -1, 0x1000: 1, 0x17ff: 1, 0x1800: -1, 0x2fff: 0,
		0x3000: -1, 1<<64 - 1: 3} {
		if got := m.Find(address); got != want {
			t.Errorf("Find(%#x) = %d, want %d", address, got, want)
		}
	}
}

func TestModuleNames(t *testing.T) {
	for path, want := range map[string][2]string{
		`C:\Windows\ntdll.dll`: {"ntdll.dll", "ntdll"}, "app": {"app", "app"}, `d:/x/a.b.exe`: {"a.b.exe", "a.b"},
		`c:\.hidden`: {".hidden", ".hidden"},
	} {
		if m := (capture.Module{Path: path}); m.FileName() != want[0] || m.Name() != want[1] {
			t.Errorf("%s: %q %q, want %q", path, m.FileName(), m.Name(), want)
		}
	}
}

func TestStacksTrimmed(t *testing.T) {
	var s capture.Stacks
	first := s.AddStack([]capture.FrameID{s.AddAddress(1), s.AddAddress(2)})
	for range 2 {
		s.Trim()
		if got := s.AddStack([]capture.FrameID{0, 1}); got != first {
			t.Errorf("the stack is known as %d and as %d", first, got)
		}
		s.Trim()
		if a, b := s.AddAddress(2), s.AddAddress(3); a != 1 || b != 2 {
			t.Errorf("frames 1 and 2 are %d and %d", a, b)
		}
		if other := s.AddStack([]capture.FrameID{2}); other != first+1 || s.Count() != 3 {
			t.Errorf("the second stack is %d, and there are %d", other, s.Count())
		}
	}
}
