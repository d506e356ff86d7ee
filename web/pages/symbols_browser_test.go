package pages_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"
)

// The panel of a run shows what to upload; the rest opens in place.
func TestSymbolPanelInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	run := addRun(t, s.store, target, capturesOf(many(20), 11), sought)
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=2", s.url, run)))
	b.accessible("light")
	b.keep("symbols-run-light")
	b.do(press("#symbols .modules li:nth-child(2) summary"), press("#symbols .fold summary"))
	b.see(`document.querySelector("#symbols .modules li:nth-child(2) .tried").checkVisibility()`)
	b.accessible("opened")
	b.keep("symbols-run-open")
	b.do(cdp.Navigate(s.url+"/"), cdp.Click(cdp.CSS("header [data-theme-toggle]")), // by a mouse
		cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=2", s.url, run)))
	b.do(press("#symbols .modules li:nth-child(2) summary"), press("#symbols .fold summary"))
	b.legible("dark")
	b.keep("symbols-run-dark")
	b.do(cdp.EmulateViewport(390, 844))
	b.narrow("narrow")
	b.fits("narrow")
	b.keep("symbols-run-390")
}
