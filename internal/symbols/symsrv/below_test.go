package symsrv_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

// below are options under which the folders below a directory are searched.
func below(root string, limits symsrv.Limits) symsrv.Options {
	return symsrv.Options{Map: []symsrv.PathMapping{{Windows: "$", Local: root}}, Below: true, Check: check, Limits: limits}
}

// A folder below the named one has the file, whatever it is called; a file of the name that is another build is passed
// over, and so is nothing without the option.
func TestBelow(t *testing.T) {
	root := plant(t, map[string]string{
		"out/app.pdb":                 wrong,
		"out/Release/x64/App.PDB":     right,
		"out/Release/x64/app.pdb.txt": right,
		"out/obj/app.pdb":             wrong,
		"out/obj/app.pdb.d/notes":     "",
	})
	got, lines := find(t, parse(t, "$/out", below(root, symsrv.Limits{})), app)
	if got != filepath.Join(root, "out", "Release", "x64", "App.PDB") || results(lines) != "mismatch mismatch found" {
		t.Errorf("found %q: %q", got, lines)
	}
	opt := below(root, symsrv.Limits{})
	opt.Below = false
	if got, lines := find(t, parse(t, "$/out", opt), app); got != "" {
		t.Errorf("without the option found %q: %q", got, lines)
	}
	named, err := parse(t, "$/out", below(root, symsrv.Limits{})).FindByName(t.Context(), "app.pdb")
	want := []string{filepath.Join(root, "out", "app.pdb"), filepath.Join(root, "out", "obj", "app.pdb"),
		filepath.Join(root, "out", "Release", "x64", "App.PDB")}
	if err != nil || !slices.Equal(named, want) {
		t.Errorf("named %q, %v; want %q", named, err, want)
	}
}

// What was searched and what was left out is said, just below, at and above each limit.
func TestBelowLimits(t *testing.T) {
	root := plant(t, map[string]string{"1/2/3/app.pdb": right, "1/notes": ""}) // 5 entries: 1, 1/2, 1/notes, 1/2/3, the file
	for _, tt := range []struct {
		limits symsrv.Limits
		found  bool
		says   string
	}{
		{symsrv.Limits{BelowDepth: 4}, true, ""},
		{symsrv.Limits{BelowDepth: 3}, true, ""},
		{symsrv.Limits{BelowDepth: 2}, false, "nor in the 2 folders below; not searched: folders more than 2 levels down, such as " +
			filepath.Join(root, "1", "2", "3")},
		{symsrv.Limits{BelowDepth: 1}, false, "nor in the folder below; not searched: folders more than 1 levels down"},
		{symsrv.Limits{BelowEntries: 5}, true, ""},
		{symsrv.Limits{BelowEntries: 4}, false, "not searched: " + filepath.Join(root, "1", "2", "3") +
			" and 0 more folders, after 4 entries"},
	} {
		p := parse(t, "$", below(root, tt.limits))
		got, lines := find(t, p, app)
		if (got != "") != tt.found || !tt.found && !strings.Contains(strings.Join(lines, "\n"), tt.says) {
			t.Errorf("%+v: found %q, said %q; want %q", tt.limits, got, lines, tt.says)
		}
		_, err := p.FindByName(t.Context(), "app.pdb")
		if (err == nil) != tt.found {
			t.Errorf("%+v: named %v", tt.limits, err)
		}
	}
	_, lines := find(t, parse(t, "$", below(root, symsrv.Limits{})), symsrv.Identity{Name: "none.pdb", DebugID: key})
	if !strings.HasSuffix(lines[0], "nor in the 3 folders below") {
		t.Errorf("said %q", lines)
	}
}

// A folder that leads back to its parent ends no search late, and is told of.
func TestBelowLinks(t *testing.T) {
	root := plant(t, map[string]string{"a/notes": ""})
	link := filepath.Join(root, "a", "back")
	if err := os.Symlink(root, link); err != nil {
		t.Skip("no links on this system:", err)
	}
	_, lines := find(t, parse(t, "$", below(root, symsrv.Limits{})), app)
	if !strings.Contains(strings.Join(lines, "\n"), "not searched: linked folders, such as "+link) {
		t.Errorf("said %q", lines)
	}
}

// A search that is cancelled is not remembered as a whole one.
func TestBelowCancelled(t *testing.T) {
	root := plant(t, map[string]string{"1/app.pdb": right})
	p := parse(t, "$", below(root, symsrv.Limits{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Find(ctx, app); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := p.FindByName(ctx, "app.pdb"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got, lines := find(t, p, app); got == "" {
		t.Errorf("nothing found afterwards: %q", lines)
	}
}
