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
			[]string{`title="Nearest symbol below`, "≈", "m!</span><wbr>Export"}, `class="type"`},
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

// What allocated on behalf of the frame to blame is folded where it is an allocator's or plumbing; other code, which
// called the allocator, stays in sight.
func TestWhatStacksFold(t *testing.T) {
	frame := func(layer analysis.Layer, module, function string) *analysis.Frame {
		return &analysis.Frame{Layer: layer, Module: module, Function: function}
	}
	heap, malloc := frame("alloc", "ntdll", "RtlAllocateHeap"), frame("alloc", "ucrtbase", "malloc")
	hook, owner := frame("tool", "verifier", "AVrfAllocate"), frame("plumbing", "app", "std::make_unique")
	other, windows := &analysis.Frame{Layer: "third-party", Module: "audit", Offset: "0x104b"}, frame("system", "uxtheme", "OpenThemeData")
	own, thread := frame("app", "app", "Order::Commit"), frame("base", "kernel32", "BaseThreadInitThunk")
	for _, test := range []struct {
		stack []*analysis.Frame
		want  string
	}{
		{[]*analysis.Frame{heap, malloc, own, thread},
			"[2 allocator frames · ntdll, malloc] *app!Order::Commit [1 thread start frame · kernel32]"},
		{[]*analysis.Frame{hook, heap, malloc, other, owner, own},
			"[3 allocator frames · verifier, ntdll, malloc] audit+0x104b [1 plumbing frame · std::make_unique] *app!Order::Commit"},
		{[]*analysis.Frame{heap, windows, owner, owner, own, other},
			"[1 allocator frame · RtlAllocateHeap] uxtheme!OpenThemeData [2 plumbing frames · app, std::make_unique] *app!Order::Commit audit+0x104b"},
		{[]*analysis.Frame{heap, windows, other, thread},
			"[1 allocator frame · RtlAllocateHeap] uxtheme!OpenThemeData *audit+0x104b [1 thread start frame · kernel32]"},
		{[]*analysis.Frame{own, other}, "*app!Order::Commit audit+0x104b"},
		{[]*analysis.Frame{heap}, "*ntdll!RtlAllocateHeap"},
		{nil, ""},
	} {
		if got := ui.StackLine(t, test.stack); got != test.want {
			t.Errorf("\n got %s\nwant %s", got, test.want)
		}
	}
}
