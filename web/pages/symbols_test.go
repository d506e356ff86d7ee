package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages"
)

func TestSymbolPanel(t *testing.T) {
	s := open(t)
	run := addRun(t, s.store, target, capturesOf(shop, 2), sought)
	page := s.page(fmt.Sprintf("/runs/%d", run))
	_, panel, _ := strings.Cut(page, `id="symbols"`)
	has(t, panel, "447 of 481 frames named",
		"BatteryMeter.exe", `title="2,223,360 B in 5,790 blocks at sites with an unnamed frame in this module"><b>2.12 MB</b> at stake`, ">none<", "0 of 31 frames named",
		"the <b>BatteryMeter.pdb</b> of this build, and best <b>BatteryMeter.exe</b> (1,167,360 bytes image size), which proves it",
		"2 places tried", "no file of that name is there", "team store: BatteryMeter.exe", ">not-found<",
		"plugin.dll", ">mismatch<", "<b>plugin.pdb</b>, age 1, GUID <code>5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2</code>", "its GUID differs", "HTTP 503",
		"codec.dll", ">export<", "8 of 9 frames named", "age 10,",
		"22 modules with nothing at stake", "19 public, 1 private, 1 text, 1 none", "shopd.exe", ">private<", "412 of 412 frames named", ">own<", "0B7A52DA0E5C4E61A9A1C3F0A1D2E3F41",
		"ntdll.dll", "the banner of the log names this ntdll", "silent.dll", "in no stack",
		`action="/symbols"`, `enctype="multipart/form-data"`, fmt.Sprintf(`name="run" value="%d"`, run), `type="file"`, // the fields before the files
		"<noscript><button", fmt.Sprintf(`method="post" action="/runs/%d/symbolise"`, run), "Look again", `href="/projects/shopd/symbols"`,
		`<template id="follow">`, fmt.Sprintf(`sse-connect="/runs/%d/events"`, run))
	has(t, page, "/static/vendor/tus.min.", "/static/queue.", "/static/symbols.")
}

// A module whose own stack nothing depends on asks for nothing; a run without modules says so.
func TestSymbolPanelOfNamedAndOfNoModules(t *testing.T) {
	s := open(t)
	page := s.page(fmt.Sprintf("/runs/%d", addRun(t, s.store, target, capturesOf(shop[:1], 1))))
	has(t, page, `id="symbols"`, "All 4 modules")
	lacks(t, page, `class="want"`, "module+0xRVA</code>:")
	to := target
	to.Run = "2"
	page = s.page(fmt.Sprintf("/runs/%d", addRun(t, s.store, to, capturesOf(shop[:1], 1), func(r *analysis.Report) { r.Modules = nil })))
	has(t, page, "The evidence does not list the modules.", `id="symbol-form"`)
}

func TestWhatToUpload(t *testing.T) {
	const id = "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C2"
	for _, test := range []struct {
		name, pdb, id string
		size          int64
		bits          int
		want          string
	}{
		{"a.dll", "b.pdb", id + "1", 4096, 64, "b.pdb, age 1, GUID 5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2"},
		{"a.dll", "", strings.ToLower(id) + "1f", 4096, 64, "a.pdb, age 31, GUID 5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2"},
		{"a.dll", "b.pdb", id, 4096, 64, "the b.pdb of this build, and best a.dll (4,096 bytes image size), which proves it"}, // no age
		{"a.dll", "b.pdb", id + "123456789", 0, 64, "the b.pdb of this build, and best a.dll, which proves it"},               // no such age
		{"a.dll", "b.pdb", "not an id at all, but as long as one", 0, 64, "the b.pdb of this build, and best a.dll, which proves it"},
		{"ntdll.dll", "", "", 0x1000, 32, "the ntdll.pdb (or wntdll.pdb) of this build, and best ntdll.dll (4,096 bytes image size), which proves it"},
		{"NTDLL.DLL", "", "", 0, 64, "the NTDLL.pdb of this build, and best NTDLL.DLL, which proves it"},
		{"noextension", "", "", 0, 0, "the noextension.pdb of this build, and best noextension, which proves it"},
	} {
		if got := pages.WantText(t, test.name, test.pdb, test.id, test.size, test.bits); got != test.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", test.name, test.pdb, test.id, got, test.want)
		}
	}
}

func TestFramesSayWhatTheyRestOn(t *testing.T) {
	for _, test := range []struct {
		name  string
		frame analysis.Frame
		has   []string
		lacks string
	}{
		{"with all", analysis.Frame{Module: "m", Function: "A::B", Offset: "0x1f", File: `c:\src\b.cpp`, Line: 7, Type: "std::vector<int>"},
			[]string{`m!</span>A::B<span class="off">+0x1f`, `class="type" title="allocates std::vector&lt;int&gt;`, `title="c:\src\b.cpp">b.cpp:7<`}, "≈"},
		{"inlined", analysis.Frame{Module: "m", Function: "A::B", Offset: "0x0", Inline: true}, []string{`<li class="inline">`, "[inlined]"}, "+0x0"},
		{"approximate", analysis.Frame{Module: "m", Function: "Export", Offset: "0x9f00", Approx: true}, []string{`title="the nearest symbol below`, "≈", "m!</span>Export"}, `class="type"`},
		{"unnamed", analysis.Frame{Module: "m", Offset: "0x9f00"}, []string{`<li class="unresolved">`, "m+0x9f00"}, "loc"},
	} {
		line := pages.FrameLine(t, &test.frame)
		has(t, line, test.has...)
		if strings.Contains(line, test.lacks) {
			t.Errorf("%s: %s has %s", test.name, line, test.lacks)
		}
	}
}
