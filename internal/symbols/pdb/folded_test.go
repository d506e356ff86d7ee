package pdb_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// These functions of Visual C++ are folded with others. The first three inline the function that they are folded with:
// the line in the record of the inlined call is not theirs. The others come in the order of their source.
func TestFoldedFunctionsOfCorpus(t *testing.T) {
	for _, test := range []struct {
		file     string
		rva      uint32
		function string
		line     uint32
	}{
		{"node-pty/prebuilds/win32-x64/winpty.pdb", 0x25770, "_get_fpcsr", 154}, // inlines _get_fpsr at 21
		{"node-pty/prebuilds/win32-x64/winpty.pdb", 0x25780, "_set_fpcsr", 159}, // inlines _set_fpsr at 26
		{"syzygy/test_dll_iltcg.dll.pdb", 0x1980, "Used::M", 471},               // inlines used_operation at 454
		{"samply/win64-ci/softokn3.pdb", 0x6ae3, "FC_Sign", 1339},
		{"samply/win64-ci/softokn3.pdb", 0x73c0, "FC_GetFunctionStatus", 1703},
		{"node-pty/prebuilds/win32-x64/conpty.pdb", 0x7a71,
			"std::basic_streambuf<char,std::char_traits<char> >::showmanyc", 295},
		{"node-pty/prebuilds/win32-arm64/winpty-agent.pdb", 0x2bb8, "GStringBuilder<wchar_t>::~GStringBuilder<wchar_t>", 0}, // has no lines; those there are of std::basic_string
	} {
		f, err := pdb.OpenFile(filepath.Join(corpus.Path(t, "symbols"), filepath.FromSlash(test.file)))
		if err != nil {
			t.Fatal(err)
		}
		at, _, err := f.Lookup(t.Context(), test.rva)
		if err != nil || at.Function != test.function || at.Line != test.line || !at.Folded ||
			(at.File == "") != (test.line == 0) {
			t.Errorf("%s: %#x: %v, %v; want %s:%d", test.file, test.rva, told(at), err, test.function, test.line)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// at is a function with one line, or without lines if line is 0.
func at(name string, offset, line uint32) pdbtest.Function {
	f := pdbtest.Function{Name: name, Address: pdbtest.Address{Section: 1, Offset: offset}, Length: 16}
	if line > 0 {
		f.Lines = []pdbtest.Line{{File: "a.cpp", Line: line}}
	}
	return f
}

// Of folded functions the first is named, with its own line or none.
func TestFoldedFunctions(t *testing.T) {
	for name, test := range map[string]struct {
		functions []pdbtest.Function
		want      string // of address 0
	}{
		"as many lines":         {[]pdbtest.Function{at("f", 0, 10), at("g", 0, 20)}, "f+0 a.cpp:10"},
		"no lines of the first": {[]pdbtest.Function{at("f", 0, 0), at("x", 32, 5), at("g", 0, 20)}, "f+0 :0"},
		"no lines of the last": {[]pdbtest.Function{at("f", 0, 10), at("x", 32, 5), at("g", 0, 0)},
			"f+0 a.cpp:10"},
		"no lines of one of them": {[]pdbtest.Function{at("f", 0, 10), at("g", 0, 0)}, "f+0 :0"}, // as they would be if g had them
		"no lines of one behind a third": {[]pdbtest.Function{at("f", 0, 10), at("x", 32, 5), at("g", 0, 0),
			at("h", 0, 30)}, "f+0 a.cpp:10"},
		"no lines at all": {[]pdbtest.Function{at("f", 0, 0), at("g", 0, 0)}, "f+0 :0"},
		"another function between, as many": {[]pdbtest.Function{at("x", 32, 1), at("f", 0, 10), at("y", 64, 2),
			at("g", 0, 20), at("z", 96, 3)}, "f+0 a.cpp:10"},
	} {
		f := openProgram(t, &pdbtest.Program{Sections: pdbtest.Standard(0x1000),
			Modules: []pdbtest.Module{{Name: "a.obj", Functions: test.functions}}})
		got, _, err := f.Lookup(t.Context(), 0x1000)
		if err != nil || told(got) != test.want || !got.Folded {
			t.Errorf("%s: %s, %v; want %s", name, told(got), err, test.want)
		}
		if other, _, err := f.Lookup(t.Context(), 0x1020); err != nil || other.Folded {
			t.Errorf("%s: %s is folded, %v", name, told(other), err)
		}
	}
}

// A function has its own line or none, whichever functions are folded together; it has its own if all have lines.
func TestFoldedFunctionsOfAnyProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for round := range 300 {
		own, all := map[string]uint32{}, round%2 == 0
		var functions []pdbtest.Function
		for i := range 2 + r.IntN(30) {
			line := uint32(100 + i)
			if !all && r.IntN(3) == 0 {
				line = 0
			}
			name := fmt.Sprintf("f%d", i)
			functions, own[name] = append(functions, at(name, 32*r.Uint32N(8), line)), line
		}
		f := openProgram(t, &pdbtest.Program{Sections: pdbtest.Standard(0x1000),
			Modules: []pdbtest.Module{{Name: "a.obj", Functions: functions}}})
		for offset := uint32(0); offset < 32*8; offset += 32 {
			got, known, err := f.Lookup(t.Context(), 0x1000+offset)
			if err != nil || known && got.Line != own[got.Function] && (all || got.Line != 0) {
				t.Fatalf("round %d: %s, %v; its line is %d", round, told(got), err, own[got.Function])
			}
		}
	}
}

// Where clang and lld-link fold equal functions, the line belongs to the function that is named.
func TestFoldedFunctionsOfLLD(t *testing.T) {
	for _, tool := range []string{"clang", "lld-link"} {
		needs.Program(t, tool)
	}
	source, err := os.ReadFile("testdata/folded.cpp")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	object, image, symbols := filepath.Join(dir, "folded.obj"), filepath.Join(dir, "folded.exe"),
		filepath.Join(dir, "folded.pdb")
	run("clang", "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", "/c", "/Z7", "/O1", "/Gy", "/GS-", "/Fo"+
		object, "testdata/folded.cpp")
	run("lld-link", "/debug", "/opt:ref", "/opt:icf", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console",
		"/out:"+image, "/pdb:"+symbols, object)
	f, err := pdb.OpenFile(symbols)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	folded := map[string]bool{}
	if err := f.LocationRanges(t.Context(), func(s pdb.LocationRange) error {
		if s.Folded {
			folded[s.Function] = true
			if from, to := extent(t, string(source), s.Function); int(s.Line) < from || int(s.Line) > to {
				t.Errorf("%s has lines %d to %d, and %d at %#x", s.Function, from, to, s.Line, s.Start)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(folded) < 2 {
		t.Errorf("folded are %v", folded)
	}
}

// extent is the lines of a function of the source: from its name to the brace that ends it.
func extent(t *testing.T, source, function string) (from, to int) {
	t.Helper()
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if regexp.MustCompile(`\b`+regexp.QuoteMeta(function)+`\(`).MatchString(line) && !strings.HasSuffix(line, ";") {
			for k := i; k < len(lines); k++ {
				if lines[k] == "}" {
					return i + 1, k + 1
				}
			}
		}
	}
	t.Fatalf("no %s in the source, %s", function, strconv.Quote(source))
	return 0, 0
}
