package pages_test

import (
	"fmt"
	"testing"

	cdp "github.com/chromedp/chromedp"
)

// The pages of leaks, wide and narrow, light and dark.
func TestLeakPagesInBrowser(t *testing.T) {
	inBrowser(t)
	s, runs := openHistory(t)
	b := browse(t)
	leak := signatureOf(t, s, appendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	for _, form := range [][]string{
		{"do", "assign", "assignee", "ada", "ticket", "https://tickets.example/7"},
		{"do", "known", "reason", "the vendor mends it", "until", "2099-12-31"}, {"do", "open"},
	} {
		if status, page := s.fill(path,
			append([]string{"actor", "Ada", "version", fmt.Sprint(signatureOf(t, s, appendLine).Version)},
				form...)...); status != 303 {
			t.Fatalf("%v: %d %.300s", form, status, page)
		}
	}
	if status, page := s.fill(path+"/comments", "actor", "Ada", "text",
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
		b.do(cdp.Navigate(s.url + address))
		b.is(`document.querySelectorAll("details:not(.menu)").forEach(d => d.open = true), true`)
		b.onScreens(name)
	}
}

// Typing filters the list; evidence opens in place and appears in the address; buttons change the state.
func TestLeaksInBrowser(t *testing.T) {
	inBrowser(t)
	s, runs := openHistory(t)
	b := browse(t)
	leak := signatureOf(t, s, appendLine)
	b.do(cdp.Navigate(s.url+"/projects/shopd"), press("#q"), cdp.KeyEvent("searchindex"))
	b.see(`document.querySelectorAll("#leaks .name").length === 1 && document.querySelector("#leaks .name").innerText.includes("SearchIndex") && document.activeElement.id === "q"`)
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url, runs[1])), press(".rt tr.open .name"))
	b.see(`!document.querySelector(".rt .clauses") && location.search === "?open=none"`)
	b.do(press(".rt .name"))
	b.see(`document.querySelector(".rt .clauses") && location.search.includes("open=sig1")`)
	b.do(cdp.NavigateBack())
	b.see(`!document.querySelector(".rt .clauses") && location.search === "?open=none"`)
	b.do(cdp.Navigate(s.url+"/projects/shopd/signatures/"+leak.Text), typed("#comment", "It is kept."),
		typed("#comment-actor", "Ada"), press(`//button[text()="Add comment"]`))
	b.see(`document.querySelector("#triage .push").innerText === "Changes are logged as Ada" && document.querySelector(".said .comment")`)

	// The page says what the change does before anything is saved, and says it anew as fields change.
	b.do(press(`//a[text()="Mark as known…"]`))
	b.see(`location.search === "?say=known" && window.htmx && document.querySelector("#effect").innerText.includes("the gate of build 4813")`)
	b.do(typed("#until-build", "4813\t"))
	b.see(`document.querySelector("#effect").innerText.startsWith("The gate of build 4813 fails as before")`)
	b.do(typed("#reason", "vendor"), press(`//button[text()="Mark as known"]`))
	b.see(`!location.search && document.querySelector("#triage .s-ongoing")`)
	b.do(press(`//a[text()="Mark as not a leak…"]`), typed("#reason", "a pool"),
		press(`//button[text()="Mark as not a leak"]`))
	b.see(`document.querySelector("#triage .s-known")`)
	b.do(press(`//button[text()="Assign to me"]`))
	b.see(`document.querySelector("#triage .av").title === "Ada"`)
}

// The stacks, the kinds of evidence and the triage of a leak at three widths, light and dark.
func TestStacksOfALeakInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
	for i, samples := range [][]sample{shop, receipts(), receipts()} {
		to := target
		to.Build = fmt.Sprint(4811 + i)
		addRun(t, s.store, to, capturesOf(samples, 11))
	}
	trace := target
	trace.Build, trace.Scenario = "4813", "trace-60s"
	addTrace(t, s, trace, traced())
	trace.Scenario = "dumped"
	addRun(t, s.store, trace, append(capturesOf(receipts(), 11), dumped()))
	leak := signatureOf(t, s, appendLine)
	b.do(cdp.Navigate(s.url + "/projects/shopd/signatures/" + leak.Text))
	b.onScreens("stacks")
	b.see(`document.querySelectorAll(".variant[open]").length === 1`)
	b.do(press(".variant:not([open]) > summary"))
	b.see(`document.querySelectorAll(".variant[open]").length === 2`)
}
