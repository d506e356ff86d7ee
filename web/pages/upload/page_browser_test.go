package upload_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/ingest/quantity"
	"heapdrift/web/pages/pagestest"
)

// Scripts print sizes as quantity.Bytes does, around each change of digits or unit.
func TestSizesInScripts(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	b.Do(cdp.Navigate(s.URL + "/"))
	b.See(`"heapdriftSize" in window`)
	for _, n := range []int64{0, 1, 999, 1000, 1023, 1024, -1024, 10229, 10235, 102348, 102349, 1023487, 1023488, 1 << 20,
		5e9, 3e15} {
		b.Evaluates(map[string]string{fmt.Sprintf("heapdriftSize(%d)", n): quantity.Bytes(n)})
	}
}

// uploadOnScreens checks the upload page on every screen, also that nothing is too small to hit and that names are not
// squeezed.
func uploadOnScreens(b *pagestest.Tab, what string) {
	b.T.Helper()
	b.OnScreens(what, func() {
		b.Evaluates(map[string]string{
			`[...document.querySelectorAll("#upload :is(button, .btn)")].filter(e => e.checkVisibility() && (e.offsetHeight < 24 || e.offsetWidth < 24)).map(e => e.textContent)`: "",
			`[...document.querySelectorAll(".file .name")].filter(e => e.offsetWidth < 200).map(e => e.textContent)`:                                                              "",
		})
	})
}

// Figures are averages over 15 s of a clock that the test sets. Unknown figures are not shown.
func TestPaceOfUploads(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	b.Do(cdp.Navigate(s.URL + "/upload"))
	after := func(steps string) string { return `(() => { const m = uploadPace.meter(); ` + steps + ` })()` }
	b.Evaluates(map[string]string{
		// Nothing is known before 3 s, however much was sent.
		after(`return m.speed(0)`): "null",
		after(`m.sent(0, 0); m.sent(9000, 2999); return [m.speed(2999), m.left(100, 2999)]`):  ",",
		after(`m.sent(0, 0); m.sent(9000, 3000); return [m.speed(3000), m.left(6000, 3000)]`): "3000,2",
		// Bytes that the server had at the beginning do not count as sent now.
		after(`m.sent(5000, 0); m.sent(9000, 4000); return m.speed(4000)`): "1000",
		// A burst does not count for more than its share, and is forgotten after 15 s.
		after(`m.sent(0, 0); for (let s = 1; s <= 10; s++) m.sent(1000 * s, 1000 * s); m.sent(20000, 10000); return m.speed(10000)`):               "2000",
		after(`m.sent(0, 0); m.sent(90000, 1000); for (let s = 2; s <= 17; s++) m.sent(90000 + 1000 * s, 1000 * s); return m.speed(17000) < 1200`): "true",
		// After a gap the average is over that gap.
		after(`m.sent(0, 0); m.sent(20000, 20000); return m.speed(20000)`): "1000",
		// While nothing is sent the speed falls, and in the end the time left is unknown.
		after(`m.sent(0, 0); m.sent(8000, 4000); return [m.speed(8000), m.speed(30000), m.left(100, 30000)]`): "1000,0,",
		after(`m.sent(0, 0); m.sent(8000, 4000); m.reset(); return m.speed(4000)`):                            "null",

		after(`m.sent(0, 0); return uploadPace.words(m, 0, 1000, 1000, 0)`):                                                  "0 %",
		after(`m.sent(0, 0); m.sent(4 << 20, 4000); return uploadPace.words(m, 4 << 20, 10 << 20, 6 << 20, 4000)`):           "40 % · 1.00 MB/s · about 6 s left",
		after(`m.sent(0, 0); m.sent(4 << 20, 4000); return uploadPace.words(m, 4 << 20, 4 << 20, 0, 4000)`):                  "100 % · 1.00 MB/s",
		after(`m.sent(0, 0); m.sent(4 << 20, 4000); return uploadPace.words(m, 4 << 20, 10 << 20, 6 << 20, 40000)`):          "40 % · stands still",
		after(`m.sent(0, 0); m.sent(4 << 20, 4000); return uploadPace.words(m, 4 << 20, 4 << 20, 0, 40000)`):                 "100 %",
		`uploadPace.percent(999, 1000) + " " + uploadPace.percent(1000, 1000) + " " + uploadPace.percent(0, 0)`:              "99 100 0",
		`[0.4, 9.4, 34, 57.4, 57.5, 89, 90, 3569, 3570, 3600, 7800, 86369, 86370].map(uploadPace.time).join(", ")`:           "less than 1 s, about 9 s, about 35 s, about 55 s, about 1 min, about 1 min, about 2 min, about 59 min, about 1 h, about 1 h, about 2 h 10 min, about 23 h 59 min, more than a day",
		`[uploadsBegun.isGone(404), uploadsBegun.isGone(410), uploadsBegun.isGone(403), uploadsBegun.isGone(503)].join(",")`: "true,true,false,false",
	})
}

// While files are sent, each file and all together have a speed and a time left, and the title has a percentage.
func TestUploadSaysHowLong(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	slow := func(bytesPerSecond float64) {
		pagestest.Must[network.EmulateNetworkConditionsByRuleResult](t)(cdp.Call(b.Ctx,
			network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{
				MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: bytesPerSecond}},
			}))
	}
	b.Do(cdp.Navigate(s.URL+"/upload?project=shop&build=1"),
		pagestest.Chosen("#file", sized(t, "a.log", 40), sized(t, "b.log", 40)))
	b.See(`document.querySelectorAll("#files .file").length === 2 && document.title === "Upload · heapdrift"`)
	slow(512 << 10)
	b.Do(pagestest.Press("#start"))
	progress := `/^\d+ % · [\d.]+ [KM]?B\/s · (about \d+ (s|min|h)( \d+ min)?|more than a day) left$/`
	b.See(progress + `.test(document.querySelector("#queue-pace").textContent) && [...document.querySelectorAll("#files .st")].every(e => ` + progress + `.test(e.textContent))`)
	b.See(`/^\d+ % · Upload · heapdrift$/.test(document.title)`)
	uploadOnScreens(b, "upload-sending")
	slow(-1)
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 2, 80<<20)
}

// A pause counts neither for a file nor for all together: with one file both have the same figures, and while a speed
// is unknown again it is not shown.
func TestUploadAfterPause(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, s.Handler)
	held := d.hold(5 << 20)
	sending(b, d.url+"/upload?project=shop&build=1", sized(t, "large.log", 20))
	held.wait(b.Ctx, t)
	b.See(`/^\d+ %/.test(document.querySelector("#queue-pace").textContent)`)
	b.Do(pagestest.Press("#files [data-act=pause]"))
	b.See(aState + ` === "paused"`)
	d.cut()
	held = d.hold(5 << 20)
	b.See(`(later => { performance.now = () => later; return true; })(performance.now() + 600000)`)
	b.Do(pagestest.Press("#files [data-act=pause]"))
	held.wait(b.Ctx, t)
	b.See(`/^\d+ %$/.test(document.querySelector("#files .st").textContent)`)
	b.Evaluates(map[string]string{`document.querySelector("#queue-pace").textContent === document.querySelector("#files .st").textContent || document.querySelector("#queue-pace").textContent`: "true"})
	d.let()
	b.See(`location.pathname === "/runs/1"`)
}

// The form offers the targets of the last uploads. The address takes precedence, and a field that was cleared stays
// empty.
func TestUploadRemembersTarget(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	fields := `["project", "build", "scenario", "run"].map(n => document.getElementById("f-" + n).value).join("/")`
	shows := func(path, want string, remembered bool) {
		t.Helper()
		b.Do(cdp.Navigate(s.URL + path))
		b.Evaluates(map[string]string{fields: want, `document.getElementById("remembered").hidden`: fmt.Sprint(!remembered)})
	}
	send := func(path, run string) {
		t.Helper()
		sending(b, s.URL+path, sized(t, filepath.Base(run)+".log", 1))
		b.See(`location.pathname === "` + run + `"`)
	}
	shows("/upload", "///", false)
	send("/upload?project=till&build=7&scenario=night", "/runs/1")
	send("/upload?project=shop&build=4812&scenario=soak&run=2&branch=main", "/runs/2")
	shows("/upload", "shop/4812/soak/", true)
	b.See(`document.querySelector("#curl").textContent.includes("project=shop&build=4812&scenario=soak&name=")`)
	b.See(`[...document.querySelector("#l-project").options].map(o => o.value).join() === "shop,till"`)
	uploadOnScreens(b, "upload-remembered")
	shows("/upload?project=shop", "shop/4812/soak/", true)
	shows("/upload?project=till", "till/7/night/", true) // the last upload to that project
	shows("/upload?project=new", "new///", false)        // another project's build helps nobody
	shows("/upload?build=", "///", false)
	shows("/upload?project=shop&build=4812&scenario=soak", "shop/4812/soak/", false)

	// A field that is emptied stays empty: without an upload, and with one.
	b.Do(cdp.Navigate(s.URL+"/upload"), pagestest.Typed("#f-scenario", kb.End+strings.Repeat(kb.Backspace, len("soak"))),
		pagestest.Focused("#f-run"))
	shows("/upload", "shop/4812//", true)
	b.Do(pagestest.Chosen("#file", sized(t, "c.log", 1)), pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/3"`)
	shows("/upload", "shop/4812//", true)
	b.Do(pagestest.Press("#forget-target"))
	b.Evaluates(map[string]string{fields: "///", `document.activeElement.id`: "f-project",
		`document.querySelector("#curl").textContent.includes("project=PROJECT")`: "true"})
	shows("/upload", "///", false)
	// A browser that holds something else under that name, or nothing, shows an empty form.
	b.See(`localStorage.setItem("heapdrift-targets", "{]"), true`)
	shows("/upload", "///", false)
}

// The page names a file as the server would, before sending it; a file that the server would refuse is not sent.
func TestUploadSaysWhatFilesAre(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	dir := t.TempDir()
	var files []string
	for _, f := range []struct{ name, text string }{{"snap1.log", log}, {"night.etl.zip", "PK\x03\x04 and more"},
		{"photo.dmp", "\xff\xd8\xff\xe0"}, {"empty.log", ""}} {
		files = append(files, filepath.Join(dir, f.name))
		if err := os.WriteFile(files[len(files)-1], []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := openDoor(b, s.Handler)
	b.Lossy.Store(true)
	b.Do(cdp.Navigate(d.url + "/upload?project=shop&build=1"))
	b.See(`window.uploadQueue`)
	offline(b, true)
	b.Do(pagestest.Chosen("#file", files...))
	rows := func(selector string) string {
		return `[...document.querySelectorAll("#files .file")].map(r => r.querySelector("` + selector +
			`").textContent).join("|")`
	}
	b.See(rows(".says") + ` === "||By its name a dump.|"`)
	offline(b, false) // some requests may have been sent already, and others not yet
	b.See(rows(".says") +
		` === "A UMDH log, by its first bytes.|A zip archive. What is in it shows when it is on the server.|This is not evidence that heapdrift reads: it is not sent.|This is not evidence that heapdrift reads: it is not sent."`)
	b.See(rows(".err") +
		` === "||unknown-format This is a JPEG picture, not evidence; upload the log that umdh -f wrote, the .etl file that xperf or wpr wrote, or a full dump.|empty-file The file is empty; check that the tool that made it ran to its end."`)
	b.See(rows(".st") + `.endsWith("|not evidence|not evidence") && document.querySelector("#queue-sum").textContent === "4 files, 2 not evidence"`)
	uploadOnScreens(b, "upload-kinds")
	b.Do(pagestest.Press("#files .file:nth-child(2) [data-act=remove]"))
	b.See(`document.querySelectorAll("#files .file").length === 3 && document.activeElement.getAttribute("aria-label") === "Remove snap1.log"`)
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, int64(len(log)))
	if created, _ := d.seen(); created != 1 {
		t.Errorf("%d uploads were begun: what is no evidence is not sent", created)
	}
}

// A folder that is dropped is recognised: no browser can read it as a file.
func TestFolderIsDropped(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	b.Lossy.Store(true) // the browser cannot send the first bytes of a folder
	folder, file := filepath.Join(t.TempDir(), "snapshots"), sized(t, "snap1.log", 1)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	b.Do(cdp.Navigate(s.URL + "/upload?project=shop&build=1"))
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter,
		input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		at := pagestest.Must[[]float64](t)(cdp.Run(b.Ctx,
			cdp.Evaluate[[]float64](`(box => [box.x + box.width / 2, box.y + box.height / 2])(document.getElementById("drop").getBoundingClientRect())`)))
		if _, err := cdp.Call(b.Ctx, input.DispatchDragEvent,
			input.DispatchDragEventParams{Type: kind, X: at[0], Y: at[1],
				Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{folder, file},
					DragOperationsMask: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	b.See(`document.querySelector("#queue-sum").textContent === "2 files, 1 not evidence" && document.querySelector("#files .err").textContent === "Drop the files of this folder, or pack it as zip."`)
	b.CheckAccessibility("a folder")
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 1, 1<<20)
}

// Without scripts the page is a form. All scripts come as files, so when the files are empty no script runs; the
// browser's own switch would also keep the test from reading the page.
func TestUploadWithoutScripts(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	d := openDoor(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
			return
		}
		s.Handler.ServeHTTP(w, r)
	}))
	b.Do(cdp.Navigate(d.url+"/upload?project=shop&build=1"),
		pagestest.Chosen("#file", sized(t, "a.log", 1), sized(t, "b.log", 1)))
	b.Evaluates(map[string]string{`document.documentElement.className`: "",
		`["before", "queue", "remembered", "opens", "to-run"].every(id => !document.getElementById(id).checkVisibility())`: "true"})
	b.CheckAccessibility("without scripts")
	b.Do(pagestest.Press("#start"))
	b.See(`location.pathname === "/runs/1"`)
	stored(s, 2, 2<<20)
	if created, _ := d.seen(); created != 0 {
		t.Error("a script ran")
	}
}
