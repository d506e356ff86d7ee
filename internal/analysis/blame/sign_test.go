package blame_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"heapdrift/internal/analysis/blame"
)

func TestSign(t *testing.T) {
	t.Parallel()
	const start = " < kernel32!BaseThreadInitThunk < ntdll!RtlUserThreadStart"
	for _, c := range []struct{ name, stack, title, frames string }{
		{"plain", "ntdll!RtlAllocateHeap < ucrtbase!_malloc_base < app!f < app!g" + start, "app!f", "app!f app!g"},
		{"five frames at most", "app!a < app!b < app!c < app!d < app!e < app!f", "app!a", "app!a app!b app!c app!d app!e"},
		{"plumbing and system are left out",
			"app!malloc < app!std::vector<int>::_Emplace_reallocate<int> < app!std::vector<int>::push_back < app!f < user32!DispatchMessageW < app!std::invoke < app!g",
			"std::vector<T>::_Emplace_reallocate via std::vector<T>::push_back | app!f", "app!f app!g"},
		{"on behalf", "ntdll!RtlAllocateHeap < uxtheme!Load < app!f", "uxtheme!Load | app!f", "app!f"},
		{"two of ours", "app!f < own!g", "app!f", "app!f own!g"},
		{"third parties among themselves", "ntdll!RtlAllocateHeap < other!a < user32!b < other!c",
			"other!a", "other!a other!c"},
		{"recursion", "app!leaf < app!visit < app!visit < app!visit < app!main", "app!leaf", "app!leaf app!visit app!main"},
		{"recursion of two", "app!leaf < app!a < app!b < app!a < app!b < app!main", "app!leaf",
			"app!leaf app!a app!b app!main"},
		{"recursion of three, deep", "app!leaf" + strings.Repeat(" < app!a < app!b < app!c", 9) + " < app!main", "app!leaf",
			"app!leaf app!a app!b app!c app!main"},
		{"recursion from within", "app!a < app!b < app!c < app!a < app!b < app!main", "app!a", "app!a app!b app!main"},
		{"recursion in another order", "app!a < app!b < app!c < app!a < app!c < app!b < app!main", "app!a",
			"app!a app!c app!b app!main"},
		{"lambda", "app!main::<lambda_0>::operator() < app!main", "app!main", "app!main"},
		{"lambda through plumbing", "app!f::<lambda_3>::operator() < app!std::for_each<x> < app!f < app!main",
			"app!f", "app!f app!main"},
		{"lambda in a lambda",
			"app!f::<lambda_3>::operator()::<lambda_1>::operator() < app!f::<lambda_3>::operator() < app!f < app!main",
			"app!f", "app!f app!main"},
		{"lambda from elsewhere", "app!f::<lambda_3>::operator() < app!run < app!main", "app!f::<lambda>::operator()",
			"app!f::<lambda>::operator() app!run app!main"},
		{"allocator only", "ntdll!RtlAllocateHeap < KERNELBASE!HeapAlloc", "kernelbase!HeapAlloc (allocator only)",
			"kernelbase!HeapAlloc"},
		{"library only", "app!malloc < app!std::string::assign", "app!std::string::assign (library code only)",
			"app!std::string::assign"},
		{"unknown", "ntdll+0x1 < app+0x30 < app+0x30 < app!main", "app+0x30", "app!<unknown>+0x30@ app!main"},
		{"unknown of a build", "ntdll+0x1 < other+0x30", "other+0x30", "other!<unknown>+0x30@B1"},
		{"no stack", "", "no stack", ""},
	} {
		p := newProgram(blame.DefaultRules())
		s := p.sign(c.stack)
		if s.Title != c.title || strings.Join(s.Frames, " ") != c.frames {
			t.Errorf("%s: %q of %q; want %q of %q", c.name, s.Title, s.Frames, c.title, c.frames)
		}
		if s.Provisional != strings.Contains(c.frames, "<unknown>") {
			t.Errorf("%s: provisional %v", c.name, s.Provisional)
		}
		stack := p.stack(c.stack)
		for i, at := range s.Used {
			if stack[at].Name() != s.Frames[i] {
				t.Errorf("%s: frame %d is %s", c.name, i, stack[at].Name())
			}
		}
		for _, id := range []string{s.ID, s.Fine, s.Leaf} {
			if len(id) != len("sig1:")+32 || !strings.HasPrefix(id, "sig1:") {
				t.Errorf("%s: id %q", c.name, id)
			}
		}
	}
}

// Databases hold these ids, so they must not change.
func TestSignIsFixed(t *testing.T) {
	t.Parallel()
	s := newProgram(blame.DefaultRules()).sign("ntdll!RtlAllocateHeap < app!malloc < app!std::vector<int>::push_back < app!f < app!g < kernel32!BaseThreadInitThunk")
	if s.ID != "sig1:6c5932c848eae5b927e959647615a8ce" || s.Fine != "sig1:7a096c68ee4b70c9d3c8ee38014fa55f" ||
		s.Leaf != "sig1:924c2a48c0b48e933b5ea0bf3817fa07" {
		t.Errorf("%s %s %s", s.ID, s.Fine, s.Leaf)
	}
}

func TestSignTellsApart(t *testing.T) {
	t.Parallel()
	p := newProgram(blame.DefaultRules())
	stack := p.stack("app!malloc < app!f < app!g")
	heap, virtual := blame.Sign("heap", stack, blame.MarkStack(stack)), blame.Sign("virtual", stack, blame.MarkStack(stack))
	if heap.ID == virtual.ID || heap.Fine == virtual.Fine || heap.Leaf == virtual.Leaf {
		t.Error("kinds share ids")
	}
	if blame.Sign("heap", nil, blame.MarkStack(nil)).ID == blame.Sign("virtual", nil, blame.MarkStack(nil)).ID {
		t.Error("kinds share the id of no stack")
	}
	malloc, realloc := p.sign("app!malloc < app!f < app!g"), p.sign("app!realloc < app!f < app!g")
	if malloc.ID != realloc.ID || malloc.Fine == realloc.Fine {
		t.Error("only Fine knows the entry of the allocator")
	}
	if short, long := p.sign("app!malloc < app!f"), p.sign("app!malloc < app!f < app!g"); short.ID == long.ID ||
		short.Leaf != long.Leaf {
		t.Error("only Leaf does without callers")
	}
}

// A title is one line of at most 255 characters, however long and odd the names are.
func TestTitleIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Namespace::", 60)
	for _, text := range []string{"app!" + long + "f", "other!" + long + "a < app!" + long + "b",
		"app!malloc < app!std::" + long + "x < app!std::" + long + "y < app!g", "app!é" + long, "app!std::" + long + "z",
		"app!a\nb\x00", "other!a\nb < app!\xff"} {
		title := newProgram(blame.DefaultRules()).sign(text).Title
		if utf8.RuneCountInString(title) > 255 || strings.ContainsAny(title, "\n\x00") || !utf8.ValidString(title) {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(title), title)
		}
	}
}

// The signature does not depend on the depth of a recursion in the stack.
func TestRecursionFolds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		cycle := make([]string, 1+random.IntN(6))
		for i := range cycle {
			cycle[i] = "app!cycle" + string(rune('a'+i))
		}
		p, want := newProgram(blame.DefaultRules()), ""
		for depth := 1; depth < 12; depth++ {
			frames := append([]string{"ntdll!RtlAllocateHeap", "app!leaf"}, slices.Repeat(cycle, depth)...)
			id := p.sign(strings.Join(append(frames, "app!main"), " < ")).ID
			if want == "" {
				want = id
			}
			if id != want {
				t.Fatalf("%v: depth %d has another signature", cycle, depth)
			}
		}
	}
}

// A signature contains neither the place of the code nor lines or offsets.
func TestSignForgetsPlaces(t *testing.T) {
	t.Parallel()
	rules := blame.DefaultRules()
	sign := func(m blame.Module, file string, offset uint64) blame.Signature {
		inner := rules.Class(&blame.Frame{Module: &m, Function: "Foo::Bar", File: file, Offset: offset})
		outer := rules.Class(&blame.Frame{Module: &m, Function: "main", File: file, Offset: offset})
		stack := []*blame.Class{&inner, &outer}
		return blame.Sign("heap", stack, blame.MarkStack(stack))
	}
	a := sign(blame.Module{Name: "App", Path: `C:\one\App.exe`, Own: true, Private: true, Build: "1"}, `c:\a.cpp`, 1)
	b := sign(blame.Module{Name: "app", Path: `D:\two\app.exe`, Program: true, Build: "2"}, `d:\moved\b.cpp`, 2)
	if a.ID != b.ID || a.Fine != b.Fine || a.Leaf != b.Leaf {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	base := []string{"app!A::f", "app!B::g", "app!h", "app!i", "app!main"}
	for _, c := range []struct {
		name  string
		other []string
		least float64
		most  float64
	}{
		{"equal", base, 1, 1},
		{"module renamed", []string{"app2!A::f", "app2!B::g", "app2!h", "app2!i", "app2!main"}, 0.85, 0.95},
		{"a frame gone", []string{"app!A::f", "app!h", "app!i", "app!main", "app!start"}, 0.8, 0.9},
		{"class renamed", []string{"app!A2::f", "app!B::g", "app!h", "app!i", "app!main"}, 0.85, 0.95},
		{"blame frame inlined without a trace", base[1:], 0.6, 0.85},
		{"the root in common", []string{"app!x", "app!y", "app!z", "app!i", "app!main"}, 0, 0.5},
		{"nothing", []string{"x!a"}, 0, 0},
		{"empty", nil, 0, 0},
		{"unknown", []string{"app!<unknown>+0x1@"}, 0, 0},
	} {
		got := blame.Similarity(base, c.other)
		if got < c.least || got > c.most {
			t.Errorf("%s: %.2f, want %.2f to %.2f", c.name, got, c.least, c.most)
		}
		if back := blame.Similarity(c.other, base); back != got {
			t.Errorf("%s: %.3f one way and %.3f the other", c.name, got, back)
		}
	}
	if blame.Similarity(nil, nil) != 1 {
		t.Error("nothing is not like nothing")
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	p := newProgram(nil)
	stack := func(count int64, frames ...string) blame.Stack {
		s := blame.Stack{Kind: "heap", Count: count}
		for _, f := range frames {
			s.Frames = append(s.Frames, p.frame(f))
		}
		return s
	}
	stacks := []blame.Stack{
		stack(3, "ntdll!RtlAllocateHeap", "app!Wrap", "app!f"),
		stack(2, "ntdll!RtlAllocateHeap", "app!malloc", "app!Wrap", "app!f"),
		stack(9, "ntdll!RtlAllocateHeap", "app!Wrap", "app!g"),
		stack(7, "ntdll!RtlAllocateHeap", "app!h"),
		stack(7),
	}
	moves, err := blame.MovedSignatures(t.Context(), blame.DefaultRules(), parse(t, "function:Wrap -> plumbing"), stacks)
	if err != nil || len(moves) != 2 {
		t.Fatalf("%+v %v", moves, err)
	}
	if m := moves[0]; m.Count != 9 || m.Stacks != 1 || m.FromBlame != "app!Wrap" ||
		m.ToBlame != "app!g" || m.From.ID == m.To.ID {
		t.Errorf("%+v", m)
	}
	if m := moves[1]; m.Count != 5 || m.Stacks != 2 || m.ToBlame != "app!f" {
		t.Errorf("%+v", m)
	}
}
