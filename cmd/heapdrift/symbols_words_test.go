package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/symbols/pdb/pdbtest"
)

func TestSymbolsUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"symbols"}, `no command "symbols"`},
		{[]string{"symbols", "drop"}, `no command "symbols drop"`},
		{[]string{"symbols", "add"}, "usage: heapdrift symbols add"},
		{[]string{"symbols", "add", "--url", "ftp://x", "."}, "--url"},
		{[]string{"symbols", "lookup"}, "usage: heapdrift symbols lookup"},
		{[]string{"symbols", "lookup", "a.pdb", "xyz"}, "not a hexadecimal address"},
		{[]string{"symbols", "lookup", "a.pdb", "100000000"}, "4 GiB"},
	} {
		if _, stderr, code := cli(t, test.args...); code != exitUsage || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: %d %s", test.args, code, stderr)
		}
	}
	if _, stderr, code := cli(t, "symbols", "add", filepath.Join(t.TempDir(), "none")); code != exitInput ||
		!strings.Contains(stderr, "none") {
		t.Errorf("%d %s", code, stderr)
	}
	help, _, _ := cli(t, "help")
	for _, want := range []string{"symbols add [--url U] DIR|FILE…", "symbols lookup PDB|PE [ADDR…]",
		"symbols undname [flags] [NAME…]"} {
		if !strings.Contains(help, want) {
			t.Errorf("help lacks %s", want)
		}
	}
}

func TestSymbolsUndname(t *testing.T) {
	for want, args := range map[string][]string{
		"f\ng::h\n":              {"?f@@YAXXZ", "?h@g@@YAXXZ"},
		"void __cdecl f(void)\n": {"?f@@YAXXZ", "--complete"},
		"void f(void)\n":         {"--complete", "--no-ms-keywords", "?f@@YAXXZ"},
	} {
		if out, stderr, code := cli(t, append([]string{"symbols", "undname"}, args...)...); code != exitOK || out != want {
			t.Errorf("%v: %d %q %s", args, code, out, stderr)
		}
	}
	var out strings.Builder
	if code := run(t.Context(), []string{"symbols", "undname"},
		streams{in: strings.NewReader("?f@@YAXXZ\nmain\n"), out: &out, err: &out}); code != exitOK ||
		out.String() != "f\nmain\n" {
		t.Errorf("%d %q", code, out.String())
	}
}

// exportedRVA is the address of a function that the DLL of symbolFiles exports.
func exportedRVA() (rva string) {
	p := program()
	for _, m := range p.Modules {
		for _, f := range m.Functions {
			if f.Decorated != "" && !f.Local {
				rva = fmt.Sprintf("0x%X", p.RVA(f.Address))
			}
		}
	}
	return rva
}

func TestSymbolsLookup(t *testing.T) {
	pdb, dll := symbolFiles(t)
	dir := tree(t, map[string][]byte{"app.pdb": pdb, "app.dll": dll})
	rva := exportedRVA()
	for _, file := range []string{"app.pdb", "app.dll"} {
		out, stderr, code := cli(t, "symbols", "lookup", filepath.Join(dir, file), rva)
		if fields := strings.Split(out, "\t"); code != exitOK || len(fields) != 6 || fields[1] == "" || fields[2] != "0" {
			t.Errorf("%s: %d %q %s", file, code, out, stderr)
		}
	}
	unfinished, err := (&pdbtest.Program{NoSymbols: true}).PDB()
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(tree(t, map[string][]byte{"app.pdb": unfinished}), "app.pdb")
	if out, stderr, code := cli(t, "symbols", "lookup", half, "0x1000"); code != exitInconclusive ||
		out != "0x1000\t\t\t\t\t\n" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("%d %q %s", code, out, stderr)
	}
	if out, stderr, code := cli(t, "symbols", "lookup", filepath.Join(dir, "app.dll"), rva); code != exitOK ||
		!strings.Contains(stderr, "app.pdb") || !strings.Contains(out, ".cpp\t") {
		t.Errorf("%d %q %s", code, out, stderr)
	}
	out, _, code := cli(t, "symbols", "lookup", filepath.Join(dir, "app.pdb"), "fffffff0")
	if code != exitOK || out != "0xfffffff0\t\t\t\t\t\n" {
		t.Errorf("%d %q", code, out)
	}
}
