package analysis

import (
	"fmt"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// A Next is the evidence that would decide a run that is inconclusive.
type Next struct {
	Evidence NextEvidence `json:"evidence"`
	// Snapshots is how many more snapshots of the same process show a leak, SnapshotsToBeCertain how many more make it
	// certain.
	Snapshots            int `json:"snapshots,omitempty"`
	SnapshotsToBeCertain int `json:"snapshots_to_be_certain,omitempty"`
	// LengthFactor is how many times as long a recording would decide, Hours how long that is; both 0 where that is
	// unknown.
	LengthFactor float64 `json:"times,omitempty"`
	Hours        float64 `json:"hours,omitempty"`
	Sentence     string  `json:"sentence"` // what to do: "Record 8 h instead of 3 h, or record a second run."
}

// A NextEvidence is a kind of evidence that would decide.
type NextEvidence string

// The kinds of evidence that would decide.
const (
	NextSnapshots NextEvidence = "snapshots"     // more of the same process
	NextDumps     NextEvidence = "dumps"         // more of the same process, or snapshots
	NextLonger    NextEvidence = "longer-run"    // or a second run of the same scenario
	NextComplete  NextEvidence = "complete-run"  // the same again, without what was lost
	NextWindow    NextEvidence = "larger-window" // of the same trace
)

// doubt says why an inconclusive run is not decided, and which evidence would decide. reason is "" where the latter
// says it all; next is nil where nothing tells.
func (d *draft) doubt(v *EvidenceVerdict, t *tally, lossy *Warning) (reason string, next *Next) {
	r := d.report
	certain := max(0, score.SnapshotsToBeCertain-len(d.judged))
	switch {
	case v.Status != StatusInconclusive || d.listsNothing():
		return "", nil
	case lossy != nil && v.SnapshotsMissing == 0:
		return fmt.Sprintf("the evidence does not suffice (%s)", lossy.Code),
			&Next{Evidence: NextComplete, Sentence: "Record the run again; the warnings list the losses."}
	case v.SnapshotsMissing > 0 && t.unreferenced > 0:
		dumps := max(1, dumpsToAgree-len(d.judged))
		return "one dump is not proof", &Next{Evidence: NextDumps, Snapshots: dumps, SnapshotsToBeCertain: certain,
			Sentence: fmt.Sprintf("Take %s of this process, or %s.", quantity.Plural(dumps, "more dump"),
				quantity.Plural(score.SnapshotsToBeCertain, "snapshot"))}
	case v.SnapshotsMissing > 0:
		if lossy != nil {
			reason = fmt.Sprintf("the evidence has limits (%s)", lossy.Code)
		}
		return reason, &Next{Evidence: NextSnapshots, Snapshots: v.SnapshotsMissing, SnapshotsToBeCertain: certain,
			Sentence: fmt.Sprintf("Take %s of this process to detect leaks, %d more to be certain.",
				quantity.Plural(v.SnapshotsMissing, "more snapshot"), certain)}
	case v.Undecided != nil && v.Undecided.Sites > 0 && (t.leaks == 0 || r.Trace != nil || certain == 0):
		return undecided(v.Undecided), d.longer(v.Undecided.Largest.longer)
	case t.leaks > 0 && r.Trace == nil && certain > 0:
		return countOf(t.leakCauses, t.leaks) + " probably leaking",
			&Next{Evidence: NextSnapshots, SnapshotsToBeCertain: certain,
				Sentence: fmt.Sprintf("Take %s of this process to be certain.", quantity.Plural(certain, "more snapshot"))}
	case t.leaks > 0:
		return countOf(t.leakCauses, t.leaks) + " probably leaking, unless a cache is still filling", d.longer(longerFor(t.top))
	case t.growing > 0:
		return countOf(t.growingCauses, t.growing) + " growing: a leak, or a cache that is still filling", d.longer(longerFor(t.top))
	case r.Trace != nil:
		return "", &Next{Evidence: NextWindow, Sentence: "Choose a window that shows more of the process."}
	}
	return "", nil
}

// leastLonger is how many times as long a recording is at least that is asked for: a shorter one tells nothing more.
const leastLonger = 1.1

// longer is a recording that is so many times as long; 0 where nothing tells how long.
func (d *draft) longer(times float64) *Next {
	if !(times > 1) {
		return &Next{Evidence: NextLonger, Sentence: "Record longer, or record a second run."}
	}
	n := &Next{Evidence: NextLonger, LengthFactor: max(times, leastLonger)}
	hours := d.hours()
	if hours > 0 {
		n.Hours = n.LengthFactor * hours
		n.Sentence = fmt.Sprintf("Record %s instead of %s, or record a second run.", spanOf(n.Hours), spanOf(hours))
	} else {
		n.Sentence = fmt.Sprintf("Record %.3g times as long, or record a second run.", n.LengthFactor)
	}
	return n
}

func spanOf(hours float64) string {
	return quantity.ShortDuration(time.Duration(hours * float64(time.Hour)).Round(time.Second))
}

// longerFor is how many times as long a recording would tell what a finding is; 0 where nothing tells that.
func longerFor(f *Finding) float64 {
	if f == nil {
		return 0
	}
	clauses := f.Clauses
	if f.why != nil { // not told yet
		clauses = f.why()
	}
	for _, c := range clauses {
		if c.Rule == score.RuleNext {
			return c.LengthFactor
		}
	}
	return 0
}

// inSentence makes a sentence part of another one.
func inSentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".")
}
