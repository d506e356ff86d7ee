package run_test

import (
	"fmt"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/web/pages/pagestest"
)

// dragged sends the page the events of a pointer that goes down at one part of the chart's width and up at another.
func dragged(from, to float64) string {
	return fmt.Sprintf(`(() => {
		const brush = document.querySelector("#brush"), box = brush.querySelector(".brush-body").getBoundingClientRect();
		brush.setPointerCapture = () => {};
		const at = (type, part) => brush.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, pointerId: 1, button: 0, clientX: box.left + part * box.width, clientY: box.top + 40 }));
		at("pointerdown", %v); at("pointermove", %v); at("pointermove", %v); at("pointerup", %v);
		return true;
	})()`, from, (from+to)/2, to, to)
}

func TestTracePageInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest())
	url := fmt.Sprintf("%s/runs/%d?view=sites", s.URL, run)
	b.Do(cdp.Navigate(url))
	b.CheckAccessibility("light")
	b.SaveScreenshot("trace-light")

	// The pointer shows the values of the chart.
	b.Is(`(() => {
		const brush = document.querySelector("#brush"), box = brush.querySelector(".brush-body").getBoundingClientRect();
		return brush.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerId: 1, clientX: box.left + 30.4 / 60 * box.width }));
	})()`)
	b.See(`/^30\.4 s\nheaps 4\.\d\d MB(, at most 4\.\d\d MB)?\nvirtual memory 30\.0 MB$/.test(document.querySelector("#readout").innerText)`)

	// Dragging chooses a window: its numbers come, and the address holds it.
	b.Is(dragged(20.0/60, 29.0/60))
	b.See(`location.search === "?from=20&to=29&view=sites"`)
	virtual := `document.querySelector("#totals tbody tr:nth-child(2) td:nth-child(2)").innerText.includes("+10.0 MB")`
	b.See(virtual)
	b.See(`document.querySelector("#totals [role=status]").innerText === "from 20 to 29 s"`)
	b.See(`document.querySelector("tr[data-row] .who").title.includes("Buffers::Reserve") && document.querySelector("tr[data-row] .k-growth").innerText.includes("10.0 MB")`)
	b.See(`document.querySelector("#downloads a[href*='window=20,29']") && document.querySelector("#export a[href*='window=20,29']")`)
	b.CheckAccessibility("a window")

	// A row that is opened in the window also has the window's numbers in its details; reloading keeps everything.
	b.Do(pagestest.Press("tr[data-row] .who"))
	b.See(`document.querySelector("tr.detail .why.traced")?.innerText.includes("In the window") && location.search === "?from=20&to=29&view=sites&open=0"`)
	b.CheckAccessibility("a window, a row open")
	b.SaveScreenshot("trace-window-light")
	b.Do(cdp.Reload())
	b.See(virtual + ` && document.querySelector("tr.detail .why.traced")`)
	b.See(`document.querySelector("#from").value === "20" && document.querySelector("[data-end=to]").getAttribute("aria-valuenow") === "29"`)

	// Sorting and filtering keep the window, and a new window keeps the sorting and the filter.
	b.Do(pagestest.Press(`//th/a[starts-with(text(),"Transient")]`))
	b.See(`location.search === "?from=20&sort=transient&to=29&view=sites" && document.querySelector("tr[data-row] .who").title.includes("Parser::Tokenize")`)
	b.Do(pagestest.Press("#q"), cdp.KeyEvent("Parser"))
	b.See(`document.querySelectorAll("tr[data-row]").length === 2 && location.search === "?from=20&q=Parser&sort=transient&to=29&view=sites"`)
	b.Is(dragged(0.5, 0.9))
	b.See(`location.search === "?from=30&q=Parser&sort=transient&to=54&view=sites" && document.querySelectorAll("tr[data-row]").length === 2`)
	b.Do(cdp.NavigateBack())
	b.See(`location.search === "?from=20&q=Parser&sort=transient&to=29&view=sites" && document.querySelector("#totals").dataset.from === "20" && document.querySelector("#from").value === "20"`)

	// Escape cancels a drag, a click chooses nothing, and a double click chooses the whole trace.
	b.Is(`(() => {
		const brush = document.querySelector("#brush"), box = brush.getBoundingClientRect();
		brush.setPointerCapture = () => {};
		const at = (type, x) => brush.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, pointerId: 1, button: 0, clientX: box.left + x }));
		at("pointerdown", 100); at("pointermove", 200);
		const moved = document.querySelector("#from").value !== "20";
		document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
		at("pointerup", 200);
		return moved && document.querySelector("#from").value === "20";
	})()`)
	b.Is(`document.querySelector("#brush").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))`)
	b.See(`location.search === "?from=0&q=Parser&sort=transient&to=60&view=sites" && document.querySelector("#totals [role=status]").innerText === "of the whole trace"`)
}

// Keys can do everything that the pointer can.
func TestTraceWindowByKeys(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	url := fmt.Sprintf("%s/runs/%d", s.URL, pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest()))
	b.Do(cdp.Navigate(url + "?from=20&to=29"))
	b.Is(`document.querySelector("[data-end=to]").focus(), true`)
	b.Do(cdp.KeyEvent(kb.ArrowRight), cdp.KeyEvent(kb.ArrowRight))
	b.See(`location.search === "?from=20&to=30" && document.querySelector("#totals").dataset.to === "30"`)
	b.See(`document.activeElement.dataset.end === "to" && document.activeElement.getAttribute("aria-valuetext") === "30 s"`)
	b.Do(cdp.KeyEvent(kb.End))
	b.See(`location.search === "?from=20&to=60"`)
	b.Is(`document.querySelector("#from").select(), document.querySelector("#from").focus(), true`)
	b.Do(cdp.KeyEvent("45"))
	b.Is(`document.dispatchEvent(new CustomEvent("htmx:afterSettle"))`) // the answer to an earlier request
	b.Do(cdp.KeyEvent(".5\r"))
	b.See(`location.search === "?from=45.5&to=60" && document.querySelector("[data-end=from]").getAttribute("aria-valuenow") === "45.5"`)
	b.See(`document.querySelector("#totals").innerText.includes("exited at 57.5 s")`)
	b.Do(pagestest.Press(`//nav[@aria-label="Windows to choose"]/a[text()="Before exit"]`))
	b.See(`location.search === "" && document.querySelector("nav[aria-label='Windows to choose'] [aria-current]").innerText === "Before exit"`)
	b.See(`document.querySelector("#totals tbody tr:nth-child(2) td:nth-child(2)").innerText.includes("+20.0 MB")`)
	b.Do(pagestest.Press(`//nav[@aria-label="Windows to choose"]/a[text()="Whole trace"]`))
	b.See(`location.search === "?from=0&to=60"`)

	// Where the server does not answer, chart and fields go back to the numbers that are shown. htmx logs that as an
	// error.
	b.Is(`(() => {
		console.error = () => {};
		XMLHttpRequest.prototype.send = function () { window.sought = document.querySelector("#to").value; this.onerror(new Event("error")); };
		document.querySelector("[data-end=to]").focus();
		return true;
	})()`)
	b.Do(cdp.KeyEvent(kb.ArrowLeft))
	b.See(`window.sought < 60 && document.querySelector("#to").value === "60" && location.search === "?from=0&to=60"`)
	b.See(`document.querySelector("#toast").innerText.includes("The server does not answer")`)
}

func TestTracePageDarkAndNarrow(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	url := fmt.Sprintf("%s/runs/%d", s.URL, pagestest.AddTrace(t, s, pagestest.DefaultTarget, memtest()))
	crowded := crowd(40)
	to := pagestest.DefaultTarget
	to.Run = "2"
	many := fmt.Sprintf("%s/runs/%d", s.URL, pagestest.AddTrace(t, s, to, crowded))
	b.Do(cdp.Navigate(url + "?from=0&to=57.4&view=sites&open=0"))
	b.SetTheme("dark")
	b.CheckColours("dark")
	b.SaveScreenshot("trace-window-dark")
	b.Do(cdp.Navigate(many))
	b.CheckAccessibility("40 heaps")
	b.SaveScreenshot("trace-40-heaps")
	b.SetTheme("dark")
	b.CheckColours("40 heaps, dark")
	b.Do(cdp.EmulateViewport(390, 844), cdp.Navigate(url+"?from=20&to=29"))
	b.CheckNarrowScreen("narrow")
	b.CheckFitsWidth("narrow")
	b.SaveScreenshot("trace-390")
	b.Do(cdp.Navigate(many + "?view=sites&open=3"))
	b.CheckAccessibility("narrow, 40 heaps")
	b.CheckFitsWidth("narrow, 40 heaps")
	to.Run = "3"
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL,
		pagestest.AddTrace(t, s, to, pagestest.TracedProcess{Name: strings.Repeat("W", 250), End: pagestest.Second, Heaps: 1,
			Sites: []pagestest.AllocationSite{{Kind: allocations.KindHeap, Heap: 0,
				Lives: []pagestest.Life{{From: 1, Size: 16}}}}}))))
	b.CheckFitsWidth("a long name")
}
