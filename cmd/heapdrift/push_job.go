package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// A ciJob is the job that a push is part of; outside of one its system is nil.
type ciJob struct {
	system      *ci.System
	environment ci.Environment
	get         ci.Getenv
	began       time.Time
}

func newJob(get ci.Getenv) *ciJob {
	system := ci.Detect(get)
	return &ciJob{system, system.Environment(get), get, time.Now()}
}

func (j *ciJob) name() string {
	if j.system == nil {
		return ""
	}
	return j.system.Name
}

// root is the folder of the sources: what the system says, else where the command runs.
func (j *ciJob) root() string {
	if j.environment.Root != "" {
		return j.environment.Root
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// failed tells the system that the push failed for a reason, which err holds.
func (j *ciJob) failed(out io.Writer, o *outcome.Outcome, run int64, err error) error {
	note := ci.Note{Level: ci.LevelError, Code: "push-failed", Identity: "heapdrift-push",
		Title: "heapdrift push", Text: err.Error()}
	return errors.Join(j.system.Annotate(out, []ci.Note{note}), j.summarize(out, o, run, false))
}

// report prints the verdict and tells the system. The sentence and the page are the last two lines.
func (j *ciJob) report(out io.Writer, o *outcome.Outcome, v *push.RunVerdict, quiet bool) error {
	if !quiet {
		j.list(out, o, v)
	}
	if err := j.system.Annotate(out, notesOf(o)); err != nil {
		return err
	}
	if err := j.summarize(out, o, v.RunID, v.Rerun); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n%s\n", ci.Plain(strings.Join(strings.Fields(o.Sentence), " ")), o.URL)
	return err
}

// summarize tells the system the outcome; run is 0 where there is none.
func (j *ciJob) summarize(out io.Writer, o *outcome.Outcome, run int64, rerun bool) error {
	var markdown bytes.Buffer
	if err := outcome.Markdown(&markdown, o); err != nil {
		return err
	}
	number := ""
	if run != 0 {
		number = strconv.FormatInt(run, 10)
	}
	summary := ci.Summary{Markdown: markdown.String(), Sentence: o.Sentence, Failed: o.Gate == outcome.GateFailed,
		Outputs: []ci.Value{
			{Name: "gate", Text: o.Gate}, {Name: "url", Text: o.URL}, {Name: "run", Text: number},
			{Name: "sentence", Text: o.Sentence}, {Name: "rerun", Text: strconv.FormatBool(rerun)},
		}}
	for _, change := range []string{outcome.ChangeNew, outcome.ChangeGrown, outcome.ChangePersisting,
		outcome.ChangeKnown, outcome.ChangeFixed} {
		summary.Counts = append(summary.Counts, ci.Count{Name: change, N: o.Count(change)})
	}
	return j.system.Summarize(out, j.get, &summary)
}

// list prints the leaks: those that fail the gate unfolded, others folded where the system can fold text.
func (j *ciJob) list(out io.Writer, o *outcome.Outcome, v *push.RunVerdict) {
	var rest []*outcome.Leak
	for i := range o.Leaks {
		if l := &o.Leaks[i]; l.Fails {
			fmt.Fprintln(out, leakLine(l))
		} else {
			rest = append(rest, l)
		}
	}
	if len(rest) > 0 {
		j.system.Fold(out, "heapdrift_leaks", "heapdrift: "+restTitle(rest), func() {
			for _, l := range rest {
				fmt.Fprintln(out, leakLine(l))
			}
		})
	}
	for _, p := range o.Problems {
		fmt.Fprintln(out, "unread   "+ci.Plain(p))
	}
	if v.Baseline != nil {
		fmt.Fprintln(out, "baseline "+ci.Plain(v.Baseline.Build+": "+v.Baseline.Sentence))
	}
	if o.Matters != "" {
		fmt.Fprintln(out, ci.Plain(o.Matters))
	}
	if o.Power != "" {
		fmt.Fprintln(out, "power    "+ci.Plain(o.Power))
	}
	fmt.Fprintln(out, "gate     "+ci.Plain(strings.TrimSuffix(o.Gate+": "+o.Why, ": ")))
	if exitOfOutcome(o) == exitInconclusive {
		printUndecided(out, o, v)
	}
}

// maxUndecided is how many findings that are not decided the log lists; the page has them all.
const maxUndecided = 10

// printUndecided prints what is not decided, and what would decide it.
func printUndecided(out io.Writer, o *outcome.Outcome, v *push.RunVerdict) {
	for i := range v.Undecided[:min(len(v.Undecided), maxUndecided)] {
		fmt.Fprintln(out, "undecided "+ci.Plain(undecidedLine(&v.Undecided[i], o)))
	}
	if n := len(v.Undecided) - maxUndecided; n > 0 {
		fmt.Fprintf(out, "undecided %d more\n", n)
	}
	if v.Rerun {
		fmt.Fprintln(out, ci.Plain("Add one more run of this build, which would probably decide: heapdrift push --again"+
			flagText("project", o.Project)+flagText("build", o.Build)+flagText("scenario", o.Scenario)+" FILE…"))
	}
	if v.Record == nil {
		return
	}
	if v.Record.Command != "" {
		fmt.Fprintln(out, "record   "+ci.Plain(v.Record.Command))
	}
	fmt.Fprintln(out, "kit      "+ci.Plain(v.Record.Kit))
}

// undecidedLine says of a finding what the server knows of it.
func undecidedLine(u *push.Undecided, o *outcome.Outcome) string {
	title := u.Title
	for i := range o.Leaks {
		if l := &o.Leaks[i]; l.Signature == u.Signature {
			title = cmp.Or(title, l.Title)
		}
	}
	line := cmp.Or(title, u.Signature)
	if u.Change != "" {
		line += ": " + u.Change
	}
	if u.Bytes != nil {
		line += ", " + quantity.Bytes(int64(*u.Bytes))
	}
	if u.Probability != nil {
		line += fmt.Sprintf(", a leak with a probability of %.0f %%", *u.Probability*100)
	}
	return line
}

// flagText is a flag of a command line that a shell takes as it stands.
func flagText(name, value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r == ' ' || r == '#' || r == '@' }) {
		value = `"` + value + `"` // names hold no quotes
	}
	return " --" + name + " " + value
}

// restTitle counts the leaks that do not fail the gate.
func restTitle(rest []*outcome.Leak) string {
	var words []string
	counts := map[string]int{}
	for _, l := range rest {
		if counts[l.Word()]++; counts[l.Word()] == 1 {
			words = append(words, l.Word())
		}
	}
	for i, w := range words {
		words[i] = fmt.Sprintf("%d %s", counts[w], w)
	}
	return strings.Join(words, ", ") + ", which fail no gate"
}

// leakLine prints a leak in a line.
func leakLine(l *outcome.Leak) string {
	line := fmt.Sprintf("%-8s %s", l.Word(), cmp.Or(l.Title, l.Signature))
	if place := l.FileLine(); place != "" {
		line += " (" + place + ")"
	}
	if text := l.Text(); text != "" {
		line += "  " + text
	}
	if l.URL != "" {
		line += "  " + l.URL
	}
	return ci.Plain(line)
}

// notesOf are the annotations that the system shows beside the job and the sources: an error for each leak that fails
// the gate, a warning where the evidence does not decide.
func notesOf(o *outcome.Outcome) (notes []ci.Note) {
	for i := range o.Leaks {
		l := &o.Leaks[i]
		if !l.Fails {
			continue
		}
		n := ci.Note{Level: ci.LevelError, Code: "LEAK001", Identity: l.Signature, Title: l.Headline(),
			Text: strings.TrimSpace(l.Text() + " " + l.URL)}
		if l.InSource {
			n.File, n.Line = l.File, l.Line
		}
		notes = append(notes, n)
	}
	if o.Gate == outcome.GateFailed && len(notes) == 0 { // of something that is no leak of its own
		notes = append(notes, ci.Note{Level: ci.LevelError, Code: "gate-failed", Identity: "heapdrift-gate",
			Title: "heapdrift: gate failed", Text: cmp.Or(o.Why, o.Sentence)})
	}
	if o.Gate != outcome.GatePassed && o.Gate != outcome.GateFailed {
		notes = append(notes, ci.Note{Level: ci.LevelWarning, Code: "no-verdict", Identity: "heapdrift-gate",
			Title: "heapdrift: " + o.Gate, Text: o.Sentence})
	}
	for _, p := range o.Problems {
		notes = append(notes, ci.Note{Level: ci.LevelWarning, Code: "unread-evidence", Identity: "heapdrift-evidence",
			Title: "heapdrift: evidence not read", Text: p})
	}
	return notes
}
