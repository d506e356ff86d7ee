package leaks_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
)

// The pages of leaks, wide and narrow, light and dark.
func TestLeakPagesInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, runs := pagestest.OpenHistory(t)
	b := pagestest.Browse(t)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	for _, form := range [][]string{
		{"do", "assign", "assignee", "ada", "ticket", "https://tickets.example/7"},
		{"do", "known", "reason", "the vendor mends it", "until", "2099-12-31"}, {"do", "open"},
	} {
		if status, page := s.Fill(path,
			append([]string{"actor", "Ada", "version", fmt.Sprint(pagestest.SignatureOf(t, s, pagestest.AppendLine).Version)},
				form...)...); status != 303 {
			t.Fatalf("%v: %d %.300s", form, status, page)
		}
	}
	if status, page := s.Fill(path+"/comments", "actor", "Ada", "text",
		"Lines are kept until the receipt is printed,\nwhich orders by mail never are."); status != 303 {
		t.Fatalf("%d %.300s", status, page)
	}
	for name, address := range map[string]string{
		"project-leaks": "/projects/shopd", "signature": path,
		"compare-builds": "/projects/shopd/compare?base=4811&head=4813",
		"rules":          "/projects/shopd/rules?add=module:audit+-%3E+owner=billing",
		"run-findings":   fmt.Sprintf("/runs/%d?open=%s", runs[1], leak.Text),
		"site-rules":     fmt.Sprintf("/runs/%d?view=sites&open=0", runs[1]),
	} {
		b.Do(cdp.Navigate(s.URL + address))
		b.Is(`document.querySelectorAll("details:not(.menu)").forEach(d => d.open = true), true`)
		b.OnScreens(name)
	}
}

// Typing filters the list; evidence opens in place and appears in the address; buttons change the state.
func TestLeaksInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, runs := pagestest.OpenHistory(t)
	b := pagestest.Browse(t)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	b.Do(cdp.Navigate(s.URL+"/projects/shopd"), pagestest.Press("#q"), cdp.KeyEvent("searchindex"))
	b.See(`document.querySelectorAll("#leaks .name").length === 1 && document.querySelector("#leaks .name").innerText.includes("SearchIndex") && document.activeElement.id === "q"`)
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, runs[1])), pagestest.Press(".rt tr.open .name"))
	b.See(`!document.querySelector(".rt .clauses") && location.search === "?open=none"`)
	b.Do(pagestest.Press(".rt .name"))
	b.See(`document.querySelector(".rt .clauses") && location.search.includes("open=sig1")`)
	b.Do(cdp.NavigateBack())
	b.See(`!document.querySelector(".rt .clauses") && location.search === "?open=none"`)
	b.Do(cdp.Navigate(s.URL+"/projects/shopd/signatures/"+leak.Text), pagestest.Typed("#comment", "It is kept."),
		pagestest.Typed("#comment-actor", "Ada"), pagestest.Press(`//button[text()="Add comment"]`))
	b.See(`document.querySelector("#triage .push").innerText === "Changes are logged as Ada" && document.querySelector(".said .comment")`)

	// The page says what the change does before anything is saved, and says it anew as fields change.
	b.Do(pagestest.Press(`//a[text()="Mark as known…"]`))
	b.See(`location.search === "?say=known" && window.htmx && document.querySelector("#effect").innerText.includes("the gate of build 4813")`)
	b.Do(pagestest.Typed("#until-build", "4813\t"))
	b.See(`document.querySelector("#effect").innerText.startsWith("The gate of build 4813 fails as before")`)
	b.Do(pagestest.Typed("#reason", "vendor"), pagestest.Press(`//button[text()="Mark as known"]`))
	b.See(`!location.search && document.querySelector("#triage .s-ongoing")`)
	b.Do(pagestest.Press(`//a[text()="Mark as not a leak…"]`), pagestest.Typed("#reason", "a pool"),
		pagestest.Press(`//button[text()="Mark as not a leak"]`))
	b.See(`document.querySelector("#triage .s-known")`)
	b.Do(pagestest.Press(`//button[text()="Assign to me"]`))
	b.See(`document.querySelector("#triage .av").title === "Ada"`)
}

// The stacks, the kinds of evidence and the triage of a leak at three widths, light and dark.
func TestStacksOfALeakInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	for i, samples := range [][]pagestest.Sample{pagestest.Shop, receipts(), receipts()} {
		to := pagestest.DefaultTarget
		to.Build = fmt.Sprint(4811 + i)
		pagestest.AddRun(t, s.Store, to, pagestest.CapturesOf(samples, 11))
	}
	trace := pagestest.DefaultTarget
	trace.Build, trace.Scenario = "4813", "trace-60s"
	pagestest.AddTrace(t, s, trace, traced())
	trace.Scenario = "dumped"
	pagestest.AddRun(t, s.Store, trace, append(pagestest.CapturesOf(receipts(), 11), dumped()))
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	b.Do(cdp.Navigate(s.URL + "/projects/shopd/signatures/" + leak.Text))
	b.OnScreens("stacks")
	b.See(`document.querySelectorAll(".variant[open]").length === 1`)
	b.Do(pagestest.Press(".variant:not([open]) > summary"))
	b.See(`document.querySelectorAll(".variant[open]").length === 2`)
}
