package pagestest

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/await"
	"heapdrift/internal/testbrowser"
)

// A Tab is a page in headless Chromium. What it logs as an error fails the test.
type Tab struct {
	T   testing.TB
	Ctx context.Context
	// Lossy is for tests that break connections: errors that the browser logs about them are expected.
	Lossy atomic.Bool
}

// InBrowser skips a test that drives a browser where only small tests run. It comes before the test makes anything.
func InBrowser(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives a browser")
	}
}

// OpenInBrowser starts a server and opens a page for it.
func OpenInBrowser(t testing.TB) (*Server, *Tab) {
	t.Helper()
	InBrowser(t)
	s := Open(t)
	return s, Browse(t)
}

// Browse opens a page in a profile of its own.
func Browse(t testing.TB) *Tab {
	t.Helper()
	InBrowser(t)
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

// Another opens a second tab in the same browser.
func (b *Tab) Another() *Tab {
	b.T.Helper()
	ctx, stop := cdp.NewContext(b.Ctx)
	b.T.Cleanup(stop)
	if err := cdp.Do(ctx); err != nil {
		b.T.Fatal(err)
	}
	tab := watched(ctx, b.T)
	tab.Lossy.Store(b.Lossy.Load())
	return tab
}

func watched(ctx context.Context, t testing.TB) *Tab {
	t.Helper()
	b := &Tab{T: t}
	messages := cdp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// htmx logs the event of a stream that broke.
			if b.Lossy.Load() && (m.Source == "network" || m.Text == "[object Event]") {
				continue
			}
			if m.Type == cdp.ConsoleError || m.Type == cdp.ConsoleException {
				t.Errorf("the page logged %s: %s", m.Type, m.Text)
			}
		}
	}()
	ctx, stop := context.WithTimeout(ctx, testbrowser.Patience)
	t.Cleanup(stop)
	b.Ctx = ctx
	return b
}

// Do runs actions in the page; an error ends the test.
func (b *Tab) Do(steps ...cdp.Action[cdp.Void]) {
	b.T.Helper()
	if err := cdp.Do(b.Ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// ready is true of a page that has loaded its scripts and has no answer of the server left to process.
const ready = `document.readyState === "complete" && !document.querySelector(".htmx-added, .htmx-settling")`

// See waits until a JavaScript expression is true in the page, and the page is ready: keys and clicks before that are
// lost. The page may reload meanwhile.
func (b *Tab) See(expression string) {
	b.T.Helper()
	var err error
	ctx, cancel := context.WithTimeout(b.Ctx, await.Patience)
	defer cancel()
	if await.Poll(ctx, func() bool {
		var is bool
		is, err = cdp.Run(b.Ctx, cdp.Evaluate[bool](ready+` && !!(`+expression+")"))
		return is
	}) {
		return
	}
	shown, _ := cdp.Run(b.Ctx, cdp.Evaluate[string](`document.title + "\n" + document.querySelector("main").innerText`))
	b.T.Fatalf("waited in vain for %s: %v; the page shows %s", expression, err, shown)
}

// Is evaluates a JavaScript expression in the page and fails the test unless it is true.
func (b *Tab) Is(expression string) {
	b.T.Helper()
	if !Must[bool](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[bool](expression))) {
		b.T.Errorf("it does not hold that %s", expression)
	}
}
