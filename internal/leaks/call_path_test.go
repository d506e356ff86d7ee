package leaks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
)

// stackOf is a stack, innermost first: "layer:module!function+offset" of calls, with a leading ~ of inlined ones.
func stackOf(calls ...string) []*analysis.Frame {
	list := make([]*analysis.Frame, len(calls))
	for i, call := range calls {
		f := &analysis.Frame{Layer: blame.LayerApp}
		if rest, ok := strings.CutPrefix(call, "~"); ok {
			f.Inline, call = true, rest
		}
		if layer, rest, ok := strings.Cut(call, ":"); ok && !strings.HasPrefix(rest, ":") {
			f.Layer, call = blame.Layer(layer), rest
		}
		call, f.Offset, _ = strings.Cut(call, "+")
		f.Module, f.Function, _ = strings.Cut(call, "!")
		list[i] = f
	}
	return list
}

func seenIn(run, bytes, growth int64, stack ...string) leaks.StackSighting {
	return leaks.StackSighting{RunID: run, Frames: stackOf(stack...), Held: analysis.Amount{Count: 1, Bytes: bytes},
		Growth: &analysis.Amount{Count: 1, Bytes: growth}}
}

func TestWhichStacksAreOneVariant(t *testing.T) {
	plain := []string{"alloc:ntdll!RtlAllocateHeap+1", "alloc:shopd!operator new+2", "shopd!Receipt::Append+3",
		"shopd!Order::Commit+4", "base:kernel32!BaseThreadInitThunk+5"}
	for name, test := range map[string]struct {
		other []string
		one   bool
	}{
		"the same": {plain, true},
		"at another offset": {[]string{"alloc:ntdll!RtlAllocateHeap+1", "shopd!Receipt::Append+33",
			"shopd!Order::Commit+44"}, true},
		"another allocator": {[]string{"alloc:ucrtbase!malloc+1", "shopd!Receipt::Append+3",
			"shopd!Order::Commit+4"}, true},
		"another thread start": {[]string{"shopd!Receipt::Append+3", "shopd!Order::Commit+4",
			"base:ntdll!TppWorkerThread+9"}, true},
		"with inlined calls": {[]string{"~shopd!Line::Line", "shopd!Receipt::Append+3", "shopd!Order::Commit+4"}, true},
		"recursion": {[]string{"shopd!Receipt::Append+3", "shopd!Receipt::Append+3",
			"shopd!Order::Commit+4"}, true},
		"as debuggers spell it":  {[]string{"SHOPD!Receipt::Append(int)+3", "shopd!Order::Commit+4"}, true},
		"another caller":         {[]string{"shopd!Receipt::Append+3", "shopd!Order::Reprint+4"}, false},
		"one caller more":        {[]string{"shopd!Receipt::Append+3", "shopd!Order::Commit+4", "shopd!main+1"}, false},
		"without a name":         {[]string{"shopd!Receipt::Append+3", "shopd+0x4"}, false},
		"allocations that stand": {nil, false},
	} {
		variants := leaks.GroupCallPaths([]leaks.StackSighting{seenIn(1, 10, 10, plain...), seenIn(1, 5, 5, test.other...)}, 1)
		if one := len(variants) == 1; one != test.one {
			t.Errorf("%s: %d variants", name, len(variants))
		}
	}
	unnamed := leaks.GroupCallPaths([]leaks.StackSighting{seenIn(1, 1, 1, "plugin+0x10"), seenIn(1, 1, 1, "plugin+0x20")}, 1)
	if len(unnamed) != 2 {
		t.Errorf("two places of a module without symbols are %d variants", len(unnamed))
	}
}

func TestVariantsOfALeak(t *testing.T) {
	commit, reprint, mail := []string{"s!Append", "s!Commit", "s!Serve", "s!Run"},
		[]string{"s!Append", "s!Reprint", "s!Queue", "s!Run"}, []string{"s!Append", "s!Mail"}
	list := []leaks.StackSighting{
		seenIn(7, 100, 40, commit...), seenIn(7, 900, 50, reprint...), seenIn(7, 10, 20, commit...), // another heap
		seenIn(6, 80, 30, reprint...), seenIn(6, 1, 500, mail...), seenIn(5, 60, 0, commit...),
	}
	list[0].Frames[0].Line, list[5].Frames[0].Line = 118, 99
	variants := leaks.GroupCallPaths(list, 7)
	if len(variants) != 3 {
		t.Fatalf("%d variants", len(variants))
	}
	for i, want := range []string{
		"s!Serve → s!Commit: 7: 2 stacks, 110 B +60; 5: 1 stacks, 60 B +0;", // grows most in the run that is shown
		"s!Queue → s!Reprint: 7: 1 stacks, 900 B +50; 6: 1 stacks, 80 B +30;",
		"s!Mail: 6: 1 stacks, 1 B +500;", // more than all, and not in the run that is shown
	} {
		got := strings.Join(variants[i].DistinctFunctions, " → ") + ":"
		for _, in := range variants[i].Seen {
			got += fmt.Sprintf(" %d: %d stacks, %d B %+d;", in.RunID, in.Stacks, in.Held.Bytes, in.Growth.Bytes)
		}
		if got != want {
			t.Errorf("variant %d\n got %s\nwant %s", i, got, want)
		}
	}
	if variants[0].Frames[0].Line != 118 {
		t.Errorf("the stack is of another run than the one that is shown: line %d", variants[0].Frames[0].Line)
	}
	if variants[2].SeenIn(7) != nil || variants[2].SeenIn(6) == nil {
		t.Error("what a run does not show is told of it")
	}
	// The lines shown are those of the newest run, even if the list begins with another run.
	slices.Reverse(list)
	if again := leaks.GroupCallPaths(list, 7); again[0].Frames[0].Line == 99 {
		t.Error("the lines are those of an older build")
	}
	only := leaks.GroupCallPaths(list[:1], 7)
	if len(only) != 1 || only[0].DistinctFunctions != nil {
		t.Errorf("a single variant differs by %v", only[0].DistinctFunctions)
	}
	if leaks.GroupCallPaths(nil, 7) != nil {
		t.Error("no stack is a variant")
	}
}

// Variants without growth are ordered by what they hold.
func TestVariantsWithoutGrowth(t *testing.T) {
	small, large := seenIn(1, 10, 0, "s!A"), seenIn(1, 20, 0, "s!B")
	small.Growth, large.Growth = nil, nil
	variants := leaks.GroupCallPaths([]leaks.StackSighting{small, large}, 1)
	if len(variants) != 2 || variants[0].DistinctFunctions[0] != "s!B" || variants[0].Seen[0].Growth != nil {
		t.Errorf("%+v", variants)
	}
}

// Two calls of one function from different lines are one variant, which lists both lines.
func TestLinesOfAVariant(t *testing.T) {
	at := func(run, growth int64, commit, serve uint32) leaks.StackSighting {
		s := seenIn(run, 10, growth, "~s!Line", "s!Append+1", "s!Commit+2", "s!Serve+3")
		for i, line := range map[int]uint32{1: 118, 2: commit, 3: serve} {
			s.Frames[i].File, s.Frames[i].Line = `c:\src\order.cpp`, line
		}
		return s
	}
	variants := leaks.GroupCallPaths([]leaks.StackSighting{at(7, 5, 207, 40), at(7, 9, 213, 40),
		at(7, 1, 207, 40), at(6, 100, 99, 40)}, 7)
	if len(variants) != 1 || len(variants[0].Variants) != 2 {
		t.Fatalf("%+v", variants)
	}
	for i, want := range []string{"order.cpp:213 +9", "order.cpp:207 +6"} {
		l := variants[0].Variants[i]
		if got := fmt.Sprintf("%s %+d", strings.Join(l.SourceLines, " "), l.Growth.Bytes); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if two := leaks.GroupCallPaths([]leaks.StackSighting{at(7, 5, 207, 40), at(7, 9, 213, 41)},
		7); strings.Join(two[0].Variants[0].SourceLines, " ") != "order.cpp:213 order.cpp:41" {
		t.Errorf("%v", two[0].Variants[0].SourceLines)
	}
	if one := leaks.GroupCallPaths([]leaks.StackSighting{at(7, 5, 207, 40), at(7, 9, 207, 40), at(6, 9, 99, 40)},
		7); one[0].Variants != nil {
		t.Errorf("stacks of the same lines differ in %v", one[0].Variants)
	}
	bare := leaks.GroupCallPaths([]leaks.StackSighting{seenIn(1, 1, 2, "s!A+1", "s!B+2"),
		seenIn(1, 1, 1, "s!A+1", "s!B+3")}, 1)
	if len(bare) != 1 || bare[0].Variants[0].SourceLines[0] != "B+2" {
		t.Errorf("without lines offsets tell: %+v", bare[0].Variants)
	}
}
