package blame_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

func TestImportTriage(t *testing.T) {
	t.Parallel()
	got := blame.ImportTriage(`; owners
[triage]
app=team
app!Cache::*=cache
app!Cache::Put=put team
ap*=prefix
own!operator==ops
=nobody
app!x=
a*b!c=star
word
kernel32=ignore
ntdll!Rtl*=Maybe_Ignore
`)
	want := []string{
		"module:app function:Cache::Put -> owner=\"put team\"",
		"module:own function:operator= -> owner=ops",
		"module:app function:Cache::* -> owner=cache",
		"module:app -> owner=team",
		"module:ap* -> owner=prefix",
	}
	if strings.Join(got.Rules, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules:\n%s", strings.Join(got.Rules, "\n"))
	}
	if last := got.Rejected[len(got.Rejected)-1]; last.Line != 13 || !strings.Contains(last.Reason, "is not an owner") {
		t.Errorf("%+v", last)
	}
	if len(got.Rejected) != 6 || got.Rejected[0].Line != 8 || got.Rejected[0].Reason == "" {
		t.Errorf("rejected: %+v", got.Rejected)
	}
	for stack, owner := range map[string]string{
		"app!Cache::Put": "put team", "app!Cache::Get": "cache", "app!main": "team",
		"other!f < app!main": "team", "other!f": "",
	} {
		p := newProgram(parse(t, strings.Join(got.Rules, "\n")))
		classes := p.stack("ntdll!RtlAllocateHeap < " + stack)
		if a := blame.MarkStack(classes).Attributes(classes); a.Owner != owner {
			t.Errorf("%s: owner %q, want %q", stack, a.Owner, owner)
		}
	}
}

func TestImportLSan(t *testing.T) {
	t.Parallel()
	got := blame.ImportSuppressions(`# known
leak:Cache::Put
leak:^uxtheme
leak:main$
leak:a "b" c
leak:Get*Name
race:x
leak:*
word`)
	if len(got.Rules) != 5 || len(got.Rejected) != 3 {
		t.Fatalf("%+v", got)
	}
	p := newProgram(parse(t, strings.Join(got.Rules, "\n")))
	for stack, known := range map[string]string{
		"app!Cache::PutAll": "Cache::Put", "uxtheme!Load < app!f": "^uxtheme", "app!f < app!wmain": "main$", "app!main2": "",
		"app!GetTheName":                 "Get*Name",
		"app!f < own!Cache::Put < app!g": "Cache::Put", "app!other": "",
	} {
		classes := p.stack("ntdll!RtlAllocateHeap < " + stack)
		a := blame.MarkStack(classes).Attributes(classes)
		if strings.TrimPrefix(a.Known, "suppressed for LeakSanitizer: ") != known {
			t.Errorf("%s: %q, want %q", stack, a.Known, known)
		}
	}
}

// Every imported rule can be parsed.
func FuzzImport(f *testing.F) {
	f.Add("app!Cache::*=me\nx=y z")
	f.Add("leak:a b\nleak:^c\\ $\nleak:\"")
	f.Add("a!b\\\"=\" -> ")
	f.Add("{\n a \"b\n Memcheck:Leak\n fun:operator new\n fun:a < b\n obj:/lib/x.so\n}")
	f.Add("LEAK\nname=x\n...\na <!f <\n< b!g\nm!...\na.dll!?")
	f.Add("LEAK\n*.dll!*\nLEAK\n*.exe!f\n{\n x\n Memcheck:Leak\n fun:...\n}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, imported := range []blame.RuleImport{blame.ImportTriage(text), blame.ImportSuppressions(text)} {
			for _, rule := range imported.Rules {
				if _, err := blame.ParseRules(rule); err != nil {
					t.Errorf("%q: %v", rule, err)
				}
			}
		}
	})
}

// Suppressions of stacks mark the leaks that their tools would pass over, in evidence with and without the frames of
// the tools' allocators.
func TestImportSuppressionsOfStacks(t *testing.T) {
	t.Parallel()
	got := blame.ImportSuppressions(`{
   cache
   Memcheck:Leak
   match-leak-kinds: definite
   fun:_Znwm
   fun:_ZN5Cache3PutEi
   ...
   fun:main
}
LEAK
name=parser
replace_malloc.dll!replace_malloc
own.dll!Parse*
LEAK
other.dll!...
app.exe!Load
`)
	want := []string{
		`stack:"Cache::Put < ... < main" -> known="suppressed for Valgrind: cache"`,
		`stack:own!Parse* -> known="suppressed for Dr. Memory: parser"`,
		`stack:"other!... < app!Load" -> known="suppressed for Dr. Memory"`,
	}
	if strings.Join(got.Rules, "\n") != strings.Join(want, "\n") || len(got.Rejected) != 0 {
		t.Errorf("%s\n%+v", strings.Join(got.Rules, "\n"), got.Rejected)
	}
	p := newProgram(parse(t, strings.Join(got.Rules, "\n")))
	for stack, known := range map[string]string{
		"app!operator new < app!Cache::Put < app!Fill < app!main":                 "suppressed for Valgrind: cache",
		"ntdll!RtlAllocateHeap < ucrtbase!malloc < app!Cache::Put < app!main":     "suppressed for Valgrind: cache",
		"ucrtbase!malloc < app!Cache::Put < app!Fill":                             "",
		"ucrtbase!malloc < app!Cache::PutAll < app!main":                          "",
		"ucrtbase!malloc < own!ParseLine < app!x":                                 "suppressed for Dr. Memory: parser",
		"ucrtbase!malloc < app!f < own!ParseLine":                                 "",
		"ntdll!RtlAllocateHeap < ucrtbase!malloc < other!a < other!b < app!Load":  "suppressed for Dr. Memory",
		"ntdll!RtlAllocateHeap < ucrtbase!malloc < other+0x10 < app!Load < app!x": "suppressed for Dr. Memory",
		"ntdll!RtlAllocateHeap < ucrtbase!malloc < app!Load":                      "",
	} {
		classes := p.stack(stack)
		if a := blame.MarkStack(classes).Attributes(classes); a.Known != known {
			t.Errorf("%s: %q, want %q", stack, a.Known, known)
		}
	}
}

// A module of which only the extension is written keeps it, and an entry that no rule can have is rejected alone.
func TestImportSuppressionsOfAnyModule(t *testing.T) {
	t.Parallel()
	got := blame.ImportSuppressions(`{
   any library
   Memcheck:Leak
   obj:*.dll
   fun:main
}
{
   any library
   Memcheck:Leak
   obj:*.dll
}
LEAK
*.dll!*
{
   no function
   Memcheck:Leak
   fun:...
}
LEAK
*.exe!Put
LEAK
?.ocx!Put
LEAK
a*.exe!Put
word
`)
	want := []string{
		`stack:"*.dll!* < main" -> known="suppressed for Valgrind: any library"`,
		`stack:*.dll!* -> known="suppressed for Valgrind: any library"`,
		`stack:*.dll!* -> known="suppressed for Dr. Memory"`,
		`stack:*.exe!Put -> known="suppressed for Dr. Memory"`,
		`stack:?.ocx!Put -> known="suppressed for Dr. Memory"`,
		`stack:a*!Put -> known="suppressed for Dr. Memory"`,
	}
	if strings.Join(got.Rules, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got.Rules, "\n"))
	}
	if len(got.Rejected) != 2 || got.Rejected[0].Line != 14 || got.Rejected[0].Text != "no function" ||
		!strings.Contains(got.Rejected[0].Reason, "matches every stack") || got.Rejected[1].Line != 25 {
		t.Errorf("%+v", got.Rejected)
	}
	if _, err := blame.ParseRules(strings.Join(got.Rules, "\n")); err != nil {
		t.Error(err)
	}
}
