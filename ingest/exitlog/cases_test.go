package exitlog_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/exitlog"
)

// What looks like the beginning of a list is none without its blocks or its end.
func TestAlmostLists(t *testing.T) {
	for name, log := range map[string]string{
		"a heading of another program": "leaks:\n  none that we know of\n  sum: unknown\n",
		"heob that did not end":        "no leaks found\nall is well\n",
		"another tool of Valgrind":     "<valgrindoutput>\n<protocoltool>helgrind</protocoltool>\n<tool>helgrind</tool>\n</valgrindoutput>\n",
		"XML that ends at once":        "<valgrindoutput>\n<protocoltool>memcheck</protocoltool>\n",
		"another checker's summary":    "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n",
		"a summary without a process":  "==== LEAK SUMMARY:\n",
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
		if r := evidence.Refusal(err); len(captures) != 0 || r == nil || r.Code != evidence.CodeUnknownFormat {
			t.Errorf("%s: %v\n%s", name, err, render(captures, nil))
		}
	}
}

// What a line says of its blocks.
func TestBlocks(t *testing.T) {
	const drMemoryLeak = "Error #1: LEAK 8 direct bytes 0x00c1f4a8-0x00c1f4b0 + 0 indirect bytes\n# 0 main [c:\\src\\main.cpp:7]\n"
	const inspectorSite = "c:\\src\\cache.cpp(88): Error X1: P1: Memory leak: Allocation site: Function Cache::Add: Module C:\\build\\app.exe\n"
	const heapCheck = "Leak check a detected leaks of 24 bytes in 2 objects\nLeak of 24 bytes in 2 objects allocated from:\n\t@ 4005b4 Cache::Add\n"
	const heobXML = "<valgrindoutput>\n<protocoltool>memcheck</protocoltool>\n<tool>heob</tool>\n"
	for name, test := range map[string]struct {
		log         string
		bytes       int64
		count       int64
		reach       capture.Reach
		broken      bool
		warningSays string
	}{
		"heob, one block":              {"leaks:\n  80 B (#12)\n  sum: 80 B / 1\n", 80, 1, capture.ReachUnsearched, false, ""},
		"heob, two blocks":             {"leaks (reachable):\n  80 B * 2 = 160 B (#12)\n  sum: 160 B / 2\n", 160, 2, capture.ReachHeld, false, ""},
		"heob's first version":         {"leaks:\n  160 B / 2\n  sum: 160 B / 2\n", 160, 2, capture.ReachUnsearched, false, ""},
		"heob, only the sum":           {"leaks:\n  sum: 160 B / 2\n", 160, 2, capture.ReachUnsearched, false, "only as a sum"},
		"heob, without its sum":        {"leaks:\n  80 B (#12)\n", 80, 1, capture.ReachUnsearched, true, "breaks off"},
		"heob, a block of nothing":     {"leaks (jointly lost):\n  0 B (#5)\n  sum: 0 B / 1\n", 0, 1, capture.ReachNone, false, ""},
		"heob, no block":               {"leaks:\n  80 B of something\n  sum: 8 B / 1\n", 8, 1, capture.ReachUnsearched, false, "only as a sum"},
		"XML of heob, no search":       {heobXML + "<error>\n<kind>Leak_DefinitelyLost</kind>\n<leakedbytes>12</leakedbytes>\n<leakedblocks>3</leakedblocks>\n</error>\n</valgrindoutput>\n", 36, 3, capture.ReachUnsearched, false, ""},
		"XML of heob, with -l2":        {heobXML + "<vargv>\n<arg>-l2</arg>\n</vargv>\n<error>\n<kind>Leak_DefinitelyLost</kind>\n<leakedbytes>12</leakedbytes>\n</error>\n</valgrindoutput>\n", 12, 1, capture.ReachNone, false, ""},
		"XML of heob, with -l1":        {heobXML + "<vargv>\n<arg>-l1</arg>\n</vargv>\n<error>\n<kind>Leak_DefinitelyLost</kind>\n<leakedbytes>12</leakedbytes>\n</error>\n</valgrindoutput>\n", 12, 1, capture.ReachUnsearched, false, ""},
		"XML that breaks off":          {heobXML + "<error>\n<kind>Leak_StillReachable</kind>\n<leakedbytes>12</leakedbytes>\n</error>\n", 12, 1, capture.ReachHeld, true, "breaks off"},
		"XML in one line":              {strings.ReplaceAll(heobXML+"<error><kind>Leak_IndirectlyLost</kind><xwhat><leakedbytes>12</leakedbytes></xwhat></error></valgrindoutput>", "\n", ""), 12, 1, capture.ReachLost, false, ""},
		"Valgrind, only sums":          {"==7== LEAK SUMMARY:\n==7==    definitely lost: 1,024 bytes in 8 blocks\n==7==    indirectly lost: 0 bytes in 0 blocks\n==7==         suppressed: 0 bytes in 0 blocks\n", 1024, 8, capture.ReachNone, false, "only as a sum"},
		"Valgrind, asked again":        {"==7== LEAK SUMMARY:\n==7==      possibly lost: 115 (+115) bytes in 4 (+4) blocks\n==7== ERROR SUMMARY: 0 errors\n", 115, 4, capture.ReachPossible, false, "only as a sum"},
		"Valgrind, without summary":    {"==7== 8 bytes in 1 blocks are definitely lost in loss record 1 of 2\n==7==    at 0x1: f (a.c:7)\n", 8, 1, capture.ReachNone, true, "breaks off"},
		"Inspector, an observation":    {inspectorSite, 0, 1, capture.ReachNone, false, "have no size"},
		"Inspector, a problem":         {"P2: Warning: Memory not deallocated: New\n P2.3: Memory not deallocated: 40 bytes\n  app.exe!0x14e5: Warning X4: Allocation site: Function [Unknown]: Module C:\\app.exe\n", 40, 1, capture.ReachHeld, false, ""},
		"Inspector, memory growth":     {"P3: Warning: Memory growth: New\n P3.1: Memory growth: 80 bytes\n  a.cpp(7): Warning X5: Allocation site: Function f: Module a.exe\n" + inspectorSite, 0, 1, capture.ReachNone, false, "have no size"},
		"the heap checker, to its end": {heapCheck + "\nIf the preceding stack traces are not enough\nNo leaks found for check \"b\"\n", 24, 2, capture.ReachNone, false, ""},
		"the heap checker, cut short":  {heapCheck + "No leaks found for check \"b\"\n", 24, 2, capture.ReachNone, true, "breaks off"},
		"the heap checker, two checks": {heapCheck + heapCheck + "\nIf the preceding stack traces are not enough\n", 48, 4, capture.ReachNone, true, "breaks off"},
		"Dr. Memory, without summary":  {drMemoryLeak, 8, 1, capture.ReachNone, true, "breaks off"},
		"Dr. Memory, output between":   {drMemoryLeak + strings.Repeat("output\n", 300) + "ERRORS FOUND:\n", 8, 1, capture.ReachNone, false, ""},
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(test.log))
		if err != nil || len(captures) != 1 || captures[0].Total(0) != (capture.Usage{Count: test.count, Bytes: test.bytes}) ||
			len(captures[0].Sites) != 1 || captures[0].Sites[0].Reach != test.reach || captures[0].Snapshots[0].LowerBound != test.broken {
			t.Errorf("%s: %v\n%s", name, err, render(captures, nil))
			continue
		}
		warnings := captures[0].Warnings
		if (test.warningSays == "") != (len(warnings) == 0) || len(warnings) > 0 && !strings.Contains(warnings[0].Message, test.warningSays) {
			t.Errorf("%s: %+v", name, warnings)
		}
	}
}

// A group of heob whose blocks wait for their outer calls does not grow without bound.
func TestLargeGroup(t *testing.T) {
	var b strings.Builder
	b.WriteString("leaks:\n")
	const blocks = 20_000
	for range blocks {
		b.WriteString("  | | 1 B (#1)\n")
	}
	b.WriteString("  |   0x00000001   main.cpp:12 [main]\n  sum: 20000 B / 20000\n")
	captures, err := exitlog.Read(t.Context(), strings.NewReader(b.String()))
	if err != nil || len(captures) != 1 || captures[0].Total(0) != (capture.Usage{Count: blocks, Bytes: blocks}) || len(captures[0].Sites) != 2 ||
		len(captures[0].Warnings) != 1 || !strings.Contains(captures[0].Warnings[0].Message, "lack their outer calls") {
		t.Errorf("%v\n%s", err, render(captures, nil))
	}
}
