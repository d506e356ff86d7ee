package umdh_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/internal/corpus"
)

// both is a page with a difference and with an entry of one of its logs, as people write them up.
const both = differenceOnly + `
and the log itself says of it

` + rawEntries

const differenceOnly = `The second log holds more:

+  131072 ( 262144 - 131072)      4 allocs	BackTraceF9A156DA
+       2 (      4 -      2)	BackTraceF9A156DA	allocations
`

const rawEntries = `00005320 bytes in 0x14 allocations (@ 0x00000428) by: BackTraceF9A156DA
	ntdll!RtlAllocateHeapSlowly+0x0000005A
	app!operator new+0x0000000E
	app!Draw+0x0000001E
`

func TestDifferenceAndRawEntriesInOneFile(t *testing.T) {
	for name, log := range map[string]string{"difference first": both, "entries first": rawEntries +
		"\n" + differenceOnly} {
		captures, err := umdh.Read(t.Context(), strings.NewReader(log), umdh.Options{})
		if err != nil || len(captures) != 1 || captures[0].Shape != capture.ShapeDifference {
			t.Fatalf("%s: %d captures, %v", name, len(captures), err)
		}
		c := captures[0]
		if site := c.Sites[0]; len(c.Sites) != 1 || site.Usage[0].Bytes != 131072 ||
			site.Usage[1] != (capture.Usage{Count: 4, Bytes: 262144}) || len(c.Stacks.Stack(site.Stack)) != 3 {
			t.Errorf("%s: the difference is %+v", name, c.Sites)
		}
		m := c.Memory
		if m == nil || len(m.Samples) != 1 || m.Samples[0].Size != 0x5320 || m.Samples[0].Stack != c.Sites[0].Stack ||
			!strings.HasPrefix(m.Samples[0].Title, "20 blocks by BackTraceF9A156DA") {
			t.Fatalf("%s: the entries are %+v", name, m)
		}
		for _, w := range c.Warnings {
			if w.Code == capture.StackMissing {
				t.Errorf("%s: %s", name, w.Message)
			}
		}
	}
}

func TestQuotedInAMail(t *testing.T) {
	want := ""
	for _, mark := range []string{"", "> ", ">> ", "> > ", "| "} {
		log := mark + strings.ReplaceAll(strings.TrimSuffix(both, "\n"), "\n", "\n"+mark) + "\n"
		captures, err := umdh.Read(t.Context(), strings.NewReader(log), umdh.Options{})
		if err != nil || len(captures) != 1 || !umdh.Sniff([]byte(log)) {
			t.Fatalf("%q: %d captures, %v, recognised %t", mark, len(captures), err, umdh.Sniff([]byte(log)))
		}
		got := render(captures[0])
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", mark, got, want)
		}
	}
}

// A log and a difference in one file stay two captures.
func TestWholeLogsAreNotJoined(t *testing.T) {
	log := "// Loaded modules:\n//     Base Size Module\n//              400000   11D000 D:\\app\\app.exe\n*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n" +
		"58 bytes + 10 at 5E1A88 by BackTrace94C4\n\t77929B07\n*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	captures, err := umdh.Read(t.Context(), strings.NewReader(log+differenceOnly), umdh.Options{})
	if err != nil || len(captures) != 2 {
		t.Errorf("%d captures, %v", len(captures), err)
	}
}

// What is more than some entries of a log is a log of its own.
func TestOnlyExcerptsAreJoined(t *testing.T) {
	const entry = "58 bytes + 10 at 5E1A88 by BackTrace94C4\n\t77929B07\n"
	for name, c := range map[string]struct {
		log  string
		want int // captures
	}{
		"an entry":               {entry, 1},
		"an entry below modules": {"//     Base Size Module\n//              400000   11D000 D:\\app\\app.exe\n" + entry, 2},
		"an entry of a process":  {"// UMDH: version 6.1.7650.0: Logtime 2012-04-30 12:09 - Machine=A - PID=7696\n" + entry, 2},
		"an entry in a heap": {"*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n" + entry +
			"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n", 2},
	} {
		captures, err := umdh.Read(t.Context(), strings.NewReader(c.log+differenceOnly), umdh.Options{})
		if err != nil || len(captures) != c.want {
			t.Errorf("%s: %d captures, want %d; %v", name, len(captures), c.want, err)
		}
	}
}

// A difference and the entries beside it learn stacks from each other by their ids; BackTrace0 is none.
func TestJoinedStacks(t *testing.T) {
	const log = `+      20 (     20 -      0)      1 allocs	BackTraceA
+       1 (      1 -      0)	BackTraceA	allocations
	a!named+1
+      30 (     30 -      0)      1 allocs	BackTraceB
+       1 (      1 -      0)	BackTraceB	allocations
+      40 (     40 -      0)      1 allocs	BackTrace0
+       1 (      1 -      0)	BackTrace0	allocations
Total increase ==     90 requested +      0 overhead =     90
1 bytes + 2 at 10010 by BackTraceA
	AAAA
1 bytes + 2 at 10020 by BackTraceB
	BBBB
1 bytes + 2 at 10030 by BackTraceC
	CCCC
1 bytes + 2 at 10040 by BackTrace0
	DDDD
1 bytes + 2 at 10050 by BackTraceE
`
	captures, err := umdh.Read(t.Context(), strings.NewReader(log), umdh.Options{})
	if err != nil || len(captures) != 1 || captures[0].Memory == nil {
		t.Fatalf("%d captures, %v", len(captures), err)
	}
	c := captures[0]
	stack := func(id capture.StackID) string {
		if id == capture.NoStack {
			return "none"
		}
		frame := c.Stacks.Frame(c.Stacks.Stack(id)[0])
		if text := c.Stacks.Text(frame); text != nil {
			return text.Function
		}
		return fmt.Sprintf("%X", frame.Address)
	}
	var sites, samples []string
	for _, s := range c.Sites {
		sites = append(sites, fmt.Sprintf("%X %s", s.Trace, stack(s.Stack)))
	}
	for _, s := range c.Memory.Samples {
		samples = append(samples, fmt.Sprintf("%X %s", s.Address, stack(s.Stack)))
	}
	if got, want := strings.Join(sites, ", "), "A named, B BBBB, 0 none"; got != want {
		t.Errorf("sites %s, want %s", got, want)
	}
	if got, want := strings.Join(samples, ", "), "10010 named, 10020 BBBB, 10030 CCCC, 10040 none, 10050 none"; got != want {
		t.Errorf("samples %s, want %s", got, want)
	}
}

// All entries beside a difference are counted, and the first 1000 sites of them are shown.
func TestManyEntriesBesideADifference(t *testing.T) {
	for sites, want := range map[int]string{
		999:  "999 blocks of 999 B. They belong to one of the two compared logs and are not counted.",
		1000: "1,000 blocks of 1,000 B. They belong to one of the two compared logs and are not counted.",
		1001: "1,001 blocks of 1,001 B. They belong to one of the two compared logs and are not counted. Only the first 1,000 allocation sites are shown.",
	} {
		var log strings.Builder
		for i := range sites {
			fmt.Fprintf(&log, "1 bytes + 2 at %X by BackTrace%X\n\t77929B07\n", 0x10000+16*i, 0x1000+i)
		}
		captures, err := umdh.Read(t.Context(), strings.NewReader(log.String()+differenceOnly), umdh.Options{})
		if err != nil || len(captures) != 1 || captures[0].Memory == nil {
			t.Fatalf("%d entries: %d captures, %v", sites, len(captures), err)
		}
		m := captures[0].Memory
		if note := m.Notes[len(m.Notes)-1].Text; !strings.HasSuffix(note, want) || len(m.Samples) != min(sites, 1000) {
			t.Errorf("%d entries: %d are shown, %q", sites, len(m.Samples), note)
		}
	}
}

// Entries are joined to a difference that holds something; beside one without sites they are a capture of their own.
func TestEntriesBesideAnEmptyDifference(t *testing.T) {
	const empty = "Total increase ==      0 requested +      0 overhead =      0\n"
	captures, err := umdh.Read(t.Context(), strings.NewReader(rawEntries+"\n"+empty), umdh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range captures {
		if c.Shape == capture.ShapeSnapshot && len(c.Sites) == 1 {
			return
		}
	}
	t.Errorf("the entries are lost: %d captures, the first %s with %d sites", len(captures), captures[0].Kind, len(captures[0].Sites))
}

// A difference takes over what the entries beside it say of themselves: damage, and the width of the process. That
// stacks are missing is taken back only where none is.
func TestWarningsOfJoinedEntries(t *testing.T) {
	const entry = "1 bytes + 2 at 10010 by BackTraceF9A156DA\n\t77929B07\n"
	const other = "+       5 (      9 -      4)      2 allocs\tBackTraceBB\n+       1 (      2 -      1)\tBackTraceBB\tallocations\n"
	for name, test := range map[string]struct {
		log  string
		bits uint8
		want string
	}{
		"all stacks":       {entry + differenceOnly, 32, "truncated"},
		"wide":             {entry + "1 bytes + 2 at 7FF612345678 by BackTraceC\n\t7FF612345678\n" + differenceOnly, 64, "truncated"},
		"one is missing":   {entry + differenceOnly + other, 32, "truncated stack-missing"},
		"differing stacks": {entry + "1 bytes + 2 at 10020 by BackTraceF9A156DA\n\t77929B08\n" + differenceOnly, 32, "truncated inconsistent"},
	} {
		captures, err := umdh.Read(t.Context(), strings.NewReader(test.log), umdh.Options{})
		if err != nil || len(captures) != 1 {
			t.Fatalf("%s: %d captures, %v", name, len(captures), err)
		}
		var codes []string
		for _, w := range captures[0].Warnings {
			codes = append(codes, string(w.Code))
		}
		if got := strings.Join(codes, " "); got != test.want || captures[0].Process.Bits != test.bits {
			t.Errorf("%s: warnings %q, %d bits; want %q, %d", name, got, captures[0].Process.Bits, test.want, test.bits)
		}
	}
}

// The published pages, with the figures that a reader finds by eye.
func TestPastedDifferences(t *testing.T) {
	for file, want := range map[string][4]int64{ // before, after, raw blocks and bytes
		"u03_ko.md":  {131072, 262144, 1, 21280},
		"u04_zh.txt": {38655992, 44566142, 1, 198},
	} {
		text, err := os.ReadFile(corpus.Path(t, "windbg", file))
		if err != nil {
			t.Fatal(err)
		}
		captures, err := umdh.Read(t.Context(), strings.NewReader(string(text)), umdh.Options{})
		if err != nil || len(captures) != 1 || captures[0].Memory == nil {
			t.Fatalf("%s: %d captures, %v", file, len(captures), err)
		}
		c := captures[0]
		if got := [4]int64{c.Sites[0].Usage[0].Bytes, c.Sites[0].Usage[1].Bytes, int64(len(c.Memory.Samples)),
			c.Memory.Samples[0].Size}; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func TestSniffOfDebuggers(t *testing.T) {
	for text, want := range map[string]bool{
		"DBGHELP: app - private symbols & lines\n        C:\\app.pdb\n":                            true,
		"0:000> !heap -p -a 1000\nDBGHELP: app - private symbols & lines\n        C:\\app.pdb\n":   false,
		"DBGHELP: app - private symbols & lines\n        C:\\app.pdb\n    address 1000 found in\n": false,
		both: true,
	} {
		if umdh.Sniff([]byte(text)) != want {
			t.Errorf("%q is taken for UMDH: %t", text, !want)
		}
	}
}
