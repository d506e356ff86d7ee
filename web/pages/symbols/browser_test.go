package symbols_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
)

// The panel of a run shows what to upload; the rest opens in place.
func TestSymbolPanelInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(20), 11), sought)
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=2", s.URL, run)))
	b.CheckAccessibility("light")
	b.SaveScreenshot("symbols-run-light")
	b.Do(pagestest.Press("#symbols .modules li:nth-child(2) summary"), pagestest.Press("#symbols .fold summary"))
	b.See(`document.querySelector("#symbols .modules li:nth-child(2) .tried").checkVisibility()`)
	b.CheckAccessibility("opened")
	b.SaveScreenshot("symbols-run-open")
	b.Do(cdp.Navigate(s.URL+"/"), cdp.Click(cdp.CSS("header [data-theme-toggle]")), // by a mouse
		cdp.Navigate(fmt.Sprintf("%s/runs/%d?view=sites&open=2", s.URL, run)))
	b.Do(pagestest.Press("#symbols .modules li:nth-child(2) summary"), pagestest.Press("#symbols .fold summary"))
	b.CheckColours("dark")
	b.SaveScreenshot("symbols-run-dark")
	b.Do(cdp.EmulateViewport(390, 844))
	b.CheckNarrowScreen("narrow")
	b.CheckFitsWidth("narrow")
	b.SaveScreenshot("symbols-run-390")
}
