package pages_test

import (
	"fmt"
	"net/url"
	"testing"

	cdp "github.com/chromedp/chromedp"
)

// Pages are checked on all screens, and log no error. Tests that end with PagesInBrowser, and those of accounts, memory
// and uploads, do the same for pages that need more than the history.
func TestPagesInBrowser(t *testing.T) {
	inBrowser(t)
	s, runs := openHistory(t)
	b := browse(t)
	newest := fmt.Sprintf("/runs/%d", runs[len(runs)-1])
	for _, page := range []struct{ name, path string }{
		{"board", "/"}, {"run", newest}, {"run-modules", newest + "?view=modules"}, {"run-calls", newest + "?view=calls"},
		{"run-butterfly", newest + "?view=calls&fn=" + url.QueryEscape("app!Shop::Orders::Receipt::AppendLine")},
		{"run-flame", newest + "?view=flame"}, {"upload", "/upload?project=shopd"}, {"search", "/search?q=shop"},
		{"policy", "/projects/shopd/policy"}, {"symbols", "/projects/shopd/symbols"},
	} {
		b.do(cdp.Navigate(s.url + page.path))
		b.onScreens("walk-" + page.name)
	}
}

// uncut looks for text that is cut off without a title that has the whole text.
func (b *tab) uncut(what string) {
	b.t.Helper()
	cut := must[string](b.t)(cdp.Run(b.ctx, cdp.Evaluate[string](`[...document.querySelectorAll("main *")].filter(e => {
		const style = getComputedStyle(e);
		return style.overflowX === "hidden" && style.textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1 && e.innerText.trim() !== "" &&
			!e.closest("[title]") && !e.querySelector("[title]");
	}).map(e => e.tagName + "." + e.className + ": " + e.innerText.slice(0, 60)).join("\n")`)))
	if cut != "" {
		b.t.Errorf("%s: text is cut without a title: %s", what, cut)
	}
}
