package debugdiag_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

// TestFacts: a report without allocations gives facts only, and says why as far as the report tells.
func TestFacts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *debugdiagtest.Dump)
		claims int
		note   string
	}{
		"no LeakTrack": {func(d *debugdiagtest.Dump) { d.LeakTrack = "" }, 0, ""},
		"no allocations": {func(d *debugdiagtest.Dump) { d.Modules, d.Handles = nil, nil }, 0,
			"Held in total: 0 allocations and 0 handles."},
		"handles only": {func(d *debugdiagtest.Dump) { d.Modules = nil }, 1, "1,500 handles"},
	} {
		r := everything(debugdiagtest.English)
		c.change(&r.Dumps[0])
		got := read(t, r.MIME())
		if got.Shape != capture.ShapeFacts || len(got.Sites) != 0 || len(got.Memory.Claims) != c.claims ||
			len(got.Snapshots) != 1 || len(got.Memory.Heaps) != 2 || len(got.Warnings) > 0 ||
			c.note != "" && !hasNote(got, capture.TopicLeakTrack, c.note) ||
			c.note == "" == hasNote(got, capture.TopicLeakTrack, "LeakTrack") {
			t.Errorf("%s: %v %+v %+v %+v", name, got.Shape, got.Memory.Claims, got.Memory.Notes, got.Warnings)
		}
		if err := got.Write(&bytes.Buffer{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoStacks(t *testing.T) {
	r := everything(debugdiagtest.English)
	r.Dumps[0].Modules[0].Functions[0].Samples, r.Dumps[0].Handles = nil, nil
	c := read(t, r.MIME())
	if codes(c) != "no-stacks" || !strings.Contains(c.Warnings[0].Message, "Begin recording call stacks immediately") ||
		render(c, c.Sites[0].Stack) != `svc!Cache::Add<int>+34 (c:\svc\cache.cpp, 118)` {
		t.Errorf("%+v", c.Warnings)
	}
}

// TestSharedFrames: the stack of a function keeps the frames that all of its samples share, inward and outward of it.
func TestSharedFrames(t *testing.T) {
	const f = "svc!Cache::Add<int>+34"
	for name, c := range map[string]struct {
		samples []string
		want    string
	}{
		"one": {[]string{"ntdll!Rtl+1|" + f + "|svc!A+1|svc!B+2"}, "ntdll!Rtl+1 < " + f +
			" < svc!A+1 < svc!B+2"},
		"equal": {[]string{"ntdll!Rtl+1|" + f + "|svc!A+1", "ntdll!Rtl+1|" + f + "|svc!A+1"},
			"ntdll!Rtl+1 < " + f + " < svc!A+1"},
		"other callers":    {[]string{f + "|svc!A+1|svc!B+2", f + "|svc!A+1|svc!C+2"}, f + " < svc!A+1"},
		"one goes further": {[]string{f + "|svc!A+1|svc!B+2", f + "|svc!A+1"}, f + " < svc!A+1"},
		"other allocators": {[]string{"ntdll!Rtl+1|" + f + "|svc!A+1", "LeakTrack!Hook+9|" + f + "|svc!A+1"},
			f + " < svc!A+1"},
		"one without it":       {[]string{f + "|svc!A+1", "svc!Z+1|svc!A+1"}, f},
		"all without it":       {[]string{"svc!Z+1"}, f},
		"one is empty":         {[]string{f + "|svc!A+1", ""}, f + " < svc!A+1"},
		"another offset in it": {[]string{"svc!Cache::Add<int>+38|svc!A+1"}, f + " < svc!A+1"},
		"recursion":            {[]string{f + "|svc!A+1|" + f + "|svc!A+1"}, f + " < svc!A+1 < " + f + " < svc!A+1"},
		"managed callers": {[]string{f + "|[DEFAULT] [hasThis] Boolean A.Read()",
			f + "|[DEFAULT] [hasThis] Boolean A.Read()|x!y+1"}, f + " < A.Read()"},
		"nothing but addresses": {[]string{f + "|0x1234|0x5678"}, f + " < 0x1234 < 0x5678"},
	} {
		r := everything(debugdiagtest.English)
		fn := &r.Dumps[0].Modules[0].Functions[0]
		fn.Samples, fn.Source = nil, ""
		for _, s := range c.samples {
			sample := debugdiagtest.Sample{Address: 1, Bytes: 16}
			for frame := range strings.SplitSeq(s, "|") {
				if frame != "" {
					sample.Frames = append(sample.Frames, debugdiagtest.Frame{Name: frame})
				}
			}
			fn.Samples = append(fn.Samples, sample)
		}
		got := read(t, r.MIME())
		if stack := render(got, got.Sites[0].Stack); stack != c.want || len(got.Memory.Claims[0].Samples) != len(c.samples) {
			t.Errorf("%s: %s", name, stack)
		}
	}
}

// TestExactSizes: a size is exact where the report lists the sizes of all blocks, or a sample shows the only block.
func TestExactSizes(t *testing.T) {
	for name, c := range map[string]struct {
		count, bytes, margin int64
		sizes                []debugdiagtest.SizeCount
		sample               int64
	}{
		"rounded":            {1000, 12_345_678, 5243, nil, 0},
		"all sizes":          {1000, 12_345_000, 0, []debugdiagtest.SizeCount{{Bytes: 12_345, Count: 1000}}, 0},
		"not all sizes":      {1000, 12_345_000, 5243, []debugdiagtest.SizeCount{{Bytes: 12_345, Count: 999}}, 0},
		"too many":           {1000, 12_345_000, 5243, []debugdiagtest.SizeCount{{Bytes: 12_345, Count: 1001}}, 0},
		"one block":          {1, 1000, 0, nil, 1000},
		"sizes of no effect": {1000, 12_345_678, 5243, []debugdiagtest.SizeCount{{Bytes: 5, Count: 1000}}, 0},
	} {
		r := everything(debugdiagtest.English)
		fn := &r.Dumps[0].Modules[0].Functions[0]
		fn.Count, fn.Bytes, fn.Sizes = c.count, c.bytes, c.sizes
		if fn.Samples[0].Bytes = c.sample; c.sample == 0 {
			fn.Samples = nil
		}
		claim := read(t, r.MIME()).Memory.Claims[0]
		if off := claim.Usage.Bytes - c.bytes; claim.UsageMargin != c.margin || off > c.margin || -off > c.margin {
			t.Errorf("%s: %+v, want %d", name, claim, c.bytes)
		}
	}
}

// TestSumsNarrow: the size of a function is at most its module's size less the sizes of the other functions.
func TestSumsNarrow(t *testing.T) {
	r := everything(debugdiagtest.English)
	m := &r.Dumps[0].Modules[0]
	m.Functions = append(m.Functions, debugdiagtest.Function{Name: "svc!Other+1", Address: 1, Type: "Heap allocation(s)",
		Manager: "Heap memory manager", Count: 5, Bytes: 5_000, Percent: -1})
	m.Functions[0].Bytes = 12<<20 + 4_000
	claims := read(t, r.MIME()).Memory.Claims
	if c := claims[0]; c.UsageMargin > 5243 || c.Usage.Bytes-c.UsageMargin > 12<<20+4_000 || c.Usage.Bytes+c.UsageMargin < 12<<20+4_000 {
		t.Errorf("%+v", c)
	}
	if c := claims[1]; c.Percent != -1 || c.UsageMargin > 6 {
		t.Errorf("%+v", c)
	}
}

func TestSeveralDumps(t *testing.T) {
	r := everything(debugdiagtest.German)
	second := r.Dumps[0]
	second.Name = "other.exe__PID__4__Date__01_02_2024__Time_01_02_03AM__1__x.dmp"
	second.Facts, second.Heaps, second.Modules = nil, nil, nil
	r.Dumps = append(r.Dumps, second)
	r.Conclusions = append(r.Conclusions, debugdiagtest.Conclusion{Group: debugdiagtest.GroupErrors, Dump: "third.dmp",
		Description: "It could not be opened", Recommendation: "Copy it again"})
	captures, err := debugdiag.Read(t.Context(), bytes.NewReader(r.MIME()))
	if err != nil || len(captures) != 3 {
		t.Fatalf("%d, %v", len(captures), err)
	}
	for i, want := range []struct {
		name  string
		pid   uint32
		taken time.Time
		shape capture.Shape
		heaps int
	}{
		{"svc.exe", 812, time.Date(2023, 12, 31, 23, 59, 58, 0, time.UTC), capture.ShapeSnapshot, 2},
		{"", 0, time.Time{}, capture.ShapeFacts, 0}, // the summary is first to name it
		{"other.exe", 4, time.Date(2024, 1, 2, 1, 2, 3, 0, time.UTC), capture.ShapeFacts, 0},
	} {
		c := captures[i]
		if c.Process.Name != want.name || c.Process.PID != want.pid || !c.Snapshots[0].TakenAt.Equal(want.taken) ||
			c.Shape != want.shape || len(c.Memory.Heaps) != want.heaps {
			t.Errorf("%d: %+v %+v %v", i, c.Process, c.Snapshots, c.Shape)
		}
		if !hasNote(c, capture.TopicInfo, "did not detect any known") {
			t.Errorf("%d lacks what is said of all: %+v", i, c.Memory.Notes)
		}
	}
	if !hasNote(captures[1], capture.TopicError, "It could not be opened") {
		t.Errorf("%+v", captures[1].Memory.Notes)
	}
}

// TestTwoRules: facts that two rules report of one dump count once.
func TestTwoRules(t *testing.T) {
	page := string(everything(debugdiagtest.English).HTML())
	start, end := strings.Index(page, `<div class="mt20" data-debug-details="parent"`),
		strings.Index(page, `<div class="analysisRuleSummarySection"`)
	again := strings.ReplaceAll(page[start:end], "MemoryAnalysis", "OtherAnalysis")
	c := read(t, []byte(page[:end]+again+page[end:]))
	once := read(t, []byte(page))
	if c.Total(0) != once.Total(0) || len(c.Memory.Claims) != len(once.Memory.Claims) || len(c.Memory.Handles) != 1 ||
		len(c.Memory.Threads) != 2 || len(c.Warnings) > 0 {
		t.Errorf("%+v %+v", c.Total(0), c.Warnings)
	}
}

func TestFailedRule(t *testing.T) {
	r := everything(debugdiagtest.English)
	r.Failure = "Index was outside the bounds of the array"
	if c := read(t, r.MIME()); codes(c) != "truncated" || !strings.Contains(c.Warnings[0].Message, "outside the bounds") {
		t.Errorf("%+v", c.Warnings)
	}
}

// TestByLabels: a page of DebugDiag 1.x has no hooks; what it says is found by labels and titles.
func TestByLabels(t *testing.T) {
	page := `<html><body><b>Report for app.exe__PID__77__Date__03_14_2006__Time_10_22_07AM__511__Leak.dmp</b><br>
<table><tr><td>Type of Analysis Performed</td><td><b>Memory Pressure Analysis</b></td></tr><tr><td>Machine Name</td><td>OLD</td></tr><tr><td>Process Image</td><td>c:\app.exe</td></tr></table>
<h3>Outstanding allocation summary</h3><table><tr><td>Number of allocations</td><td>10 allocations</td></tr><tr><td>Total size of allocations</td><td>1,000 Bytes</td></tr></table>
<h3>Detailed module report (Memory)</h3><h4>Module details for app</h4><table><tr><td>Module Name</td><td>app</td></tr><tr><td>Allocation Count</td><td>10 allocation(s)</td></tr><tr><td>Allocation Size</td><td>1000 Bytes</td></tr></table>
<table><tr><td>Function</td><td>app!Leak+1f</td></tr><tr><td>Allocation type</td><td>Heap allocation(s)</td></tr><tr><td>Allocation Count</td><td>10 allocation(s)</td></tr><tr><td>Allocation Size</td><td>1000 Bytes</td></tr><tr><td>Leak Probability</td><td>91%</td></tr></table>
<b>Call stack sample 1</b><br><table><tr><td>Address</td><td>0x00b41f40</td></tr><tr><td>Allocation Time</td><td>00:20:00 since tracking started</td></tr></table>
<table><tr><td>Function</td><td>Source</td><td>Destination</td></tr><tr><td>app!Leak+1f</td><td></td><td>msvcrt!malloc</td></tr><tr><td>app!main+7</td><td></td><td>app!Leak</td></tr></table></body></html>`
	if !debugdiag.Sniff([]byte(page)) {
		t.Error("it is not recognised")
	}
	c := read(t, []byte(page))
	if len(c.Warnings) > 0 || len(c.Sites) != 1 || c.Total(0) != (capture.Usage{Count: 10, Bytes: 1000}) ||
		c.Memory.Claims[0].Percent != 91 || render(c, c.Sites[0].Stack) != "app!Leak+1f < app!main+7" ||
		c.Process != (capture.Process{Name: "app.exe", PID: 77, Bits: 32, Machine: "OLD"}) ||
		!hasNote(c, capture.TopicMethod, "found by their labels") {
		t.Errorf("%+v %+v %+v %+v", c.Process, c.Total(0), c.Memory, c.Warnings)
	}
}

// TestAnchors: DebugDiag writes a module's base through a double; a base too large to survive that is left out.
func TestAnchors(t *testing.T) {
	for base, told := range map[uint64]bool{0x10000000: true, 0x7ff600000000: true, 1<<53 + 4096: false,
		0xffff_f800_0000_0000: false} {
		r := everything(debugdiagtest.English)
		m := &r.Dumps[0].Modules[0]
		m.Base, m.Facts = base, [][2]string{{"Module Size", "256 KBytes"}}
		c := read(t, r.MIME())
		want := capture.Module{Path: "svc", Base: base, Size: 256 << 10}
		if !told {
			want = capture.Module{Path: "svc"}
		}
		if c.Modules[0] != want {
			t.Errorf("%#x: %+v", base, c.Modules[0])
		}
	}
}

func TestSniffRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"a mail":       "From: a\r\nContent-Type: text/html\r\n\r\n<html><body>DebugDiag: Memory Pressure Analysis</body></html>",
		"a blog":       "<!DOCTYPE html><html><body><p>Choose \"Memory Pressure Analysis\", then look at data-debug-details=</p><p>Type of Analysis Performed</p></body></html>",
		"a UMDH log":   "// UMDH: version 6.1\n// data-debug-details= analysisSummarySection",
		"a MIME image": "MIME-Version: 1.0\r\nContent-Type: image/gif\r\n\r\nGIF89a",
		"zeros":        strings.Repeat("\x00", 4096),
		"a table":      "<table><tr><td>Type of Analysis</td></tr></table>",
	} {
		if debugdiag.Sniff([]byte(text)) {
			t.Errorf("%s is taken for a report", name)
		}
	}
}

// TestLarge: a large report keeps all of its functions, modules and blocks.
func TestLarge(t *testing.T) {
	r := debugdiagtest.Large(20, 10)
	c := read(t, r.MIME())
	var count int64
	for _, m := range r.Dumps[0].Modules {
		for _, f := range m.Functions {
			count += f.Count
		}
	}
	if len(c.Warnings) > 0 || len(c.Sites) != 200 || c.Total(0).Count != count || len(c.Modules) != 20 {
		t.Errorf("%s: %d sites, %+v", fmt.Sprint(c.Warnings), len(c.Sites), c.Total(0))
	}
}
