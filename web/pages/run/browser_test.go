package run_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

func TestRunPageInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(300), 11))
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites", s.URL, run)))
	b.CheckAccessibility("light")
	b.SaveScreenshot("run-light")

	// A row opens in place, appears in the address, and closes again.
	b.Do(pagestest.Press("#s0 .who"))
	b.See(`document.querySelector("#d0 .blame")?.innerText.includes("AppendLine") && location.search === "?view=sites&open=0"`)
	b.See(`document.querySelector("#s0 [aria-expanded]").getAttribute("aria-expanded") === "true"`)
	b.CheckAccessibility("light, a row open")
	b.SaveScreenshot("run-light-open")
	b.Do(pagestest.Press("#d0 .umdh summary"))
	b.See(`document.querySelector("#umdh-0").innerText.includes("BackTrace2001\tallocations")`)
	b.Do(pagestest.Press("#s0 .k-bytes"))
	b.See(`document.querySelector("#d0").hidden && location.search === "?view=sites"`)

	// j and k walk the rows, o opens, / filters as it is typed.
	b.Do(cdp.KeyEvent("j"), cdp.KeyEvent("j"), cdp.KeyEvent("k"), cdp.KeyEvent("j"), cdp.KeyEvent("o"))
	b.See(`document.querySelector("#d1 .stack")`)
	// The protocol sends the character even when the page has handled the key; browsers do not.
	pagestest.Must[bool](t)(cdp.Run(b.Ctx,
		cdp.Evaluate[bool](`!document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }))`)))
	b.See(`document.activeElement.id === "q"`)
	b.Do(cdp.KeyEvent("Function29"))
	b.See(`document.querySelectorAll("tr[data-row]").length === 11 && location.search === "?q=Function29&view=sites"`)
	b.See(`document.querySelector("#choices").innerText.includes("11 of 313") && document.activeElement.id === "q"`)
	b.Do(pagestest.Press(`//nav[@aria-label="Class"]/a[text()="stable"]`))
	b.See(`document.querySelectorAll("tr[data-row]").length === 1 && location.search === "?class=stable&q=Function29&view=sites"`)
	b.Do(pagestest.Press("#q"), cdp.KeyEvent("4"))
	b.See(`location.search === "?class=stable&q=Function294&view=sites"`) // typing keeps what was clicked
	b.Do(cdp.NavigateBack())
	b.See(`location.search === "?q=Function29&view=sites" && document.querySelectorAll("tr[data-row]").length === 11`)
	b.Do(pagestest.Press(`//a[@aria-label="Remove the filter by text"]`))
	b.See(`document.querySelectorAll("tr[data-row]").length === 50`)
	b.Do(pagestest.Press(`//th/a[starts-with(text(),"Bytes")]`))
	b.See(`location.search === "?sort=bytes&view=sites" && document.querySelectorAll("tr[data-row]")[1].innerText.includes("Catalog::Preload")`)
	b.Do(pagestest.Press(`//nav[@class="pager"]/a[text()="7"]`))
	b.See(`location.search === "?page=7&sort=bytes&view=sites" && document.querySelectorAll("tr[data-row]").length === 13`)

	b.Do(cdp.Navigate(s.URL+"/"), pagestest.Press("header [data-theme-toggle]"),
		cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=0", s.URL, run)))
	b.See(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(15, 20, 25)"`)
	b.CheckColours("dark")
	b.SaveScreenshot("run-dark")

	b.Do(cdp.EmulateViewport(390, 844), cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=0", s.URL, run)))
	b.CheckAccessibility("narrow, dark")
	b.CheckFitsWidth("narrow")
	b.SaveScreenshot("run-390")
	b.Do(pagestest.Press("details.menu.only-narrow summary"),
		pagestest.Press("details.menu.only-narrow [data-theme-toggle]"))
	b.See(`document.documentElement.dataset.theme === "light"`)
	b.CheckAccessibility("narrow, light, menu open")
}

// The page of a run follows its jobs and becomes the report.
func TestStagesBecomeTheReportInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "shopd-1.log").RunID
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
	b.See(`document.querySelector(".verdict h1").innerText.includes("0 of 1 file done") && document.querySelector(".stages").innerText.includes("waiting for a worker")`)
	read := pagestest.Claim(t, s.Store, store.JobRead, run)
	if err := s.Store.UpdateProgress(t.Context(), read, 64, "reading"); err != nil {
		t.Fatal(err)
	}
	b.See(`document.querySelector("progress").value === 64 && document.querySelector(".stages .now").innerText === "reading"`)
	b.SaveScreenshot("stages")
	c := pagestest.CapturesOf(pagestest.Shop, 1)[0]
	if err := s.Store.CreateCaptures(t.Context(), read, []store.StoredCapture{{Capture: c, ArtifactKey: "a"}}); err != nil {
		t.Fatal(err)
	}
	b.See(`document.querySelector(".verdict h1").innerText === "Resolving symbols"`)
	pagestest.SaveReport(t, s.Store, run,
		pagestest.Must[*analysis.Report](t)(analysis.Analyze(t.Context(),
			[]analysis.Input{{Files: []analysis.File{{Name: "shopd-1.log"}}, Captures: []*capture.Capture{c}}},
			analysis.Options{})))
	b.See(`document.querySelector(".verdict h1").innerText.includes("holds 2.15 MB") && document.querySelector(".chart")`)
}
