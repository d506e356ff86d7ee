package exitlog_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
)

// A block without file and line is named by how its content begins, where that is text: four letters at least. Numbers
// in it change with each run, and what is no character is not shown.
func TestContentOfBlocks(t *testing.T) {
	for content, want := range map[string]string{
		"abc             ":   "20-byte-block +",
		"abc 1234 5678   ":   "20-byte-block +",
		"abcd            ":   "20-byte-block:abcd +",
		"a b c d         ":   "20-byte-block:a_b_c_d +",
		"azAZ            ":   "20-byte-block:azAZ +",
		"@[`{ abc        ":   "20-byte-block +",
		"job 10 of 29    ":   "20-byte-block:job_##_of_## +",
		"ab\x01cd\x7fef .  ": "20-byte-block:ab.cd.ef +",
		"text~ with !    ":   "20-byte-block:text~_with__ +",
	} {
		log := "Detected memory leaks!\nDumping objects ->\n{142} normal block at 0x00A1B4C0, 20 bytes long.\n Data: <" + content +
			"> 73 65 73 \nObject dump complete.\n"
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
