package pages_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/worker/workertest"
)

// close closes the tab, as a reader does at the end.
func (b *tab) close() {
	b.t.Helper()
	if err := cdp.Cancel(b.ctx); err != nil {
		b.t.Fatal(err)
	}
}

// Two tabs send at once: each has a file of its own, and both have a third one. The third file is sent once, and both
// tabs end at the run.
func TestTwoTabsSendAtOnce(t *testing.T) {
	s, one := openInBrowser(t)
	d := openDoor(t, s)
	both, own := sized(t, "both.log", 12), sized(t, "own.log", 9)
	held := d.hold(2 << 20)
	address := d.url + "/upload?project=shop&build=1"
	one.sending(address, both)
	held.wait(one.ctx, t)
	two := one.another()
	two.do(cdp.Navigate(address))
	two.see(pending + ` === 1 && document.querySelector("#before .st").textContent === "another tab sends it" && [...document.querySelectorAll("#before button")].every(b => b.hidden)`)
	two.accessible("another tab sends")
	two.keep("upload-two-tabs")
	two.besides(address, both, own)
	two.see(`[...document.querySelectorAll("#files .file")].map(r => r.dataset.state).join() === "elsewhere,sending"`)
	two.accessible("waits for another tab")
	two.keep("upload-elsewhere")
	d.let()
	one.see(`location.pathname === "/runs/1"`)
	two.see(`location.pathname === "/runs/1"`)
	s.stored(2, 21<<20)
	if created, _ := d.seen(); created != 2 {
		t.Errorf("%d uploads were begun for two files", created)
	}
}

// Symbols go to no run; a tab that waits for another's is told all the same that they have arrived.
func TestTwoTabsSendSymbols(t *testing.T) {
	s, one := openInBrowser(t)
	addRun(t, s.store, target, capturesOf(shop[:1], 1))
	d := openDoor(t, s)
	pdb, _ := workertest.Till(t)
	path := filepath.Join(t.TempDir(), "till.pdb")
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	held := d.hold(100)
	choose := []cdp.Action[cdp.Void]{cdp.Navigate(d.url + "/projects/shopd/symbols"), press("main h1"),
		chosen("#file", path)}
	one.do(choose...)
	held.wait(one.ctx, t)
	two := one.another()
	two.do(choose[0], choose[1])
	two.see(`uploadsBegun.all().length === 1 && uploadsBegun.elsewhere(uploadsBegun.keyOf(uploadsBegun.all()[0]))`)
	two.do(choose[2])
	two.see(aState + ` === "elsewhere"`)
	d.let()
	one.see(aState + ` === "done"`)
	two.see(aState + ` === "done"`)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun for one file", created)
	}
}

// Two tabs both insist on a file: the server lets one of them write, the other one waits, and both end at the run.
func TestTwoTabsInsist(t *testing.T) {
	s, one := openInBrowser(t)
	d := openDoor(t, s)
	one.lossy.Store(true)
	large := sized(t, "large.log", 12)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(2 << 20)
	one.sending(address, large)
	held.wait(one.ctx, t)
	two := one.another()
	two.besides(address, large)
	two.see(aState + ` === "elsewhere"`)
	two.do(press("#files [data-act=now]"))
	two.see(aState + ` === "retrying"`)
	d.let()
	one.see(`location.pathname === "/runs/1"`)
	two.see(`location.pathname === "/runs/1"`)
	s.stored(1, 12<<20)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}
}

// A tab that becomes active again finds out which other tabs are still open. A file that another tab sends counts as
// being sent until that tab has had time to answer.
func TestTabAsksWhoIsThere(t *testing.T) {
	s, one := openInBrowser(t)
	d := openDoor(t, s)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(5 << 20)
	one.sending(address, sized(t, "large.log", 12))
	held.wait(one.ctx, t)
	two := one.another()
	two.do(cdp.Navigate(address))
	sent := `uploadsBegun.elsewhere(uploadsBegun.keyOf(uploadsBegun.all()[0]))`
	two.see(`uploadsBegun.all().length === 1 && ` + sent)
	two.see(`(window.crashed = new BroadcastChannel("heapdrift-upload")).postMessage({ from: "crashed", keys: ["lost"] }), true`)
	two.see(`uploadsBegun.elsewhere("lost")`)
	two.each(map[string]string{`(document.dispatchEvent(new Event("visibilitychange")), document.visibilityState + " " + ` + sent + `)`: "visible true"})
	two.see(`!uploadsBegun.elsewhere("lost")`)
	two.see(sent)
	d.let()
	one.see(`location.pathname === "/runs/1"`)
}

// When the other tab is closed, the tab that waits for its file goes on with the upload, and a new tab lists the files
// of the closed one.
func TestTabTakesOver(t *testing.T) {
	s, first := openInBrowser(t)
	d := openDoor(t, s)
	large := sized(t, "large.log", 20)
	address := d.url + "/upload?project=shop&build=1"
	one := first.another()
	held := d.hold(5 << 20)
	one.sending(address, large)
	held.wait(one.ctx, t)
	first.besides(address, large)
	first.see(aState + ` === "elsewhere"`)
	first.see(`document.title.startsWith("0 %")`)
	one.close()
	d.cut()
	first.see(`location.pathname === "/runs/1"`)
	s.stored(1, 20<<20)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}

	// A file that no tab is sending is pending, in whichever tab the user looks.
	two := first.another()
	held = d.hold(5 << 20)
	two.sending(d.url+"/upload?project=shop&build=2", large)
	held.wait(two.ctx, t)
	two.close()
	d.cut()
	first.lossy.Store(true) // the tab may ask for the upload's offset just when the upload is deleted
	first.do(cdp.Navigate(d.url + "/upload"))
	first.see(pending + ` === 1 && !document.querySelector("#before [data-act=forget]").hidden`)
	first.do(press("#before [data-act=forget]"))
	first.see(`document.querySelector("#before-said").textContent === "large.log is forgotten, here and on the server." && ` + pending + ` === 0 && document.activeElement.id === "file"`)
	first.do(cdp.Reload())
	first.see(`document.querySelector("#before").hidden`)
}

// Removing a file that has not begun in this tab does not touch another tab's upload of it.
func TestRemoveLeavesOtherTabAlone(t *testing.T) {
	s, one := openInBrowser(t)
	d := openDoor(t, s)
	one.lossy.Store(true)
	large := sized(t, "large.log", 20)
	address := d.url + "/upload?project=shop&build=1"
	held := d.hold(5 << 20)
	one.sending(address, large)
	held.wait(one.ctx, t)
	one.do(press("#files [data-act=pause]"))
	one.see(aState + ` === "paused"`)
	d.cut()
	upload := must[string](t)(cdp.Run(one.ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	s.arrived(upload, 5<<20)
	held = d.hold(1 << 10)
	two := one.another()
	two.besides(address, sized(t, "a.log", 1), sized(t, "b.log", 1), sized(t, "c.log", 1), large)
	held.wait(two.ctx, t)
	two.see(`[...document.querySelectorAll("#files .file")].map(r => r.dataset.state).join() === "sending,sending,sending,waiting"`)
	two.do(press("#files .file:nth-child(4) [data-act=remove]"))
	two.see(`document.querySelectorAll("#files .file").length === 3`)
	two.each(map[string]string{`uploadsBegun.all().some(e => e.url === "` + upload + `")`: "true"})
	d.let()
	two.see(`location.pathname === "/runs/1"`)
	one.do(press("#files [data-act=pause]"))
	one.see(`location.pathname === "/runs/1"`)
	s.stored(4, 23<<20)
	if created, _ := d.seen(); created != 4 {
		t.Errorf("%d uploads were begun for four files", created)
	}
}

// An upload that the server no longer knows leaves the list, and the page says so; a new upload sends the file from its
// beginning.
func TestPendingThatTheServerForgot(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.leaving()
	b.lossy.Store(true)
	large := sized(t, "large.log", 12)
	held := d.hold(5 << 20)
	address := d.url + "/upload?project=shop&build=1"
	b.sending(address, large)
	held.wait(b.ctx, t)
	b.do(cdp.Navigate(address))
	d.cut()
	b.see(pending + ` === 1 && document.querySelector("#before .says").textContent.includes(" are on the server")`) // no request is under way
	upload := must[string](t)(cdp.Run(b.ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	s.terminate(upload)
	b.do(cdp.Reload())
	b.see(pending + ` === 0 && document.querySelector("#before-said").textContent.startsWith("The server no longer has large.log")`)
	b.accessible("gone from the server")
	if kept := must[int](t)(cdp.Run(b.ctx, cdp.Evaluate[int](`uploadsBegun.all().length`))); kept != 0 {
		t.Errorf("the browser keeps %d uploads", kept)
	}

	// The same happens while the file is sent: the lost part is sent again.
	held = d.hold(5 << 20)
	b.do(chosen("#file", large))
	b.see(`document.querySelectorAll("#files .file").length === 1`)
	b.do(press("#start"))
	held.wait(b.ctx, t)
	upload = must[string](t)(cdp.Run(b.ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`)))
	b.do(press("#files [data-act=pause]"))
	d.cut()
	s.terminate(upload)
	held = d.hold(5 << 20)
	b.do(press("#files [data-act=pause]"))
	held.wait(b.ctx, t)
	b.see(aSays + `.includes("The server no longer has the part sent before. The upload starts again.")`)
	d.let()
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 12<<20)
}

// The page does not say that the server has forgotten an upload which the server was never told of.
func TestForgetWithoutServer(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.leaving()
	b.lossy.Store(true)
	held := d.hold(5 << 20)
	address := d.url + "/upload?project=shop&build=1"
	b.sending(address, sized(t, "large.log", 12))
	held.wait(b.ctx, t)
	b.do(cdp.Navigate(address))
	d.cut()
	d.answer(http.StatusServiceUnavailable)
	b.see(pending + ` === 1`)
	b.do(press("#before [data-act=forget]"))
	b.see(`document.querySelector("#before-said").textContent === "large.log is forgotten here. The server could not be told: it deletes what nobody continues for a day." && ` + pending + ` === 0`)
	b.see(`!document.querySelector("#before").hidden && document.activeElement.id === "file"`)
}

// terminate deletes an upload without the browser's knowledge. It waits for the piece that the server is still storing.
func (s *site) terminate(path string) {
	s.t.Helper()
	for {
		req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodDelete, s.url+path, nil))
		req.Header.Set("Tus-Resumable", "1.0.0")
		switch status, body := s.send(req); status {
		case http.StatusNoContent:
			return
		case http.StatusLocked:
		default:
			s.t.Fatal(fmt.Sprint(status, body))
		}
	}
}
