package pagestest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	cdp "github.com/chromedp/chromedp"
)

// CheckAccessibility checks with axe-core that people can use the page.
func (b *Tab) CheckAccessibility(what string) {
	b.T.Helper()
	b.axe(what, "document", `rules: {"target-size": {enabled: true}}`)
}

// CheckColours checks the colours of a page whose structure another theme has shown to be accessible.
func (b *Tab) CheckColours(what string) {
	b.T.Helper()
	b.axe(what, "document", ofColours)
}

// ColouredWhenNarrow selects what the style sheets colour on narrow screens only. The page of a run checks the colours
// of the folded menu.
const ColouredWhenNarrow = ".group, .k-key, tr.open"

// CheckNarrowScreen checks everything on a narrow screen but the colours that the wide screen has shown.
func (b *Tab) CheckNarrowScreen(what string) {
	b.T.Helper()
	b.axe(what, "document",
		`rules: {"target-size": {enabled: true}, "color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}`)
	coloured := strconv.Quote(ColouredWhenNarrow)
	if Must[bool](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[bool](`!!document.querySelector(`+coloured+`)`))) {
		b.axe(what, coloured, ofColours)
	}
}

// ofColours chooses the rules about colours, which cost as much as all others.
const ofColours = `runOnly: ["color-contrast", "link-in-text-block"]`

// CheckWidthRules checks what depends on the width of a page whose structure and colours are checked on another screen.
func (b *Tab) CheckWidthRules(what string) {
	b.T.Helper()
	b.axe(what, "document", `runOnly: ["target-size", "scrollable-region-focusable"]`)
}

// screens are the sizes and themes that pages are checked in. Colours are the same at every width but for a few, and
// menus fold on the narrow one only.
var screens = []struct {
	width, height int64
	theme         string
	check         func(b *Tab, what string)
}{
	{1440, 900, "light", (*Tab).CheckAccessibility},
	{1440, 900, "dark", (*Tab).CheckColours},
	{1024, 768, "light", (*Tab).CheckWidthRules},
	{390, 844, "light", (*Tab).CheckNarrowScreen},
}

// OnScreens checks the open page on every screen: people can use it, nothing is wider than the screen, and no text is
// cut without a title; more are checks that only this page needs. It leaves the page wide and light.
func (b *Tab) OnScreens(name string, more ...func()) {
	b.T.Helper()
	b.See("true") // the page is ready
	for _, s := range screens {
		what := fmt.Sprintf("%s-%d-%s", name, s.width, s.theme)
		b.Do(cdp.EmulateViewport(s.width, s.height))
		b.SetTheme(s.theme)
		s.check(b, what)
		b.CheckFitsWidth(what)
		b.uncut(what)
		for _, holds := range more {
			holds()
		}
		b.SaveScreenshot(what)
	}
	b.Do(cdp.EmulateViewport(screens[0].width, screens[0].height))
}

// axeCore is the text of axe-core, which is in web/testdata. Tests run in the folder of their package, at most two
// below web.
var axeCore = sync.OnceValues(func() (text []byte, err error) {
	for _, web := range []string{"..", filepath.Join("..", "..")} {
		if text, err = os.ReadFile(filepath.Join(web, "testdata", "axe.min.js")); err == nil {
			break
		}
	}
	return text, err
})

// axe runs the rules of axe-core that its options choose on a part of the page, which is a script's expression.
func (b *Tab) axe(what, part, options string) {
	b.T.Helper()
	if !Must[bool](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[bool](`"axe" in window`))) {
		Must[int](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[int](string(Must[[]byte](b.T)(axeCore()))+"\n;0")))
	}
	// Nodes are named in violations only: a name for each node that passes costs more than most rules.
	found := Must[string](b.T)(cdp.Run(b.Ctx,
		cdp.Evaluate[string](`axe.run(`+part+`, {resultTypes: ["violations"], `+options+
			`}).then(r => JSON.stringify(r.violations.flatMap(v => v.nodes.map(n => v.id + " at " + n.target.join(" ") + ": " + n.failureSummary))))`,
			cdp.EvalAwaitPromise)))
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		b.T.Fatal(err)
	}
	for _, v := range violations {
		b.T.Errorf("%s: axe: %s", what, v)
	}
}

// SetTheme shows the page in a theme: "light" or "dark".
func (b *Tab) SetTheme(theme string) {
	b.T.Helper()
	b.Is(fmt.Sprintf(`document.documentElement.dataset.theme = %q, true`, theme))
}

// CheckFitsWidth checks that nothing makes the page wider than the window.
func (b *Tab) CheckFitsWidth(what string) {
	b.T.Helper()
	if wide := Must[int](b.T)(cdp.Run(b.Ctx,
		cdp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))); wide > 0 {
		b.T.Errorf("%s: the page is %d px wider than the window", what, wide)
	}
}

// SaveScreenshot writes a picture of the page to HEAPDRIFT_ARTIFACTS, where that is set.
func (b *Tab) SaveScreenshot(name string) {
	b.T.Helper()
	dir := os.Getenv("HEAPDRIFT_ARTIFACTS")
	if dir == "" {
		return
	}
	picture := Must[[]byte](b.T)(cdp.Run(b.Ctx, cdp.FullScreenshot(100)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// Evaluates evaluates the keys, JavaScript expressions, in the page and compares the results with the values.
func (b *Tab) Evaluates(want map[string]string) {
	b.T.Helper()
	for expression, text := range want {
		if got := Must[string](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[string]("String("+expression+")"))); got != text {
			b.T.Errorf("%s is %q, want %q", expression, got, text)
		}
	}
}

// uncut looks for text that is cut off without a title that has the whole text.
func (b *Tab) uncut(what string) {
	b.T.Helper()
	cut := Must[string](b.T)(cdp.Run(b.Ctx, cdp.Evaluate[string](`[...document.querySelectorAll("main *")].filter(e => {
		const style = getComputedStyle(e);
		return style.overflowX === "hidden" && style.textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1 && e.innerText.trim() !== "" &&
			!e.closest("[title]") && !e.querySelector("[title]");
	}).map(e => e.tagName + "." + e.className + ": " + e.innerText.slice(0, 60)).join("\n")`)))
	if cut != "" {
		b.T.Errorf("%s: text is cut without a title: %s", what, cut)
	}
}
