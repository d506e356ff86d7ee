package pages_test

import (
	"fmt"
	"net/url"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

// Pages of runs that failed, wait or are the only ones.
func TestOtherPagesInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	b.Do(cdp.Navigate(s.URL + "/"))
	b.CheckAccessibility("no project")
	b.SaveScreenshot("welcome")
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 1))
	refused := pagestest.DefaultTarget
	refused.Build = "4813"
	failed := pagestest.AddEvidence(t, s.Store, refused, "photo.jpg").RunID
	pagestest.FailRead(t, s.Store, failed, store.Failure{Code: "unknown-format", Message: "this is a picture",
		Final: true})
	busy := pagestest.DefaultTarget
	busy.Build = "4814"
	working := pagestest.AddEvidence(t, s.Store, busy, "a.log").RunID
	for name, path := range map[string]string{
		"projects": "/", "project": "/projects/shopd", "one": fmt.Sprintf("/runs/%d", run),
		"failed": fmt.Sprintf("/runs/%d", failed), "working": fmt.Sprintf("/runs/%d", working),
	} {
		b.Do(cdp.Navigate(s.URL + path))
		b.OnScreens(name)
	}
}

// Pages are checked on all screens, and log no error. Tests that end with PagesInBrowser, and those of accounts, memory
// and uploads, do the same for pages that need more than the history.
func TestPagesInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, runs := pagestest.OpenHistory(t)
	b := pagestest.Browse(t)
	newest := fmt.Sprintf("/runs/%d", runs[len(runs)-1])
	for _, page := range []struct{ name, path string }{
		{"board", "/"}, {"run", newest}, {"run-modules", newest + "?view=modules"}, {"run-calls", newest + "?view=calls"},
		{"run-butterfly", newest + "?view=calls&fn=" + url.QueryEscape("app!Shop::Orders::Receipt::AppendLine")},
		{"run-flame", newest + "?view=flame"}, {"upload", "/upload?project=shopd"}, {"search", "/search?q=shop"},
		{"policy", "/projects/shopd/policy"}, {"symbols", "/projects/shopd/symbols"},
	} {
		b.Do(cdp.Navigate(s.URL + page.path))
		b.OnScreens("walk-" + page.name)
	}
}
