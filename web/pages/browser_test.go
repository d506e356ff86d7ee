package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/await"
	"heapdrift/internal/store"
	"heapdrift/internal/testbrowser"
)

// A tab is a page in headless Chromium. What it logs as an error fails the test.
type tab struct {
	t   testing.TB
	ctx context.Context
	// lossy is for tests that break connections: errors that the browser logs about them are expected.
	lossy atomic.Bool
}

// inBrowser skips a test that drives a browser where only small tests run. It comes before the test makes anything.
func inBrowser(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives a browser")
	}
}

// openInBrowser starts a server and opens a page for it.
func openInBrowser(t testing.TB) (*site, *tab) {
	t.Helper()
	inBrowser(t)
	s := open(t)
	return s, browse(t)
}

// browse opens a page in a profile of its own.
func browse(t testing.TB) *tab {
	t.Helper()
	inBrowser(t)
	if err := chromium.start(testbrowser.Find(t)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := cdp.NewContext(chromium.ctx, cdp.WithNewBrowserContext())
	t.Cleanup(stop)
	if err := cdp.Do(ctx); err != nil { // opens it; a deadline here would end the browser with it
		t.Fatal(err)
	}
	return watched(ctx, t)
}

// A browser is one Chromium for all tests of the package: starting it takes longer than most tests.
type browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

var chromium browser

func (b *browser) start(path string) error {
	b.once.Do(func() {
		profile, err := os.MkdirTemp("", "heapdrift-chromium-")
		if err != nil {
			b.err = err
			return
		}
		allocator, stopAllocator := cdp.NewExecAllocator(context.Background(),
			testbrowser.Options(path, profile)...)
		ctx, stop := cdp.NewContext(allocator)
		b.ctx, b.err = ctx, cdp.Do(ctx)
		b.stop = func() {
			stop()
			stopAllocator()
			_ = os.RemoveAll(profile) // of no use to anybody
		}
	})
	return b.err
}

// close ends the browser, where one was started.
func (b *browser) close() {
	if b.stop != nil {
		b.stop()
	}
}

// another opens a second tab in the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, stop := cdp.NewContext(b.ctx)
	b.t.Cleanup(stop)
	if err := cdp.Do(ctx); err != nil {
		b.t.Fatal(err)
	}
	tab := watched(ctx, b.t)
	tab.lossy.Store(b.lossy.Load())
	return tab
}

func watched(ctx context.Context, t testing.TB) *tab {
	t.Helper()
	b := &tab{t: t}
	messages := cdp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// htmx logs the event of a stream that broke.
			if b.lossy.Load() && (m.Source == "network" || m.Text == "[object Event]") {
				continue
			}
			if m.Type == cdp.ConsoleError || m.Type == cdp.ConsoleException {
				t.Errorf("the page logged %s: %s", m.Type, m.Text)
			}
		}
	}()
	ctx, stop := context.WithTimeout(ctx, testbrowser.Patience)
	t.Cleanup(stop)
	b.ctx = ctx
	return b
}

func (b *tab) do(steps ...cdp.Action[cdp.Void]) {
	b.t.Helper()
	if err := cdp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// ready is true of a page that has loaded its scripts and has no answer of the server left to process.
const ready = `document.readyState === "complete" && !document.querySelector(".htmx-added, .htmx-settling")`

// see waits until an expression in the page is true, and the page is ready: keys and clicks before that are lost. The
// page may load anew meanwhile.
func (b *tab) see(expression string) {
	b.t.Helper()
	var err error
	ctx, cancel := context.WithTimeout(b.ctx, await.Patience)
	defer cancel()
	if await.Poll(ctx, func() bool {
		var is bool
		is, err = cdp.Run(b.ctx, cdp.Evaluate[bool](ready+` && !!(`+expression+")"))
		return is
	}) {
		return
	}
	shown, _ := cdp.Run(b.ctx, cdp.Evaluate[string](`document.title + "\n" + document.querySelector("main").innerText`))
	b.t.Fatalf("waited in vain for %s: %v; the page shows %s", expression, err, shown)
}

// accessible checks with axe-core that people can use the page.
func (b *tab) accessible(what string) {
	b.t.Helper()
	b.axe(what, "document", `rules: {"target-size": {enabled: true}}`)
}

// legible checks the colours of a page whose structure another theme has shown to be accessible.
func (b *tab) legible(what string) {
	b.t.Helper()
	b.axe(what, "document", ofColours)
}

// colouredWhenNarrow selects what the style sheets colour on narrow screens only. The page of a run checks the colours of
// the folded menu.
const colouredWhenNarrow = ".group, .k-key, tr.open"

// narrow checks everything on a narrow screen but the colours that the wide screen has shown.
func (b *tab) narrow(what string) {
	b.t.Helper()
	b.axe(what, "document",
		`rules: {"target-size": {enabled: true}, "color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}`)
	coloured := strconv.Quote(colouredWhenNarrow)
	if must[bool](b.t)(cdp.Run(b.ctx, cdp.Evaluate[bool](`!!document.querySelector(`+coloured+`)`))) {
		b.axe(what, coloured, ofColours)
	}
}

// ofColours chooses the rules about colours, which cost as much as all others.
const ofColours = `runOnly: ["color-contrast", "link-in-text-block"]`

// roomy checks what depends on the width of a page whose structure and colours are checked on another screen.
func (b *tab) roomy(what string) {
	b.t.Helper()
	b.axe(what, "document", `runOnly: ["target-size", "scrollable-region-focusable"]`)
}

// screens are the sizes and themes that pages are checked in. Colours are the same at every width but for a few, and menus
// fold on the narrow one only.
var screens = []struct {
	width, height int64
	theme         string
	check         func(b *tab, what string)
}{
	{1440, 900, "light", (*tab).accessible},
	{1440, 900, "dark", (*tab).legible},
	{1024, 768, "light", (*tab).roomy},
	{390, 844, "light", (*tab).narrow},
}

// onScreens checks the open page on every screen: people can use it, nothing is wider than the screen, and no text is cut
// without a title; more are checks that only this page needs. It leaves the page wide and light.
func (b *tab) onScreens(name string, more ...func()) {
	b.t.Helper()
	b.see("true") // the page is ready
	for _, s := range screens {
		what := fmt.Sprintf("%s-%d-%s", name, s.width, s.theme)
		b.do(cdp.EmulateViewport(s.width, s.height))
		b.turn(s.theme)
		s.check(b, what)
		b.fits(what)
		b.uncut(what)
		for _, holds := range more {
			holds()
		}
		b.keep(what)
	}
	b.do(cdp.EmulateViewport(screens[0].width, screens[0].height))
}

// axeCore is the text of axe-core.
var axeCore = sync.OnceValues(func() ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "testdata", "axe.min.js"))
})

// axe runs the rules of axe-core that its options choose on a part of the page, which is a script's expression.
func (b *tab) axe(what, part, options string) {
	b.t.Helper()
	if !must[bool](b.t)(cdp.Run(b.ctx, cdp.Evaluate[bool](`"axe" in window`))) {
		must[int](b.t)(cdp.Run(b.ctx, cdp.Evaluate[int](string(must[[]byte](b.t)(axeCore()))+"\n;0")))
	}
	// Nodes are named in violations only: a name for each node that passes costs more than most rules.
	found := must[string](b.t)(cdp.Run(b.ctx, cdp.Evaluate[string](`axe.run(`+part+`, {resultTypes: ["violations"], `+options+
		`}).then(r => JSON.stringify(r.violations.flatMap(v => v.nodes.map(n => v.id + " at " + n.target.join(" ") + ": " + n.failureSummary))))`,
		cdp.EvalAwaitPromise)))
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range violations {
		b.t.Errorf("%s: axe: %s", what, v)
	}
}

// is evaluates an expression, which changes the page or states a fact about it, and expects true.
func (b *tab) is(expression string) {
	b.t.Helper()
	if !must[bool](b.t)(cdp.Run(b.ctx, cdp.Evaluate[bool](expression))) {
		b.t.Errorf("it does not hold that %s", expression)
	}
}

// turn puts the page into a theme.
func (b *tab) turn(theme string) {
	b.t.Helper()
	b.is(fmt.Sprintf(`document.documentElement.dataset.theme = %q, true`, theme))
}

// fits checks that nothing makes the page wider than the window.
func (b *tab) fits(what string) {
	b.t.Helper()
	if wide := must[int](b.t)(cdp.Run(b.ctx,
		cdp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))); wide > 0 {
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

// Pages of runs that failed, wait or are the only ones.
func TestOtherPagesInBrowser(t *testing.T) {
	s, b := openInBrowser(t)
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
		"projects": "/", "project": "/projects/shopd", "one": fmt.Sprintf("/runs/%d", run),
		"failed": fmt.Sprintf("/runs/%d", failed), "working": fmt.Sprintf("/runs/%d", working),
	} {
		b.do(cdp.Navigate(s.url + path))
		b.onScreens(name)
	}
}
