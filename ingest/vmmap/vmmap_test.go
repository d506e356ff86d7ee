package vmmap_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/vmmap"
	"heapdrift/internal/golden"
)

// sample is a file as VMMap saves it, with two snapshots of a process.
const sample = `<?xml version="1.0" encoding="utf-8"?>
<root>
 <Snapshots>
  <Snapshot Time="2024-03-05 10:20:30" ProcessName="C:\app\app.exe" PID="6700">
   <MemoryRegions>
    <Region Address="65536" Size="1048576" Commit="69632" PrivateBytes="69632" PrivateWS="65536" ShareableWS="0" SharedWS="0" Blocks="2" Id="1" Protection="4" Storage="0" UseType="0" Type="Heap (Private Data)" Details="Heap ID: 1 [LOW FRAGMENTATION]"/>
    <Region Address="65536" Size="69632" Commit="69632" PrivateBytes="69632" PrivateWS="65536" ShareableWS="0" Blocks="0" Id="1" Protection="4" UseType="0" Type="Heap (Private Data)" Details=""/>
    <Region Address="135168" Size="978944" Commit="0" PrivateBytes="0" PrivateWS="0" ShareableWS="0" Blocks="0" Id="1" Protection="0" UseType="0" Type="Heap (Private Data)" Details=""/>
    <Region Address="0x200000" Size="65536" Commit="4096" PrivateBytes="4096" PrivateWS="4096" ShareableWS="0" Id="1" Protection="4" UseType="0" Type="Heap (Private Data)" Details="Heap ID: 1 [LOW FRAGMENTATION]"/>
    <Region Address="0x300000" Size="1048576" Commit="16384" PrivateBytes="20480" PrivateWS="8192" ShareableWS="0" Id="0" Protection="4" UseType="1" Type="Thread Stack" Details="Thread ID: 1234"/>
    <Region Address="0x400000" Size="262144" Commit="262144" PrivateBytes="8192" PrivateWS="8192" ShareableWS="131072" Id="0" Protection="128" UseType="2" Type="Image" Details="C:\app\app &amp; co.exe"/>
    <region address="500000h" size="12"/>
    <Region Address="5242880" Size="131072" Commit="131072" PrivateBytes="0" PrivateWS="0" ShareableWS="4096" Id="0" Protection="2" UseType="3" Type="Mapped File" Details="C:\Windows\locale.nls"/>
    <Region Address="0x700000" Size="4096" Commit="4096" PrivateBytes="4096" PrivateWS="4096" ShareableWS="0" Id="0" Protection="4" UseType="4" Type="Private Data" Details="Thread Environment Block ID: 1234"/>
    <Region Address="0x800000" Size="8388608" Commit="4194304" PrivateBytes="4194304" PrivateWS="4194304" ShareableWS="0" Id="0" Protection="260" UseType="4" Type="Private Data" Details=""/>
    <Region Address="0x1000000" Size="16777216" Commit="0" UseType="6" Type="Free"/>
    <Region Address="0x2000000" Size="4096" Commit="4096" PrivateBytes="4096" PrivateWS="4096" ShareableWS="0" Protection="4" UseType="9" Type="Page Table"/>
    <Region Address="0x3000000" Size="4096" Commit="4096" PrivateBytes="4096" PrivateWS="4096" ShareableWS="0" Protection="4" UseType="77" Type="Something"/>
   </MemoryRegions>
  </Snapshot>
  <Snapshot Time="133541112300000000" PID="6700">
   <MemoryRegions>
    <Region ADDRESS="0x200000000" SIZE="1048576" COMMIT="8192" PRIVATEBYTES="8192" PRIVATEWS="8192" SHAREABLEWS="0" ID="0" PROTECTION="PAGE_READWRITE" TYPE="Managed Heap" DETAILS="Gen2"/>
   </MemoryRegions>
  </Snapshot>
 </Snapshots>
</root>
`

func read(t testing.TB, file string) []*capture.Capture {
	t.Helper()
	captures, err := vmmap.Read(t.Context(), strings.NewReader(file))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return captures
}

// render writes what a capture says, one fact a line.
func render(c *capture.Capture) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	m, s := c.Memory, c.Memory.Space
	line("%s %s %q pid %d, %d bits, at %s, lower bound %t", c.Kind, m.Source, c.Process.Name, c.Process.PID,
		c.Process.Bits, c.Snapshots[0].TakenAt.Format("2006-01-02T15:04:05"), c.Snapshots[0].LowerBound)
	line("private %d, working set %d, largest free %d at %s", s.PrivateBytes, s.WorkingSet, s.LargestFree, s.LargestFreeAt)
	for _, u := range s.Uses {
		line("use %s: %d regions, reserved %d, committed %d, private %d, largest %d", u.Name, u.Regions, u.Reserved,
			u.Committed, u.Private, u.Largest)
	}
	for _, x := range s.States {
		line("state %s %d", x.Name, x.Bytes)
	}
	for _, l := range s.Largest {
		line("largest %s %s %d of %d %s %s", l.Address, l.Use, l.Committed, l.Reserved, l.Protect, l.Note)
	}
	for _, r := range s.Repeated {
		line("repeated %d times %d, committed %d, first %s", r.Count, r.ReservedEach, r.CommittedTotal, r.First)
	}
	for _, h := range m.Heaps {
		line("heap %s %s %s %s reserved %d committed %d in %d", h.Handle, h.Kind, h.Name, h.FrontEnd, h.Reserved,
			h.Committed, h.Segments)
	}
	for _, n := range m.Notes {
		line("note %s: %s", n.Topic, n.Text)
	}
	for _, w := range c.Warnings {
		line("%s (%d, %s): %s", w.Code, w.Count, w.Place, w.Message)
	}
	return out.String()
}

const wanted = `vmmap VMMap "app.exe" pid 6700, 0 bits, at 2024-03-05T10:20:30, lower bound false
private 4308992, working set 4427776, largest free 16777216 at 0x1000000
use virtual: 1 regions, reserved 8388608, committed 4194304, private 4194304, largest 8388608
use heap: 2 regions, reserved 1114112, committed 73728, private 73728, largest 1048576
use stack: 1 regions, reserved 1048576, committed 16384, private 20480, largest 1048576
use image: 1 regions, reserved 262144, committed 262144, private 8192, largest 262144
use mapped: 1 regions, reserved 131072, committed 131072, private 0, largest 131072
use teb: 1 regions, reserved 4096, committed 4096, private 4096, largest 4096
use system: 2 regions, reserved 8192, committed 8192, private 8192, largest 4096
use free: 1 regions, reserved 16777216, committed 0, private 0, largest 16777216
state MEM_COMMIT 4689920
state MEM_RESERVE 6266880
state MEM_FREE 16777216
largest 0x800000 virtual 4194304 of 8388608 PAGE_READWRITE | PAGE_GUARD 
largest 0x500000 mapped 131072 of 131072 PAGE_READONLY C:\Windows\locale.nls
heap 0x10000 heap Heap ID: 1 [LOW FRAGMENTATION] LFH reserved 1114112 committed 73728 in 2
note method: 1 regions are of a use that is not known; they count as the system's
malformed (1, line 12): 1 regions have no size, or a number that is none, and are not counted
vmmap VMMap "" pid 6700, 64 bits, at 2024-03-05T11:20:30, lower bound false
private 8192, working set 8192, largest free 0 at 0x0
use managed: 1 regions, reserved 1048576, committed 8192, private 8192, largest 1048576
state MEM_COMMIT 8192
state MEM_RESERVE 1040384
largest 0x200000000 managed 8192 of 1048576 PAGE_READWRITE Gen2
`

func renderAll(captures []*capture.Capture) string {
	var b strings.Builder
	for _, c := range captures {
		b.WriteString(render(c))
	}
	return b.String()
}

func TestSample(t *testing.T) {
	if got := renderAll(read(t, sample)); got != wanted {
		t.Errorf("got:\n%s", got)
	}
}

func TestEncodings(t *testing.T) {
	units := utf16.Encode([]rune(strings.Replace(sample, "utf-8", "utf-16", 1)))
	for name, in := range map[string][]byte{
		"with a mark":                     []byte("\uFEFF" + sample),
		"UTF-16, little-endian":           wide(binary.LittleEndian, append([]uint16{0xFEFF}, units...)),
		"UTF-16, big-endian":              wide(binary.BigEndian, append([]uint16{0xFEFF}, units...)),
		"UTF-16 without a mark":           wide(binary.LittleEndian, units),
		"UTF-16, big-endian without mark": wide(binary.BigEndian, units),
	} {
		captures, err := vmmap.Read(t.Context(), iotest.HalfReader(bytes.NewReader(in)))
		if got := renderAll(captures); err != nil || got != wanted {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if !vmmap.Sniff(in) {
			t.Errorf("%s: not recognised", name)
		}
	}
	ansi := strings.Replace(sample, "app &amp; co", "b\xFCro & co", 1)
	if got := renderAll(read(t, ansi)); got != wanted {
		t.Errorf("a name in a code page: %s", got)
	}
}

func wide(order binary.ByteOrder, units []uint16) []byte {
	out := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(out[2*i:], u)
	}
	return out
}

// A file that is cut anywhere gives sums that are no larger than those of the whole, and says that it is cut.
func TestCutAnywhere(t *testing.T) {
	whole := read(t, sample)
	end := strings.LastIndex(sample, "</root>")
	for n := range end {
		captures, err := vmmap.Read(t.Context(), strings.NewReader(sample[:n]))
		var ours *evidence.Error
		if len(captures) == 0 {
			if !errors.As(err, &ours) || ours.Code != vmmap.CodeNoData {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		for i, c := range captures {
			if got, most := c.Memory.Space.PrivateBytes, whole[i].Memory.Space.PrivateBytes; got > most {
				t.Fatalf("cut at %d: %d private bytes of %d", n, got, most)
			}
		}
		last := captures[len(captures)-1]
		if !slices.ContainsFunc(last.Warnings, func(w capture.Warning) bool { return w.Code == capture.Truncated }) {
			t.Fatalf("cut at %d, and not said: %v", n, last.Warnings)
		}
	}
}

func region(attributes string) string {
	return `<Snapshot><Region Address="4096" Size="4096" Commit="4096" PrivateBytes="4096" UseType="4"/>` +
		attributes + `</Snapshot>`
}

func TestWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		code capture.Code
	}{
		"regions that overlap": {region(`<Region Address="6144" Size="4096" UseType="4"/>`),
			capture.Inconsistent},
		"regions in disorder": {region(`<Region Address="0" Size="4096" UseType="4"/>`),
			capture.Inconsistent},
		"blocks that do not make their whole": {region(`<Region Address="4096" Size="1024" Commit="1024" UseType="4"/>`),
			capture.Inconsistent},
		"a size beyond the address space": {region(`<Region Address="18446744073709551615" Size="4096" UseType="4"/>`),
			capture.Malformed},
		"a number that is none":       {region(`<Region Address="65536" Size="-1" UseType="4"/>`), capture.Malformed},
		"an attribute without an end": {region(`<Region Address="` + strings.Repeat("9", 3<<20)), capture.Truncated},
		"elements that lie deep":      {region(strings.Repeat("<a>", 1000)), capture.Malformed},
		"a tag that is none":          {region(`<Region <<>`), capture.Truncated},
	} {
		captures := read(t, test.file)
		c := captures[len(captures)-1]
		if !slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == test.code }) {
			t.Errorf("%s: no %s in %v", name, test.code, c.Warnings)
		}
		if len(c.Memory.Space.Uses) == 0 || c.Memory.Space.Uses[0].Committed < 4096 {
			t.Errorf("%s: what was whole is lost: %+v", name, c.Memory.Space)
		}
	}
}

// Entities are not expanded, so they cannot exhaust memory.
func TestEntitiesAreNotExpanded(t *testing.T) {
	bomb := `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>` +
		`<r><Snapshot><Region Address="4096" Size="4096" UseType="4" Details="&c;"/></Snapshot></r>`
	if got := read(t, bomb)[0].Memory.Space.Largest[0].Note; got != "&c;" {
		t.Errorf("the entity became %q", got)
	}
}

func TestManyOfEverything(t *testing.T) {
	var b strings.Builder
	b.WriteString("<Snapshot>")
	for i := range 20_000 {
		fmt.Fprintf(&b, `<Region Address="%d" Size="%d" Commit="4096" Id="%d" UseType="%d"/>`, (i+1)<<20,
			4096*(1+i/100), i, 4*(i%2))
	}
	b.WriteString("</Snapshot>")
	m := read(t, b.String())[0].Memory
	if len(m.Heaps) != 5000 || len(m.Space.Largest) != 50 || len(m.Space.Repeated) != 20 {
		t.Errorf("%d heaps, %d largest, %d repeated", len(m.Heaps), len(m.Space.Largest), len(m.Space.Repeated))
	}
	if first, last := m.Space.Largest[0].Reserved, m.Space.Largest[49].Reserved; first != 4096*200 || last != first {
		t.Errorf("the largest are %d to %d", first, last)
	}
	if r := m.Space.Repeated[0]; r != (capture.RepeatedReservations{ReservedEach: 4096 * 200, Count: 50, CommittedTotal: 50 * 4096,
		First: capture.Address(19902 << 20)}) {
		t.Errorf("repeated first: %+v", r)
	}
}

func TestErrors(t *testing.T) {
	var ours *evidence.Error
	for _, file := range []string{"", "<root/>", "hello", "<Snapshot><Region/></Snapshot>"} {
		if _, err := vmmap.Read(t.Context(), strings.NewReader(file)); !errors.As(err, &ours) ||
			ours.Code != vmmap.CodeNoData || !strings.Contains(err.Error(), "Save As") {
			t.Errorf("%q: %v", file, err)
		}
	}
	failed := errors.New("the disk is gone")
	captures, err := vmmap.Read(t.Context(), io.MultiReader(strings.NewReader(sample[:1000]), iotest.ErrReader(failed)))
	if len(captures) != 1 || !errors.As(err, &ours) || ours.Code != vmmap.CodeReadFailed || !errors.Is(err, failed) {
		t.Errorf("a reader that fails: %d captures, %v", len(captures), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := vmmap.Read(ctx, strings.NewReader(sample)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		sample: true, sample[:700]: true, "": false, "<root/>": false, "Region UseType=": false,
		`<avrf:logfile xmlns:avrf="Application Verifier"><avrf:logSession/>`: false,
	} {
		if vmmap.Sniff([]byte(text)) != want {
			t.Errorf("%.40q is taken for VMMap: %t", text, !want)
		}
	}
}

// The sample of the package comment is read as a file.
func TestSampleOfComment(t *testing.T) {
	got := renderAll(read(t, golden.Samples(t, "vmmap.go", "package")[0]))
	const want = `use heap: 1 regions, reserved 1048576, committed 69632, private 69632, largest 1048576
state MEM_COMMIT 69632
state MEM_RESERVE 978944
heap 0x10000 heap Heap ID: 1 [LOW FRAGMENTATION] LFH reserved 1048576 committed 69632 in 1
`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func Example() {
	captures, err := vmmap.Read(context.Background(), strings.NewReader(`<Snapshot PID="42">
		<Region Address="65536" Size="1048576" Commit="69632" PrivateBytes="69632" UseType="4" Protection="4"/></Snapshot>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range captures[0].Memory.Space.Uses {
		fmt.Println(captures[0].Process.PID, u.Name, u.Reserved, u.Committed)
	}
	// Output: 42 virtual 1048576 69632
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Fuzz(func(t *testing.T, in []byte) {
		vmmap.Sniff(in)
		captures, err := vmmap.Read(t.Context(), bytes.NewReader(in))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			var artifact bytes.Buffer
			if err := c.Write(&artifact); err != nil {
				t.Fatal(err)
			}
			if _, err := capture.Read(&artifact); err != nil {
				t.Fatalf("%v in\n%s", err, render(c))
			}
			for _, u := range c.Memory.Space.Uses {
				if u.Reserved < u.Largest || u.Committed < 0 || u.Private < 0 {
					t.Errorf("use %+v", u)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var file strings.Builder
	file.WriteString("<Snapshot>")
	for i := range 50_000 {
		fmt.Fprintf(&file, `<Region Address="%d" Size="65536" Commit="4096" PrivateBytes="4096" PrivateWS="4096" ShareableWS="0" SharedWS="0" Blocks="1" Id="1" Protection="4" Storage="0" UseType="4" Type="Private Data" Details=""/>`, (i+1)<<20)
	}
	file.WriteString("</Snapshot>")
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := vmmap.Read(b.Context(), strings.NewReader(file.String())); err != nil {
			b.Fatal(err)
		}
	}
}
