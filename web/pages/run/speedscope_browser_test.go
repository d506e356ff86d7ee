package run_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
)

// Speedscope itself opens what we write for it: its table names the functions and has the bytes that the run grew by.
func TestSpeedscopeOpensOurs(t *testing.T) {
	pagestest.InBrowser(t)
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 6))
	status, profile := s.Get(fmt.Sprintf("/api/v1/runs/%d/views/ranked?format=speedscope", run))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, profile)
	}
	files := http.FileServer(http.Dir(filepath.Join("..", "..", "testdata", "speedscope")))
	reader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/profile.json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(profile))
		case strings.HasPrefix(r.URL.Path, "/favicon"), strings.HasPrefix(r.URL.Path, "/SourceCodePro"):
			w.WriteHeader(http.StatusNoContent) // images and fonts say nothing about our file
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(reader.Close)
	b := pagestest.Browse(t) // the browser closes before the server of Speedscope
	b.Do(cdp.EmulateViewport(1440, 900),
		cdp.Navigate(reader.URL+"/index.html#profileURL="+reader.URL+"/profile.json&view=sandwich"))
	b.See(`document.body.innerText.includes("shopd!Shop::Orders::Receipts::Receipt::AppendLine")`)
	b.SaveScreenshot("speedscope")
	// 5 × 565 receipts of 384 B are 1,084,800 B: 1.03 MB.
	b.See(`[...document.querySelectorAll("tr")].some(row => row.innerText.includes("Receipt::AppendLine") && row.innerText.includes("1.03 MB"))`)
}
