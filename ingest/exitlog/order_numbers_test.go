package exitlog_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
)

// numbered is a list of the debug CRT of blocks of 8 bytes, "file number" each.
func numbered(blocks ...string) string {
	var b strings.Builder
	b.WriteString("Detected memory leaks!\nDumping objects ->\n")
	for _, block := range blocks {
		var file string
		var number int
		fmt.Sscan(block, &file, &number) //nolint:errcheck // the test's own text
		fmt.Fprintf(&b, "c:\\src\\%s.cpp(7) : {%d} normal block at 0x00A1%04X, 8 bytes long.\n Data: <        > CD CD CD CD CD CD CD CD \n", file, number, number)
	}
	return b.String() + "Object dump complete.\n"
}

// What a list outside of tests holds was there before the first test ran, where each test has its list and all
// numbers in them are higher. A block that two lists of a process have counts in the first.
func TestOrderNumbers(t *testing.T) {
	run := func(test string, blocks ...string) string {
		list := ""
		if blocks != nil {
			list = numbered(blocks...)
		}
		return "[ RUN      ] " + test + "\n" + list + "[       OK ] " + test + " (0 ms)\n"
	}
	none := []string{}
	for name, test := range map[string]struct {
		log  string
		want string // of each list: its blocks by file, and those before the first test in brackets
	}{
		"before the first test":    {run("A", "a 150") + run("B", "b 160") + numbered("static 149"), "A: a | B: b | : static[1]"},
		"after it":                 {run("A", "a 150") + numbered("other 151"), "A: a | : other"},
		"both":                     {run("A", "a 150") + numbered("other 151", "static 80", "static 90"), "A: a | : other static*2[2]"},
		"one line, before and in":  {run("A", "a 150") + numbered("a 80"), "A: a | : a[1]"},
		"some of a line":           {run("A", "a 150") + numbered("s 80", "s 200"), "A: a | : s*2[1]"},
		"an empty list first":      {run("A", none...) + run("B", "b 160") + numbered("static 149"), "A: | B: b | : static[1]"},
		"a test without a list":    {run("A") + run("B", "b 160") + numbered("static 149"), "B: b | : static"},
		"a list missing behind":    {run("A", "a 150") + run("B") + run("C", "c 160") + numbered("static 149"), "A: a | C: c | : static[1]"},
		"no list in tests":         {run("A") + numbered("static 149"), ": static"},
		"a lower number in a test": {run("A", "a 150") + run("B") + run("C", "c 100") + numbered("static 90", "s 120"), "A: a | C: c | : s static"},
		"another process":          {"Test command: one.exe\n" + run("A", "a 150") + "Test command: two.exe\n" + numbered("static 149"), "A: a | : static"},
		"a list at the end of all": {run("A", "a 150") + run("B", "b 160") + numbered("a 150", "b 160", "c 170"), "A: a | B: b | : c"},
		"lists that go on":         {run("A", "s 10", "a 150") + run("B", "s 10", "a 150", "b 160"), "A: a s | B: b"},
		"a program twice":          {strings.Repeat(run("A", "a 150")+numbered("static 149"), 2), "A: a*2 | : static*2[2]"},
		"processes in turns": {prefixed("1: ", run("A", "a 150")) + prefixed("2: ", run("A", "a 150")) + prefixed("1: ", numbered("a 150", "x 151")) + prefixed("2: ", numbered("a 150", "y 100")),
			"A: a | A: a | : x | : y[1]"},
		"lists with gaps":           {run("A", "a 150", "c 170") + run("B", "b 160", "c 170") + run("C", "d 180"), "A: a c | B: b | C: d"},
		"twice, with a list of all": {strings.Repeat(run("A", "a 150")+numbered("a 150", "x 151"), 2), "A: a*2 | : x*2"},
		"doctest":                   {"TEST CASE:  A\n" + numbered("a 150") + "===============================================================================\n[doctest] test cases: 1 | 1 passed | 0 failed\n" + numbered("static 149"), "A: a | : static"},
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(test.log))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var lists []string
		for _, c := range captures {
			var blocks strings.Builder
			for i := range c.Sites {
				file, _, _ := strings.Cut(c.Stacks.Text(c.Stacks.Frame(c.Stacks.Stack(c.Sites[i].Stack)[0])).Function, ".")
				blocks.WriteString(" " + file)
				if n := c.Sites[i].Usage[0].Count; n > 1 {
					fmt.Fprintf(&blocks, "*%d", n)
				}
				if early := c.Lines[i].BeforeTests; early.Count > 0 {
					fmt.Fprintf(&blocks, "[%d]", early.Count)
					if early.Bytes != 8*early.Count {
						t.Errorf("%s: %+v", name, early)
					}
				}
			}
			lists = append(lists, c.Test+":"+blocks.String())
		}
		if got := strings.Join(lists, " | "); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, test.want)
		}
	}
}
