package symsrv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func TestNamed(t *testing.T) {
	root := plant(t, map[string]string{
		"d/App.pdb":                          right,
		"d/dll/app.pdb":                      right,
		"d/symbols/exe/app.PDB":              right,
		"d/symbols/deep/exe/app.pdb":         right, // two levels too deep
		"d/app.PDB.bak":                      right,
		"s/app.pdb/1/app.pdb":                right,
		"s/APP.pdb/2/App.pdb":                right,
		"s/app.pdb/3/app.pd_":                right,
		"s/app.pdb/4/msfz0/app.pdb":          right,
		"s/app.pdb/refs.ptr":                 "",
		"two/index2.txt":                     "",
		"two/ap/app.pdb/" + key + "/app.pdb": right,
	})
	p := parse(t, "$/d;cache*$/none;srv*$/none*$/s*https://host.example;$/two;$/d",
		symsrv.Options{Map: []symsrv.PathMapping{{Windows: "$", Local: root}}})
	got, err := p.FindByName(t.Context(), `C:\build\APP.pdb`)
	if err != nil {
		t.Fatal(err)
	}
	var rel []string
	for _, file := range got {
		r, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		rel = append(rel, filepath.ToSlash(r))
	}
	want := []string{
		"d/App.pdb", "d/dll/app.pdb", "d/symbols/exe/app.PDB",
		"s/APP.pdb/2/App.pdb", "s/app.pdb/1/app.pdb", "s/app.pdb/4/msfz0/app.pdb",
		"two/ap/app.pdb/" + key + "/app.pdb",
	}
	if !slices.Equal(rel, want) {
		t.Errorf("found %q, not %q", rel, want)
	}
	if _, err := p.FindByName(t.Context(), "../.."); err == nil {
		t.Error("a name of dots was looked for")
	}
}

// Places that cannot be searched, such as those on another machine, are reported.
func TestNamedSaysWhatIsNotSearched(t *testing.T) {
	root := plant(t, map[string]string{"app.pdb": right})
	for path, want := range map[string]string{`c:\symbols;$`: `c:\symbols: `, "$/none;$": "there is no directory ",
		"srv*$/none;$": "there is no directory ", "$/app.pdb;$": "is a file"} {
		p := parse(t, path, symsrv.Options{Map: []symsrv.PathMapping{{Windows: "$", Local: root}}})
		got, err := p.FindByName(t.Context(), "app.pdb")
		var e *symsrv.Error
		if len(got) != 1 || !errors.As(err, &e) || e.Code != symsrv.CodeUnreadable || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestNamedStops(t *testing.T) {
	files := make(map[string]string)
	for i := range 30 {
		files[fmt.Sprintf("app.pdb/%02d/app.pdb", i)] = right
	}
	p := parse(t, plant(t, files), symsrv.Options{Limits: symsrv.Limits{Named: 10}})
	got, err := p.FindByName(t.Context(), "app.pdb")
	var e *symsrv.Error
	if len(got) != 10 || !errors.As(err, &e) || e.Code != symsrv.CodeTooMany {
		t.Errorf("%d files, %v", len(got), err)
	}
}

// A name in a store that leads nowhere, such as a link to a folder that is gone, is no trouble. One that cannot be read
// is, and the other folders are searched all the same.
func TestNamedPassesOverWhatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		link, to string
		trouble  bool
	}{"gone": {"APP.pdb", "nowhere", false}, "a link to itself": {"APP.pdb", "APP.pdb", true}} {
		root := plant(t, map[string]string{"app.pdb/1/app.pdb": right, "app.pdb/2/app.pdb": right})
		if err := os.Symlink(filepath.Join(root, test.to), filepath.Join(root, test.link)); err != nil {
			t.Skip("no links here:", err)
		}
		got, err := parse(t, root, symsrv.Options{}).FindByName(t.Context(), "app.pdb")
		var e *symsrv.Error
		if len(got) != 2 || (err != nil) != test.trouble || err != nil && (!errors.As(err, &e) || e.Code != symsrv.CodeUnreadable) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
