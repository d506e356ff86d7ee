package leaks

import (
	"fmt"

	"heapdrift/ingest/quantity"
)

// A LineState is the state and history of a leak on one line of builds. Builds are given by name; "" is none.
type LineState struct {
	Branch      string
	Fork        string // the last build that the line shares with its parent
	State       State
	After       string // After and Since bound when it came in last: the last clean build, and the first bad one since
	Since       string
	Found       bool   // it was there in the first build of its scenario
	FailedIn    string // the first build from Since on whose gate failed because of it
	FirstBad    string
	LastClean   string      // the last build before FirstBad that was clean
	CleanBound  *CleanBound // the rate that LastClean excludes; nil where unknown
	LastBad     string
	LastSeen    string
	FixedIn     string
	RegressedIn string
	Odds        []RunOdds // by run, oldest first
}

// A RunOdds is the probability, by one run, that the site leaks.
type RunOdds struct {
	Build       string   `json:"build"`
	RunID       int64    `json:"run"`
	Probability *float64 `json:"probability"` // 0 to 1; nil where the evidence could not tell
	Bytes       *int64   `json:"bytes"`       // growth in the run; nil where unknown
}

// Text describes the leak on the line in sentences.
func (l *LineState) Text() string {
	switch {
	case l.State == StateFixed && l.FixedIn != "":
		return "fixed in " + l.FixedIn
	case l.State == StateKnown:
		return "known"
	case l.State == StateRegressed && l.FixedIn != "":
		return fmt.Sprintf("came back in %s, fixed in %s", l.RegressedIn, l.FixedIn)
	case l.Found:
		return "open since the first build of its scenario"
	case l.After != "":
		return fmt.Sprintf("open, appeared between %s and %s", l.After, l.Since)
	case l.Since != "":
		return "open since " + l.Since
	}
	return "open"
}

// Text tells the bound in a sentence: "less than 2.00 KB/hour (with 90 % probability)".
func (b *CleanBound) Text() string {
	if b.BytesPerUnit > 0 {
		return fmt.Sprintf("less than %s/%s (with 90 %% probability)", quantity.Bytes(int64(b.BytesPerUnit)), b.Unit)
	}
	return fmt.Sprintf("less than %s blocks/%s (with 90 %% probability)", quantity.Number(b.BlocksPerUnit), b.Unit)
}
