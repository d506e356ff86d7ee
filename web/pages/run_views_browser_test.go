package pages_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"
)

// The page has one table of signatures: the first leak is open, a row is addressed by its signature, and each view is
// about the same selection.
func TestViewsInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := addRun(t, s.store, target, capturesOf(many(300), 11))
	page := fmt.Sprintf("%s/runs/%d", s.url, run)
	b.do(cdp.EmulateViewport(1440, 900), cdp.Navigate(page))
	b.see(`document.querySelector(".rt tr.open .fn").innerText === "AppendLine" && document.querySelector(".rt tr.detail .blame")?.innerText.includes("AppendLine")`)
	b.see(`document.querySelectorAll(".rt tr[data-row]").length === 50`)
	b.accessible("ranked")
	b.fits("ranked")
	b.keep("run-ranked-1440")
	b.do(press(".rt tr:not(.open)[data-row] .name"))
	b.see(`location.search.startsWith("?open=sig1") && document.querySelectorAll(".rt tr.detail").length === 1 && location.search.includes(document.querySelector(".rt tr.open").id.replaceAll(":", "%3A"))`)
	b.do(press(".rt tr.open .name"))
	b.see(`!document.querySelector(".rt tr.detail") && location.search === "?open=none"`)
	// j and k walk the rows, o opens, ? says so.
	b.do(cdp.KeyEvent("j"), cdp.KeyEvent("j"), cdp.KeyEvent("o"))
	b.see(`document.querySelectorAll(".rt tr[data-row]")[1].classList.contains("open")`)
	b.do(cdp.KeyEvent("?"))
	b.see(`document.querySelector("#keys").open && document.querySelector("#keys").innerText.includes("next row")`)
	b.accessible("keys")
	b.do(press("#keys button"))
	b.see(`!document.querySelector("#keys").open`)
	b.do(cdp.Navigate(page + "?q=Function29"))
	b.see(`document.querySelectorAll(".rt tr[data-row]").length === 11 && document.querySelector("#choices").innerText.includes("11 signatures")`)
	for _, view := range []string{"calls", "modules", "heaps", "sizes", "sites"} {
		b.do(cdp.Navigate(page + "?q=Function29&view=" + view))
		b.see(fmt.Sprintf(`document.querySelector(".views [aria-current]").innerText.toLowerCase() === %q && document.querySelector("#views table tbody tr")`, view))
		b.accessible(view)
		b.fits(view)
		b.keep("run-" + view)
	}
	// From a function the reader goes to its callers, and back to all functions.
	b.do(cdp.Navigate(page+"?view=calls"), press(`//table[1]/tbody/tr/td/a[contains(., "AppendLine")]`))
	b.see(`document.querySelectorAll(".butterfly table").length === 2 && document.querySelector("#choices").innerText.includes("AppendLine")`)
	b.accessible("butterfly")
	b.fits("butterfly")
	b.keep("run-butterfly")
	b.do(press(`.butterfly [aria-label="Called by"] tbody a`))
	b.see(`document.querySelector("#view .note strong").innerText !== "" && !document.querySelector("#view .note strong").innerText.includes("AppendLine")`)
	b.do(press(`//p[@class="note"]/a[text()="Show all functions"]`))
	b.see(`!document.querySelector(".butterfly") && document.querySelectorAll("#views tbody tr").length > 3`)
	b.do(cdp.Navigate(page + "?view=flame"))
	b.see(`document.querySelector(".flame.ready") && document.querySelectorAll(".flame-tree tbody tr").length > 2`)
	b.accessible("flame")
	b.keep("run-flame-1440")
	for width, check := range map[int64]func(*tab, string){1024: (*tab).roomy, 390: (*tab).narrow} {
		b.do(cdp.EmulateViewport(width, 844), cdp.Navigate(page))
		b.see(`document.querySelector(".rt tr.detail")`)
		check(b, fmt.Sprintf("ranked at %d", width))
		b.fits(fmt.Sprintf("ranked at %d", width))
		b.keep(fmt.Sprintf("run-ranked-%d", width))
	}
}

func TestViewsOfATraceInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := addTrace(t, s, target, memtest())
	page := fmt.Sprintf("%s/runs/%d", s.url, run)
	b.do(cdp.EmulateViewport(1440, 900), cdp.Navigate(page))
	b.see(`document.querySelector(".rt tr.detail .blame")`)
	b.accessible("ranked trace")
	b.keep("trace-ranked-1440")
	for _, view := range []string{"lifetimes", "blocks", "sizes", "heaps"} {
		b.do(cdp.Navigate(page + "?from=20&to=40&view=" + view))
		b.see(fmt.Sprintf(`document.querySelector(".views [aria-current]").innerText.toLowerCase() === %q && document.querySelector("#views table tbody tr")`, view))
		b.accessible(view)
		b.fits(view)
		b.keep("trace-" + view)
	}
	b.do(cdp.Navigate(page + "?from=20&to=40&size=1024-&metric=transient"))
	b.see(`document.querySelector(".rt .fn").innerText === "ManipulateTemporaryBuffer" && document.querySelector("#choices").innerText.includes("size: 1024-")`)
	b.accessible("transient")
	b.keep("trace-transient")
}
