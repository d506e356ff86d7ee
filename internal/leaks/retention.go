package leaks

import (
	"fmt"
	"math"
	"time"
)

// A Retention says how long a project keeps files and runs. A nil field is the server's setting, 0 keeps for ever.
type Retention struct {
	EvidenceDays  *int64 `json:"evidence_days,omitempty"`  // of an uploaded file, from its upload
	EvidenceBytes *int64 `json:"evidence_bytes,omitempty"` // of the project's files; the newest stay
	RunDays       *int64 `json:"run_days,omitempty"`       // of a run with its report, from its last upload
	RunBytes      *int64 `json:"run_bytes,omitempty"`      // that were read from the project's files; the newest runs stay
}

// maxDays bounds a setting in days: about 100 years.
const maxDays = 36500

// Check returns a *FieldError for a number that is negative or too large.
func (r *Retention) Check() error {
	for _, f := range []struct {
		name  string
		value *int64
		most  int64
	}{
		{"evidence_days", r.EvidenceDays, maxDays}, {"evidence_bytes", r.EvidenceBytes, math.MaxInt64},
		{"run_days", r.RunDays, maxDays}, {"run_bytes", r.RunBytes, math.MaxInt64},
	} {
		if f.value != nil && (*f.value < 0 || *f.value > f.most) {
			return &FieldError{Field: f.name, Message: fmt.Sprintf("is %d: write 0 to keep for ever, or a number up to %d",
				*f.value, f.most)}
		}
	}
	return nil
}

// A Hold is a legal hold: nothing of the run or project is deleted while it stands.
type Hold struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// maxReason is how long the reason of a hold may be, in bytes.
const maxReason = 500

// CheckHoldReason returns a *FieldError for a reason that is missing or too long.
func CheckHoldReason(reason string) error {
	switch {
	case reason == "":
		return &FieldError{Field: "reason", Message: "is missing: say why nothing may be deleted, for example a ticket"}
	case len(reason) > maxReason:
		return &FieldError{Field: "reason", Message: fmt.Sprintf("is longer than %d bytes", maxReason)}
	}
	return nil
}
