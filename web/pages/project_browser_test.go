package pages_test

import (
	"testing"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// In a browser several leaks are changed at once, and the search on every page leads to a leak by the keyboard alone.
func TestProjectInBrowser(t *testing.T) {
	inBrowser(t)
	s, _ := openHistory(t)
	b := browse(t)
	b.do(cdp.Navigate(s.url + "/projects/shopd"))
	b.see(`getComputedStyle(document.querySelector(".bulk")).display === "none"`)
	b.do(press("#leaks tbody tr:nth-child(1) .check"), press("#leaks tbody tr:nth-child(2) .check"))
	b.see(`getComputedStyle(document.querySelector(".bulk")).display === "flex"`)
	b.keep("project-picked")
	b.do(typed(`.bulk [name="reason"]`, "by design"), press(`//button[text()="Mark as known"]`))
	b.see(`document.querySelectorAll("#leaks .s-known").length === 2`)
	b.do(cdp.KeyEvent("k", cdp.KeyModifiers(2)))
	b.see(`document.getElementById("palette").open`)
	b.do(cdp.KeyEvent("appendline"))
	b.see(`document.querySelectorAll("#found a").length > 0`)
	b.keep("palette")
	b.do(cdp.KeyEvent(kb.ArrowDown))
	// An answer that comes now does not take the arrows from where they are.
	b.is(`document.getElementById("found").dataset.before = "",
		document.querySelector("#palette input").dispatchEvent(new Event("input"))`)
	b.see(`!("before" in document.getElementById("found").dataset)`)
	b.is(`document.activeElement.matches("#found a")`)
	b.do(cdp.KeyEvent(kb.Enter))
	b.see(`location.pathname.startsWith("/projects/shopd/signatures/")`)
}
