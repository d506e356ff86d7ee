package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// ErrConflict says that somebody else has changed what was to be changed since it was read.
var ErrConflict = errors.New("store: it was changed by somebody else meanwhile")

// A State is what a team has to do about a signature.
type State string

// The states. A signature that never leaked nor grew has none.
const (
	StateNone      State = ""
	StateNew       State = "new"       // bad in one build
	StateOngoing   State = "ongoing"   // bad in a later build as well, or known no longer
	StateKnown     State = "known"     // the team tolerates it
	StateFixed     State = "fixed"     // clean since a build, by the team's word or by a run that exercised it
	StateRegressed State = "regressed" // leaked in a newer build than the one it was fixed in
)

// States lists the states that signatures can be listed by, in the order of tabs.
var States = []State{StateNew, StateOngoing, StateRegressed, StateKnown, StateFixed}

// A Triage is what the team says of a signature, and the state that follows from it and from the runs.
type Triage struct {
	State    State
	Version  int64 // of the team's word: a change names the one that it was made on
	Known    *Known
	FixedBy  string // who said that it is fixed; "" where runs show it
	Assignee string
	Ticket   string // URL
	NotLeak  bool   // the team says that it is not a leak: it counts as known
	Owner    string // by the project's rules
	Comments int    // how many
}

// Known says why a signature is tolerated.
type Known struct {
	Reason     string
	Until      *time.Time // the word ends then; nil for never
	UntilBuild string     // from this build on it counts again; "" for never
	Expired    bool
	Rule       bool // the project's rule file says so
}

// A TriageChange is a change of what the team says of a signature. Fields that are nil stay.
type TriageChange struct {
	Actor   string
	Version int64 // as it was read; any other than the stored one is ErrConflict. Negative for any.

	Known *Known // Reason, Until and UntilBuild count
	// Fixed names the build that has the fix; "" for the project's newest.
	Fixed    *string
	Reopen   bool // takes Known, Fixed and NotLeak back
	NotLeak  *bool
	Assignee *string
	Ticket   *string // http or https, or "" for none
}

// ChangeTriage changes what the team says of a signature and records who did it. It returns ErrNotFound, ErrConflict, or a
// *TargetError that says which field is wrong.
func (s *Store) ChangeTriage(ctx context.Context, project, signature string, change TriageChange) (Triage, error) {
	var after Triage
	if err := change.check(); err != nil {
		return after, err
	}
	err := s.tx(ctx, "triage", func(tx pgx.Tx) error {
		projectID, root, err := lockedRoot(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		before, version, err := wordOf(ctx, tx, root)
		if err != nil {
			return err
		}
		if change.Version >= 0 && change.Version != version {
			return ErrConflict
		}
		word, err := change.apply(ctx, tx, projectID, before)
		if err != nil {
			return err
		}
		if word.same(&before) {
			return readTriage(ctx, tx, root, &after)
		}
		if _, err := say(ctx, tx, root, word); err != nil {
			return err
		}
		if err := audit(ctx, tx, root, change.Actor, "triage", before, word); err != nil {
			return err
		}
		if err := followHistory(ctx, tx, projectID, []int64{root}, change.Actor); err != nil {
			return err
		}
		return readTriage(ctx, tx, root, &after)
	})
	return after, err
}

func readTriage(ctx context.Context, tx pgx.Tx, id int64, t *Triage) error {
	fields, made := triageFields(t)
	if err := tx.QueryRow(ctx, `select `+triageColumns+` from signatures s where s.id = $1`, id).Scan(fields...); err != nil {
		return err
	}
	made()
	return nil
}

// Limits of what a team may write, in characters.
const (
	maxReason  = 1000
	maxTicket  = 500
	maxActor   = 64
	maxComment = 10_000
)

// check refuses what can be wrong without a look at the project.
func (c *TriageChange) check() error {
	if err := checkActor(c.Actor); err != nil {
		return err
	}
	said := 0
	for _, is := range []bool{c.Known != nil, c.Fixed != nil, c.Reopen, c.NotLeak != nil && *c.NotLeak} {
		if is {
			said++
		}
	}
	if said > 1 {
		return &TargetError{"state", "only one of known, fixed, not a leak and reopen can be said at once"}
	}
	if k := c.Known; k != nil {
		if strings.TrimSpace(k.Reason) == "" {
			return &TargetError{"reason", "is missing: say why the leak is tolerated"}
		}
		if err := checkText("reason", k.Reason, maxReason); err != nil {
			return err
		}
		if k.Until != nil && k.UntilBuild != "" {
			return &TargetError{"until", "give a date or a build, not both"}
		}
		if k.UntilBuild != "" && !anyName.fits(k.UntilBuild) {
			return &TargetError{"until_build", fmt.Sprintf("%q is not a name: %s", k.UntilBuild, anyName.words)}
		}
	}
	if c.Assignee != nil {
		if err := checkText("assignee", *c.Assignee, maxActor); err != nil {
			return err
		}
	}
	if c.Ticket != nil && *c.Ticket != "" {
		return checkTicket(*c.Ticket)
	}
	return nil
}

func checkActor(actor string) error {
	if strings.TrimSpace(actor) == "" {
		return &TargetError{"actor", "is missing: say who makes the change"}
	}
	if actor == ByOutline {
		return &TargetError{"actor", "is nobody's name"}
	}
	return checkText("actor", actor, maxActor)
}

func checkText(field, text string, limit int) error {
	switch {
	case utf8.RuneCountInString(text) > limit:
		return &TargetError{field, fmt.Sprintf("is longer than %d characters", limit)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &TargetError{field, "is not text"}
	}
	return nil
}

// checkTicket refuses addresses that a browser must not be sent to.
func checkTicket(ticket string) error {
	if err := checkText("ticket", ticket, maxTicket); err != nil {
		return err
	}
	u, err := url.Parse(ticket)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &TargetError{"ticket", "is not an http or https address"}
	}
	return nil
}

// apply returns the word as the change makes it.
func (c *TriageChange) apply(ctx context.Context, tx pgx.Tx, project int64, w word) (word, error) {
	if c.Known != nil || c.Fixed != nil || c.Reopen {
		w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild, w.FixedID, w.NotLeak = "", "", "", nil, "", nil, false
	}
	switch {
	case c.Known != nil:
		w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild = "known", c.Actor, strings.TrimSpace(c.Known.Reason), c.Known.Until, c.Known.UntilBuild
		if w.Until != nil {
			t := w.Until.Truncate(time.Microsecond) // as the database keeps it
			w.Until = &t
		}
	case c.Fixed != nil:
		order, err := readCalendar(ctx, tx, project)
		if err != nil {
			return w, err
		}
		at, ok := order.names[*c.Fixed]
		if *c.Fixed == "" {
			at, ok = len(order.ids)-1, len(order.ids) > 0
		}
		if !ok {
			return w, &TargetError{"fixed", fmt.Sprintf("the project has no build %q", *c.Fixed)}
		}
		w.Mark, w.MarkedBy, w.FixedID = "fixed", c.Actor, order.id(at)
	}
	if c.NotLeak != nil {
		w.NotLeak = *c.NotLeak
	}
	if c.Assignee != nil {
		w.Assignee = strings.TrimSpace(*c.Assignee)
	}
	if c.Ticket != nil {
		w.Ticket = *c.Ticket
	}
	return w, nil
}
