package project_test

import (
	"testing"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/web/pages/pagestest"
)

// In a browser several leaks are changed at once, and the search on every page leads to a leak by the keyboard alone.
func TestProjectInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, _ := pagestest.OpenHistory(t)
	b := pagestest.Browse(t)
	b.Do(cdp.Navigate(s.URL + "/projects/shopd"))
	b.See(`getComputedStyle(document.querySelector(".bulk")).display === "none"`)
	b.Do(pagestest.Press("#leaks tbody tr:nth-child(1) .check"), pagestest.Press("#leaks tbody tr:nth-child(2) .check"))
	b.See(`getComputedStyle(document.querySelector(".bulk")).display === "flex"`)
	b.SaveScreenshot("project-picked")
	b.Do(pagestest.Typed(`.bulk [name="reason"]`, "by design"), pagestest.Press(`//button[text()="Mark as known"]`))
	b.See(`document.querySelectorAll("#leaks .s-known").length === 2`)
	b.Do(cdp.KeyEvent("k", cdp.KeyModifiers(2)))
	b.See(`document.getElementById("palette").open`)
	b.Do(cdp.KeyEvent("appendline"))
	b.See(`document.querySelectorAll("#found a").length > 0`)
	b.SaveScreenshot("palette")
	b.Do(cdp.KeyEvent(kb.ArrowDown))
	// An answer that comes now does not take the arrows from where they are.
	b.Is(`document.getElementById("found").dataset.before = "",
		document.querySelector("#palette input").dispatchEvent(new Event("input"))`)
	b.See(`!("before" in document.getElementById("found").dataset)`)
	b.Is(`document.activeElement.matches("#found a")`)
	b.Do(cdp.KeyEvent(kb.Enter))
	b.See(`location.pathname.startsWith("/projects/shopd/signatures/")`)
}
