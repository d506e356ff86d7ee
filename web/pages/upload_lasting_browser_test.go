package pages_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// sized writes a log of so many MB, of which no two with different names are the same.
func sized(t testing.TB, name string, mb int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	text := log + "// " + name + "\r\n"
	text += strings.Repeat("// and so on\r\n", (mb<<20-len(text))/14)
	if err := os.WriteFile(path, []byte(text+strings.Repeat(" ", mb<<20-len(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// offline cuts the browser off from the network, or connects it again.
func (b *tab) offline(is bool) {
	b.t.Helper()
	must[network.EmulateNetworkConditionsByRuleResult](b.t)(cdp.Call(b.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}},
		}))
	if _, err := cdp.Call(b.ctx, network.OverrideNetworkState,
		network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		b.t.Fatal(err)
	}
}

// leaving answers the browser's question whether to leave the page while files are sent: yes.
func (b *tab) leaving() {
	b.t.Helper()
	questions := cdp.Events(b.ctx, page.JavascriptDialogOpening)
	go func() {
		for _, err := range questions {
			if err != nil {
				return
			}
			_, _ = cdp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
}

// choosing opens the page for a target and chooses files; sending sends them too.
func (b *tab) choosing(url string, files ...string) {
	b.t.Helper()
	b.do(cdp.Navigate(url), chosen("#file", files...))
	b.see(fmt.Sprintf(`document.querySelectorAll("#files .file").length === %d`, len(files)))
}

func (b *tab) sending(url string, files ...string) {
	b.t.Helper()
	b.choosing(url, files...)
	b.do(press("#start"))
}

// besides chooses and sends files in a tab that already knows what another tab sends.
func (b *tab) besides(url string, files ...string) {
	b.t.Helper()
	b.choosing(url, files...)
	b.see(`document.querySelector("#before .st")?.textContent === "another tab sends it"`)
	b.do(press("#start"))
}

const (
	aState  = `document.querySelector("#files .file")?.dataset.state`
	aSays   = `document.querySelector("#files .says")?.textContent`
	pending = `document.querySelectorAll("#before-list .file").length`
)

// stored checks what the first run has.
func (s *site) stored(files int, bytes int64) {
	s.t.Helper()
	var sum int64
	list := must[[]store.Evidence](s.t)(storetest.Now(s.t, s.store).ListEvidence(s.t.Context(), 1))
	for _, e := range list {
		sum += e.Bytes
	}
	if len(list) != files || sum != bytes {
		s.t.Errorf("the run has %d files of %d bytes, want %d of %d", len(list), sum, files, bytes)
	}
}

// arrived waits until the server has so many bytes of an upload.
func (s *site) arrived(path string, bytes int64) {
	s.t.Helper()
	for offset := ""; offset != strconv.FormatInt(bytes, 10); {
		req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodHead, s.url+path, nil))
		req.Header.Set("Tus-Resumable", "1.0.0")
		res := must[*http.Response](s.t)(http.DefaultClient.Do(req))
		_ = res.Body.Close()
		offset = res.Header.Get("Upload-Offset")
	}
}

// The connection breaks in the middle: the page says so, waits, and goes on at the server's offset.
func TestUploadSurvivesOffline(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.lossy.Store(true)
	held := d.hold(5 << 20)
	b.sending(d.url+"/upload?project=shop&build=1", sized(t, "large.log", 20))
	held.wait(b.ctx, t)
	b.see(`/^\d+ % · Upload/.test(document.title)`)
	b.offline(true)
	d.cut()
	b.see(aState + ` === "offline" && document.title.startsWith("Offline, ") && document.querySelector("#queue-sum").textContent === "1 file, 1 waiting for the line"`)
	b.see(aSays + `.includes("It goes on by itself when the browser is online again.")`)
	b.uploadOnScreens("upload-offline")
	b.offline(false)
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 20<<20)
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
}

// A server on this machine answers although the browser calls itself offline, so files are sent.
func TestUploadToReachableServerWhileOffline(t *testing.T) {
	s, b := openInBrowser(t)
	b.do(cdp.Navigate(s.url+"/upload?project=shop&build=1"), chosen("#file", sized(t, "a.log", 1)))
	if _, err := cdp.Call(b.ctx, network.OverrideNetworkState,
		network.OverrideNetworkStateParams{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		t.Fatal(err)
	}
	b.see(`navigator.onLine === false`)
	b.do(press("#start"))
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 1<<20)
}

// The page waits for a server that fails or restarts: nothing that has arrived is sent again.
func TestUploadSurvivesServer(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.lossy.Store(true)
	held := d.hold(5 << 20)
	b.sending(d.url+"/upload?project=shop&build=1", sized(t, "large.log", 40))
	held.wait(b.ctx, t)
	d.answer(http.StatusServiceUnavailable)
	d.cut()
	b.see(aState + ` === "retrying" && ` + aSays + `.includes("The server answered 503. The next try is in ")`)
	b.uploadOnScreens("upload-retrying")
	held = d.hold(5 << 20)
	d.answer(0)
	b.do(press("#files [data-act=now]"))
	held.wait(b.ctx, t)
	d.close()
	d.cut()
	b.see(aState + ` === "retrying" && ` + aSays + `.includes("The server does not answer. The next try is in ")`)
	d.reopen()
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 40<<20)
	if created, offsets := d.seen(); created != 1 || !strings.Contains(offsets, " 5242880 ") ||
		!strings.Contains(offsets, " 10485760") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
}

// After a reload the page lists unfinished uploads with their progress, and each goes on only with the same file.
func TestUploadSurvivesReload(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.leaving()
	b.lossy.Store(true)
	large := sized(t, "large.log", 20)
	held := d.hold(5 << 20)
	b.sending(d.url+"/upload?project=shop&build=1&scenario=soak", large)
	held.wait(b.ctx, t)
	b.do(cdp.Navigate(d.url + "/upload?project=other&build=2"))
	d.cut()
	b.see(pending + ` === 1`)
	s.arrived(must[string](t)(cdp.Run(b.ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`))), 5<<20)
	b.do(cdp.Reload()) // the first answer may be older
	b.see(`document.querySelector("#before .says").textContent === "5.00 MB of 20.0 MB are on the server, for shop, build 1, soak." && document.querySelector("#before .st").textContent === "25 %"`)
	b.see(`document.querySelector("#before progress").value === 25 && document.querySelector("#queue").hidden`)
	b.uploadOnScreens("upload-before")
	b.do(chosen("#before input[type=file]", sized(t, "other.log", 1)))
	b.see(`document.querySelector("#before .err").textContent.startsWith("This is other.log of 1.00 MB (1048576 bytes). Choose large.log of 20.0 MB")`)
	b.do(chosen("#before input[type=file]", large))
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 20<<20)
	if run := must[store.Run](t)(storetest.Now(t, s.store).FindRun(t.Context(), 1)); run.Project != "shop" ||
		run.Scenario != "soak" {
		t.Errorf("it went to %+v", run)
	}
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
	b.do(cdp.Navigate(d.url + "/upload"))
	b.see(`document.querySelector("#before").hidden`)
}

// The page reports a failure that another attempt cannot change, and makes none. After a new login the user finds what
// has arrived.
func TestUploadThatCannotGoOn(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.lossy.Store(true)
	large := sized(t, "large.log", 40)
	held := d.hold(5 << 20)
	b.sending(d.url+"/upload?project=shop&build=1", large)
	held.wait(b.ctx, t)
	d.answer(http.StatusUnauthorized)
	b.offline(true)
	d.cut()
	b.see(aState + ` === "offline"`)
	b.offline(false)
	b.see(aState + ` === "failed" && document.querySelector("#files .err").textContent === "The server answered 401. Sign in in another tab, then send the file again: it goes on where it was."`)
	b.see(`document.title === "Upload · heapdrift" && !document.querySelector("#start").disabled`)
	b.accessible("not taken")
	held = d.hold(5 << 20)
	d.answer(0)
	b.do(press("#start"))
	held.wait(b.ctx, t)
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}

	if err := os.WriteFile(large, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cut()
	b.see(aState + ` === "failed" && document.querySelector("#files .err").textContent === "Choose the file again: it has changed since, or is gone."`)
	b.see(`document.querySelector("#queue-sum").textContent === "1 file, 1 not taken" && location.pathname === "/upload"`)

	// A file that is chosen again replaces its former line, of which nothing is left to fail.
	b.do(chosen("#file", large))
	b.see(`document.querySelector("#queue-sum").textContent === "1 file" && ` + aState +
		` === "ready" && document.querySelector("#files .err").hidden`)
	b.do(press("#start"))
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, int64(len(log)))
}

// A file that was refused and is chosen again is ready to be sent, and its line says so.
func TestUploadChosenAgain(t *testing.T) {
	s, b := openInBrowser(t)
	d := openDoor(t, s)
	b.lossy.Store(true)
	small := sized(t, "small.log", 1)
	b.choosing(d.url+"/upload?project=shop&build=1", small)
	d.answer(http.StatusForbidden)
	b.do(press("#start"))
	b.see(aState + ` === "failed" && document.querySelector("#files .err").textContent === "The server answered 403. Your account may not upload there: sign in with one that may, then send the file again."`)
	d.answer(0)
	b.do(chosen("#file", small))
	b.see(`document.querySelector("#queue-sum").textContent === "1 file" && ` + aState +
		` === "ready" && document.querySelector("#files .err").hidden`)
	b.do(press("#start"))
	b.see(`location.pathname === "/runs/1"`)
	s.stored(1, 1<<20)
}

// Unfinished uploads of symbols are pending too, and go on as symbols whatever the form says.
func TestPendingSymbols(t *testing.T) {
	s, b := openInBrowser(t)
	addRun(t, s.store, target, capturesOf(shop[:1], 1))
	d := openDoor(t, s)
	b.leaving()
	b.lossy.Store(true)
	pdb, _ := workertest.Till(t)
	path := filepath.Join(t.TempDir(), "till.pdb")
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	held := d.hold(100)
	b.do(cdp.Navigate(d.url+"/projects/shopd/symbols"), press("main h1"), chosen("#file", path))
	held.wait(b.ctx, t)
	b.do(cdp.Navigate(d.url + "/upload"))
	d.cut()
	b.see(pending + ` === 1 && document.querySelector("#before .says").textContent.includes(", as symbols.")`)
	// When it fails it is tried again from its line: the form belongs to other files, and is empty.
	d.answer(http.StatusUnauthorized)
	b.do(chosen("#before input[type=file]", path))
	b.see(aState + ` === "failed" && document.querySelector("#files [data-act=now]").textContent === "Try again"`)
	b.accessible("symbols that were not taken")
	d.answer(0)
	b.do(press("#files [data-act=now]"))
	b.see(aState + ` === "done" && ` + pending + ` === 0 && document.querySelector("#to-run").hidden`)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}
}
