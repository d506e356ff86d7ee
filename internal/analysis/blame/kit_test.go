package blame_test

import (
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

// A program makes frames from text: "app!main", with images that have a meaning by their name.
type program struct {
	rules   *blame.Rules
	modules map[string]*blame.Module
	classes map[string]*blame.Class
}

func newProgram(rules *blame.Rules) *program {
	modules := map[string]*blame.Module{}
	for _, m := range []*blame.Module{
		{Name: "app", Path: `C:\app\app.exe`, Program: true, Private: true},
		{Name: "own", Path: `C:\app\own.dll`, Own: true, Private: true},
		{Name: "other", Path: `C:\app\other.dll`, Build: "B1"},
		{Name: "ntdll", Path: `C:\Windows\System32\ntdll.dll`},
		{Name: "KERNELBASE", Path: `C:\Windows\System32\KERNELBASE.dll`},
		{Name: "kernel32", Path: `C:\Windows\System32\kernel32.dll`},
		{Name: "user32", Path: `C:\Windows\System32\user32.dll`},
		{Name: "uxtheme", Path: `\Device\HarddiskVolume3\Windows\System32\uxtheme.dll`},
		{Name: "ucrtbase", Path: `C:\app\ucrtbase.dll`},
		{Name: "verifier", Path: `C:\Windows\System32\verifier.dll`},
		{Name: "wow64", Path: `C:\Windows\System32\wow64.dll`},
		{Name: "mimalloc", Path: `C:\app\mimalloc.dll`},
		{Name: "nt", Path: `\SystemRoot\system32\ntoskrnl.exe`},
	} {
		modules[m.Name] = m
	}
	return &program{rules, modules, map[string]*blame.Class{}}
}

// frame reads "module!function", "module+0x10" for one without a name, and "?" for one outside every module.
func (p *program) frame(text string) *blame.Frame {
	f := &blame.Frame{}
	if module, offset, ok := strings.Cut(text, "+0x"); ok && !strings.Contains(module, "!") {
		at, err := strconv.ParseUint(offset, 16, 64)
		if err != nil {
			panic(err)
		}
		f.Module, f.Offset = p.modules[module], at
		return f
	}
	module, function, _ := strings.Cut(text, "!")
	f.Module, f.Function = p.modules[module], function
	f.Kernel = module == "nt"
	return f
}

// stack makes a stack from frames that are separated by " < ", innermost first.
func (p *program) stack(text string) []*blame.Class {
	var stack []*blame.Class
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, " < ") {
		if p.classes[part] == nil {
			c := p.rules.Class(p.frame(part))
			p.classes[part] = &c
		}
		stack = append(stack, p.classes[part])
	}
	return stack
}

func (p *program) sign(text string) blame.Signature {
	stack := p.stack(text)
	return blame.Sign("heap", stack, blame.MarkStack(stack))
}

func parse(t testing.TB, text string) *blame.Rules {
	t.Helper()
	rules, err := blame.ParseRules(text)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
