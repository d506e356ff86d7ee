// Package outcome writes the outcome of a run in the forms that CI systems read. In comes an Outcome, out goes a file
// in JUnit, SARIF 2.1.0, Code Climate or Markdown. The file is the same whether the verdict comes from a server or from
// an analysis on this machine.
package outcome

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/score"
)

// The gates of a run.
const (
	GatePassed       = "passed"
	GateFailed       = "failed"
	GateInconclusive = "inconclusive"
	GatePending      = "pending"
	GateError        = "error"
)

// The changes of a leak against the baseline. A leak of a run without a baseline is Found.
const (
	ChangeNew        = "new"
	ChangeGrown      = "grown"
	ChangePersisting = "persisting"
	ChangeFound      = "found"
	ChangeKnown      = "known"
	ChangeFixed      = "fixed"
)

// changes are the changes in the order in which they are shown, and what one of them is called.
var changes = []struct{ change, word, title string }{
	{ChangeNew, "new", "New leak"}, {ChangeGrown, "grown", "Leak that grows faster"}, {ChangeFound, "leak", "Leak"},
	{ChangePersisting, "still", "Leak of the baseline"},
	{ChangeKnown, "known", "Known leak"}, {ChangeFixed, "fixed", "Fixed leak"},
}

// An Outcome is the verdict on a run and the leaks in it, for CI systems.
type Outcome struct {
	Version  string // of heapdrift
	Project  string // name of the project, else of the process
	Build    string
	Baseline string // build that it was compared with; "" for none
	Scenario string
	Commit   string
	Gate     string // one of the Gate constants
	Code     string // code of the error, where the gate is GateError; "" where there is none
	Why      string // what decided the gate
	Sentence string // the verdict, for people
	Power    string // which leak the evidence would have shown, for people
	// RecordCommand is the line that would record evidence that decides, and KitURL the page with scripts that do; "" for none.
	RecordCommand, KitURL string
	Matters               string   // the growth from which a leak matters, and who says so; "" where unknown
	URL                   string   // page of the run; "" without a server
	JobURL                string   // page of the job; "" outside of one
	Problems              []string // sentences about evidence that could not be read
	Leaks                 []Leak

	Began time.Time     // when the job began; zero where unknown
	Took  time.Duration // from Began to the verdict
}

// A Leak is a signature that leaks or grows, or did so in the baseline.
type Leak struct {
	Signature string   `json:"signature"`
	Title     string   `json:"title"`
	Change    string   `json:"change"`  // one of the Change constants
	Class     string   `json:"class"`   // an analysis.Class
	Certain   bool     `json:"certain"` // it may fail a gate
	Score     *float64 `json:"score"`   // probability of a leak; nil where nothing can be said
	// Fails says that the gate fails because of it.
	Fails bool `json:"fails"`
	// Doubtful says that it could fail the gate, but the evidence does not decide.
	Doubtful bool     `json:"doubtful"`
	Growth   string   `json:"growth"`          // in words; of leaks at exit what was left; "" where unknown
	Module   string   `json:"module"`          // of the blamed frame
	Function string   `json:"function"`        // of the blamed frame
	File     string   `json:"file"`            // of the blamed frame: relative to the root of the sources with slashes, or as the PDB has it; "" where unknown
	Line     int      `json:"line"`            // 0 where unknown
	InSource bool     `json:"in_source"`       // File is relative to the root of the sources
	Frames   []string `json:"frames"`          // of the stack, innermost first
	Reasons  []string `json:"reasons"`         // sentences of the gate about it
	FirstBad string   `json:"first_bad_build"` // first build in which it was bad; "" where unknown
	Owner    string   `json:"owner"`
	Ticket   string   `json:"ticket"`
	Known    string   `json:"known"` // why it is tolerated
	URL      string   `json:"url"`   // page of the leak; "" without a server
	// CauseGroup is what it is lost together with, in words that all leaks of the cause have: "lost objects of
	// app!Session::Open"; "" where it shares its cause with no other. Ratio is that of their blocks: "1 : 5 : 2".
	CauseGroup string `json:"cause,omitempty"`
	Ratio      string `json:"ratio,omitempty"`
}

// GroupByCause groups the leaks that count as one: those of one cause for which the gate decides the same, in the order
// of the first.
func GroupByCause(list []*Leak) [][]*Leak {
	type key struct {
		cause, change   string
		fails, doubtful bool
	}
	var rows [][]*Leak
	at := map[key]int{}
	for _, l := range list {
		k := key{l.CauseGroup, l.Change, l.Fails, l.Doubtful}
		n, known := at[k]
		if l.CauseGroup == "" || !known {
			at[k], n = len(rows), len(rows)
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], l)
	}
	return rows
}

// rows are those of all leaks.
func (o *Outcome) rows() [][]*Leak {
	list := make([]*Leak, len(o.Leaks))
	for i := range o.Leaks {
		list[i] = &o.Leaks[i]
	}
	return GroupByCause(list)
}

// stacks counts the leaks of a row.
func stacks(row []*Leak) string { return "1 leak in " + quantity.Plural(len(row), "stack") }

// IsImprobable reports whether a leak is so improbable that lists for people leave it out. One that fails the gate or
// keeps it undecided is not.
func (l *Leak) IsImprobable() bool {
	return l.Score != nil && *l.Score < score.LeastDoubt && !l.Fails && !l.Doubtful && l.Change != ChangeFixed
}

// Sort puts leaks in the order in which they are shown: those that fail the gate first, then by change; equal ones keep
// their order.
func (o *Outcome) Sort() {
	rank := func(l *Leak) int {
		return slices.IndexFunc(changes, func(c struct{ change, word, title string }) bool { return c.change == l.Change })
	}
	sorting.Stable(o.Leaks, func(a, b Leak) int {
		if a.Fails != b.Fails {
			if a.Fails {
				return -1
			}
			return 1
		}
		return cmp.Compare(rank(&a), rank(&b))
	})
}

// Count is how many leaks have the change; leaks that are lost together count once.
func (o *Outcome) Count(change string) (n int64) {
	for _, row := range o.rows() {
		if row[0].Change == change {
			n++
		}
	}
	return n
}

// Word is the change of a leak in a word.
func (l *Leak) Word() string { return l.changed().word }

// Headline names a leak in a title: "New leak: app!Cache::Add".
func (l *Leak) Headline() string { return l.changed().title + ": " + cmp.Or(l.Title, l.Signature) }

func (l *Leak) changed() struct{ change, word, title string } {
	for _, c := range changes {
		if c.change == l.Change {
			return c
		}
	}
	return changes[2]
}

// Text describes a leak in a sentence or two.
func (l *Leak) Text() string {
	text := l.Class
	if l.Growth != "" {
		text += ", " + l.Growth
	}
	if l.FirstBad != "" {
		text += ", since build " + l.FirstBad
	}
	for _, part := range [][2]string{{"known: ", l.Known}, {"owner ", l.Owner}, {"ticket ", l.Ticket}} {
		if part[1] != "" {
			text += ", " + part[0] + part[1]
		}
	}
	return text
}

// LeftText says what a process left at its exit.
func LeftText(bytes, blocks int64) string {
	return fmt.Sprintf("%s in %s at exit", quantity.Bytes(bytes), quantity.Plural(blocks, "block"))
}

// FileLine is "file:line" of a leak; "" where they are unknown.
func (l *Leak) FileLine() string {
	if l.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}

// A Format is one file format of an outcome.
type Format struct {
	Name  string // "junit", "sarif"
	Write func(w io.Writer, o *Outcome) error
}

// Formats are the forms that this package writes.
var Formats = []Format{{"junit", JUnit}, {"sarif", SARIF}, {"codeclimate", CodeClimate}, {"markdown", Markdown}}
