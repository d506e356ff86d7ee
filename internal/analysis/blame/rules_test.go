package blame_test

import (
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/analysis/blame"
)

func TestParseRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing\n\n   \t\n", "module:a -> +app", "\uFEFFmodule:a -> +app\r\nfunction:b* -> alloc # why\r\n",
		`function:"operator new" path:"C:\Program Files\*" origin:third-party -> plumbing owner=me known="a \"b\" # c" group=g`,
		"function:A::operator-> -> plumbing", "frame:*leaky* -> known=yes",
	} {
		if _, err := blame.ParseRules(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRuleErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, code string }{
		{"module:a", blame.CodeNoArrow},
		{"-> +app", blame.CodeNoCondition},
		{"module:a ->", blame.CodeNoAction},
		{"modul:a -> +app", blame.CodeUnknownCondition},
		{"foo -> +app", blame.CodeUnknownCondition},
		{"module: -> +app", blame.CodeEmptyValue},
		{`function:"" -> +app`, blame.CodeEmptyValue},
		{"module:a module:b -> +app", blame.CodeTwice},
		{"origin:app origin:app -> plumbing", blame.CodeTwice},
		{"origin:mine -> +app", blame.CodeUnknownOrigin},
		{"module:a -> app", blame.CodeUnknownAction},
		{"module:a -> owner", blame.CodeUnknownAction},
		{"module:a -> colour=red", blame.CodeUnknownAction},
		{"module:a -> owner=", blame.CodeEmptyValue},
		{"module:a -> owner=a owner=b", blame.CodeTwice},
		{"module:a -> +app alloc", blame.CodeTwice},
		{`module:"a -> +app`, blame.CodeOpenQuote},
		{"frame:a -> alloc", blame.CodeFrameLayer},
	} {
		_, err := blame.ParseRules("# first\n" + c.line + "\nmodule:fine -> +app")
		list := blame.RuleErrors(err)
		if len(list) != 1 || list[0].Line != 2 || list[0].Code != c.code || list[0].Message == "" {
			t.Errorf("%q: %v, want %s", c.line, err, c.code)
		}
	}
	_, err := blame.ParseRules("a\nmodule:b -> +app\nc")
	if list := blame.RuleErrors(err); len(list) != 2 || list[1].Line != 3 || !strings.Contains(list[1].Error(), "line 3") {
		t.Errorf("two wrong lines: %v", err)
	}
	_, err = blame.ParseRules(strings.Repeat("module:b -> +app\n", blame.MaxRuleLines+1))
	if list := blame.RuleErrors(err); len(list) != 1 || list[0].Code != blame.CodeTooManyRules {
		t.Errorf("too many: %v", err)
	}
	if blame.RuleErrors(nil) != nil {
		t.Error("errors of nothing")
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	const stack = "ntdll!RtlAllocateHeap < app!Cache::Put < app!Session::Open < own!Service::Run < app!main"
	for _, c := range []struct{ name, rules, owner, known, group string }{
		{"the blame frame", "function:Cache::* -> owner=cache", "cache", "", ""},
		{"a caller", "function:Service::Run -> owner=service", "service", "", ""},
		{"the blame frame before a caller", "function:Service::Run -> owner=service\nfunction:Cache::* -> owner=cache",
			"cache", "", ""},
		{"the first of a frame", "function:Cache::* -> owner=a\nmodule:app -> owner=b", "a", "", ""},
		{"each apart", "function:Cache::* -> owner=a\nfunction:Service::Run -> known=k owner=b\nfunction:main -> group=g known=l", "a", "k", "g"},
		{"not the allocator", "module:ntdll -> owner=ms", "", "", ""},
		{"any frame", "frame:*RtlAllocate* -> known=all", "", "all", ""},
		{"any frame, by module", "frame:NTDLL -> known=all", "", "all", ""},
		{"any frame, in the file's order", "frame:*Service* -> owner=service\nfunction:Cache::* -> owner=cache",
			"service", "", ""},
		{"any frame, behind", "function:Cache::* -> owner=cache\nframe:*Service* -> owner=service", "cache", "", ""},
		{"all conditions", "module:own function:Cache::* -> owner=x", "", "", ""},
		{"case of modules", "module:OWN -> owner=x", "x", "", ""},
		{"case of functions", "function:cache::* -> owner=x", "", "", ""},
		{"extension", "module:own.dll -> owner=x", "x", "", ""},
		{"none", "", "", "", ""},
	} {
		p := newProgram(parse(t, c.rules))
		classes := p.stack(stack)
		a := blame.MarkStack(classes).Attributes(classes)
		if a.Owner != c.owner || a.Known != c.known || a.Group != c.group {
			t.Errorf("%s: %+v", c.name, a)
		}
		if (a.OwnerRule == "") != (a.Owner == "") {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
	if a := blame.MarkStack(nil).Attributes(nil); a != (blame.Attributes{}) {
		t.Errorf("no stack: %+v", a)
	}
}

// Concurrent analyses share one set of rules.
func TestRulesAreShared(t *testing.T) {
	t.Parallel()
	rules := parse(t, "function:A::* -> plumbing owner=me\nframe:*x* -> known=y")
	frame := &blame.Frame{Module: &blame.Module{Name: "app", Path: `C:\app\app.exe`}, Function: "A::f"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				class := rules.Class(frame)
				stack := []*blame.Class{&class}
				if a := blame.MarkStack(stack).Attributes(stack); a.Owner != "me" {
					t.Errorf("%+v", a)
				}
			}
		})
	}
	group.Wait()
}

func FuzzParseRules(f *testing.F) {
	for _, s := range []string{"module:a -> +app", `function:"a b" path:c:\* -> known="x \" y" owner=z # w`,
		"frame:*x* -> group=g", "origin:app -> tool", "\"", "->"} {
		f.Add(s)
	}
	frame := &blame.Frame{Module: &blame.Module{Name: "app", Path: `C:\app\app.exe`},
		Function: "A::f", File: `c:\src\a.cpp`}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := blame.ParseRules(text)
		if (rules == nil) != (err != nil) || (err != nil) != (len(blame.RuleErrors(err)) > 0) {
			t.Fatalf("%v and %v", rules, err)
		}
		if err != nil {
			return
		}
		class := rules.Class(frame)
		stack := []*blame.Class{&class}
		placed := blame.MarkStack(stack)
		if placed.Blame != 0 || blame.ExplainRule(placed.Marks[0].Rule) == "" {
			t.Errorf("%+v", placed)
		}
		placed.Attributes(stack)
	})
}
