package upload_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
	"heapdrift/worker/workertest"
)

// closeTab closes a tab, as a reader does at the end.
func closeTab(b *pagestest.Tab) {
	b.T.Helper()
	if err := cdp.Cancel(b.Ctx); err != nil {
		b.T.Fatal(err)
	}
}

// Two tabs send at once: each has a file of its own, and both have a third one. The third file is sent once, and both
// tabs end at the run.
func TestTwoTabsSendAtOnce(t *testing.T) {
	s, one := pagestest.OpenInBrowser(t)
	d := openDoor(one, s.Handler)
	both, own := sized(t, "both.log", 12), sized(t, "own.log", 9)
	held := d.hold(2 << 20)
	address := d.url + "/upload?project=shop&build=1"
	sending(one, address, both)
	held.wait(one.Ctx, t)
	two := one.Another()
	two.Do(cdp.Navigate(address))
	two.See(pending + ` === 1 && document.querySelector("#before .st").textContent === "another tab sends it" && [...document.querySelectorAll("#before button")].every(b => b.hidden)`)
	two.CheckAccessibility("another tab sends")
	two.SaveScreenshot("upload-two-tabs")
	besides(two, address, both, own)
	two.See(`[...document.querySelectorAll("#files .file")].map(r => r.dataset.state).join() === "elsewhere,sending"`)
	two.CheckAccessibility("waits for another tab")
	two.SaveScreenshot("upload-elsewhere")
	d.let()
	one.See(`location.pathname === "/runs/1"`)
	two.See(`location.pathname === "/runs/1"`)
	stored(s, 2, 21<<20)
	if created, _ := d.seen(); created != 2 {
		t.Errorf("%d uploads were begun for two files", created)
	}
}

// Symbols go to no run; a tab that waits for another's is told all the same that they have arrived.
func TestTwoTabsSendSymbols(t *testing.T) {
	s, one := pagestest.OpenInBrowser(t)
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop[:1], 1))
	d := openDoor(one, s.Handler)
	pdb, _ := workertest.Till(t)
	path := filepath.Join(t.TempDir(), "till.pdb")
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	held := d.hold(100)
	choose := []cdp.Action[cdp.Void]{cdp.Navigate(d.url + "/projects/shopd/symbols"), pagestest.Press("main h1"),
		pagestest.Chosen("#file", path)}
	one.Do(choose...)
	held.wait(one.Ctx, t)
	two := one.Another()
	two.Do(choose[0], choose[1])
	two.See(`uploadsBegun.all().length === 1 && uploadsBegun.elsewhere(uploadsBegun.keyOf(uploadsBegun.all()[0]))`)
	two.Do(choose[2])
	two.See(aState + ` === "elsewhere"`)
	d.let()
	one.See(aState + ` === "done"`)
	two.See(aState + ` === "done"`)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun for one file", created)
	}
}

// Two tabs both insist on a file: the server lets one of them write, the other one waits, and both end at the run.
func TestTwoTabsInsist(t *testing.T) {
	s, one := pagestest.OpenInBrowser(t)
	d := openDoor(one, s.Handler)
	one.Lossy.Store(true)
	large := sized(t, "large.log", 12)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(2 << 20)
	sending(one, address, large)
	held.wait(one.Ctx, t)
	two := one.Another()
	besides(two, address, large)
	two.See(aState + ` === "elsewhere"`)
	two.Do(pagestest.Press("#files [data-act=now]"))
	two.See(aState + ` === "retrying"`)
	d.let()
	one.See(`location.pathname === "/runs/1"`)
	two.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 12<<20)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}
}

// A tab that becomes active again finds out which other tabs are still open. A file that another tab sends counts as
// being sent until that tab has had time to answer.
func TestTabAsksWhoIsThere(t *testing.T) {
	s, one := pagestest.OpenInBrowser(t)
	d := openDoor(one, s.Handler)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(5 << 20)
	sending(one, address, sized(t, "large.log", 12))
	held.wait(one.Ctx, t)
	two := one.Another()
	two.Do(cdp.Navigate(address))
	sent := `uploadsBegun.elsewhere(uploadsBegun.keyOf(uploadsBegun.all()[0]))`
	two.See(`uploadsBegun.all().length === 1 && ` + sent)
	two.See(`(window.crashed = new BroadcastChannel("heapdrift-upload")).postMessage({ from: "crashed", keys: ["lost"] }), true`)
	two.See(`uploadsBegun.elsewhere("lost")`)
	two.Evaluates(map[string]string{`(document.dispatchEvent(new Event("visibilitychange")), document.visibilityState + " " + ` + sent + `)`: "visible true"})
	two.See(`!uploadsBegun.elsewhere("lost")`)
	two.See(sent)
	d.let()
	one.See(`location.pathname === "/runs/1"`)
}

// When the other tab is closed, the tab that waits for its file goes on with the upload, and a new tab lists the files
// of the closed one.
func TestTabTakesOver(t *testing.T) {
	s, first := pagestest.OpenInBrowser(t)
	d := openDoor(first, s.Handler)
	large := sized(t, "large.log", 20)
	address := d.url + "/upload?project=shop&build=1"
	one := first.Another()
	held := d.hold(5 << 20)
	sending(one, address, large)
	held.wait(one.Ctx, t)
	besides(first, address, large)
	first.See(aState + ` === "elsewhere"`)
	first.See(`document.title.startsWith("0 %")`)
	closeTab(one)
	d.cut()
	first.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 20<<20)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}

	// A file that no tab is sending is pending, in whichever tab the user looks.
	two := first.Another()
	held = d.hold(5 << 20)
	sending(two, d.url+"/upload?project=shop&build=2", large)
	held.wait(two.Ctx, t)
	closeTab(two)
	d.cut()
	first.Lossy.Store(true) // the tab may ask for the upload's offset just when the upload is deleted
	first.Do(cdp.Navigate(d.url + "/upload"))
	first.See(pending + ` === 1 && !document.querySelector("#before [data-act=forget]").hidden`)
	first.Do(pagestest.Press("#before [data-act=forget]"))
	first.See(`document.querySelector("#before-said").textContent === "large.log is forgotten, here and on the server." && ` + pending + ` === 0 && document.activeElement.id === "file"`)
	first.Do(cdp.Reload())
	first.See(`document.querySelector("#before").hidden`)
}

// Removing a file that has not begun in this tab does not touch another tab's upload of it.
func TestRemoveLeavesOtherTabAlone(t *testing.T) {
	s, one := pagestest.OpenInBrowser(t)
	d := openDoor(one, s.Handler)
	one.Lossy.Store(true)
	large := sized(t, "large.log", 20)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(5 << 20)
	sending(one, address, large)
	held.wait(one.Ctx, t)
	one.Do(pagestest.Press("#files [data-act=pause]"))
	one.See(aState + ` === "paused"`)
	d.cut()
	upload := pagestest.Must[string](t)(cdp.Run(one.Ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	arrived(s, upload, 5<<20)
	held = d.hold(1 << 10)
	two := one.Another()
	besides(two, address, sized(t, "a.log", 1), sized(t, "b.log", 1), sized(t, "c.log", 1), large)
	held.wait(two.Ctx, t)
	two.See(`[...document.querySelectorAll("#files .file")].map(r => r.dataset.state).join() === "sending,sending,sending,waiting"`)
	two.Do(pagestest.Press("#files .file:nth-child(4) [data-act=remove]"))
	two.See(`document.querySelectorAll("#files .file").length === 3`)
	two.Evaluates(map[string]string{`uploadsBegun.all().some(e => e.url === "` + upload + `")`: "true"})
	d.let()
	two.See(`location.pathname === "/runs/1"`)
	one.Do(pagestest.Press("#files [data-act=pause]"))
	one.See(`location.pathname === "/runs/1"`)
	stored(s, 4, 23<<20)
	if created, _ := d.seen(); created != 4 {
		t.Errorf("%d uploads were begun for four files", created)
	}
}

// An upload that the server no longer knows leaves the list, and the page says so; a new upload sends the file from its
// beginning.
func TestPendingThatTheServerForgot(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	leaving(b)
	b.Lossy.Store(true)
	large := sized(t, "large.log", 12)
	held := d.hold(5 << 20)
	address := d.url + "/upload?project=shop&build=1"
	sending(b, address, large)
	held.wait(b.Ctx, t)
	b.Do(cdp.Navigate(address))
	d.cut()
	b.See(pending + ` === 1 && document.querySelector("#before .says").textContent.includes(" are on the server")`) // no request is under way
	upload := pagestest.Must[string](t)(cdp.Run(b.Ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	terminate(s, upload)
	b.Do(cdp.Reload())
	b.See(pending + ` === 0 && document.querySelector("#before-said").textContent.startsWith("The server no longer has large.log")`)
	b.CheckAccessibility("gone from the server")
	if kept := pagestest.Must[int](t)(cdp.Run(b.Ctx, cdp.Evaluate[int](`uploadsBegun.all().length`))); kept != 0 {
		t.Errorf("the browser keeps %d uploads", kept)
	}

	// The same happens while the file is sent: the lost part is sent again.
	held = d.hold(5 << 20)
	b.Do(pagestest.Chosen("#file", large))
	b.See(`document.querySelectorAll("#files .file").length === 1`)
	b.Do(pagestest.Press("#start"))
	held.wait(b.Ctx, t)
	upload = pagestest.Must[string](t)(cdp.Run(b.Ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	b.Do(pagestest.Press("#files [data-act=pause]"))
	d.cut()
	terminate(s, upload)
	held = d.hold(5 << 20)
	b.Do(pagestest.Press("#files [data-act=pause]"))
	held.wait(b.Ctx, t)
	b.See(aSays + `.includes("The server no longer has the part sent before. The upload starts again.")`)
	d.let()
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 12<<20)
}

// The page does not say that the server has forgotten an upload which the server was never told of.
func TestForgetWithoutServer(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	leaving(b)
	b.Lossy.Store(true)
	held := d.hold(5 << 20)
	address := d.url + "/upload?project=shop&build=1"
	sending(b, address, sized(t, "large.log", 12))
	held.wait(b.Ctx, t)
	b.Do(cdp.Navigate(address))
	d.cut()
	d.answer(http.StatusServiceUnavailable)
	b.See(pending + ` === 1`)
	b.Do(pagestest.Press("#before [data-act=forget]"))
	b.See(`document.querySelector("#before-said").textContent === "large.log is forgotten here. The server could not be told: it deletes what nobody continues for a day." && ` + pending + ` === 0`)
	b.See(`!document.querySelector("#before").hidden && document.activeElement.id === "file"`)
}

// terminate deletes an upload without the browser's knowledge. It waits for the piece that the server is still storing.
func terminate(s *pagestest.Server, path string) {
	s.T.Helper()
	for {
		req := pagestest.Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodDelete, s.URL+path,
			nil))
		req.Header.Set("Tus-Resumable", "1.0.0")
		switch status, body := s.Send(req); status {
		case http.StatusNoContent:
			return
		case http.StatusLocked:
		default:
			s.T.Fatal(fmt.Sprint(status, body))
		}
	}
}
