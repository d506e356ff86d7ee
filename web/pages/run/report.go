package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/store"
)

// A phrase is a part of the verdict's sentence and how it is set.
type phrase struct{ text, style string }

// sentence sets what was seen in bold and the name of the function to blame as code.
func (r *reportView) sentence() []phrase {
	seen, rest, found := strings.Cut(r.Verdict.Sentence, "; ")
	phrases := []phrase{{seen, "strong"}}
	if !found {
		return phrases
	}
	// Of a trace without a certain leak, what was allocated matters less than what is left of it.
	if rest = "; " + rest; r.Trace != nil && r.Verdict.Status != analysis.StatusLeak {
		end := len(rest)
		for _, behind := range []string{", the most,", "; "} {
			if at := strings.Index(rest[2:], behind); at >= 0 {
				end = min(end, at+2)
			}
		}
		phrases = []phrase{{seen + rest[:2], ""}, {rest[2:end], "strong"}}
		rest = rest[end:]
	}
	for _, name := range r.blamed() {
		if before, after, found := strings.Cut(rest, name); found {
			return append(phrases, phrase{before, ""}, phrase{name, "code"}, phrase{after, ""})
		}
	}
	return append(phrases, phrase{rest, ""})
}

// blamed are the names of functions that the sentence may have.
func (r *reportView) blamed() []string {
	var names []string
	for i := range r.suspects {
		if b := r.suspects[i].Blame; b != nil && b.Function != "" {
			names = append(names, b.Module+"!"+b.Function)
		}
	}
	if r.top != nil && r.top.Blame != "" {
		names = append(names, r.top.Blame)
	}
	return names
}

// confidence is the small line below the verdict's word.
func (r *reportView) confidence() string {
	switch n := r.Verdict.SnapshotsMissing; {
	case n > 0 && len(r.suspects) > 0 && r.suspects[0].Class == analysis.ClassUnreferenced:
		return "unreferenced"
	case n > 0:
		return quantity.Plural(n, "more snapshot") + " needed"
	case r.Verdict.Causes > 0 && r.Verdict.Causes < r.Verdict.Leaks:
		return fmt.Sprintf("%s in %d stacks", quantity.Plural(r.Verdict.Causes, "leak"), r.Verdict.Leaks)
	case r.Verdict.Leaks > 0:
		return quantity.Plural(r.Verdict.Leaks, "leak")
	case r.atExit():
		return "at exit"
	case r.Trace != nil:
		return "over " + clock(r.Trace.ToNS-r.Trace.FromNS)
	}
	return "over " + quantity.Plural(len(r.Snapshots), "snapshot")
}

// atExit reports whether the evidence is lists of what was left when the process ended, and nothing else.
func (r *reportView) atExit() bool {
	return len(r.Snapshots) == 1 && len(r.suspects) > 0 && r.suspects[0].Class == analysis.ClassLeftAtExit
}

// process names whose memory it is.
func (r *reportView) process() (name, rest string) {
	name = r.Process.Name
	if name == "" {
		name = "unnamed process"
	}
	switch r.Process.Bits {
	case 64:
		rest += " x64"
	case 32:
		rest += " x86"
	}
	if r.Process.PID != 0 {
		rest += fmt.Sprintf(", PID %d", r.Process.PID)
	}
	return name, rest
}

// duration is over how long the snapshots were taken; "" where their times do not say.
func (r *reportView) duration() string {
	if whole := time.Duration(r.Snapshots[len(r.Snapshots)-1].AtNS); whole > 0 {
		return quantity.ShortDuration(whole)
	}
	return ""
}

// taken is when the first snapshot was taken, by the clock of the traced machine.
func (r *reportView) taken() string { return localTime(r.Snapshots[0].TakenAt) }

// shownWarnings is how many warnings stand on the page before the rest folds.
const shownWarnings = 3

// warnings are those that limit the verdict, then the others.
func (r *reportView) warnings() []analysis.Warning {
	list := slices.Clone(r.Warnings)
	slices.SortStableFunc(list, func(a, b analysis.Warning) int {
		return cmp.Compare(gravity(a), gravity(b))
	})
	return list
}

func gravity(w analysis.Warning) int {
	if w.Code.Lossy() {
		return 0
	}
	return 1
}

func warningKind(w analysis.Warning) string {
	if w.Code.Lossy() {
		return "warn"
	}
	return "info"
}

// where is the file and place of a warning, as far as its message does not say them.
func where(w analysis.Warning) string {
	var parts []string
	if w.File != "" && !strings.Contains(w.Message, w.File) {
		parts = append(parts, w.File)
	}
	if w.Place != "" {
		parts = append(parts, w.Place)
	}
	return strings.Join(parts, ", ")
}

// An evidenceView is a file with what was found in it, as far as the report rests on it.
type evidenceView struct {
	store.Evidence
	found *analysis.Evidence
}

func (v runView) files() []evidenceView {
	list := make([]evidenceView, len(v.evidence))
	for i, e := range v.evidence {
		list[i].Evidence = e
		if v.report == nil {
			continue
		}
		at := slices.IndexFunc(v.report.Evidence,
			func(r analysis.Evidence) bool { return r.SHA256 == e.SHA256 && r.File == e.Name })
		if at >= 0 {
			list[i].found = &v.report.Evidence[at]
		}
	}
	return list
}

// kind is what a file is: as the report says, else as it was recognised at the door.
func (e evidenceView) kind() string {
	if e.found != nil && e.found.Kind != "" {
		return e.found.Kind
	}
	return e.Kind
}

// failed are the files that could not be read.
func (v runView) failed() []store.Evidence {
	var list []store.Evidence
	for _, e := range v.evidence {
		if e.State == "failed" {
			list = append(list, e)
		}
	}
	return list
}

// downloadNotes say what each format is for.
var downloadNotes = map[string]string{
	"text": "plain text", "json": "everything", "markdown": "for a pull request", "folded": "for flame graphs",
	"csv":       "for a spreadsheet",
	"umdh-text": "UMDH difference", "pprof": "for go tool pprof", "speedscope": "for speedscope.app",
	"sarif": "for code scanning", "junit": "for CI systems",
}

func downloads() []export.Format { return export.Formats }

// reportURL is the report of a window of a trace, or the whole one, in a format.
func reportURL(run int64, format string, w timeWindow) string {
	address := fmt.Sprintf("/api/v1/runs/%d/report?format=%s", run, format)
	if w.isChosen() {
		address += "&window=" + seconds(w.From) + "," + seconds(w.To)
	}
	return address + "&download=1"
}

// allocationsURL is the allocation table of a trace.
func allocationsURL(run int64) string {
	return fmt.Sprintf("/api/v1/runs/%d/allocations?download=1", run)
}
