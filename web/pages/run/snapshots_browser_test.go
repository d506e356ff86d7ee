package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/web/pages/pagestest"
)

// Without scripts the menus and links choose snapshots, and every view is about those: the receipts of the shop grow by
// 565 blocks of 384 B from each snapshot to the next.
func TestSnapshotsOfASeries(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 6))
	for _, test := range []struct{ query, says string }{
		{"", "140 + 5 × 565 blocks"},
		{"since=4", "snapshots: 4 to 6 of 6"},
		{"until=2", "snapshots: 1 to 2 of 6"},
		{"since=2&until=3&view=modules", "snapshots: 2 to 3 of 6"},
		{"since=5&until=2", "snapshots: 2 to 5 of 6"},
		{"since=5&until=2&fn=AppendLine", "function: AppendLine"},
		{"since=none&until=2&fn=AppendLine&size=large", "function: AppendLine"},
		{"since=none&until=2&fn=AppendLine&size=large", "snapshots: 1 to 2 of 6"},
		{"since=9", "snapshot 9 is not there: the run has 6"},
	} {
		_, page := s.Get(fmt.Sprintf("/runs/%d?%s", run, test.query))
		if test.query != "" && !strings.Contains(page, test.says) {
			t.Errorf("%q: the page does not say %q", test.query, test.says)
		}
		if !strings.Contains(page, `name="since"`) || !strings.Contains(page, "Without the first") {
			t.Errorf("%q: nothing chooses snapshots", test.query)
		}
	}
	// 2 × 565 × 384 B = 424 KB, in the table of signatures and in that of sites.
	for _, view := range []string{"ranked", "sites"} {
		_, page := s.Get(fmt.Sprintf("/runs/%d?since=4&q=AppendLine&view=%s", run, view))
		if !strings.Contains(page, "424 KB") {
			t.Errorf("%s: growth from snapshot 4 to 6 is not 424 KB", view)
		}
	}
	other := pagestest.DefaultTarget
	other.Build = "4813"
	if _, page := s.Get(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, other,
		pagestest.CapturesOf(pagestest.Shop, 2)))); strings.Contains(page,
		`name="since"`) {
		t.Error("of two snapshots there is nothing to choose")
	}
}

// The brush of the chart chooses snapshots by the pointer and the keys; rows, address and menus follow.
func TestSnapshotsInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 6))
	b.Do(cdp.EmulateViewport(1440, 900), cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
	b.See(`document.querySelector(".edge[role=slider]") && document.querySelector("#window-length").textContent === "6 snapshots"`)
	b.CheckAccessibility("all snapshots")
	b.Do(pagestest.Focused(".edge[data-end=from]"), cdp.KeyEvent(kb.ArrowRight))
	b.See(`location.search === "?since=2" && document.querySelector("#choices").innerText.includes("2 to 6 of 6") && document.querySelector("#window-length").textContent === "5 snapshots"`)
	b.See(`document.querySelector("#since").selectedIndex === 1 && document.querySelector(".edge[data-end=from]").getAttribute("aria-valuetext") === "snapshot 2"`)
	b.CheckAccessibility("without the first")
	b.SaveScreenshot("run-snapshots-1440")
	b.Do(pagestest.Focused(".edge[data-end=from]"), cdp.KeyEvent(kb.End))
	b.See(`location.search === "?since=6" && document.querySelector("#window-length").textContent === "1 snapshot"`)
	b.Do(pagestest.Focused(".edge[data-end=from]"), cdp.KeyEvent(kb.Home))
	b.See(`location.search === "" && document.querySelector("#window-length").textContent === "6 snapshots"`)
	// The menus may be set in reverse order.
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?since=2&until=3&q=AppendLine", s.URL, run)))
	b.See(`document.querySelector(".edge[role=slider]")`)
	b.See(`(menu => { menu.value = "5"; menu.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("#since"))`)
	b.See(`new URLSearchParams(location.search).get("since") === "3" && location.search.includes("until=5") && location.search.includes("q=AppendLine") && document.querySelector("#since").selectedIndex === 2 && document.querySelector("#until").selectedIndex === 4`)
	// These menus do not belong to the filter, so the filter sends no request. Its own menus work again after an answer
	// has replaced them.
	b.See(`performance.getEntriesByType("resource").filter(e => e.name.includes("/runs/")).length === 1`)
	settled := `!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")`
	for _, option := range []int{1, 0, 1} {
		b.See(settled)
		b.Is(fmt.Sprintf(`(menu => { menu.selectedIndex = %d; return menu.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("#choices [name=class]"))`, option))
		b.See(fmt.Sprintf(`location.search.includes("class=") === (%d > 0) && location.search.includes("since=3") && (document.querySelector("#choices [name=class] [selected]")?.index ?? 0) === %d`, option, option))
	}
	// A filter stays while snapshots change, and chosen snapshots stay while the filter changes.
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?q=AppendLine", s.URL, run)))
	b.Do(pagestest.Press(`#window nav a[title^="the second half"]`))
	b.See(`location.search.includes("since=4") && location.search.includes("q=AppendLine") && document.querySelector(".rt").innerText.includes("424 KB") && document.querySelectorAll(".rt tr[data-row]").length === 1`)
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d?since=4", s.URL, run)), pagestest.Focused("#q"), cdp.KeyEvent("AppendLine"))
	b.See(`location.search.includes("since=4") && location.search.includes("q=AppendLine") && document.querySelectorAll(".rt tr[data-row]").length === 1 && document.querySelector(".rt").innerText.includes("424 KB")`)
	// Dragging over the plot chooses the snapshots nearest to the pointer.
	b.Do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
	b.See(`document.querySelector(".edge[role=slider]")`)
	b.Is(dragged(0.42, 0.78)) // from near the third snapshot to near the fifth
	b.See(`location.search === "?since=3&until=5" && document.querySelector("#choices").innerText.includes("3 to 5 of 6")`)
	b.Do(cdp.EmulateViewport(390, 844), cdp.Navigate(fmt.Sprintf("%s/runs/%d?since=2", s.URL, run)))
	b.See(`document.querySelector(".edge[role=slider]")`)
	b.CheckNarrowScreen("at 390")
	b.CheckFitsWidth("at 390")
	b.SaveScreenshot("run-snapshots-390")
}

// Snapshots that lie nearer to each other than the chart can show stay apart: what the address chooses is what the
// menus and the handles say, and keys reach each of them.
func TestNearSnapshotsInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	captures := pagestest.CapturesOf(pagestest.Shop, 6)
	first := captures[0].Snapshots[0].TakenAt
	for i, after := range []time.Duration{0, time.Second, 3 * 24 * time.Hour, 4 * 24 * time.Hour,
		7*24*time.Hour - time.Second, 7 * 24 * time.Hour} {
		captures[i].Snapshots[0].TakenAt = first.Add(after)
	}
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, captures)
	says := func(length, since, until string) string {
		return `document.querySelector("#window-length").textContent === "` + length +
			`" && document.querySelector("#since").selectedOptions[0].text.startsWith("` + since +
			`,") && document.querySelector("#until").selectedOptions[0].text.startsWith("` + until + `,")`
	}
	b.Do(cdp.EmulateViewport(1440, 900), cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
	b.See(says("6 snapshots", "1", "6"))
	b.Do(pagestest.Focused(".edge[data-end=from]"), cdp.KeyEvent(kb.ArrowRight))
	b.See(`location.search === "?since=2" && ` + says("5 snapshots", "2", "6"))
	b.Do(pagestest.Focused(".edge[data-end=to]"), cdp.KeyEvent(kb.ArrowLeft))
	b.See(`location.search === "?since=2&until=5" && ` + says("4 snapshots", "2", "5"))
	b.Do(cdp.Reload())
	b.See(`document.querySelector(".edge[role=slider]") && ` + says("4 snapshots", "2", "5"))
	b.Do(pagestest.Focused(".edge[data-end=to]"), cdp.KeyEvent(kb.ArrowRight))
	b.See(`location.search === "?since=2" && ` + says("5 snapshots", "2", "6"))
}

// The numbers of snapshots without times do not overlap, even where the chart is narrow.
func TestNumbersOfSnapshotsInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	for _, n := range []int{3, 4, 5, 8, 9, 24, 120} {
		captures := pagestest.CapturesOf(pagestest.Shop, n)
		for _, c := range captures {
			c.Snapshots[0].TakenAt = time.Time{}
		}
		to := pagestest.DefaultTarget
		to.Build = fmt.Sprint(n)
		run := pagestest.AddRun(t, s.Store, to, captures)
		b.Do(cdp.EmulateViewport(390, 844), cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.URL, run)))
		b.Evaluates(map[string]string{`(boxes => boxes.length > 2 && boxes.every((box, i) => !i || boxes[i - 1].right < box.left) || JSON.stringify(boxes))([...document.querySelectorAll(".timeline text")].filter(t => t.getAttribute("y") === "164").map(t => t.getBoundingClientRect()))`: "true"})
	}
}
