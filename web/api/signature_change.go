package api

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/problem"
)

// What a state may be set to. The others follow from the runs: "open" takes back what was said against them.
const (
	setOpen  = "open"
	setKnown = "known"
	setFixed = "fixed"
)

// A triageChange is the body of a PATCH: fields that are not there stay as they are.
type triageChange struct {
	Version    *int64  `json:"version"` // that it was read with, where If-Match does not say
	State      *string `json:"state"`
	Reason     *string `json:"reason"`
	Until      *string `json:"until"`
	UntilBuild *string `json:"until_build"`
	FixedIn    *string `json:"fixed_in"`
	NotLeak    *bool   `json:"not_leak"`
	Assignee   *string `json:"assignee"`
	Ticket     *string `json:"ticket"`
}

// signaturePatch handles PATCH /api/v1/projects/:project/signatures/:signature: what the team says of a leak.
func (a *API) signaturePatch(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	var body triageChange
	if err := readJSON(c, &body); err != nil {
		return err
	}
	change, err := body.parse()
	if err != nil {
		return err
	}
	if change.Actor, err = actorOf(c.Request()); err != nil {
		return err
	}
	if change.Version, err = ifMatch(c); err != nil {
		return err
	}
	if change.Version < 0 && body.Version != nil {
		change.Version = *body.Version
	}
	if _, err := a.store.UpdateTriage(c.Request().Context(), project, signature, change); err != nil {
		return conflicting(c, err)
	}
	return a.sendSignature(c, http.StatusOK, project, signature)
}

// parse checks a change.
func (b *triageChange) parse() (leaks.TriageChange, error) {
	change := leaks.TriageChange{NotLeak: b.NotLeak, Assignee: b.Assignee, Ticket: b.Ticket}
	state := ""
	if b.State != nil {
		state = *b.State
	}
	isNoLeak := b.NotLeak != nil && *b.NotLeak && b.State == nil
	if err := b.checkTexts(state, isNoLeak); err != nil {
		return change, err
	}
	if isNoLeak {
		change.NotLeakWhy = text(b.Reason)
	}
	switch state {
	case "":
		if b.State != nil {
			return change, problem.Invalid("state", "state: it is empty")
		}
	case setOpen:
		change.Reopen = true
	case setFixed:
		change.Fixed = new(string)
		if b.FixedIn != nil {
			*change.Fixed = strings.TrimSpace(*b.FixedIn)
		}
	case setKnown:
		known, err := leaks.ParseToleration(text(b.Reason), text(b.Until), text(b.UntilBuild))
		if err != nil {
			return change, err
		}
		change.Known = known
	default:
		return change, problem.Invalid("state",
			"state: %q cannot be set: only known, fixed and open can, the others follow from the runs", state)
	}
	if b.State == nil && b.NotLeak == nil && b.Assignee == nil && b.Ticket == nil {
		return change, problem.Invalid("body", "body: it changes nothing")
	}
	return change, nil
}

// checkTexts checks what goes with a state: that each text is one line, and that it belongs to the state.
func (b *triageChange) checkTexts(state string, isNoLeak bool) error {
	for field, value := range map[string]*string{"reason": b.Reason, "assignee": b.Assignee, "ticket": b.Ticket,
		"until_build": b.UntilBuild, "fixed_in": b.FixedIn} {
		if value != nil && !leaks.IsSingleLine(*value) {
			return problem.Invalid(field, "%s: text of one line, without control characters", field)
		}
	}
	if (b.Reason != nil && !isNoLeak || b.Until != nil || b.UntilBuild != nil) && state != setKnown {
		return problem.Invalid("state",
			"state: reason, until and until_build belong to the state known, and reason to not_leak")
	}
	if b.FixedIn != nil && state != setFixed {
		return problem.Invalid("state", "state: fixed_in belongs to the state fixed")
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// signatureComment handles POST /api/v1/projects/:project/signatures/:signature/comments.
func (a *API) signatureComment(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	var body struct {
		Text string `json:"text"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	comment, err := leaks.NormalizeLines(body.Text)
	if err != nil {
		return err
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if _, err := a.store.CreateComment(c.Request().Context(), project, signature, actor, comment); err != nil {
		return err
	}
	return a.sendSignature(c, http.StatusCreated, project, signature)
}

// signatureMerge handles POST /api/v1/projects/:project/signatures/:signature/merge: the signature is another one under
// an older name, or, where none is named, one of its own again.
func (a *API) signatureMerge(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	var body struct {
		Into *string `json:"into"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.Into == nil || !leaks.IsSingleLine(*body.Into) {
		return problem.Invalid("into", `into: name the signature that it is to be part of; "" makes it one of its own again`)
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	into := strings.TrimSpace(*body.Into)
	if err := a.store.MergeSignature(c.Request().Context(), project, signature, into, actor); err != nil {
		return conflicting(c, err)
	}
	return a.sendSignature(c, http.StatusOK, project, cmp.Or(into, signature))
}
