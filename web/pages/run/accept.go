package run

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
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

// unanswered are the leaks of a run that nobody has accepted, by signature, where the policy or a call was told that
// the run is of the first build of its scenario; nil of other runs.
func (r *reader) unanswered(ctx context.Context, run int64, v *gateView) ([]string, error) {
	wasTold := func(t store.StoredDecision) bool { return isFirst(&t.Decision) }
	if !isFirst(v.Decision) && !slices.ContainsFunc(v.earlier, wasTold) {
		return nil, nil
	}
	side, err := r.FindRunResult(ctx, run)
	if err != nil {
		return nil, err
	}
	list := leaks.UnacceptedLeaks(side)
	return list[:min(len(list), mostAccepted)], nil
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
	signatures := c.Request().Form["pick"]
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
