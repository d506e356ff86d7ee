package leaks

import (
	"cmp"
	"time"
)

// A Triage is what the team says of a leak, and the state that follows from it and from the runs.
type Triage struct {
	State    State
	Version  int64       // of the team's decision: a change names the version that it was based on
	Known    *Toleration // nil where it is not tolerated
	FixedBy  string      // who said that it is fixed; "" where runs show it
	Assignee string
	Ticket   string // text, or a URL
	NotLeak  bool   // the team says that it is not a leak: it counts as known
	// NotLeakWhy is the reason why it is not; "" where nobody gave one.
	NotLeakWhy string
	Owner      string // by the project's rules
	Comments   int    // how many
}

// A Toleration says why and for how long a signature that is known is tolerated.
type Toleration struct {
	Reason     string
	Until      *time.Time // toleration ends then; nil for never
	UntilBuild string     // from this build on it counts again; "" for never
	Expired    bool       // Until or UntilBuild has passed
	Rule       bool       // the project's rule file says so
}

// Responsible is the person or team that the leak is assigned to, else the owner by the rules; "" for nobody.
func (t *Triage) Responsible() string { return cmp.Or(t.Assignee, t.Owner) }

// A TriageRecord is what is stored of a leak's triage.
type TriageRecord struct {
	TriageDecision
	Version     int64
	StateByRuns State  // LeakHistory.State
	UntilOver   bool   // LeakHistory.UntilOver
	FixedByRuns bool   // LeakHistory.FixedByRuns
	RuleKnown   string // why the project's rules tolerate it; "" where they do not
	Owner       string // by the project's rules
	Comments    int    // how many
}

// isOver reports whether the time for which the team tolerates the signature is over.
func (r *TriageRecord) isOver(now time.Time) bool {
	return r.UntilOver || r.Until != nil && !r.Until.After(now)
}

// StateAt is the state at an instant: the state that the runs show, unless the signature is tolerated then.
func (r *TriageRecord) StateAt(now time.Time) State {
	switch {
	case r.StateByRuns == StateNone:
		return StateNone
	case r.NotLeak || r.RuleKnown != "" || r.Mark == MarkKnown && !r.isOver(now):
		return StateKnown
	case r.Mark == MarkKnown && (r.StateByRuns == StateNew || r.StateByRuns == StateFound):
		return StateOngoing
	}
	return r.StateByRuns
}

// ToleranceReasonAt is the reason why the signature is tolerated at an instant; "" where it is not tolerated, or where
// nobody gave a reason.
func (r *TriageRecord) ToleranceReasonAt(now time.Time) string {
	if r.Mark == MarkKnown && !r.isOver(now) {
		return r.Reason
	}
	if r.NotLeak && r.NotLeakWhy != "" {
		return r.NotLeakWhy
	}
	return r.RuleKnown
}

// IsKnownByRule reports whether a rule of the project is why the signature is tolerated at an instant.
func (r *TriageRecord) IsKnownByRule(now time.Time) bool {
	return r.RuleKnown != "" && !r.NotLeak && (r.Mark != MarkKnown || r.isOver(now))
}

// TriageAt is the record as it is shown at an instant.
func (r *TriageRecord) TriageAt(now time.Time) Triage {
	t := Triage{
		State: r.StateAt(now), Version: r.Version, Assignee: r.Assignee, Ticket: r.Ticket, NotLeak: r.NotLeak,
		NotLeakWhy: r.NotLeakWhy, Owner: r.Owner, Comments: r.Comments,
	}
	over := r.isOver(now)
	switch {
	case r.Mark == MarkKnown && (r.RuleKnown == "" || !over): // else the rules are why it is known
		t.Known = &Toleration{Reason: r.Reason, Until: r.Until, UntilBuild: r.UntilBuild, Expired: over}
	case r.RuleKnown != "":
		t.Known = &Toleration{Reason: r.RuleKnown, Rule: true}
	}
	if r.Mark == MarkFixed && !r.FixedByRuns {
		t.FixedBy = r.MarkedBy
	}
	return t
}
