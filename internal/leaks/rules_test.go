package leaks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
)

func TestAppendRules(t *testing.T) {
	for _, test := range []struct {
		text  string
		lines []string
		want  string
	}{
		{"", nil, ""}, {"", []string{"a"}, "a\n"}, {"x", []string{"a", "b"}, "x\na\nb\n"}, {"x\n", []string{"a"}, "x\na\n"},
		{"x", nil, "x\n"},
	} {
		if got := leaks.AppendRules(test.text, test.lines); got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.text, test.lines, got, test.want)
		}
	}
}

func TestImportRules(t *testing.T) {
	for _, kind := range []string{"triage", "lsan"} {
		if _, err := leaks.ImportRules(kind, ""); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if got, err := leaks.ImportRules("lsan", "leak:Vendor\n"); err != nil ||
		!strings.Contains(strings.Join(got.Rules, "\n"), "Vendor") {
		t.Errorf("%+v, %v", got, err)
	}
	for _, kind := range []string{"", "LSAN", "heob"} {
		if _, err := leaks.ImportRules(kind, ""); fieldOf(t, err) != "kind" {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

// Rules that blame another frame move the stack, unless the project has them already. Present rules that cannot be
// read, as those of an older version, do not prevent a preview.
func TestPreviewRules(t *testing.T) {
	frames := func(functions ...string) (list []*analysis.Frame) {
		for _, f := range functions {
			list = append(list, &analysis.Frame{Module: "app", Function: f, Layer: "app"})
		}
		return list
	}
	stacks := []leaks.RuleStack{{Frames: frames("Alloc", "Work", "main"), Kind: "heap", RunID: 1},
		{Frames: frames("Other", "main"), Kind: "heap", RunID: 2}}
	head := &analysis.Report{Process: analysis.Process{Name: "app.exe"},
		Modules: []analysis.Module{{Name: "app.exe", Path: `C:\app.exe`, Own: true}}}
	runs := map[int64]*leaks.RuleContext{1: leaks.NewRuleContext(head, nil), 2: leaks.NewRuleContext(head, []string{"app"})}
	after, err := blame.ParseRules("function:Alloc -> alloc\n")
	if err != nil {
		t.Fatal(err)
	}
	for present, moved := range map[string]int{"": 1, "function:Alloc -> alloc\n": 0, "words of an older version": 1} {
		trial := leaks.RuleTrial{PresentRules: present, Stacks: stacks, Runs: runs}
		p, err := trial.Preview(t.Context(), after)
		if err != nil || p.Stacks != 2 || len(p.Moves) != moved {
			t.Errorf("from %q: %+v, %v; want %d moves", present, p, err, moved)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	trial := leaks.RuleTrial{Stacks: stacks, Runs: runs}
	if _, err := trial.Preview(ended, after); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody asks any more: %v", err)
	}
}
