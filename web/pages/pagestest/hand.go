package pagestest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/runtime"
	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/await"
)

// reach runs a function on what a selector of CSS or XPath selects, once that is shown and enabled. It returns
// what is in the way, and nothing where it is done: one script does it all, for the page may move or replace the
// element between two.
const reach = `((selector, act) => {
	if (!(%s)) return "the page is not ready";
	const it = selector[0] === "/" ? document.evaluate(selector, document, null,
			XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue : document.querySelector(selector);
	if (!it) return "there is no such element";
	if (!it.checkVisibility()) return "it is hidden";
	if (it.disabled) return "it is disabled";
	return act(it);
})(%q, %s)`

// click clicks on what is shown in the middle of an element, which has to be the element, a part or a label of it.
const click = `it => {
	it.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
	const box = it.getClientRects()[0];
		const top = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
	if (!it.contains(top) && top?.closest("label")?.control !== it) return "something covers it: " + (top ? top.cloneNode().outerHTML : "the edge of the window");
	const takes = top.closest("a[href], button, input, select, textarea, summary, [tabindex]");
	if (takes) takes.focus(); else document.activeElement?.blur();
	top.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true, view: window }));
	return "";
}`

// focus gives an element the focus.
const focus = `it => {
	it.focus();
	return document.activeElement === it ? "" : "it takes no focus";
}`

// Press clicks on an element.
func Press(selector string) cdp.Action[cdp.Void] { return touch(selector, click) }

// Focused focuses an element.
func Focused(selector string) cdp.Action[cdp.Void] { return touch(selector, focus) }

// Typed types into a field, at the place where the focus puts the cursor. The page must not replace the field
// meanwhile.
func Typed(selector, keys string) cdp.Action[cdp.Void] {
	return cdp.Steps(Focused(selector), cdp.KeyEvent(keys))
}

func touch(selector, act string) cdp.Action[cdp.Void] {
	script := fmt.Sprintf(reach, ready, selector, act)
	return patiently("touch "+selector, func(ctx context.Context, t *cdp.Target) error {
		obstacle, err := cdp.Evaluate[string](script, byUser)(ctx, t)
		if err == nil && obstacle != "" {
			err = errors.New(obstacle)
		}
		return err
	})
}

// byUser lets a script do what browsers allow only after a user's gesture, such as to ask before the page is left.
func byUser(p *runtime.EvaluateParams) { p.UserGesture = new(true) }

// Chosen chooses files in a field, as soon as the page has drawn it.
func Chosen(selector string, files ...string) cdp.Action[cdp.Void] {
	return patiently("choose files in "+selector, func(ctx context.Context, t *cdp.Target) error {
		_, err := cdp.SetUploadFiles(selector, files)(ctx, t)
		return err
	})
}

// patiently tries again until it succeeds, for two minutes: pages move on while they are read.
func patiently(what string, try func(ctx context.Context, t *cdp.Target) error) cdp.Action[cdp.Void] {
	return cdp.Func(func(ctx context.Context, t *cdp.Target) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		var err error
		if !await.Poll(ctx, func() bool {
			if again := try(ctx, t); err == nil || ctx.Err() == nil {
				err = again // else it says no more than that the time is over
			}
			return err == nil
		}) {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}
