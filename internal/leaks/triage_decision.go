package leaks

import (
	"cmp"
	"time"
)

// The marks that a team may set on a signature.
const (
	MarkKnown = "known" // it is tolerated for a reason
	MarkFixed = "fixed" // a build has the fix
)

// A TriageDecision is what the team decided about a leak, as audit rows and merges store it.
type TriageDecision struct {
	Mark       string     `json:"mark,omitempty"` // MarkKnown, MarkFixed or ""
	MarkedBy   string     `json:"marked_by,omitempty"`
	Reason     string     `json:"reason,omitempty"`       // of MarkKnown
	Until      *time.Time `json:"until,omitempty"`        // of MarkKnown: toleration ends then; nil for never
	UntilBuild string     `json:"until_build,omitempty"`  // of MarkKnown: from this build on it counts again; "" for never
	FixedID    *int64     `json:"fixed_id,omitempty"`     // of MarkFixed: the id of the build that has the fix
	NotLeak    bool       `json:"not_leak,omitempty"`     // the team says that it is no leak
	NotLeakWhy string     `json:"not_leak_why,omitempty"` // of NotLeak; "" where nobody gave a reason
	Assignee   string     `json:"assignee,omitempty"`     // team or person; "" for nobody
	Ticket     string     `json:"ticket,omitempty"`       // text, or a URL
}

// IsSame reports whether two decisions are equal. Instants are compared, not their zones.
func (w *TriageDecision) IsSame(other *TriageDecision) bool {
	a, b := *w, *other
	a.Until, b.Until, a.FixedID, b.FixedID = nil, nil, nil, nil
	sameTime := (w.Until == nil) == (other.Until == nil) && (w.Until == nil || w.Until.Equal(*other.Until))
	sameBuild := (w.FixedID == nil) == (other.FixedID == nil) && (w.FixedID == nil || *w.FixedID == *other.FixedID)
	return a == b && sameTime && sameBuild
}

// isJudged reports whether the team decided what the signature is, and not only who owns it.
func (w *TriageDecision) isJudged() bool { return w.Mark != "" || w.NotLeak }

// Joined is the decision about a leak after another signature, with the decision part, became part of it: its own,
// completed by that.
func (w TriageDecision) Joined(part TriageDecision) TriageDecision {
	joined := w
	if !joined.isJudged() {
		joined = part // whose it is remains below
	}
	joined.Assignee, joined.Ticket = cmp.Or(w.Assignee, part.Assignee), cmp.Or(w.Ticket, part.Ticket)
	return joined
}

// MarksOn converts the decision into builds on a line; c orders all builds. A fix in a build that the line does not
// have does not count on it.
func (w *TriageDecision) MarksOn(line *BuildLine, c *BuildOrder) MarkedBuilds {
	m := MarkedBuilds{FixedIn: -1, KnownUntil: -1, Owned: w.Assignee != ""}
	switch w.Mark {
	case MarkFixed:
		if w.FixedID != nil {
			m.FixedIn = line.IndexOf(*w.FixedID)
		}
	case MarkKnown:
		from := c.IndexFrom(w.UntilBuild)
		if from < 0 {
			break
		}
		for at := range line.BuildIDs {
			if c.Index(&line.BuildIDs[at]) >= from {
				m.KnownUntil = at
				break
			}
		}
	}
	return m
}
