package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// A tab is a page in headless Chromium. What it logs as an error fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func browse(t *testing.T) *tab {
	t.Helper()
	binary, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(cdp.DefaultExecAllocatorOptions[:], cdp.ExecPath(binary), cdp.UserDataDir(t.TempDir()), cdp.WindowSize(1440, 900))
	for _, off := range []string{"disable-gpu", "disable-quic", "disable-background-networking", "disable-component-update", "disable-sync"} {
		options = append(options, cdp.Flag(off, true))
	}
	if os.Geteuid() == 0 {
		options = append(options, cdp.NoSandbox)
	}
	allocator, stop := cdp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop := cdp.NewContext(allocator)
	t.Cleanup(stop)
	if err := cdp.Do(ctx); err != nil { // starts it; a deadline here would end the browser with it
		t.Fatal(err)
	}
	messages := cdp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == cdp.ConsoleError || m.Type == cdp.ConsoleException {
				t.Errorf("the page logged %s: %s", m.Type, m.Text)
			}
		}
	}()
	ctx, stop = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(stop)
	return &tab{t, ctx}
}

func (b *tab) do(steps ...cdp.Action[cdp.Void]) {
	b.t.Helper()
	if err := cdp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// see waits until an expression in the page is true. The page may load anew meanwhile.
func (b *tab) see(expression string) {
	b.t.Helper()
	var err error
	for range 400 {
		var is bool
		if is, err = cdp.Run(b.ctx, cdp.Evaluate[bool]("!!("+expression+")")); is {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("waited in vain for %s: %v", expression, err)
}

// accessible looks with axe-core for what keeps people from using the page.
func (b *tab) accessible(what string) {
	b.t.Helper()
	script := must[[]byte](b.t)(os.ReadFile(filepath.Join("..", "testdata", "axe.min.js")))
	must[int](b.t)(cdp.Run(b.ctx, cdp.Evaluate[int](string(script)+"\n;0")))
	found := must[string](b.t)(cdp.Run(b.ctx, cdp.Evaluate[string](
		`axe.run().then(r => JSON.stringify(r.violations.flatMap(v => v.nodes.map(n => v.id + " at " + n.target.join(" ") + ": " + n.failureSummary))))`, cdp.EvalAwaitPromise)))
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range violations {
		b.t.Errorf("%s: axe: %s", what, v)
	}
}

// fits checks that nothing makes the page wider than the window.
func (b *tab) fits(what string) {
	b.t.Helper()
	if wide := must[int](b.t)(cdp.Run(b.ctx, cdp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))); wide > 0 {
		b.t.Errorf("%s: the page is %d px wider than the window", what, wide)
	}
}

// keep writes a picture of the page to HEAPDRIFT_ARTIFACTS, where that is set.
func (b *tab) keep(name string) {
	b.t.Helper()
	dir := os.Getenv("HEAPDRIFT_ARTIFACTS")
	if dir == "" {
		return
	}
	picture := must[[]byte](b.t)(cdp.Run(b.ctx, cdp.FullScreenshot(100)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestRunPageInBrowser(t *testing.T) {
	s, b := open(t), browse(t)
	run := addRun(t, s.store, target, capturesOf(many(300), 6))
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url, run)))
	b.accessible("light")
	b.keep("run-light")

	// A row opens in place, stands in the address, and closes again.
	b.do(cdp.Click("#s0 .who"))
	b.see(`document.querySelector("#d0 .blame")?.innerText.includes("AppendLine") && location.search === "?open=0"`)
	b.see(`document.querySelector("#s0 [aria-expanded]").getAttribute("aria-expanded") === "true"`)
	b.accessible("light, a row open")
	b.keep("run-light-open")
	b.do(cdp.Click("#d0 .umdh summary"))
	b.see(`document.querySelector("#umdh-0").innerText.includes("BackTrace2001\tallocations")`)
	b.do(cdp.Click("#s0 .k-bytes"))
	b.see(`document.querySelector("#d0").hidden && location.search === ""`)

	// j and k walk the rows, o opens, / filters as it is typed.
	b.do(cdp.KeyEvent("j"), cdp.KeyEvent("j"), cdp.KeyEvent("k"), cdp.KeyEvent("j"), cdp.KeyEvent("o"))
	b.see(`document.querySelector("#d1 .stack")`)
	// The protocol sends the character although the page has claimed the key; browsers do not.
	must[bool](t)(cdp.Run(b.ctx, cdp.Evaluate[bool](`!document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }))`)))
	b.see(`document.activeElement.id === "q"`)
	b.do(cdp.KeyEvent("Function29"))
	b.see(`document.querySelectorAll("tr[data-row]").length === 11 && location.search === "?q=Function29"`)
	b.see(`document.querySelector("#choices").innerText.includes("11 of 313") && document.activeElement.id === "q"`)
	b.do(cdp.Click(`//nav[@aria-label="Class"]/a[text()="stable"]`))
	b.see(`document.querySelectorAll("tr[data-row]").length === 1 && location.search === "?class=stable&q=Function29"`)
	b.do(cdp.Click("#q"), cdp.KeyEvent("4"))
	b.see(`location.search === "?class=stable&q=Function294"`) // typing keeps what was clicked
	b.do(cdp.NavigateBack())
	b.see(`location.search === "?q=Function29" && document.querySelectorAll("tr[data-row]").length === 11`)
	b.do(cdp.Click(`//a[@aria-label="Remove the filter by text"]`))
	b.see(`document.querySelectorAll("tr[data-row]").length === 50`)
	b.do(cdp.Click(`//th/a[starts-with(text(),"Bytes")]`))
	b.see(`location.search === "?sort=bytes" && document.querySelectorAll("tr[data-row]")[1].innerText.includes("Catalog::Preload")`)
	b.do(cdp.Click(`//nav[@class="pager"]/a[text()="7"]`))
	b.see(`location.search === "?page=7&sort=bytes" && document.querySelectorAll("tr[data-row]").length === 13`)

	b.do(cdp.Navigate(s.url+"/"), cdp.Click(cdp.CSS("header [data-theme-toggle]")), cdp.Navigate(fmt.Sprintf("%s/runs/%d?open=0", s.url, run)))
	b.see(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(15, 20, 25)"`)
	b.accessible("dark")
	b.keep("run-dark")

	b.do(cdp.EmulateViewport(390, 844), cdp.Navigate(fmt.Sprintf("%s/runs/%d?open=0", s.url, run)))
	b.accessible("narrow, dark")
	b.fits("narrow")
	b.keep("run-390")
	b.do(cdp.Click("details.menu.only-narrow summary"), cdp.Click("details.menu.only-narrow [data-theme-toggle]"))
	b.see(`document.documentElement.dataset.theme === "light"`)
	b.accessible("narrow, light, menu open")
}

// All other pages, wide and narrow, light and dark.
func TestOtherPagesInBrowser(t *testing.T) {
	s, b := open(t), browse(t)
	b.do(cdp.Navigate(s.url + "/"))
	b.accessible("no project")
	b.keep("welcome")
	run := addRun(t, s.store, target, capturesOf(shop, 1))
	refused := target
	refused.Build = "4813"
	failed := addEvidence(t, s.store, refused, "photo.jpg").RunID
	fail(t, s.store, failed, store.Failure{Code: "unknown-format", Message: "this is a picture", Final: true})
	busy := target
	busy.Build = "4814"
	working := addEvidence(t, s.store, busy, "a.log").RunID
	for name, path := range map[string]string{
		"projects": "/", "project": "/projects/shopd", "upload": "/upload?project=shopd", "one": fmt.Sprintf("/runs/%d", run),
		"failed": fmt.Sprintf("/runs/%d", failed), "working": fmt.Sprintf("/runs/%d", working),
	} {
		for _, dark := range []bool{false, true} {
			b.do(cdp.EmulateViewport(1440, 900), cdp.Navigate(s.url+path))
			must[bool](t)(cdp.Run(b.ctx, cdp.Evaluate[bool](fmt.Sprintf(`document.documentElement.dataset.theme = %v ? "dark" : "light", true`, dark))))
			b.accessible(fmt.Sprintf("%s, dark %v", name, dark))
		}
		b.keep(name + "-dark")
		b.do(cdp.EmulateViewport(390, 844), cdp.Navigate(s.url+path))
		b.accessible(name + ", narrow")
		b.fits(name)
		b.keep(name + "-390")
	}
}

// The page of a run follows its jobs and becomes the report.
func TestStagesBecomeTheReportInBrowser(t *testing.T) {
	s, b := open(t), browse(t)
	run := addEvidence(t, s.store, target, "shopd-1.log").RunID
	b.do(cdp.Navigate(fmt.Sprintf("%s/runs/%d", s.url, run)))
	b.see(`document.querySelector(".verdict h1").innerText.includes("0 of 1 file done") && document.querySelector(".stages").innerText.includes("waiting for a worker")`)
	read := claim(t, s.store, store.JobRead, run)
	if err := s.store.SetProgress(t.Context(), read, 64, "reading"); err != nil {
		t.Fatal(err)
	}
	b.see(`document.querySelector("progress").value === 64 && document.querySelector(".stages .now").innerText === "reading"`)
	b.keep("stages")
	c := capturesOf(shop, 1)[0]
	if err := s.store.SaveCaptures(t.Context(), read, []store.StoredCapture{{Capture: c, Artifact: "a"}}); err != nil {
		t.Fatal(err)
	}
	b.see(`document.querySelector(".verdict h1").innerText === "Naming frames"`)
	saveReport(t, s.store, run, must[*analysis.Report](t)(analysis.Analyze(t.Context(), []analysis.Input{{Files: []analysis.File{{Name: "shopd-1.log"}}, Captures: []*capture.Capture{c}}}, analysis.Options{})))
	b.see(`document.querySelector(".verdict h1").innerText.includes("holds 2.15 MB") && document.querySelector(".chart")`)
}

// Several files go up in pieces; one can be held and goes on, what is refused says why, and the line for scripts
// follows what is typed.
func TestUploadInBrowser(t *testing.T) {
	s, b := open(t), browse(t)
	dir := t.TempDir()
	large := filepath.Join(dir, "large.log")
	if err := os.WriteFile(large, []byte(log+strings.Repeat("// and so on\r\n", 3<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small.log")
	if err := os.WriteFile(small, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(cdp.Navigate(s.url+"/upload?project=shop"), cdp.SendKeys("#f-build", "4812 rc"))
	b.see(`document.querySelector("#curl").textContent.includes("/api/v1/evidence?project=shop&build=4812+rc&name=")`)
	b.do(cdp.SetUploadFiles("#file", []string{large, small}))
	b.see(`document.querySelector("#queue-sum").textContent === "2 files"`)
	b.accessible("files chosen")
	// Held as soon as something has gone, before all has.
	must[bool](t)(cdp.Run(b.ctx, cdp.Evaluate[bool](`(() => {
		const row = document.querySelector("#files .file"), bar = row.querySelector("progress"), pause = row.querySelector("[data-act=pause]");
		new MutationObserver((_, o) => { if (!pause.hidden && / of /.test(row.querySelector(".st").textContent) && bar.value > 0 && bar.value < 100) { o.disconnect(); pause.click(); } }).observe(row, { subtree: true, childList: true, attributes: true });
		return true;
	})()`)))
	b.do(cdp.Click("#start"))
	b.see(`document.querySelector("#files .file .st").textContent === "paused"`)
	b.see(`document.querySelector("#queue-sum").textContent === "2 files, 1 taken"`)
	b.keep("upload-paused")
	b.do(cdp.Click(cdp.CSS("#files .file [data-act=pause]")))
	b.see(`document.querySelectorAll("#files .done").length === 2 && !document.querySelector("#to-run").hidden`)
	b.accessible("files taken")
	b.do(cdp.Click("#to-run"))
	b.see(`location.pathname === "/runs/1" && document.querySelector(".verdict h1").innerText.includes("0 of 2 files")`)
	files := must[[]store.Evidence](t)(s.store.EvidenceOfRun(t.Context(), 1))
	if len(files) != 2 || max(files[0].Bytes, files[1].Bytes) != int64(len(log)+14*3<<20) {
		t.Errorf("stored %+v", files)
	}
}
