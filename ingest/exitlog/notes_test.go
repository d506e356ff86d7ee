package exitlog_test

import (
	"bytes"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/exitlog"
)

// Lines that concern leaks and that no list holds are said beside lists, and are the reason where there is none.
func TestNotes(t *testing.T) {
	const list = "Detected memory leaks!\nDumping objects ->\nc:\\src\\a.cpp(7) : {9} normal block at 0x00A1B2C0, 64 bytes long.\nObject dump complete.\n"
	for name, test := range map[string]struct {
		lines, beside, alone, do string
		count, line              int64
		code                     capture.Code
	}{
		"handles of Dr. Memory": {
			"Error #5: HANDLE LEAK: KERNEL handle 0x0000000000000094 and 2 similar handle(s) were opened but not closed:\n" +
				"# 0 system call NtCreateEvent\nError #6: HANDLE LEAK: USER handle 0x1 was opened but not closed:\n",
			"The log lists 4 handle leaks. They are not read: heapdrift reads memory only.",
			"the log lists 4 handle leaks and no leak of memory", "give a log that lists memory", 4, 1, capture.Unsupported},
		"handles of Application Verifier": {
			"some output\nVERIFIER STOP 00000901: pid 0x4E4C: A HANDLE was leaked. \nVERIFIER STOP 0000000000000902: pid 0x4E4C: A registry HKEY was leaked.\n",
			"The log lists 2 handle leaks.", "the log lists 2 handle leaks", "give a log that lists memory", 2, 2, capture.Unsupported},
		"blocks of Application Verifier": {
			"VERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked. \n\t0AED3F58 : Address of the leaked allocation.\n",
			"Application Verifier reports 1 leak without size and call stack.", "Application Verifier reports 1 leak here",
			"appverif -export log", 1, 1, capture.Malformed},
		"handles of Intel Inspector": {
			"P1: Error: Kernel resource leak: New\n P1.1: Kernel resource leak: New\n  1 Kernel resource leak problem(s) detected\n  1 GDI resource leak problem(s) detected\n",
			"The log lists 2 handle leaks.", "the log lists 2 handle leaks", "give a log that lists memory", 2, 1, capture.Unsupported},
		"leaks that are counted only": {
			"2 new problem(s) found\n    2 Memory leak problem(s) detected\n", "Intel Inspector counts 2 leaks that the log does not name.",
			"Intel Inspector counts 2 leaks and names none", "inspxe-cl -report problems", 2, 2, capture.Malformed},
		"a damaged heap": {
			"HEAP[app.exe]: Heap block at 015C3DC0 modified at 015C3DD4 past requested size of c\n" +
				"'app.exe' (Win32): Loaded 'C:\\Windows\\SysWOW64\\ntdll.dll'.\n" +
				"HEAP[app.exe]: Invalid address specified to RtlValidateHeap( 00730000, 0293F800 )\n" +
				"HEAP[app.exe]: \nInvalid Address specified to RtlFreeHeap( 0AEF0000, 0AEFAFA8 )\nHEAP: Heap block at 1 modified at 2 past requested size of 3\n" +
				"HEAP CORRUPTION DETECTED: after Normal block (#30302) at 0x3AE0CE68.\n",
			"5 lines of the log report a damaged heap and no leak.", "5 lines of the log report a damaged heap, and none lists a leak",
			"gflags /p /enable", 5, 1, capture.Unsupported},
		"leaks in another layout": {
			"all is well\nError #1: LEAK of 160 bytes\nDirect leak of a few bytes\n---------- Block of something\n",
			"3 lines of the log have the words of a leak in an unknown layout. They are not read.",
			"3 lines of the log have the words of a leak in an unknown layout", "as the tool wrote it", 3, 2, capture.Malformed},
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(test.lines+list))
		if err != nil || len(captures) != 1 || captures[0].Total(0) != (capture.Usage{Count: 1, Bytes: 64}) || len(captures[0].Warnings) != 1 {
			t.Errorf("%s: %v\n%s", name, err, render(captures, nil))
			continue
		}
		w := captures[0].Warnings[0]
		if !strings.HasPrefix(w.Message, test.beside) || w.Count != test.count || w.Code != test.code || w.Place != "line "+string(rune('0'+test.line)) {
			t.Errorf("%s: %+v", name, w)
		}
		log := []byte(test.lines)
		_, err = exitlog.Read(t.Context(), bytes.NewReader(log))
		checked := exitlog.Check(t.Context(), bytes.NewReader(log), int64(len(log)))
		if strings.Contains(test.lines, "Direct leak of ") { // what a list begins with passes the door
			checked = err
		}
		for _, err := range []error{err, checked} {
			r := evidence.Refusal(err)
			if r == nil || r.Code != evidence.CodeUnknownFormat || !strings.HasPrefix(r.Message, test.alone) || !strings.Contains(r.Do, test.do) || r.Line != test.line {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !exitlog.Sniff(log) {
			t.Errorf("%s: not recognised, and so not explained", name)
		}
	}
}

// What only looks like such a line is none.
func TestNoNotes(t *testing.T) {
	for _, line := range []string{
		"HEAP[0] = x;", "// see Heap block at the end, it was modified", "VERIFIER STOP 00000300: pid 0x1: Invalid handle exception.",
		"HEAP[app.exe]: the heap is fine", "[ RUN      ] Cache.IndirectLeak", "invalid address specified",
	} {
		log := "Detected memory leaks!\n" + line + "\nObject dump complete.\n"
		captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
		if err != nil || len(captures) != 1 || len(captures[0].Warnings) != 0 {
			t.Errorf("%q: %v\n%s", line, err, render(captures, nil))
		}
	}
}

// Dr. Memory prints no direct and indirect bytes with some options.
func TestDrMemoryWithoutDirect(t *testing.T) {
	const log = "~~Dr.M~~ Error #17: REACHABLE LEAK 12345 bytes \n~~Dr.M~~ # 0 main [c:\\src\\main.c:4]\n~~Dr.M~~ \n~~Dr.M~~ ERRORS FOUND:\n"
	captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
	if err != nil || len(captures) != 1 || captures[0].Total(0) != (capture.Usage{Count: 1, Bytes: 12345}) || captures[0].Sites[0].Reach != capture.ReachHeld {
		t.Errorf("%v\n%s", err, render(captures, nil))
	}
}
