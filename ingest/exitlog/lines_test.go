package exitlog

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/plaintext"
)

// What Dr. Memory prints of a call. A call without a name has an address, or is none.
func TestFramesOfDrMemory(t *testing.T) {
	for line, want := range map[string]string{
		`#0 app.exe!Cache::Add (0x00401000) [c:\src\cache.cpp:88]`: `app|Cache::Add|0|c:\src\cache.cpp|88|401000`,
		`#1 app.exe!Cache::Add+0x12 (0x00401000)`:                  `app|Cache::Add|12||0|401000`,
		`#2 main [c:\src\main.cpp:7]`:                              `prog|main|0|c:\src\main.cpp|7|0`,
		`#3 main [c:\src\main.cpp:x]`:                              `prog|main|0||0|0`,
		`#4 main [:7]`:                                             `prog|main|0||0|0`,
		`#5 replace_malloc`:                                        `drmemorylib|replace_malloc|0||0|0`,
		`#6 app.exe!? (0x00401000)`:                                `app||0||0|401000`,
		`#7 ? (0x00401000)`:                                        `prog||0||0|401000`,
		`#8 app.exe!what? (0x00401000)`:                            `app|what?|0||0|401000`,
		`#9 <not in a module> (0x00401000)`:                        `||0||0|401000`,
		`#10 <not in a module`:                                     `prog|<not in a module|0||0|0`,
		`#11 <app.exe+0x1234>`:                                     "none", // no address
		`#12 app.exe!?`:                                            "none",
		`#13 ?`:                                                    "none",
		`#14 app.exe!`:                                             "none",
		`#15`:                                                      "none",
		`#16 `:                                                     "none",
		`#17app.exe!f`:                                             "none",
		`# app.exe!f`:                                              "none",
		`18 app.exe!f`:                                             "none",
		`#19 std::map<a!b>::f`:                                     `prog|std::map<a!b>::f|0||0|0`,
	} {
		got := "none"
		if f, ok := drFrame([]byte(line), "prog.exe"); ok {
			got = fmt.Sprintf("%s|%s|%x|%s|%d|%x", f.Module, f.Function, f.Offset, f.File, f.Line, f.address)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// A heading of Visual Leak Detector has a number, an address and a size, and goes on as headings do.
func TestHeadingsOfVLD(t *testing.T) {
	const begin = "---------- Block "
	for line, ok := range map[string]bool{
		"1 at 0x00AB2700: 4 bytes ----------": true, "12 at 0x00AB2700: 4 bytes ---": true,
		"x at 0x00AB2700: 4 bytes ----------": false, "1 in 0x00AB2700: 4 bytes ----------": false, "1": false,
		"1 at 0x00AB27G0: 4 bytes ----------": false, "1 at 0x00AB2700 4 bytes ----------": false,
		"1 at 0x00AB2700: x bytes ----------": false, "1 at 0x00AB2700: 4 bytes": false,
	} {
		address, size, read := vldHeading([]byte(begin + line))
		if read != ok || ok && (address != 0xAB2700 || size != 4) {
			t.Errorf("%s: %#x, %d, %t", line, address, size, read)
		}
	}
}

// 65,536 tests are remembered as those that ran, and as many lines of calls.
func TestWhatACollectorRemembers(t *testing.T) {
	const most = 65_536
	o := &collector{ran: map[string]bool{}, frames: map[string]*parsedFrame{}}
	parses := 0
	call := func(i int) {
		o.frame([]byte(fmt.Sprint(i)), func(text []byte) (frame, bool) {
			parses++
			return frame{FrameText: capture.FrameText{Function: string(text)}}, true
		})
	}
	for i := range most + 1 {
		o.ended(fmt.Sprint(i))
		call(i)
	}
	call(most - 1)
	if len(o.ran) != most || o.ran[fmt.Sprint(most)] || len(o.frames) != most || parses != most+1 {
		t.Errorf("%d tests, %d calls read in %d parses", len(o.ran), len(o.frames), parses)
	}
	if call(most); parses != most+2 {
		t.Errorf("the call beyond the limit is remembered: %d parses", parses)
	}
}

// 10,000 tests and processes have a list each. Those of further ones are counted and named, and none below.
func TestMoreListsThanAreRead(t *testing.T) {
	for lists, lost := range map[int]int64{9_999: 0, 10_000: 0, 10_001: 1, 10_002: 2} {
		o := newCollector()
		for pid := range lists {
			o.list(KindMemcheck, &lane{}, capture.Process{PID: uint32(pid + 1)}, 1)
		}
		captures := o.captures(&scanner{ctx: t.Context(), src: plaintext.NewDecoder(strings.NewReader(""))})
		var said int64
		for _, w := range captures[0].Warnings {
			if strings.Contains(w.Message, "lists of more than 10000 tests and processes") {
				said += w.Count
			}
		}
		if len(captures) != min(lists, 10_000) || said != lost {
			t.Errorf("%d lists: %d are read, and %d are said to be lost; want %d", lists, len(captures), said, lost)
		}
	}
}

// Numbers of Valgrind have groups of digits, and behind them what is more or less than before. They have 18 digits at
// most.
func TestGroupedNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"1,032 bytes": "1032| bytes", "1,032 (+24) bytes": "1032| bytes", "1,032 (-1,024) bytes": "1032| bytes",
		"7 (24) bytes": "7| (24) bytes", "7 (+24 bytes": "7| (+24 bytes", "7": "7|",
		"123456789012345678 bytes": "123456789012345678| bytes", "1234567890123456789 bytes": "none",
		",7": "none", " 7": "none", "": "none", "x": "none",
	} {
		got := "none"
		if v, rest, ok := cutGrouped([]byte(text)); ok {
			got = fmt.Sprintf("%d|%s", v, rest)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
