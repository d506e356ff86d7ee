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
	got := blame.ImportLSan(`# known
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
	f.Fuzz(func(t *testing.T, text string) {
		for _, imported := range []blame.RuleImport{blame.ImportTriage(text), blame.ImportLSan(text)} {
			for _, rule := range imported.Rules {
				if _, err := blame.ParseRules(rule); err != nil {
					t.Errorf("%q: %v", rule, err)
				}
			}
		}
	})
}
