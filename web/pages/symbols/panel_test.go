package symbols_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/pagestest"
)

func TestSymbolPanel(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 2), sought)
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	_, panel, _ := strings.Cut(page, `id="symbols"`)
	pagestest.Has(t, panel, "447 of 481 frames resolved",
		"BatteryMeter.exe",
		`title="2,223,360 B in 5,790 blocks at sites with an unresolved frame of this module"><b>2.12 MB</b> unresolved`,
		">none<", "0 of 31 frames resolved",
		"<b>BatteryMeter.pdb</b> of the recorded build, if possible with <b>BatteryMeter.exe</b> (1,167,360 bytes image size), which identifies the build",
		"2 look-ups", "no file of that name is there", "team store: BatteryMeter.exe", ">not-found<",
		"plugin.dll", ">mismatch<", "<b>plugin.pdb</b>, age 1, GUID <code>5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2</code>",
		"its GUID differs", "HTTP 503",
		"codec.dll", ">export<", "8 of 9 frames resolved", "age 10,",
		"22 modules without effect on this report", "19 public, 1 private, 1 text, 1 none", "shopd.exe", ">private<",
		"412 of 412 frames resolved", ">own<", "0B7A52DA0E5C4E61A9A1C3F0A1D2E3F41",
		"ntdll.dll", "the banner of the log names this ntdll", "silent.dll", "on no call stack",
		`action="/symbols"`, `enctype="multipart/form-data"`, fmt.Sprintf(`name="run" value="%d"`, run), `type="file"`,
		// the fields before the files
		"<noscript><button", fmt.Sprintf(`method="post" action="/runs/%d/symbolise"`, run), "Search symbols again",
		`href="/projects/shopd/symbols"`,
		`<template id="follow">`, fmt.Sprintf(`sse-connect="/runs/%d/events"`, run))
	pagestest.Has(t, page, "/static/vendor/tus.min.", "/static/queue.", "/static/symbols.")
}

// The page asks for no symbols of a module that no stack depends on; a run without modules says so.
func TestSymbolPanelOfNamedAndOfNoModules(t *testing.T) {
	s := pagestest.Open(t)
	page := s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget,
		pagestest.CapturesOf(pagestest.Shop[:1], 1))))
	pagestest.Has(t, page, `id="symbols"`, "All 4 modules")
	pagestest.Lacks(t, page, `class="want"`, "module+0xRVA</code>.")
	to := pagestest.DefaultTarget
	to.Run = "2"
	page = s.Page(fmt.Sprintf("/runs/%d",
		pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(pagestest.Shop[:1], 1),
			func(r *analysis.Report) { r.Modules = nil })))
	pagestest.Has(t, page, "The evidence has no module list.", `id="symbol-form"`)
}
