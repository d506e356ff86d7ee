package symbols

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/symbols/cab/cabtest"
	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// asked is the answer of Lookup for the first function of the sample program.
func asked(t *testing.T, path string) (function string, at index.Location, out Outcome, err error) {
	t.Helper()
	p := pdbtest.Sample()
	rva := p.RVA(first(p).Address)
	calls := 0
	out, err = Lookup(t.Context(), path, []uint32{rva}, func(_ uint32, l *index.Location) error {
		calls++
		function, at = l.Function, *l
		return nil
	})
	if err == nil && calls != 1 {
		t.Errorf("%d answers", calls)
	}
	return function, at, out, err
}

// first is the first function with lines that other modules may call.
func first(p *pdbtest.Program) *pdbtest.Function {
	for i := range p.Modules {
		for k := range p.Modules[i].Functions {
			if f := &p.Modules[i].Functions[k]; f.Decorated != "" && !f.Local && len(f.Lines) > 0 {
				return f
			}
		}
	}
	return nil
}

func made(t *testing.T, p *pdbtest.Program) []byte {
	t.Helper()
	data, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func packed(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	data, err := (&cabtest.Cabinet{Method: cabtest.MSZIP, Files: []cabtest.File{{Name: name, Content: content}}}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The note of an outcome says what keeps a file from answering, and is empty where nothing does.
func TestLookupSaysWhy(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	change := func(f func(*pdbtest.Program)) []byte {
		p := pdbtest.Sample()
		f(p)
		return made(t, p)
	}
	whole := change(func(*pdbtest.Program) {})
	for name, c := range map[string]struct {
		file    string
		data    []byte
		named   bool
		useless bool
		note    string
	}{
		"private":                         {"app.pdb", whole, true, false, ""},
		"compressed":                      {"app.pd_", packed(t, "app.pdb", whole), true, false, ""},
		"compressed under the plain name": {"app.pdb", packed(t, "app.pdb", whole), true, false, ""},
		"FASTLINK": {"app.pdb", change(func(p *pdbtest.Program) { p.FastLink = true }),
			true, true, "mspdbcmf.exe"},
		"compiler's": {"vc143.pdb", change(func(p *pdbtest.Program) { p.NoSymbols = true }), false,
			true, "compiler's PDB"},
		"interrupted": {"app.pdb", made(t, &pdbtest.Program{NoSymbols: true}),
			false, true, "interrupted"},
		"managed": {"app.pdb",
			change(func(p *pdbtest.Program) { p.Machine = 0xC0EE; p.Modules = nil; p.Publics = nil }), false, true, ".NET"},
		"portable": {"app.pdb", append([]byte("BSJB\x01\x00\x01\x00"), make([]byte, 64)...),
			false, true, "portable"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			write(t, path, c.data)
			function, _, out, err := asked(t, path)
			if err != nil || (function != "") != c.named || out.Useless != c.useless || (c.note == "") != (out.Note == "") ||
				!strings.Contains(out.Note, c.note) || out.From != "" {
				t.Errorf("%q, %+v, %v", function, out, err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "app.pd_")
	write(t, path, packed(t, "app.pdb", whole)[:900])
	if _, _, _, err := asked(t, path); err == nil {
		t.Error("half a cabinet is read")
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "heapdrift-symbols-*")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Addresses of an image are looked up in the PDB beside it.
func TestLookupBesideImage(t *testing.T) {
	p := pdbtest.Sample()
	image, err := petest.Of(p, `D:\build\Shop.pdb`)
	if err != nil {
		t.Fatal(err)
	}
	dll, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	own := made(t, p)
	noSections := pdbtest.Sample()
	noSections.NoSections = true
	foreign := pdbtest.Sample()
	foreign.GUID[0]++
	for name, c := range map[string]struct {
		files map[string][]byte
		from  string
		note  string
	}{
		"by the image's reference": {map[string][]byte{"shop.PDB": own}, "shop.PDB", ""},
		"by the image's name":      {map[string][]byte{"app.pdb": own}, "app.pdb", ""},
		"compressed":               {map[string][]byte{"shop.pd_": packed(t, "shop.pdb", own)}, "shop.pd_", ""},
		"sections of the image":    {map[string][]byte{"shop.pdb": made(t, noSections)}, "shop.pdb", "section headers"},
		"another build's first":    {map[string][]byte{"shop.pdb": made(t, foreign), "app.pdb": own}, "app.pdb", ""},
		"another build's":          {map[string][]byte{"shop.pdb": made(t, foreign)}, "", "belongs to another build"},
		"damaged":                  {map[string][]byte{"shop.pdb": own[:3000]}, "", "cannot be read"},
		"none":                     {nil, "", "does not lie beside it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "app.dll"), dll)
			for file, data := range c.files {
				write(t, filepath.Join(dir, file), data)
			}
			_, at, out, err := asked(t, filepath.Join(dir, "app.dll"))
			if err != nil || (at.File != "") != (c.from != "") || c.from != "" && out.From != filepath.Join(dir, c.from) ||
				!strings.Contains(out.Note, c.note) || (c.note == "") != (out.Note == "") {
				t.Errorf("%+v, %+v, %v", at, out, err)
			}
		})
	}
}

// The numbers that compilers write in place of a line to hide code are not shown as lines.
func TestLookupHidesMarks(t *testing.T) {
	for _, mark := range []uint32{0xF00F00, 0xFEEFEE} {
		p := pdbtest.Sample()
		f := first(p)
		f.Lines, f.Inlines = []pdbtest.Line{{File: `c:\a.cpp`, Line: mark}}, nil
		path := filepath.Join(t.TempDir(), "app.pdb")
		write(t, path, made(t, p))
		if _, at, _, err := asked(t, path); err != nil || at.Function == "" || at.File == "" || at.Line != 0 {
			t.Errorf("%#x: %+v, %v", mark, at, err)
		}
		at := index.Location{Function: "f", File: "a.cpp", Line: mark,
			Inlines: []index.Inline{{Function: "g", File: "b.cpp", Line: mark}}}
		for _, frame := range frames(&at, "") {
			if frame.Line != 0 {
				t.Errorf("%#x: %+v", mark, frame)
			}
		}
	}
}

func TestLookupEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.pd_")
	write(t, path, packed(t, "app.pdb", made(t, pdbtest.Sample())))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Lookup(ctx, path, nil, nil); err == nil {
		t.Error("it goes on when nobody waits")
	}
}
