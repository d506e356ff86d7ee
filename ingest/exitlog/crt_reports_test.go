package exitlog_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/ingest/exitlog"
)

// A crtReport is a text as people paste it into public trackers, with what a reader counts in it. The texts are our
// own.
type crtReport struct {
	log   string
	sites string // of each: blocks x bytes name
	tests string // of each list
	whole bool
}

const dumped = "Object dump complete.\n"

func crtReports() map[string]crtReport {
	return map[string]crtReport{
		"the heading comes last": {"Summary: All 95 tests passed\nDumping objects ->\n{528} normal block at 0x0C138B78, 300 bytes long.\n" +
			" Data: <                > 01 00 00 80 00 00 00 00 00 00 00 00 01 00 00 80\n{527} normal block at 0x0C149A20, 52 bytes long.\n" +
			" Data: <x    @ g A g    > 78 8B 13 0C A0 40 82 67 E0 41 82 67 00 00 00 00\n" + dumped +
			"0 bytes in 0 Free Blocks.\n0 bytes in 0 Normal Blocks.\n36459 bytes in 502 CRT Blocks.\nLargest number used: 59979 bytes.\nTotal allocations: 67519 bytes.\nDetected memory leaks!\n",
			"1x52 normal:52-byte-block, 1x300 normal:300-byte-block", "", true},
		"brackets in the content": {"Detected memory leaks!\nDumping objects ->\n{251} normal block at 0x00296F38, 32 bytes long.\n" +
			" Data: <key <name> value> 6B 65 79 20 3C 6E 61 6D 65 3E 20 76 61 6C 75 65 \n" + dumped,
			"1x32 normal:32-byte-block:key_.name._value", "", true},
		"pieces of one line": {"[4242] Detected memory leaks!\n[4242] Dumping objects ->\n[4242] c:\\src\\cache.cpp(88) : \n[4242] {123} \n" +
			"[4242] normal block at 0x00A1B2C0, 64 bytes long.\n[4242]  Data: <                > CD CD CD CD CD CD CD CD CD CD CD CD CD CD CD CD \n" +
			"[4242] {124} \n[4242] normal block at 0x00A1B300, 8 bytes long.\n[4242]  Data: <        > CD CD CD CD CD CD CD CD \n[4242] " + dumped,
			"1x8 normal:8-byte-block, 1x64 cache.cpp:64-byte-block", "", true},
		"statistics of MFC": {"Memory leaked!\nDumping objects ->\nc:\\app\\doc.cpp(40) : {70} client block at 0x00425A60, subtype c0, 22 bytes long.\na CDocument object at $00425A60, 22 bytes long\n" +
			dumped + "0 bytes in 0 Free Blocks\n22 bytes in 1 Object Blocks\n45 bytes in 4 Non-Object Blocks\nLargest number used: 67 bytes\nTotal allocations: 67 bytes\n",
			"1x22 doc.cpp:22-byte-block", "", true},
		"output in the same line": {"All tests passed (3 assertions in 1 test case)Detected memory leaks!\nDumping objects ->\nprogress 100 % c:\\src\\a b\\cache (x86)\\cache.cpp(88) : {9} normal block at 0x00A1B2C0, 64 bytes long.\n" +
			" Data: <        > CD CD \n" + dumped, "1x64 cache.cpp:64-byte-block", "", true},
		"a template and a lambda": {"Dumping objects ->\nC:\\src\\{0C3B-44}\\list.h(7) : {1234567} normal block at 0x000001D2A3B4C5D0, 1048576 bytes long.\n Data: <                > 00 00 \n" +
			"C:\\src\\{0C3B-44}\\list.h(7) : {1234568} normal block at 0x000001D2A3C4C5D0, 1048576 bytes long.\n" + dumped,
			"2x2097152 list.h:1048576-byte-block", "", true},
		"two lists without an end between": {"Detected memory leaks!\nDumping objects ->\nc:\\a.cpp(1) : {5} normal block at 0xA0, 8 bytes long.\nDetected memory leaks!\nDumping objects ->\nc:\\b.cpp(2) : {6} normal block at 0xB0, 16 bytes long.\n" + dumped,
			"1x8 a.cpp:8-byte-block, 1x16 b.cpp:16-byte-block", "", true},
		"cut before the end": {"Detected memory leaks!\nDumping objects ->\nc:\\a.cpp(1) : {5} normal block at 0xA0, 8 bytes long.\n Data: <",
			"1x8 a.cpp:8-byte-block", "", false},
		"cut behind the heading": {"c:\\a.cpp(1) : warning C4244\nDetected memory leaks!\n", "", "", false},
	}
}

func moreCRTReports() map[string]crtReport {
	return map[string]crtReport{
		"Visual Studio's window": {"'tests.exe' (Win32): Loaded 'C:\\Windows\\System32\\ucrtbased.dll'. \nThe thread 0x3a4 has exited with code 0 (0x0).\n" +
			"Detected memory leaks!\nDumping objects ->\nD:\\w\\src\\pool.cpp(31) : {310} normal block at 0x000001F0, 40 bytes long.\n Data: <Hello, pool     > 48 65 6C 6C 6F 2C 20 70 6F 6F 6C 00 CD CD CD CD \n" +
			"{309} normal block at 0x000001E0, 16 bytes long.\n Data: <pool-17 of 20   > 70 6F 6F 6C 2D 31 37 20 6F 66 20 32 30 00 CD CD \n" + dumped + "The program '[7] tests.exe' has exited with code 0 (0x0).\n",
			"1x16 normal:16-byte-block:pool-##_of_##, 1x40 pool.cpp:40-byte-block", "", true},
		"a quotation": {"> Detected memory leaks!\n> Dumping objects ->\n> {6845} normal block at 0x0131EAB0, 64 bytes long.\n>  Data: <0L1 0L1 0L1 0L1 > 30 4C 31 01 \n> " + dumped,
			"1x64 normal:64-byte-block", "", true},
		"GoogleTest, each test": {"[ RUN      ] A.One\nDumping objects ->\nc:\\a.cpp(1) : {500} normal block at 0xA0, 8 bytes long.\n Data: <> \n" + dumped + "[       OK ] A.One (1 ms)\n" +
			"[ RUN      ] A.Two\nDumping objects ->\n" + dumped + "[       OK ] A.Two (1 ms)\n[ RUN      ] A.Three\nDumping objects ->\nc:\\a.cpp(1) : {700} normal block at 0xA0, 8 bytes long.\n" + dumped + "[       OK ] A.Three (1 ms)\n",
			"1x8 a.cpp:8-byte-block, 1x8 a.cpp:8-byte-block", "A.One A.Two A.Three", true},
		"nothing but CRT blocks": {"Dumping objects ->\n{57} crt block at 0x00A1, subtype 0, 54 bytes long.\n Data: <main.cpp > 6D \n{58} ignore block at 0x00A2, subtype 0, 4 bytes long.\n Data: <> \n" + dumped, "", "", true},
		"times before pieces": {"2026-01-02 03:04:05.678 Detected memory leaks!\n2026-01-02 03:04:05.678 Dumping objects ->\n2026-01-02 03:04:05.679 d:\\x\\y.cpp(12) : \n2026-01-02 03:04:05.679 {77} \n2026-01-02 03:04:05.680 normal block at 0x00000240AF0, 24 bytes long.\n2026-01-02 03:04:05.680  Data: <   > 01 02 03 \n2026-01-02 03:04:05.681 " + dumped,
			"1x24 y.cpp:24-byte-block", "", true},
		"pieces that are no block":  {"Dumping objects ->\nc:\\src\\cache.cpp(88) : \nsomething else\n{123} \nnormal block at 0x00A1B2C0, 64 bytes long.\n" + dumped, "1x64 normal:64-byte-block", "", true},
		"a list of Chromium's size": {"Detected memory leaks!\nDumping objects ->\n" + strings.Repeat("c:\\x.cpp(3) : {8} normal block at 0xA0, 8 bytes long.\n Data: <        > 00 00 00 00 00 00 00 00 \n", 3000) + dumped, "3000x24000 x.cpp:8-byte-block", "", true},
		"objects of MFC": {"Detected memory leaks!\nDumping objects ->\nC:\\app\\view.cpp(9) : {90} client block at 0x01, subtype c0, 64 bytes long.\na CView object at $01, 64 bytes long\nstrcore.cpp(156) : {88} normal block at 0x02, 30 bytes long.\n Data: <    Document one > 01 \n{80} client block at 0x03, subtype c0, 28 bytes long.\nan invalid object at $03, 28 bytes long\n" + dumped,
			"1x28 invalid:28-byte-block, 1x64 view.cpp:64-byte-block, 1x30 strcore.cpp:30-byte-block", "", true},
	}
}

func (r *crtReport) check(t *testing.T, name, log string) {
	t.Helper()
	captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var sites, tests []string
	whole := true
	for _, c := range captures {
		whole = whole && !c.Snapshots[0].LowerBound
		tests = append(tests, c.Test)
		for i := range c.Sites {
			u := c.Sites[i].Usage[0]
			sites = append(sites, fmt.Sprintf("%dx%d %s", u.Count, u.Bytes, c.Stacks.Text(c.Stacks.Frame(c.Stacks.Stack(c.Sites[i].Stack)[0])).Function))
		}
	}
	if got := strings.Join(sites, ", "); got != r.sites || whole != r.whole || strings.Join(tests, " ") != r.tests {
		t.Errorf("%s: %q of tests %q, whole %t; want %q of %q, whole %t", name, got, tests, whole, r.sites, r.tests, r.whole)
	}
}

// What public trackers and CI logs have of the debug CRT, in UTF-8 and in UTF-16.
func TestCRTReports(t *testing.T) {
	reports := crtReports()
	maps.Copy(reports, moreCRTReports())
	for name, r := range reports {
		r.check(t, name, r.log)
		wide := []byte("\xFF\xFE")
		for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(r.log, "\n", "\r\n"))) {
			wide = append(wide, byte(unit), byte(unit>>8))
		}
		r.check(t, name+", UTF-16", string(wide))
	}
}
