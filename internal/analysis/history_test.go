package analysis_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// with is a snapshot of app with a library loaded at a base; a base of 0 stands for no library.
func with(name string, base uint64, rows ...row) *capture.Capture {
	c := app.snapshot(rows...)
	if base != 0 {
		c.Modules = append(c.Modules,
			capture.Module{Path: `C:\app\` + name, Base: base, Size: 0x4000, Symbols: capture.SymbolsNone})
	}
	return c
}

// Allocations of a library stay one site when the library is unloaded, loaded elsewhere, or another is loaded in its
// place.
func TestLibrariesThatComeAndGo(t *testing.T) {
	const here, there = 0x1000_0000, 0x2000_0000
	old := func(n int64) row {
		return row{id: 1, stack: append(app.in(-0x10), here+0x30, app.in(0x20)[0]), count: n, bytes: 8 * n}
	}
	again := func(n int64) row {
		return row{id: 2, stack: append(app.in(-0x10), there+0x30, app.in(0x20)[0]), count: n, bytes: 8 * n}
	}
	without := old(6)
	without.id = 0 // of evidence without ids
	elsewhere := process{pid: 11, image: 0x400000, library: 0x7700_0000}
	for name, test := range map[string]struct {
		captures []*capture.Capture
		frame    string // the second of the only site
		want     string
		codes    string
		bases    string // of the library in the list of modules
	}{
		"loaded in the first and the last": {[]*capture.Capture{with("plug.dll", here, old(2)), with("", 0, old(4)),
			with("plug.dll", here, old(6))}, "plug+0x30", "6/48 +4/+32", "", "0x10000000"},
		"unloaded before anything was taken": {[]*capture.Capture{with("plug.dll", here), with("", 0, old(4)),
			with("", 0, old(6))}, "plug+0x30", "6/48 +6/+48", "", "0x10000000"},
		"without ids": {[]*capture.Capture{with("plug.dll", here, old(2)), with("", 0, without)},
			"plug+0x30", "6/48 +4/+32", "", "0x10000000"},
		"loaded again at another base": {[]*capture.Capture{with("plug.dll", here, old(2)), with("", 0, old(2)),
			with("plug.dll", there, old(2), again(4))}, "plug+0x30", "6/48 +4/+32", "", "0x20000000"},
		"another in its place": {[]*capture.Capture{with("plug.dll", here, old(2)),
			with("other.dll", here, old(6))}, "plug+0x30", "6/48 +4/+32", "", "0x10000000 0x10000000"},
		"another in its place, then neither": {[]*capture.Capture{with("plug.dll", here), with("other.dll", here),
			with("", 0, old(6))}, "other+0x30", "6/48 +6/+48", "module-moved", "0x10000000 0x10000000"},
		"as near before as behind": {[]*capture.Capture{with("plug.dll", here), with("", 0, old(6)),
			with("other.dll", here)}, "plug+0x30", "0/0 +0/+0", "module-moved", "0x10000000 0x10000000"},
		"of another life": {[]*capture.Capture{with("plug.dll", here), elsewhere.snapshot(old(6))},
			"0x10000030", "6/48 +6/+48", "pid-changed", "0x10000000"},
	} {
		r := analyze(t, inputs(test.captures...))
		var bases []string
		for _, m := range r.Modules[2:] {
			bases = append(bases, m.Base)
		}
		if len(r.Sites) != 1 || r.Stack(r.Sites[0].Stack)[1].Name() != test.frame ||
			!strings.Contains(table(r), " "+test.want+" ") || codes(r) != test.codes || strings.Join(bases, " ") != test.bases {
			t.Errorf("%s: modules at %v, %s\n%s", name, bases, codes(r), table(r))
		}
		if m := r.Modules[2]; test.codes != "pid-changed" && len(r.Modules) == 3 && m.Frames != 1 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// The name that symbols give an address in a library stays after the library is unloaded.
func TestNamesOfLibrariesThatAreGone(t *testing.T) {
	const base = 0x1000_0000
	list := []*capture.Capture{with("plug.dll", base),
		with("", 0, row{id: 1, stack: []uint64{base + 0x30}, count: 1, bytes: 8})}
	image := capture.Image{ImageID: list[0].Modules[2].ImageID(), Symbols: capture.SymbolsPrivate}
	image.Add(0x30, capture.NamedFrame{Function: "Load", Offset: 0x30})
	names := &capture.Names{Images: []capture.Image{image}}
	names.Sort()
	r, err := analysis.Analyze(t.Context(), inputs(list...), analysis.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Stack(r.Sites[0].Stack)[0]; f.Name() != "plug!Load" {
		t.Errorf("%s", f.Name())
	}
}
