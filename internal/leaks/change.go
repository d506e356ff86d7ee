package leaks

import (
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ActorOutline is the actor in the audit, in place of a person, where a signature became part of another leak: evidence
// without inlined calls, such as UMDH text, gives that leak this signature.
const ActorOutline = "names without inlined calls"

// A TriageChange changes what the team says of a leak. A nil field leaves its value as it is.
type TriageChange struct {
	Actor   string // who changes it, for the audit
	Version int64  // of the triage that the actor saw: another one is a conflict; negative for any

	// Known tolerates the leak, by Reason, Until and UntilBuild.
	Known *Toleration // Reason, Until and UntilBuild count
	// Fixed names the build that has the fix; "" for the project's newest.
	Fixed   *string
	Reopen  bool  // undoes Known, Fixed and NotLeak
	NotLeak *bool // true says that the signature is no leak
	// NotLeakWhy is the reason why the signature is no leak; it is used with NotLeak.
	NotLeakWhy string
	Assignee   *string // team or person; "" for nobody
	Ticket     *string // a line of text or an address; "" for none
}

// Limits of what a team may write, in characters.
const (
	MaxReasonChars  = 1000
	MaxTicketChars  = 500
	MaxActorChars   = 64
	MaxCommentChars = 10_000
)

// MovesGates reports whether the change may alter what gates decide. The owner and the ticket of a leak do not.
func (c *TriageChange) MovesGates() bool {
	return c.Known != nil || c.Fixed != nil || c.Reopen || c.NotLeak != nil
}

// Check returns the errors that can be found without looking at the project, as a *FieldError.
func (c *TriageChange) Check() error {
	if err := CheckActor(c.Actor); err != nil {
		return err
	}
	said := 0
	for _, is := range []bool{c.Known != nil, c.Fixed != nil, c.Reopen, c.NotLeak != nil && *c.NotLeak} {
		if is {
			said++
		}
	}
	if said > 1 {
		return &FieldError{"state", "give only one of known, fixed, not a leak and reopen"}
	}
	if err := c.Known.check(); err != nil {
		return err
	}
	if err := CheckText("reason", c.NotLeakWhy, MaxReasonChars); err != nil {
		return err
	}
	if c.Assignee != nil {
		if err := CheckText("assignee", *c.Assignee, MaxActorChars); err != nil {
			return err
		}
	}
	if c.Ticket != nil && *c.Ticket != "" {
		return checkTicket(*c.Ticket)
	}
	return nil
}

func (k *Toleration) check() error {
	switch {
	case k == nil:
		return nil
	case strings.TrimSpace(k.Reason) == "":
		return &FieldError{"reason", "is missing: give the reason why the leak is known"}
	case k.Until != nil && k.UntilBuild != "":
		return &FieldError{"until", "give a date or a build, not both"}
	case k.UntilBuild != "" && !anyName.fits(k.UntilBuild):
		return wrongField("until_build", "%q is not a name: %s", k.UntilBuild, anyName.words)
	}
	return CheckText("reason", k.Reason, MaxReasonChars)
}

// CheckActor refuses a name that cannot stand in the audit. Its error is a *FieldError.
func CheckActor(actor string) error {
	switch {
	case strings.TrimSpace(actor) == "":
		return &FieldError{"actor", "is missing: name the author of the change"}
	case actor == ActorOutline, actor == ActorRename, actor == ActorLine:
		return &FieldError{"actor", "is a reserved name"}
	case strings.ContainsFunc(actor, func(r rune) bool { return !unicode.IsPrint(r) }):
		return &FieldError{"actor", "has characters that cannot be printed"}
	}
	return CheckText("actor", actor, MaxActorChars)
}

// CheckText refuses text that is too long, in characters, or no text. Its error is a *FieldError.
func CheckText(field, text string, limit int) error {
	switch {
	case utf8.RuneCountInString(text) > limit:
		return wrongField(field, "is longer than %d characters", limit)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &FieldError{field, "is not text"}
	}
	return nil
}

// CheckComment refuses a comment that is empty or too long. Its error is a *FieldError.
func CheckComment(text string) error {
	if text == "" {
		return &FieldError{"text", "is missing"}
	}
	return CheckText("text", text, MaxCommentChars)
}

// checkTicket refuses a ticket that is not one line of text. A ticket may be a number or an address; only IsTicketLink
// makes it a link.
func checkTicket(ticket string) error {
	if err := CheckText("ticket", ticket, MaxTicketChars); err != nil {
		return err
	}
	if strings.ContainsFunc(ticket, unicode.IsControl) {
		return &FieldError{"ticket", "is not one line of text"}
	}
	return nil
}

// IsTicketLink reports whether browsers may follow a ticket as a link.
func IsTicketLink(ticket string) bool {
	u, err := url.Parse(ticket)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// Apply returns the decision w with the change applied. order finds the build that has the fix. Its error is a
// *FieldError.
func (c *TriageChange) Apply(w TriageDecision, order *BuildOrder) (TriageDecision, error) {
	if c.Known != nil || c.Fixed != nil || c.Reopen {
		w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild, w.FixedID, w.NotLeak, w.NotLeakWhy = "", "",
			"", nil, "", nil, false, ""
	}
	switch {
	case c.Known != nil:
		w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild = MarkKnown, c.Actor, strings.TrimSpace(c.Known.Reason),
			c.Known.Until, c.Known.UntilBuild
		if w.Until != nil {
			t := w.Until.Truncate(time.Microsecond) // as it is stored
			w.Until = &t
		}
	case c.Fixed != nil:
		at, ok := order.IndexOfName(*c.Fixed)
		if !ok {
			return w, wrongField("fixed", "the project has no build %q", *c.Fixed)
		}
		w.Mark, w.MarkedBy, w.FixedID = MarkFixed, c.Actor, order.IDAt(at)
	}
	if c.NotLeak != nil {
		w.NotLeak, w.NotLeakWhy = *c.NotLeak, ""
		if w.NotLeak {
			w.NotLeakWhy = strings.TrimSpace(c.NotLeakWhy)
		}
	}
	if c.Assignee != nil {
		w.Assignee = strings.TrimSpace(*c.Assignee)
	}
	if c.Ticket != nil {
		w.Ticket = strings.TrimSpace(*c.Ticket)
	}
	return w, nil
}

// ParseNotLeakWhy reads, from the field of a form, why a signature is not a leak. Its error is a *FieldError.
func ParseNotLeakWhy(reason string) (string, error) {
	if reason = strings.TrimSpace(reason); reason == "" {
		return "", &FieldError{"reason", "is missing: give the reason why this is not a leak"}
	}
	return reason, CheckText("reason", reason, MaxReasonChars)
}

// UntilText prints until when a leak is tolerated, in the form that ParseToleration reads: the last day that counts, or
// the instant.
func UntilText(until time.Time) string {
	until = until.UTC()
	if until.Equal(until.Truncate(24 * time.Hour)) {
		return until.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return until.Format(time.RFC3339Nano)
}

// ParseToleration reads why a leak is tolerated, until when (a day, which still counts, or an instant), and until which
// build. Its error is a *FieldError.
func ParseToleration(reason, until, build string) (*Toleration, error) {
	known := &Toleration{Reason: strings.TrimSpace(reason), UntilBuild: strings.TrimSpace(build)}
	if until = strings.TrimSpace(until); until == "" {
		return known, known.check()
	}
	if day, err := time.Parse(time.DateOnly, until); err == nil {
		end := day.AddDate(0, 0, 1)
		known.Until = &end
		return known, known.check()
	}
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return nil, &FieldError{"until", "neither a day such as 2026-12-31 nor a time such as 2026-12-31T12:00:00Z"}
	}
	known.Until = &at
	return known, known.check()
}
