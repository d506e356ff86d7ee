package upload_test

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
	"heapdrift/web/pages/pagestest"
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
func offline(b *pagestest.Tab, is bool) {
	b.T.Helper()
	pagestest.Must[network.EmulateNetworkConditionsByRuleResult](b.T)(cdp.Call(b.Ctx,
		network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}},
		}))
	if _, err := cdp.Call(b.Ctx, network.OverrideNetworkState,
		network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		b.T.Fatal(err)
	}
}

// leaving answers the browser's question whether to leave the page while files are sent: yes.
func leaving(b *pagestest.Tab) {
	b.T.Helper()
	questions := cdp.Events(b.Ctx, page.JavascriptDialogOpening)
	go func() {
		for _, err := range questions {
			if err != nil {
				return
			}
			_, _ = cdp.Call(b.Ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
}

// choosing opens the page for a target and chooses files; sending sends them too.
func choosing(b *pagestest.Tab, url string, files ...string) {
	b.T.Helper()
	b.Do(cdp.Navigate(url), pagestest.Chosen("#file", files...))
	b.See(fmt.Sprintf(`document.querySelectorAll("#files .file").length === %d`, len(files)))
}

func sending(b *pagestest.Tab, url string, files ...string) {
	b.T.Helper()
	choosing(b, url, files...)
	b.Do(pagestest.Press("#start"))
}

// besides chooses and sends files in a tab that already knows what another tab sends.
func besides(b *pagestest.Tab, url string, files ...string) {
	b.T.Helper()
	choosing(b, url, files...)
	b.See(`document.querySelector("#before .st")?.textContent === "another tab sends it"`)
	b.Do(pagestest.Press("#start"))
}

const (
	aState  = `document.querySelector("#files .file")?.dataset.state`
	aSays   = `document.querySelector("#files .says")?.textContent`
	pending = `document.querySelectorAll("#before-list .file").length`
)

// stored checks what the first run has.
func stored(s *pagestest.Server, files int, bytes int64) {
	s.T.Helper()
	var sum int64
	list := pagestest.Must[[]store.Evidence](s.T)(storetest.Now(s.T, s.Store).ListEvidence(s.T.Context(), 1))
	for _, e := range list {
		sum += e.Bytes
	}
	if len(list) != files || sum != bytes {
		s.T.Errorf("the run has %d files of %d bytes, want %d of %d", len(list), sum, files, bytes)
	}
}

// arrived waits until the server has so many bytes of an upload.
func arrived(s *pagestest.Server, path string, bytes int64) {
	s.T.Helper()
	for offset := ""; offset != strconv.FormatInt(bytes, 10); {
		req := pagestest.Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodHead, s.URL+path, nil))
		req.Header.Set("Tus-Resumable", "1.0.0")
		res := pagestest.Must[*http.Response](s.T)(http.DefaultClient.Do(req))
		_ = res.Body.Close()
		offset = res.Header.Get("Upload-Offset")
	}
}

// The connection breaks in the middle: the page says so, waits, and goes on at the server's offset.
func TestUploadSurvivesOffline(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	b.Lossy.Store(true)
	held := d.hold(5 << 20)
	sending(b, d.url+"/upload?project=shop&build=1", sized(t, "large.log", 20))
	held.wait(b.Ctx, t)
	b.See(`/^\d+ % · Upload/.test(document.title)`)
	offline(b, true)
	d.cut()
	b.See(aState + ` === "offline" && document.title.startsWith("Offline, ") && document.querySelector("#queue-sum").textContent === "1 file, 1 waiting for the line"`)
	b.See(aSays + `.includes("It goes on by itself when the browser is online again.")`)
	uploadOnScreens(b, "upload-offline")
	offline(b, false)
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 20<<20)
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
}

// A server on this machine answers although the browser calls itself offline, so files are sent.
func TestUploadToReachableServerWhileOffline(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	b.Do(cdp.Navigate(s.URL+"/upload?project=shop&build=1"), pagestest.Chosen("#file", sized(t, "a.log", 1)))
	if _, err := cdp.Call(b.Ctx, network.OverrideNetworkState,
		network.OverrideNetworkStateParams{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		t.Fatal(err)
	}
	b.See(`navigator.onLine === false`)
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 1<<20)
}

// The page waits for a server that fails or restarts: nothing that has arrived is sent again.
func TestUploadSurvivesServer(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	b.Lossy.Store(true)
	held := d.hold(5 << 20)
	sending(b, d.url+"/upload?project=shop&build=1", sized(t, "large.log", 40))
	held.wait(b.Ctx, t)
	d.answer(http.StatusServiceUnavailable)
	d.cut()
	b.See(aState + ` === "retrying" && ` + aSays + `.includes("The server answered 503. The next try is in ")`)
	uploadOnScreens(b, "upload-retrying")
	held = d.hold(5 << 20)
	d.answer(0)
	b.Do(pagestest.Press("#files [data-act=now]"))
	held.wait(b.Ctx, t)
	d.close()
	d.cut()
	b.See(aState + ` === "retrying" && ` + aSays + `.includes("The server does not answer. The next try is in ")`)
	d.reopen()
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 40<<20)
	if created, offsets := d.seen(); created != 1 || !strings.Contains(offsets, " 5242880 ") ||
		!strings.Contains(offsets, " 10485760") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
}

// After a reload the page lists unfinished uploads with their progress, and each goes on only with the same file.
func TestUploadSurvivesReload(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	leaving(b)
	b.Lossy.Store(true)
	large := sized(t, "large.log", 20)
	held := d.hold(5 << 20)
	sending(b, d.url+"/upload?project=shop&build=1&scenario=soak", large)
	held.wait(b.Ctx, t)
	b.Do(cdp.Navigate(d.url + "/upload?project=other&build=2"))
	d.cut()
	b.See(pending + ` === 1`)
	arrived(s, pagestest.Must[string](t)(cdp.Run(b.Ctx, cdp.Evaluate[string](`uploadsBegun.all()[0].url`))), 5<<20)
	b.Do(cdp.Reload()) // the first answer may be older
	b.See(`document.querySelector("#before .says").textContent === "5.00 MB of 20.0 MB are on the server, for shop, build 1, soak." && document.querySelector("#before .st").textContent === "25 %"`)
	b.See(`document.querySelector("#before progress").value === 25 && document.querySelector("#queue").hidden`)
	uploadOnScreens(b, "upload-before")
	b.Do(pagestest.Chosen("#before input[type=file]", sized(t, "other.log", 1)))
	b.See(`document.querySelector("#before .err").textContent.startsWith("This is other.log of 1.00 MB (1048576 bytes). Choose large.log of 20.0 MB")`)
	b.Do(pagestest.Chosen("#before input[type=file]", large))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 20<<20)
	if run := pagestest.Must[store.Run](t)(storetest.Now(t, s.Store).FindRun(t.Context(), 1)); run.Project != "shop" ||
		run.Scenario != "soak" {
		t.Errorf("it went to %+v", run)
	}
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}
	b.Do(cdp.Navigate(d.url + "/upload"))
	b.See(`document.querySelector("#before").hidden`)
}

// The page reports a failure that another attempt cannot change, and makes none. After a new login the user finds what
// has arrived.
func TestUploadThatCannotGoOn(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	b.Lossy.Store(true)
	large := sized(t, "large.log", 40)
	held := d.hold(5 << 20)
	sending(b, d.url+"/upload?project=shop&build=1", large)
	held.wait(b.Ctx, t)
	d.answer(http.StatusUnauthorized)
	offline(b, true)
	d.cut()
	b.See(aState + ` === "offline"`)
	offline(b, false)
	b.See(aState + ` === "failed" && document.querySelector("#files .err").textContent === "The server answered 401. Sign in in another tab, then send the file again: it goes on where it was."`)
	b.See(`document.title === "Upload · heapdrift" && !document.querySelector("#start").disabled`)
	b.CheckAccessibility("not taken")
	held = d.hold(5 << 20)
	d.answer(0)
	b.Do(pagestest.Press("#start"))
	held.wait(b.Ctx, t)
	if created, offsets := d.seen(); created != 1 || !strings.HasSuffix(offsets, " 5242880") {
		t.Errorf("%d uploads with pieces at %s", created, offsets)
	}

	if err := os.WriteFile(large, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cut()
	b.See(aState + ` === "failed" && document.querySelector("#files .err").textContent === "Choose the file again: it has changed since, or is gone."`)
	b.See(`document.querySelector("#queue-sum").textContent === "1 file, 1 not taken" && location.pathname === "/upload"`)

	// A file that is chosen again replaces its former line, of which nothing is left to fail.
	b.Do(pagestest.Chosen("#file", large))
	b.See(`document.querySelector("#queue-sum").textContent === "1 file" && ` + aState +
		` === "ready" && document.querySelector("#files .err").hidden`)
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, int64(len(log)))
}

// A file that was refused and is chosen again is ready to be sent, and its line says so.
func TestUploadChosenAgain(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	b.Lossy.Store(true)
	small := sized(t, "small.log", 1)
	choosing(b, d.url+"/upload?project=shop&build=1", small)
	d.answer(http.StatusForbidden)
	b.Do(pagestest.Press("#start"))
	b.See(aState + ` === "failed" && document.querySelector("#files .err").textContent === "The server answered 403. Your account may not upload there: sign in with one that may, then send the file again."`)
	d.answer(0)
	b.Do(pagestest.Chosen("#file", small))
	b.See(`document.querySelector("#queue-sum").textContent === "1 file" && ` + aState +
		` === "ready" && document.querySelector("#files .err").hidden`)
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 1<<20)
}

// Unfinished uploads of symbols are pending too, and go on as symbols whatever the form says.
func TestPendingSymbols(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop[:1], 1))
	d := openDoor(b, s.Handler)
	leaving(b)
	b.Lossy.Store(true)
	pdb, _ := workertest.Till(t)
	path := filepath.Join(t.TempDir(), "till.pdb")
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	held := d.hold(100)
	b.Do(cdp.Navigate(d.url+"/projects/shopd/symbols"), pagestest.Press("main h1"), pagestest.Chosen("#file", path))
	held.wait(b.Ctx, t)
	b.Do(cdp.Navigate(d.url + "/upload"))
	d.cut()
	b.See(pending + ` === 1 && document.querySelector("#before .says").textContent.includes(", as symbols.")`)
	// When it fails it is tried again from its line: the form belongs to other files, and is empty.
	d.answer(http.StatusUnauthorized)
	b.Do(pagestest.Chosen("#before input[type=file]", path))
	b.See(aState + ` === "failed" && document.querySelector("#files [data-act=now]").textContent === "Try again"`)
	b.CheckAccessibility("symbols that were not taken")
	d.answer(0)
	b.Do(pagestest.Press("#files [data-act=now]"))
	b.See(aState + ` === "done" && ` + pending + ` === 0 && document.querySelector("#to-run").hidden`)
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun", created)
	}
}
