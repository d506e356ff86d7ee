package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
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
	if _, err := a.store.ChangeTriage(c.Request().Context(), project, signature, change); err != nil {
		return conflicting(c, err)
	}
	return a.sendSignature(c, http.StatusOK, project, signature)
}

// parse checks a change.
func (b *triageChange) parse() (store.TriageChange, error) {
	change := store.TriageChange{NotLeak: b.NotLeak, Assignee: b.Assignee, Ticket: b.Ticket}
	state := ""
	if b.State != nil {
		state = *b.State
	}
	for field, value := range map[string]*string{"reason": b.Reason, "assignee": b.Assignee, "ticket": b.Ticket, "until_build": b.UntilBuild, "fixed_in": b.FixedIn} {
		if value != nil && !isLine(*value) {
			return change, invalid(field, "%s: text of one line, without control characters", field)
		}
	}
	if (b.Reason != nil || b.Until != nil || b.UntilBuild != nil) && state != setKnown {
		return change, invalid("state", "state: reason, until and until_build belong to the state known")
	}
	if b.FixedIn != nil && state != setFixed {
		return change, invalid("state", "state: fixed_in belongs to the state fixed")
	}
	switch state {
	case "":
		if b.State != nil {
			return change, invalid("state", "state: it is empty")
		}
	case setOpen:
		change.Reopen = true
	case setFixed:
		change.Fixed = new(string)
		if b.FixedIn != nil {
			*change.Fixed = strings.TrimSpace(*b.FixedIn)
		}
	case setKnown:
		known, err := KnownOf(text(b.Reason), text(b.Until), text(b.UntilBuild))
		if err != nil {
			return change, err
		}
		change.Known = known
	default:
		return change, invalid("state", "state: %q cannot be set: only known, fixed and open can, the others follow from the runs", state)
	}
	if b.State == nil && b.NotLeak == nil && b.Assignee == nil && b.Ticket == nil {
		return change, invalid("body", "body: it changes nothing")
	}
	return change, nil
}

// KnownOf reads why a leak is tolerated, and until when: a day, which still counts, or an instant.
func KnownOf(reason, until, build string) (*store.Known, error) {
	known := &store.Known{Reason: strings.TrimSpace(reason), UntilBuild: strings.TrimSpace(build)}
	if known.Reason == "" {
		return nil, &store.TargetError{Field: "reason", Message: "say why it is tolerated"}
	}
	if until = strings.TrimSpace(until); until == "" {
		return known, nil
	}
	if day, err := time.Parse(time.DateOnly, until); err == nil {
		end := day.AddDate(0, 0, 1)
		known.Until = &end
		return known, nil
	}
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return nil, &store.TargetError{Field: "until", Message: "neither a day such as 2026-12-31 nor a time such as 2026-12-31T12:00:00Z"}
	}
	known.Until = &at
	return known, nil
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
	comment, err := CleanText(body.Text)
	if err != nil {
		return err
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if _, err := a.store.AddComment(c.Request().Context(), project, signature, actor, comment); err != nil {
		return err
	}
	return a.sendSignature(c, http.StatusCreated, project, signature)
}

// signatureMerge handles POST /api/v1/projects/:project/signatures/:signature/merge: the signature is another one under an
// older name, or, where none is named, one of its own again.
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
	if body.Into == nil || !isLine(*body.Into) {
		return invalid("into", `into: name the signature that it is to be part of; "" makes it one of its own again`)
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	into := strings.TrimSpace(*body.Into)
	if err := MergeInto(c.Request().Context(), a.store, project, signature, into, actor); err != nil {
		return conflicting(c, err)
	}
	return a.sendSignature(c, http.StatusOK, project, cmp.Or(into, signature))
}

// MergeInto makes a signature part of another, or one of its own again where into is "". It returns store.ErrNotFound
// where there is no such signature, and a *Problem where there is nothing that it could become part of.
func MergeInto(ctx context.Context, s *store.Store, project, signature, into, actor string) error {
	if into == "" {
		return s.SplitSignature(ctx, project, signature, actor)
	}
	if _, err := s.SignatureByText(ctx, project, signature); err != nil {
		return err
	}
	err := s.MergeSignatures(ctx, project, signature, into, actor)
	if errors.Is(err, store.ErrNotFound) {
		return invalid("into", "into: the project has no signature %q", into)
	}
	return err
}
