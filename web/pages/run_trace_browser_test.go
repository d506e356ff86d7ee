package pages_test

import (
	"fmt"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/ingest/capture/allocations"
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
	s, b := openInBrowser(t)
	run := addTrace(t, s, target, memtest())
	url := fmt.Sprintf("%s/runs/%d?view=sites", s.url, run)
	b.do(cdp.Navigate(url))
	b.accessible("light")
	b.keep("trace-light")

	// The pointer shows the values of the chart.
	b.is(`(() => {
		const brush = document.querySelector("#brush"), box = brush.querySelector(".brush-body").getBoundingClientRect();
		return brush.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerId: 1, clientX: box.left + 30.4 / 60 * box.width }));
	})()`)
	b.see(`/^30\.4 s\nheaps 4\.\d\d MB(, at most 4\.\d\d MB)?\nvirtual memory 30\.0 MB$/.test(document.querySelector("#readout").innerText)`)

	// Dragging chooses a window: its numbers come, and the address holds it.
	b.is(dragged(20.0/60, 29.0/60))
	b.see(`location.search === "?from=20&to=29&view=sites"`)
	virtual := `document.querySelector("#totals tbody tr:nth-child(2) td:nth-child(2)").innerText.includes("+10.0 MB")`
	b.see(virtual)
	b.see(`document.querySelector("#totals [role=status]").innerText === "from 20 to 29 s"`)
	b.see(`document.querySelector("tr[data-row] .who").title.includes("Buffers::Reserve") && document.querySelector("tr[data-row] .k-growth").innerText.includes("10.0 MB")`)
	b.see(`document.querySelector("#downloads a[href*='window=20,29']") && document.querySelector("#export a[href*='window=20,29']")`)
	b.accessible("a window")

	// A row that is opened in the window also has the window's numbers in its details; reloading keeps everything.
	b.do(press("tr[data-row] .who"))
	b.see(`document.querySelector("tr.detail .why.traced")?.innerText.includes("In the window") && location.search === "?from=20&to=29&view=sites&open=0"`)
	b.accessible("a window, a row open")
	b.keep("trace-window-light")
	b.do(cdp.Reload())
	b.see(virtual + ` && document.querySelector("tr.detail .why.traced")`)
	b.see(`document.querySelector("#from").value === "20" && document.querySelector("[data-end=to]").getAttribute("aria-valuenow") === "29"`)

	// Sorting and filtering keep the window, and a new window keeps the sorting and the filter.
	b.do(press(`//th/a[starts-with(text(),"Transient")]`))
	b.see(`location.search === "?from=20&sort=transient&to=29&view=sites" && document.querySelector("tr[data-row] .who").title.includes("Parser::Tokenize")`)
	b.do(press("#q"), cdp.KeyEvent("Parser"))
	b.see(`document.querySelectorAll("tr[data-row]").length === 2 && location.search === "?from=20&q=Parser&sort=transient&to=29&view=sites"`)
	b.is(dragged(0.5, 0.9))
	b.see(`location.search === "?from=30&q=Parser&sort=transient&to=54&view=sites" && document.querySelectorAll("tr[data-row]").length === 2`)
	b.do(cdp.NavigateBack())
	b.see(`location.search === "?from=20&q=Parser&sort=transient&to=29&view=sites" && document.querySelector("#totals").dataset.from === "20" && document.querySelector("#from").value === "20"`)

	// Escape cancels a drag, a click chooses nothing, and a double click chooses the whole trace.
	b.is(`(() => {
		const brush = document.querySelector("#brush"), box = brush.getBoundingClientRect();
		brush.setPointerCapture = () => {};
		const at = (type, x) => brush.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, pointerId: 1, button: 0, clientX: box.left + x }));
		at("pointerdown", 100); at("pointermove", 200);
		const moved = document.querySelector("#from").value !== "20";
		document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
		at("pointerup", 200);
		return moved && document.querySelector("#from").value === "20";
	})()`)
	b.is(`document.querySelector("#brush").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))`)
	b.see(`location.search === "?from=0&q=Parser&sort=transient&to=60&view=sites" && document.querySelector("#totals [role=status]").innerText === "of the whole trace"`)
}

// Keys can do everything that the pointer can.
func TestTraceWindowByKeys(t *testing.T) {
	s, b := openInBrowser(t)
	url := fmt.Sprintf("%s/runs/%d", s.url, addTrace(t, s, target, memtest()))
	b.do(cdp.Navigate(url + "?from=20&to=29"))
	b.is(`document.querySelector("[data-end=to]").focus(), true`)
	b.do(cdp.KeyEvent(kb.ArrowRight), cdp.KeyEvent(kb.ArrowRight))
	b.see(`location.search === "?from=20&to=30" && document.querySelector("#totals").dataset.to === "30"`)
	b.see(`document.activeElement.dataset.end === "to" && document.activeElement.getAttribute("aria-valuetext") === "30 s"`)
	b.do(cdp.KeyEvent(kb.End))
	b.see(`location.search === "?from=20&to=60"`)
	b.is(`document.querySelector("#from").select(), document.querySelector("#from").focus(), true`)
	b.do(cdp.KeyEvent("45"))
	b.is(`document.dispatchEvent(new CustomEvent("htmx:afterSettle"))`) // the answer to an earlier request
	b.do(cdp.KeyEvent(".5\r"))
	b.see(`location.search === "?from=45.5&to=60" && document.querySelector("[data-end=from]").getAttribute("aria-valuenow") === "45.5"`)
	b.see(`document.querySelector("#totals").innerText.includes("exited at 57.5 s")`)
	b.do(press(`//nav[@aria-label="Windows to choose"]/a[text()="Before exit"]`))
	b.see(`location.search === "" && document.querySelector("nav[aria-label='Windows to choose'] [aria-current]").innerText === "Before exit"`)
	b.see(`document.querySelector("#totals tbody tr:nth-child(2) td:nth-child(2)").innerText.includes("+20.0 MB")`)
	b.do(press(`//nav[@aria-label="Windows to choose"]/a[text()="Whole trace"]`))
	b.see(`location.search === "?from=0&to=60"`)

	// Where the server does not answer, chart and fields go back to the numbers that are shown. htmx logs that as an error.
	b.is(`(() => {
		console.error = () => {};
		XMLHttpRequest.prototype.send = function () { window.sought = document.querySelector("#to").value; this.onerror(new Event("error")); };
		document.querySelector("[data-end=to]").focus();
		return true;
	})()`)
	b.do(cdp.KeyEvent(kb.ArrowLeft))
	b.see(`window.sought < 60 && document.querySelector("#to").value === "60" && location.search === "?from=0&to=60"`)
	b.see(`document.querySelector("#toast").innerText.includes("The server does not answer")`)
}

func TestTracePageDarkAndNarrow(t *testing.T) {
	s, b := openInBrowser(t)
	url := fmt.Sprintf("%s/runs/%d", s.url, addTrace(t, s, target, memtest()))
	crowded := crowd(40)
	to := target
	to.Run = "2"
	many := fmt.Sprintf("%s/runs/%d", s.url, addTrace(t, s, to, crowded))
	b.do(cdp.Navigate(url + "?from=0&to=57.4&view=sites&open=0"))
	b.turn("dark")
	b.legible("dark")
	b.keep("trace-window-dark")
	b.do(cdp.Navigate(many))
	b.accessible("40 heaps")
	b.keep("trace-40-heaps")
	b.turn("dark")
	b.legible("40 heaps, dark")
	b.do(cdp.EmulateViewport(390, 844), cdp.Navigate(url+"?from=20&to=29"))
	b.narrow("narrow")
	b.fits("narrow")
	b.keep("trace-390")
	b.do(cdp.Navigate(many + "?view=sites&open=3"))
	b.accessible("narrow, 40 heaps")
	b.fits("narrow, 40 heaps")
	to.Run = "3"
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url,
		addTrace(t, s, to, tracedProcess{name: strings.Repeat("W", 250), end: second, heaps: 1,
			places: []place{{allocations.KindHeap, 0, nil, []life{{from: 1, size: 16}}}}}))))
	b.fits("a long name")
}
