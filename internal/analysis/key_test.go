package analysis_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// Frames of the WOW64 emulation at the outer end of a stack do not make another site. A stack in 64-bit modules alone
// is a site of its own.
func TestStacksWithAndWithoutTheEmulation(t *testing.T) {
	const cpu, wow, ntdll64 = 0x7FF8_0E10_0000, 0x7FF8_1730_0000, 0x7FF8_1461_0000
	c := trace(7,
		life{capture.KindHeap, app.in(-0x10, 0x20), allocations.WindowUsage{AIFO: u(1, 10)}, 10},
		life{capture.KindHeap, append(app.in(-0x10, 0x20), cpu+0x10, wow+0x20, ntdll64+0x30),
			allocations.WindowUsage{AIFO: u(2, 20)}, 20},
		life{capture.KindHeap, append(app.in(-0x10, 0x20), cpu+0x14, wow+0x20, ntdll64+0x30),
			allocations.WindowUsage{AIFO: u(3, 30)}, 30},
		life{capture.KindHeap, []uint64{ntdll64 + 0x40, wow + 0x20, ntdll64 + 0x30}, allocations.WindowUsage{AIFO: u(4, 40)}, 40},
		life{capture.KindHeap, []uint64{ntdll64 + 0x50, wow + 0x20, ntdll64 + 0x30}, allocations.WindowUsage{AIFO: u(5, 50)}, 50})
	c.Process.Bits = 32
	c.Modules = app.snapshot().Modules
	for name, base := range map[string]uint64{"wow64cpu.dll": cpu, "wow64.dll": wow, "ntdll.dll": ntdll64} {
		c.Modules = append(c.Modules, capture.Module{Path: `C:\Windows\System32\` + name, Base: base, Size: 0x10000})
	}
	r := analyze(t, inputs(c))
	if len(r.Sites) != 3 || r.Totals.Heap.AIFO != (analysis.Amount{Count: 15, Bytes: 150}) {
		t.Fatalf("%d sites, %+v\n%s", len(r.Sites), r.Totals.Heap.AIFO, table(r))
	}
	if s := r.Sites[0]; s.AIFO != (analysis.Amount{Count: 6, Bytes: 60}) || len(s.TableSites) != 3 {
		t.Errorf("%+v of rows %v", s.AIFO, s.TableSites)
	}
}

// In evidence with names and no addresses, the names of the emulation's modules identify its frames.
func TestStacksWithNamesOfTheEmulation(t *testing.T) {
	const bare = "ntdll!RtlAllocateHeap app!Add kernel32!BaseThreadInitThunk ntdll!RtlUserThreadStart"
	long, short := named(bare+" wow64cpu!BTCpuSimulate wow64!Wow64LdrpInitialize ntdll!LdrInitializeThunk", true),
		named(bare, true)
	if r := analyze(t, inputs(long, short)); len(r.Sites) != 1 {
		t.Errorf("%s", table(r))
	}
}

// Databases hold the keys of stacks, so all versions compute the same keys. The key of a frame is the SHA-256 of its
// fields, each text followed by its length; the key of a stack is that of its frames, cut to 128 bits.
func TestKeysOfStacksStay(t *testing.T) {
	c := app.snapshot(row{id: 1, stack: append(app.in(0x10), 0x1234), count: 1, bytes: 8})
	text := named("App!Add", true)
	number := binary.LittleEndian.AppendUint64
	field := func(b []byte, s string) []byte {
		return binary.LittleEndian.AppendUint32(append(b, s...), uint32(len(s)))
	}
	half := func(b []byte) []byte {
		sum := sha256.Sum256(b)
		return sum[:16]
	}
	for name, test := range map[string]struct {
		of     *capture.Capture
		frames [][]byte
	}{
		"addresses": {c, [][]byte{
			number(number(field(field(nil, "rva"), "app"), 0x10000), 0x10),
			number(field(nil, "address"), 0x1234),
		}},
		"text": {text, [][]byte{number(field(field(field(nil, "text"), "app"), "Add"), 0)}},
	} {
		r := analyze(t, inputs(test.of))
		if r.SetStackKeys(); len(r.Sites) != 1 {
			t.Fatalf("%s: %d sites", name, len(r.Sites))
		}
		var frames []byte
		for _, frame := range test.frames {
			frames = append(frames, half(frame)...)
		}
		if got, want := r.Sites[0].StackKey.String(), hex.EncodeToString(half(frames)); got != want {
			t.Errorf("%s: the stack has key %s, not %s", name, got, want)
		}
	}
}
