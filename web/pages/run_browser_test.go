package pages_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

func TestRunPageInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := addRun(t, s.store, target, capturesOf(many(300), 11))
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites", s.url, run)))
	b.accessible("light")
	b.keep("run-light")

	// A row opens in place, appears in the address, and closes again.
	b.do(press("#s0 .who"))
	b.see(`document.querySelector("#d0 .blame")?.innerText.includes("AppendLine") && location.search === "?view=sites&open=0"`)
	b.see(`document.querySelector("#s0 [aria-expanded]").getAttribute("aria-expanded") === "true"`)
	b.accessible("light, a row open")
	b.keep("run-light-open")
	b.do(press("#d0 .umdh summary"))
	b.see(`document.querySelector("#umdh-0").innerText.includes("BackTrace2001\tallocations")`)
	b.do(press("#s0 .k-bytes"))
	b.see(`document.querySelector("#d0").hidden && location.search === "?view=sites"`)

	// j and k walk the rows, o opens, / filters as it is typed.
	b.do(cdp.KeyEvent("j"), cdp.KeyEvent("j"), cdp.KeyEvent("k"), cdp.KeyEvent("j"), cdp.KeyEvent("o"))
	b.see(`document.querySelector("#d1 .stack")`)
	// The protocol sends the character even when the page has handled the key; browsers do not.
	must[bool](t)(cdp.Run(b.ctx,
		cdp.Evaluate[bool](`!document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }))`)))
	b.see(`document.activeElement.id === "q"`)
	b.do(cdp.KeyEvent("Function29"))
	b.see(`document.querySelectorAll("tr[data-row]").length === 11 && location.search === "?q=Function29&view=sites"`)
	b.see(`document.querySelector("#choices").innerText.includes("11 of 313") && document.activeElement.id === "q"`)
	b.do(press(`//nav[@aria-label="Class"]/a[text()="stable"]`))
	b.see(`document.querySelectorAll("tr[data-row]").length === 1 && location.search === "?class=stable&q=Function29&view=sites"`)
	b.do(press("#q"), cdp.KeyEvent("4"))
	b.see(`location.search === "?class=stable&q=Function294&view=sites"`) // typing keeps what was clicked
	b.do(cdp.NavigateBack())
	b.see(`location.search === "?q=Function29&view=sites" && document.querySelectorAll("tr[data-row]").length === 11`)
	b.do(press(`//a[@aria-label="Remove the filter by text"]`))
	b.see(`document.querySelectorAll("tr[data-row]").length === 50`)
	b.do(press(`//th/a[starts-with(text(),"Bytes")]`))
	b.see(`location.search === "?sort=bytes&view=sites" && document.querySelectorAll("tr[data-row]")[1].innerText.includes("Catalog::Preload")`)
	b.do(press(`//nav[@class="pager"]/a[text()="7"]`))
	b.see(`location.search === "?page=7&sort=bytes&view=sites" && document.querySelectorAll("tr[data-row]").length === 13`)

	b.do(cdp.Navigate(s.url+"/"), press("header [data-theme-toggle]"),
		cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=0", s.url, run)))
	b.see(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(15, 20, 25)"`)
	b.legible("dark")
	b.keep("run-dark")

	b.do(cdp.EmulateViewport(390, 844), cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=0", s.url, run)))
	b.accessible("narrow, dark")
	b.fits("narrow")
	b.keep("run-390")
	b.do(press("details.menu.only-narrow summary"), press("details.menu.only-narrow [data-theme-toggle]"))
	b.see(`document.documentElement.dataset.theme === "light"`)
	b.accessible("narrow, light, menu open")
}

// The page of a run follows its jobs and becomes the report.
func TestStagesBecomeTheReportInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := addEvidence(t, s.store, target, "shopd-1.log").RunID
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url, run)))
	b.see(`document.querySelector(".verdict h1").innerText.includes("0 of 1 file done") && document.querySelector(".stages").innerText.includes("waiting for a worker")`)
	read := claim(t, s.store, store.JobRead, run)
	if err := s.store.UpdateProgress(t.Context(), read, 64, "reading"); err != nil {
		t.Fatal(err)
	}
	b.see(`document.querySelector("progress").value === 64 && document.querySelector(".stages .now").innerText === "reading"`)
	b.keep("stages")
	c := capturesOf(shop, 1)[0]
	if err := s.store.CreateCaptures(t.Context(), read, []store.StoredCapture{{Capture: c, Artifact: "a"}}); err != nil {
		t.Fatal(err)
	}
	b.see(`document.querySelector(".verdict h1").innerText === "Resolving symbols"`)
	saveReport(t, s.store, run,
		must[*analysis.Report](t)(analysis.Analyze(t.Context(),
			[]analysis.Input{{Files: []analysis.File{{Name: "shopd-1.log"}}, Captures: []*capture.Capture{c}}},
			analysis.Options{})))
	b.see(`document.querySelector(".verdict h1").innerText.includes("holds 2.15 MB") && document.querySelector(".chart")`)
}
