package exitlog_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
)

// A block without file and line is named by how its content begins, where that is text: six characters with four
// letters at least. Numbers in it change with each run. Of other content, bytes that look like letters are parts of
// addresses.
func TestContentOfBlocks(t *testing.T) {
	for content, want := range map[string]string{
		"abcde":                               "20-byte-block +",
		"abc 12":                              "20-byte-block +",
		"abcd 1":                              "20-byte-block:abcd_# +",
		"abcdef":                              "20-byte-block:abcdef +",
		"abc 1234 5678":                       "20-byte-block +",
		"a b c d":                             "20-byte-block:a_b_c_d +",
		"azAZ()":                              "20-byte-block:azAZ.. +",
		"@[`{ abc":                            "20-byte-block +",
		"job 10 of 29":                        "20-byte-block:job_##_of_## +",
		"key <name> value":                    "20-byte-block:key_.name._value +",
		"text~ with !":                        "20-byte-block:text~_with__ +",
		"line\ntwo":                           "20-byte-block:line_two +",
		"sixteen letters.":                    "20-byte-block:sixteen_letters +",
		"letters\x00behind":                   "20-byte-block:letters +",
		"letters\xCD\xCD":                     "20-byte-block:letters +",
		"letters\xFD":                         "20-byte-block:letters +",
		"letters\x01":                         "20-byte-block +",
		"letters\x7F":                         "20-byte-block +",
		"Gr\xF6\xDFen":                        "20-byte-block +",
		"vAZn\x00\x00\x00\x00":                "20-byte-block +",
		"0L1\x010L1\x010L1\x010L1\x01":        "20-byte-block +",
		"D\x003\x00D\x00-\x00A\x00p\x00p\x00": "20-byte-block:D#D-App +",
		"D\x003\x00D\x001\x01A\x00p\x00p\x00": "20-byte-block +",
		"":                                    "20-byte-block +",
	} {
		shown := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return ' '
			}
			return r
		}, content)
		log := fmt.Sprintf("Detected memory leaks!\nDumping objects ->\n{142} normal block at 0x00A1B4C0, 20 bytes long.\n Data: <%s> % X \nObject dump complete.\n", shown, content)
		captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
		if got := render(captures, err); !strings.Contains(got, "!normal:"+want) {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
	}
	const cut = "Detected memory leaks!\nDumping objects ->\n{142} normal block at 0x00A1B4C0, 20 bytes long.\n Data: <some text\nObject dump complete.\n"
	captures, err := exitlog.Read(t.Context(), strings.NewReader(cut))
	if got := render(captures, err); !strings.Contains(got, "!normal:20-byte-block +") {
		t.Errorf("a line that is cut: %s", got)
	}
}
