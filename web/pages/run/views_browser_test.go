package run_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
)

// The page has one table of signatures: the first leak is open, a row is addressed by its signature, and each view is
// about the same selection.
func TestViewsInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(300), 11))
	page := fmt.Sprintf("%s/runs/%d", s.URL, run)
	b.Do(cdp.EmulateViewport(1440, 900), cdp.Navigate(page))
	b.See(`document.querySelector(".rt tr.open .fn").innerText === "AppendLine" && document.querySelector(".rt tr.detail .blame")?.innerText.includes("AppendLine")`)
	b.See(`document.querySelectorAll(".rt tr[data-row]").length === 50`)
	b.CheckAccessibility("ranked")
	b.CheckFitsWidth("ranked")
	b.SaveScreenshot("run-ranked-1440")
	b.Do(pagestest.Press(".rt tr:not(.open)[data-row] .name"))
	b.See(`location.search.startsWith("?open=sig1") && document.querySelectorAll(".rt tr.detail").length === 1 && location.search.includes(document.querySelector(".rt tr.open").id.replaceAll(":", "%3A"))`)
	b.Do(pagestest.Press(".rt tr.open .name"))
	b.See(`!document.querySelector(".rt tr.detail") && location.search === "?open=none"`)
	// j and k walk the rows, o opens, ? says so.
	b.Do(cdp.KeyEvent("j"), cdp.KeyEvent("j"), cdp.KeyEvent("o"))
	b.See(`document.querySelectorAll(".rt tr[data-row]")[1].classList.contains("open")`)
	b.Do(cdp.KeyEvent("?"))
	b.See(`document.querySelector("#keys").open && document.querySelector("#keys").innerText.includes("next row")`)
	b.CheckAccessibility("keys")
	b.Do(pagestest.Press("#keys button"))
	b.See(`!document.querySelector("#keys").open`)
	b.Do(cdp.Navigate(page + "?q=Function29"))
	b.See(`document.querySelectorAll(".rt tr[data-row]").length === 11 && document.querySelector("#choices").innerText.includes("11 signatures")`)
	for _, view := range []string{"calls", "modules", "heaps", "sizes", "sites"} {
		b.Do(cdp.Navigate(page + "?q=Function29&view=" + view))
		b.See(fmt.Sprintf(`document.querySelector(".views [aria-current]").innerText.toLowerCase() === %q && document.querySelector("#views table tbody tr")`, view))
		b.CheckAccessibility(view)
		b.CheckFitsWidth(view)
		b.SaveScreenshot("run-" + view)
	}
	// From a function the reader goes to its callers, and back to all functions.
	b.Do(cdp.Navigate(page+"?view=calls"), pagestest.Press(`//table[1]/tbody/tr/td/a[contains(., "AppendLine")]`))
	b.See(`document.querySelectorAll(".butterfly table").length === 2 && document.querySelector("#choices").innerText.includes("AppendLine")`)
	b.CheckAccessibility("butterfly")
	b.CheckFitsWidth("butterfly")
	b.SaveScreenshot("run-butterfly")
	b.Do(pagestest.Press(`.butterfly [aria-label="Called by"] tbody a`))
	b.See(`document.querySelector("#view .note strong").innerText !== "" && !document.querySelector("#view .note strong").innerText.includes("AppendLine")`)
	b.Do(pagestest.Press(`//p[@class="note"]/a[text()="Show all functions"]`))
	b.See(`!document.querySelector(".butterfly") && document.querySelectorAll("#views tbody tr").length > 3`)
	b.Do(cdp.Navigate(page + "?view=flame"))
	b.See(`document.querySelector(".flame.ready") && document.querySelectorAll(".flame-tree tbody tr").length > 2`)
	b.CheckAccessibility("flame")
	b.SaveScreenshot("run-flame-1440")
	for width, check := range map[int64]func(*pagestest.Tab, string){1024: (*pagestest.Tab).CheckWidthRules,
		390: (*pagestest.Tab).CheckNarrowScreen} {
		b.Do(cdp.EmulateViewport(width, 844), cdp.Navigate(page))
		b.See(`document.querySelector(".rt tr.detail")`)
		check(b, fmt.Sprintf("ranked at %d", width))
		b.CheckFitsWidth(fmt.Sprintf("ranked at %d", width))
		b.SaveScreenshot(fmt.Sprintf("run-ranked-%d", width))
	}
}

func TestViewsOfATraceInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	page := fmt.Sprintf("%s/runs/%d", s.URL, run)
	b.Do(cdp.EmulateViewport(1440, 900), cdp.Navigate(page))
	b.See(`document.querySelector(".rt tr.detail .blame")`)
	b.CheckAccessibility("ranked trace")
	b.SaveScreenshot("trace-ranked-1440")
	for _, view := range []string{"lifetimes", "blocks", "sizes", "heaps"} {
		b.Do(cdp.Navigate(page + "?from=20&to=40&view=" + view))
		b.See(fmt.Sprintf(`document.querySelector(".views [aria-current]").innerText.toLowerCase() === %q && document.querySelector("#views table tbody tr")`, view))
		b.CheckAccessibility(view)
		b.CheckFitsWidth(view)
		b.SaveScreenshot("trace-" + view)
	}
	b.Do(cdp.Navigate(page + "?from=20&to=40&size=1024-&metric=transient"))
	b.See(`document.querySelector(".rt .fn").innerText === "ManipulateTemporaryBuffer" && document.querySelector("#choices").innerText.includes("size: 1024-")`)
	b.CheckAccessibility("transient")
	b.SaveScreenshot("trace-transient")
}
