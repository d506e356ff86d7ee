package blame_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

// The frames of stack: are matched from the inner end of the stack, with or without the allocator's, and what is
// further out does not count.
func TestStackRules(t *testing.T) {
	t.Parallel()
	const stack = "ntdll!RtlAllocateHeap < ucrtbase!malloc < app!xmalloc < app!Cache::Put < own!Read < own!Parse < app!main < kernel32!BaseThreadInitThunk"
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{"app!Cache::Put", true},
		{"Cache::Put", true},
		{"app.exe!Cache::Put", true},
		{"APP!Cache::Put", true},
		{"app!cache::put", false},
		{"Cache::*", true},
		{"malloc < app!xmalloc < app!Cache::Put", true},
		{"xmalloc < Cache::Put", true},
		{"malloc < Cache::Put", false},
		{"own!Read", false}, // not at the inner end
		{"... < own!Read", true},
		{"app!Cache::Put < own!Read < own!Parse < app!main", true},
		{"app!Cache::Put < own!Parse", false},
		{"app!Cache::Put < ... < own!Parse", true},
		{"app!Cache::Put < ... < own!Read", true}, // ... may stand for none
		{"app!Cache::Put < own!... < app!main", true},
		{"app!Cache::Put < own!... < own!Parse", true},
		{"app!Cache::Put < own!Read < own!Parse < own!... < app!main", false}, // one or more of the module
		{"app!Cache::Put < * < own!Parse", true},
		{"app!Cache::Put < * < app!main", false},
		{"app!Cache::Put < *!... < app!main", true},
		{"app!Cache::Put < ... < other!f", false},
		{`C:/app/own.dll!Read`, false},
		{`... < c:/APP/own.dll!Read`, true},
		{`... < c:\lib\own.dll!Read`, false},
		{"app!Cache::Put < own!Read < own!Parse < app!main < kernel32!* < ...", true},
		{"app!Cache::Put < own!Read < own!Parse < app!main < kernel32!* < *", false},
	} {
		p := newProgram(parse(t, `stack:"`+c.pattern+`" -> known=why owner=me`))
		classes := p.stack(stack)
		a := blame.MarkStack(classes).Attributes(classes)
		if (a.Known == "why") != c.want || (a.Owner == "me") != c.want {
			t.Errorf("%s: %+v, want %v", c.pattern, a, c.want)
		}
		if c.want && a.KnownRule != "project/1" {
			t.Errorf("%s: rule %q", c.pattern, a.KnownRule)
		}
	}
}

// The first rule of the file decides, whichever condition it has, and rules share their frames.
func TestStackRulesKeepTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"stack:Put -> known=one\nfunction:Put -> known=two":                              "one",
		"function:Put -> known=two\nstack:Put -> known=one":                              "two",
		"stack:\"Put < f\" -> known=one\nstack:\"Put < main\" -> known=two":              "two",
		"frame:main -> known=one\nstack:Put -> known=two":                                "one",
		"stack:Put -> known=two\nframe:main -> known=one":                                "two",
		"stack:\"... < main\" -> known=one\nstack:Put -> known=two":                      "one",
		"stack:\"... < main\" -> owner=me\nstack:Put -> known=two\nstack:Put -> known=3": "two",
	} {
		p := newProgram(parse(t, text))
		classes := p.stack("ucrtbase!malloc < app!Put < app!main")
		if a := blame.MarkStack(classes).Attributes(classes); a.Known != want {
			t.Errorf("%q: %q, want %q", text, a.Known, want)
		}
	}
	rules := parse(t, "stack:Put -> known=x")
	if !rules.HasAttributes() {
		t.Error("a rule with stack: gives an attribute")
	}
	classes := newProgram(rules).stack("")
	if a := blame.MarkStack(classes).Attributes(classes); a.Known != "" {
		t.Errorf("no stack: %+v", a)
	}
}

func TestStackRuleErrors(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		`stack:"a <  < b" -> known=x`: blame.CodeBadStack,
		`stack:"a < app!" -> known=x`: blame.CodeBadStack,
		`stack:"!f" -> known=x`:       blame.CodeBadStack,
		`stack:"... < *" -> known=x`:  blame.CodeBadStack,
		`stack:"*!*" -> known=x`:      blame.CodeBadStack,
		`stack:a module:b -> known=x`: blame.CodeBadStack,
		`stack:a stack:b -> known=x`:  blame.CodeTwice,
		`stack:a -> +app`:             blame.CodeFrameLayer,
		`stack: -> known=x`:           blame.CodeEmptyValue,
		long(64):                      blame.CodeBadStack,
		long(63):                      "",
	} {
		_, err := blame.ParseRules(text)
		got := ""
		if list := blame.RuleErrors(err); len(list) == 1 {
			got = list[0].Code
		}
		if got != code {
			t.Errorf("%.40s: %v, want %q", text, err, code)
		}
	}
	p := newProgram(parse(t, long(63)))
	classes := p.stack(strings.TrimSuffix(strings.Repeat("app!f < ", 63), " < "))
	if a := blame.MarkStack(classes).Attributes(classes); a.Known != "x" {
		t.Error("63 frames do not match")
	}
}

func long(n int) string {
	return `stack:"` + strings.TrimSuffix(strings.Repeat("f < ", n), " < ") + `" -> known=x`
}
