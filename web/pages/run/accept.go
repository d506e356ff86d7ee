package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// mostAccepted is how many leaks one form may accept: the first build of a large program has hundreds.
const mostAccepted = 1000

// isFirst reports whether a decision says that the run is of the first build of its scenario.
func isFirst(made *leaks.Decision) bool {
	return slices.ContainsFunc(made.Reasons, func(r leaks.Reason) bool { return r.Code == leaks.ReasonFirst })
}

// firstReview are the leaks of a run that nobody has accepted, where the policy or a call was told that the run is of
// the first build of its scenario; nil of other runs.
func (r *reader) firstReview(ctx context.Context, run int64, v *gateView) (*leaks.Review, error) {
	wasTold := func(t store.StoredDecision) bool { return isFirst(&t.Decision) }
	if !isFirst(v.Decision) && !slices.ContainsFunc(v.earlier, wasTold) {
		return nil, nil
	}
	return r.review(ctx, run)
}

// review are the leaks of a run that nobody has accepted, as many as one form may accept.
func (r *reader) review(ctx context.Context, run int64) (*leaks.Review, error) {
	side, err := r.FindRunResult(ctx, run)
	if err != nil {
		return nil, err
	}
	review := leaks.ReviewOf(side)
	return &review, nil
}

// offered are the leaks that one form offers to accept, those that hold most.
func offered(r *leaks.Review) leaks.Review {
	return leaks.Review{Known: r.Known, Leaks: r.Leaks[:min(len(r.Leaks), mostAccepted)]}
}

// A reviewView is the page on which a team reviews the leaks of a run before it accepts them.
type reviewView struct {
	ui.Frame
	run     store.Run
	review  leaks.Review // that the form offers
	more    int          // leaks behind those
	byTest  bool
	changes bool
	actor   string
}

// byTestValue is the value of the parameter "by" that groups a review by test; it is grouped by file without it.
const byTestValue = "test"

// acceptReview handles GET /runs/:id/accept: the leaks of a run that nobody has accepted, by file or by test.
func acceptReview(ctx context.Context, c echo.Context, r *reader, run store.Run) (answer, error) {
	review, err := r.review(ctx, run.ID)
	if errors.Is(err, store.ErrNotFound) { // before its report is there
		review, err = &leaks.Review{}, nil
	}
	if err != nil {
		return answer{}, err
	}
	project, err := r.FindProjectOfRun(ctx, run.ID)
	if err != nil {
		return answer{}, err
	}
	v := reviewView{Frame: ui.FrameOf(c, fmt.Sprintf("Accept leaks of run %d", run.ID)), run: run, review: offered(review),
		byTest: c.QueryParam("by") == byTestValue, actor: ui.RememberedActor(c),
		changes: accounts.ActorFrom(ctx).May(accounts.Change, project)}
	v.more = len(review.Leaks) - len(v.review.Leaks)
	v.Crumbs, v.Upload = append(runCrumbs(run), ui.Crumb{Text: "Accept leaks"}), ui.TargetOfRun(run)
	v.Crumbs[len(v.Crumbs)-2].URL = ui.RunURL(run.ID)
	return answer{page: acceptPage(v)}, nil
}

// groups are the leaks of the page by what the reader chose.
func (v *reviewView) groups() []leaks.LeakGroup {
	if v.byTest {
		return v.review.ByTest()
	}
	return v.review.ByPlace()
}

// acceptURL is the page that reviews the leaks of a run, by test or by file.
func acceptURL(run int64, byTest bool) templ.SafeURL {
	if byTest {
		return ui.RunURL(run) + "/accept?by=" + byTestValue
	}
	return ui.RunURL(run) + "/accept"
}

// groupName is how the page calls a group.
func (v *reviewView) groupName(g *leaks.LeakGroup) string {
	if v.byTest {
		return leaks.TestGroupName(g.Test, g.Several)
	}
	return leaks.PlaceGroupName(g.Module, g.File)
}

// testsText names the tests that show a leak.
func testsText(l *leaks.UnacceptedLeak) string {
	const named = 3
	text := strings.Join(l.Tests[:min(len(l.Tests), named)], ", ")
	if more := len(l.Tests) - named; more > 0 || l.MoreTests > 0 {
		text += fmt.Sprintf(" and %d more", max(more, 0)+l.MoreTests)
	}
	return text
}

// certainty is what is known of a leak: lost for certain, or possibly.
func certainty(l *leaks.UnacceptedLeak) string {
	if l.Certain {
		return "certain"
	}
	return "possible"
}

// pickIn is the value of a leak's tick: the number of its group and its signature.
func pickIn(group int, signature string) string { return fmt.Sprintf("%d %s", group, signature) }

// picked are the signatures that a form of a run picks: those without a group, and those whose group is ticked too.
func picked(picks, groups []string) (signatures []string) {
	for _, pick := range picks {
		group, signature, ok := strings.Cut(pick, " ")
		switch {
		case !ok:
			signatures = append(signatures, pick)
		case slices.Contains(groups, group):
			signatures = append(signatures, signature)
		}
	}
	return signatures
}

// accept handles POST /runs/:id/accept: the button that says of the leaks of the first build that the team knows them.
func (p *pages) accept(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	ctx := c.Request().Context()
	run, err := store.Read(ctx, p.store, func(v store.View) (store.Run, error) { return v.FindRun(ctx, id) })
	if err != nil {
		return err
	}
	signatures := picked(c.Request().Form["pick"], c.Request().Form["group"])
	if len(signatures) == 0 || len(signatures) > mostAccepted {
		return &leaks.FieldError{Field: "pick", Message: "name between 1 and " + quantity.Count(mostAccepted) + " leaks"}
	}
	picks := make([]store.PickedSignature, len(signatures))
	for i, signature := range signatures {
		picks[i] = store.PickedSignature{Signature: signature, Version: -1} // as it is now
	}
	change := leaks.TriageChange{Actor: ui.ActorOfForm(c), Known: &leaks.Toleration{Reason: leaks.FirstRunReason}}
	if err := p.store.UpdateTriages(ctx, run.Project, picks, change); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id))+"#gate")
}

// acceptButton names how many leaks it accepts.
func acceptButton(n int) string { return "Accept " + quantity.Plural(n, "leak") }

// reviewText counts what there is to accept.
func reviewText(r *leaks.Review) string {
	total := r.Total()
	text := fmt.Sprintf("%s, %s, %s", quantity.Plural(len(total.Leaks), "leak"), quantity.Plural(total.Held.Count, "block"),
		quantity.Bytes(total.Held.Bytes))
	if n := total.Possible(); n > 0 {
		text += fmt.Sprintf(", %d of them possible only", n)
	}
	return text
}
