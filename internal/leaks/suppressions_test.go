package leaks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
)

var suppressible = []leaks.SuppressedLeak{
	{Signature: "sig1:01", Title: "app!shop::Cache::Put", State: leaks.StateKnown, Reason: "fills up to\n48 entries",
		Frames: []string{"app!shop::Cache::Put", "app!shop::Load", "app!main"}},
	{Signature: "sig1:02", Title: "vendor!Pool", State: leaks.StateKnown, Frames: []string{"vendor!Pool"}},
	{Signature: "sig1:03", Title: "cache.cpp:64-byte-block", State: leaks.StateKnown, Frames: []string{"cache.cpp:64-byte-block#2"}},
	{Signature: "sig1:04", Title: "app+0x10", State: leaks.StateKnown, Frames: []string{"app!<unknown>+0x10@1"}},
	{Signature: "sig1:05", Title: "none", State: leaks.StateKnown},
	{Signature: "sig1:06", Title: "app!std::vector<T>::push_back", State: leaks.StateKnown,
		Frames: []string{"app!Grid<T>::Add", "app!main"}},
	{Signature: "sig1:07", Title: "app!Log::Write", State: leaks.StateKnown, Frames: []string{"app!Log::Write", "app!main"}},
	{Signature: "sig1:08", Title: "app!Log::Write", State: leaks.StateNew, Frames: []string{"app!Log::Write", "app!Other", "app!wmain"}},
	{Signature: "sig1:09", Title: "app!Net::Read", State: leaks.StateKnown, Frames: []string{"app!Net::Read"}},
	{Signature: "sig1:10", Title: "app!Net::Read", State: leaks.StateRegressed, Frames: []string{"app!Net::Read", "app!main"}},
	{Signature: "sig1:11", Title: "app!Net::Read", State: leaks.StateFixed, Frames: []string{"vendor!Pool"}},
}

func TestSuppressions(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		"lsan": `# 3 known leaks of project shop, for LeakSanitizer
# 5 known leaks left out:
# sig1:03 cache.cpp:64-byte-block: its tool gives no call stack, only file and size
# sig1:04 app+0x10: no symbols: the address holds for one build
# sig1:05 none: no call stack
# sig1:07 app!Log::Write: it would also hide 1 open leak
# sig1:09 app!Net::Read: it would also hide 1 open leak

# sig1:01 app!shop::Cache::Put
# known: fills up to 48 entries
leak:shop::Cache::Put

# sig1:02 vendor!Pool
leak:Pool

# sig1:06 app!std::vector<T>::push_back
leak:Grid<*>::Add
`,
		"drmemory": `# 4 known leaks of project shop, for Dr. Memory
# 4 known leaks left out:
# sig1:03 cache.cpp:64-byte-block: its tool gives no call stack, only file and size
# sig1:04 app+0x10: no symbols: the address holds for one build
# sig1:05 none: no call stack
# sig1:09 app!Net::Read: it would also hide 1 open leak

# sig1:01 app!shop::Cache::Put
# known: fills up to 48 entries
LEAK
name=sig1:01
...
app.*!shop::Cache::Put
...
app.*!shop::Load
...
app.*!main

# sig1:02 vendor!Pool
LEAK
name=sig1:02
...
vendor.*!Pool

# sig1:06 app!std::vector<T>::push_back
LEAK
name=sig1:06
...
app.*!Grid<*>::Add
...
app.*!main

# sig1:07 app!Log::Write
LEAK
name=sig1:07
...
app.*!Log::Write
...
app.*!main
`,
	} {
		if got, err := leaks.Suppressions("shop", form, suppressible); err != nil || got != want {
			t.Errorf("%s: %v\n%s", form, err, got)
		}
	}
	got, err := leaks.Suppressions("shop", "valgrind", suppressible)
	for _, part := range []string{"# 3 known leaks of project shop, for Valgrind\n# 5 known leaks left out:",
		"Grid<T>::Add has a part without a mangled name", "   fun:_ZN*4shop5Cache3PutE*\n   ...\n   fun:_ZN*4shop4LoadE*\n   ...\n   fun:main\n}"} {
		if err != nil || !strings.Contains(got, part) {
			t.Errorf("%v\n%s\nhas no %q", err, got, part)
		}
	}
	var wrong *leaks.FieldError
	if _, err := leaks.Suppressions("shop", "x", nil); !errors.As(err, &wrong) || wrong.Field != "form" {
		t.Errorf("another form: %v", err)
	}
	if got, err := leaks.Suppressions("shop", "lsan", nil); err != nil || got != "# 0 known leaks of project shop, for LeakSanitizer\n" {
		t.Errorf("no leaks: %v %q", err, got)
	}
}

// A leak is left out where its suppression, as the form has it, would hide an open leak, or a name would be a pattern.
func TestSuppressionsHide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		form, known, open string // innermost first, with blanks between
		reason            string // "" where the leak is exported
	}{
		{"valgrind", "a!init", "b!init", "it would also hide 1 open leak"},
		{"valgrind", "a!init", "b!reinit", ""},
		{"valgrind", "app!Cache::Put", "app!ns::Cache::Put", "it would also hide 1 open leak"},
		{"valgrind", "app!Cache::Put app!main", "app!ns::Cache::Put app!between app!main", "it would also hide 1 open leak"},
		{"valgrind", "app!Cache::Put app!main", "app!main app!ns::Cache::Put", ""},
		{"valgrind", "app!Cache::Put", "app!Cache::PutAll", ""},
		{"drmemory", "Cache::Put", "app!Cache::Put", "it would also hide 1 open leak"},
		{"drmemory", "app!Cache::Put", "own!Cache::Put", ""},
		{"drmemory", "app!Vec::operator*", "app!x", "Dr. Memory reads the * in Vec::operator* as a wildcard or an end"},
		{"drmemory", "app!f app!g?", "app!x", "Dr. Memory reads the ? in g? as a wildcard or an end"},
		{"lsan", "app!Vec::operator*", "app!Vec::operator[]", "LeakSanitizer reads the * in Vec::operator* as a wildcard or an end"},
		{"lsan", "app!f app!Vec::operator*", "app!x", ""}, // it has the first frame alone
		{"lsan", "app!a$b", "app!x", "LeakSanitizer reads the $ in a$b as a wildcard or an end"},
		{"lsan", "app!Vec::operator[]", "app!Vec::operator*", ""},
		{"lsan", "app!Grid<T>::Add", "app!Grid<T>::Row<T>::Add", "it would also hide 1 open leak"},
		{"lsan", "app!Pool", "pools!f", "it would also hide 1 open leak"},
	} {
		got, err := leaks.Suppressions("shop", test.form, []leaks.SuppressedLeak{
			{Signature: "sig1:01", Title: "known", State: leaks.StateKnown, Frames: strings.Fields(test.known)},
			{Signature: "sig1:02", Title: "open", State: leaks.StateNew, Frames: strings.Fields(test.open)},
		})
		left := "# 1 known leak left out:\n# sig1:01 known: " + test.reason + "\n"
		if err != nil || strings.Contains(got, "left out") != (test.reason != "") || test.reason != "" && !strings.Contains(got, left) {
			t.Errorf("%s: %s beside %s: %v\n%s", test.form, test.known, test.open, err, got)
		}
	}
}

// What is exported for a leak marks the same stack as known when it is imported again, and no stack of other functions.
func TestSuppressionsComeBack(t *testing.T) {
	t.Parallel()
	app := &blame.Module{Name: "app", Path: `C:\app\app.exe`, Program: true, Private: true}
	vendor := &blame.Module{Name: "vendor"}
	stack := func(m *blame.Module, functions ...string) blame.Stack {
		s := blame.Stack{Kind: "heap", Count: 1}
		for _, f := range append([]string{"malloc"}, functions...) {
			s.Frames = append(s.Frames, &blame.Frame{Module: m, Function: f})
		}
		return s
	}
	stacks := []blame.Stack{
		stack(app, "shop::Cache::Put", "shop::Load", "main"),
		stack(app, "shop::Cache::Put", "shop::Between", "shop::Load", "main"),
		stack(vendor, "Pool"),
		stack(app, "shop::Cache::PutAll", "shop::Load"),
		stack(app, "Log::Write", "Other", "wmain"),
	}
	for _, form := range []string{"lsan", "valgrind", "drmemory"} {
		text, err := leaks.Suppressions("shop", form, suppressible[:2])
		if err != nil {
			t.Fatal(err)
		}
		made, err := leaks.ImportRules("suppressions", text)
		if err != nil || len(made.Rejected) > 0 {
			t.Fatalf("%s: %v %+v", form, err, made.Rejected)
		}
		rules, err := blame.ParseRules(strings.Join(made.Rules, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		results, err := blame.ApplyRules(context.Background(), rules, stacks)
		if err != nil {
			t.Fatal(err)
		}
		for i, known := range []bool{true, true, true, form == "lsan", false} { // LeakSanitizer's patterns have no end
			if (results[i].Known != "") != known {
				t.Errorf("%s: stack %d: known %q, want %v\n%s", form, i, results[i].Known, known, strings.Join(made.Rules, "\n"))
			}
		}
	}
}
