package exitlog_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
)

// A tool that prints nothing of a clean test is told which tests passed: by its silence they left nothing. One that
// failed may have left before the code that leaks, or been aborted before the tool looked.
func TestTestsThatRan(t *testing.T) {
	const crt = "Detected memory leaks!\nDumping objects ->\na.cpp(3) : {7} normal block at 0x00A1B2C0, 64 bytes long.\nObject dump complete.\n"
	const vld = "WARNING: Visual Leak Detector detected memory leaks!\n---------- Block 1 at 0x00AB2700: 4 bytes ----------\n" +
		"  Call Stack (TID 1):\n    a.cpp (3): app.exe!A() + 0xF bytes\n\nVisual Leak Detector detected 1 memory leak (4 bytes).\n"
	const lsan = "==6==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 64 byte(s) in 1 object(s) allocated from:\n" +
		"    #0 0x4ac3b8 in malloc (/b/app+0x4ac3b8)\n    #1 0x4dd2f1 in Add /src/a.cpp:3:9\n\nSUMMARY: AddressSanitizer: 64 byte(s) leaked in 1 allocation(s).\n"
	leaks := "[ RUN      ] A.Leaks\n" + crt + "[       OK ] A.Leaks (1 ms)\n"
	for name, test := range map[string]struct{ log, ran string }{
		"clean, failed and skipped": {leaks + "[ RUN      ] A.Clean\n[       OK ] A.Clean (1 ms)\n[ RUN      ] A.Fails\n[  FAILED  ] A.Fails (1 ms)\n" +
			"[ RUN      ] A.Skips\n[  SKIPPED ] A.Skips (1 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.Other\n", "[A.Clean A.Leaks]"},
		"a crash": {leaks + "[ RUN      ] A.Dies\nSegmentation fault\n", "[A.Leaks]"},
		"Boost.Test": {"Entering test suite \"S\"\nEntering test case \"leaks\"\n" + crt + "Leaving test case \"leaks\"; testing time: 2us\n" +
			"Entering test case \"fails\"\nunknown location(0): fatal error: in \"S/fails\": memory access violation\nLeaving test case \"fails\"; testing time: 2us\n" +
			"Entering test case \"old\"\na.cpp(9): error in \"old\": check a == b failed\nLeaving test case \"old\"; testing time: 2us\n" +
			"Entering test case \"clean\"\nLeaving test case \"clean\"; testing time: 2us\nLeaving test suite \"S\"\n", "[S/clean S/leaks]"},
		"ctest -V": {"    Start 1: leaks\n1: " + strings.ReplaceAll(strings.TrimSuffix(crt, "\n"), "\n", "\n1: ") + "\n1/4 Test #1: leaks ...   Passed    0.02 sec\n" +
			"    Start 2: clean\n2: Test command: clean.exe\n2/4 Test #2: clean ...   Passed    0.02 sec\n" +
			"    Start 3: dies\n3: Test command: dies.exe\n3/4 Test #3: dies ...***Exception: SegFault    0.02 sec\n" +
			"    Start 4: fails\n4: Test command: fails.exe\n4/4 Test #4: fails ...***Failed    0.02 sec\n", "[clean leaks]"},
		"AddressSanitizer aborts a test": {"    Start 1: leaks\n1: " + strings.ReplaceAll(strings.TrimSuffix(lsan, "\n"), "\n", "\n1: ") + "\n1/2 Test #1: leaks ...***Failed    0.02 sec\n" +
			"    Start 2: aborts\n2: ==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n2: ==7==ABORTING\n2/2 Test #2: aborts ...***Failed    0.02 sec\n", "[]"},
		"ctest without the output of tests that pass": {"    Start 2: clean\n2/4 Test #2: clean ...   Passed    0.02 sec\n" +
			"    Start 1: leaks\n1/4 Test #1: leaks ...***Failed    0.02 sec\n" + crt, "[]"},
		"Visual Leak Detector says of a clean test that it is": {"[ RUN      ] A.Leaks\n" + vld + "[       OK ] A.Leaks (1 ms)\n", "[]"},
		"both": {"[ RUN      ] A.Leaks\n" + vld + crt + "[       OK ] A.Leaks (1 ms)\n", "[] [A.Leaks]"},
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(test.log))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var ran []string
		for _, c := range captures {
			valid(t, c)
			ran = append(ran, fmt.Sprint(c.Ran))
		}
		if got := strings.Join(ran, " "); got != test.ran {
			t.Errorf("%s: %s, want %s", name, got, test.ran)
		}
	}
}
