package ui_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

func TestFramesSayWhatTheyRestOn(t *testing.T) {
	for _, test := range []struct {
		name  string
		frame analysis.Frame
		has   []string
		lacks string
	}{
		{"with all", analysis.Frame{Module: "m", Function: "A::B", Offset: "0x1f", File: `c:\src\b.cpp`, Line: 7,
			Type: "std::vector<int>"},
			[]string{`m!</span><wbr>A::<wbr>B<span class="off">+0x1f`, `class="type" title="allocates std::vector&lt;int&gt;`,
				`title="c:\src\b.cpp">b.cpp:7<`}, "≈"},
		{"inlined", analysis.Frame{Module: "m", Function: "A::B", Offset: "0x0", Inline: true},
			[]string{`<li class="inline">`, "[inlined]"}, "+0x0"},
		{"approximate", analysis.Frame{Module: "m", Function: "Export", Offset: "0x9f00", Approx: true},
			[]string{`title="the nearest symbol below`, "≈", "m!</span><wbr>Export"}, `class="type"`},
		{"unnamed", analysis.Frame{Module: "m", Offset: "0x9f00"}, []string{`<li class="unresolved">`, "m+0x9f00"}, "loc"},
	} {
		line := ui.FrameLine(t, &test.frame)
		rest := line
		for _, text := range test.has {
			_, after, found := strings.Cut(rest, text)
			if !found {
				t.Errorf("%s: %s lacks %q, or has it before %q", test.name, line, text, test.has[0])
				break
			}
			rest = after
		}
		if strings.Contains(line, test.lacks) {
			t.Errorf("%s: %s has %s", test.name, line, test.lacks)
		}
	}
}
