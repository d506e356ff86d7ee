package run

import (
	"context"
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A progress is how far a run's evidence is on its way to the report.
type progress struct {
	run   int64
	state leaks.RunState
	code  string // why the last analysis gave nothing
	files []fileProgress
	// naming is the last job that names frames, analysis the last that makes the report; nil before they are queued.
	naming, analysis *store.Job
	done             int // files that need nothing more
	reported         bool
}

// A fileProgress is a piece of evidence with the job that reads it.
type fileProgress struct {
	store.Evidence
	job *store.Job // the last one; nil where there is none
}

func progressOf(ctx context.Context, v store.View, run store.Run, evidence []store.Evidence) (progress, error) {
	g := progress{run: run.ID, state: run.State(), code: run.ErrorCode, reported: run.AnalysedAt != nil}
	if g.state == leaks.RunReady {
		return g, nil // nobody looks at the stages any more
	}
	jobs, err := v.ListJobs(ctx, run.ID)
	if err != nil {
		return g, err
	}
	reads := map[int64]*store.Job{}
	for i := range jobs {
		switch j := &jobs[i]; {
		case j.EvidenceID != nil:
			reads[*j.EvidenceID] = j
		case j.Kind == store.JobSymbolise:
			g.naming = j
		default:
			g.analysis = j
		}
	}
	for _, e := range evidence {
		if e.State != "stored" {
			g.done++
		}
		g.files = append(g.files, fileProgress{e, reads[e.ID]})
	}
	return g, nil
}

// headline sums the stages up.
func (g progress) headline() string {
	switch {
	case g.state == leaks.RunFailed && g.unread() < len(g.files):
		return ui.AnalysisFailure(g.code, "The evidence could not be analysed")
	case g.state == leaks.RunFailed:
		return ui.FilesFailure(len(g.files), g.fileCode())
	case g.state == leaks.RunEmpty:
		return "No evidence: upload a file for this run"
	case g.isReading():
		return fmt.Sprintf("Reading the evidence: %d of %s done", g.done, quantity.Plural(len(g.files), "file"))
	case isPending(g.naming):
		return "Resolving symbols"
	}
	return "Analysing"
}

// partial says what the report of a run that is worked on lacks; "" where there is none.
func (g progress) partial() string {
	switch {
	case !g.reported:
		return ""
	case g.isReading():
		return fmt.Sprintf("The run has %s to read. This report will change.", quantity.Plural(len(g.files)-g.done, "file"))
	}
	return "A newer report is being made. This report will change."
}

// unread is how many files failed.
func (g progress) unread() int {
	n := 0
	for _, f := range g.files {
		if f.State == "failed" {
			n++
		}
	}
	return n
}

// fileCode is why the files failed; "" where they did for several reasons.
func (g progress) fileCode() string {
	code := g.files[0].ErrorCode
	for _, f := range g.files[1:] {
		if f.ErrorCode != code {
			return ""
		}
	}
	return code
}

// A stage is one part of the way, with where it stands: done, now, failed, or "" for what is to come.
type stage struct{ name, state string }

// stages of a file: what a job calls its present stage stands in the place of the general one.
func (f fileProgress) stages() []stage {
	list := []stage{{"uploaded", "done"}, {"recognised as " + formats.Name(f.Kind), "done"}, {"read", ""}}
	read := &list[2]
	switch {
	case f.State == "read":
		read.state = "done"
		if f.ReadWith != nil {
			read.name = "read as one trace with others"
		}
	case f.State == "failed" && ui.IsFileRead(f.ErrorCode):
		read.name, read.state = "read: no usable data", "failed"
	case f.State == "failed":
		read.name, read.state = "not read", "failed"
	case f.job == nil || f.job.State == "queued":
		read.name, read.state = "waiting for a worker", "now"
		if f.job != nil {
			read.name = waitsFor(f.job)
		}
	default:
		read.name, read.state = jobStage(f.job), "now"
	}
	return list
}

func (f fileProgress) percent() int {
	if f.State == "read" {
		return 100
	}
	return jobPercent(f.job)
}

// jobStage is what a running job does.
func jobStage(j *store.Job) string {
	name := j.Stage
	if name == "" {
		name = "starting"
	}
	if j.Attempt > 1 {
		name += fmt.Sprintf(" (attempt %d)", j.Attempt)
	}
	return name
}

func jobPercent(j *store.Job) int {
	if j == nil {
		return 0
	}
	return j.Percent
}

// isReading reports whether evidence is still to be read: what comes behind it begins anew then.
func (g progress) isReading() bool { return g.done < len(g.files) }

// namingStages are those of the search for symbols.
func (g progress) namingStages() (percent int, list []stage) {
	if g.naming == nil || g.isReading() && !isRunning(g.naming) {
		return 0, []stage{{"waits for the evidence", ""}}
	}
	return g.naming.Percent, jobStages(g.naming)
}

// reportStages are those of the analysis.
func (g progress) reportStages() (percent int, list []stage) {
	switch {
	case isRunning(g.analysis):
	case isPending(g.naming):
		return 0, []stage{{"waits for symbols", ""}}
	case g.analysis == nil || g.isReading():
		return 0, []stage{{"waits for the evidence", ""}}
	}
	return g.analysis.Percent, jobStages(g.analysis)
}

func isPending(j *store.Job) bool { return j != nil && (j.State == "queued" || j.State == "running") }
func isRunning(j *store.Job) bool { return j != nil && j.State == "running" }

// waitsFor says for what a queued job waits.
func waitsFor(j *store.Job) string {
	switch {
	case j.ErrorCode == store.CodeOutage:
		return "waiting for a worker: " + j.Error
	case j.Attempt > 0:
		return fmt.Sprintf("waiting to retry; attempt %d failed: %s", j.Attempt, j.Error)
	}
	return "waiting for a worker"
}

// jobStages are those of a job that stands for a whole run.
func jobStages(j *store.Job) []stage {
	switch j.State {
	case "queued":
		return []stage{{waitsFor(j), "now"}}
	case "running":
		return []stage{{jobStage(j), "now"}}
	case "failed":
		return []stage{{"failed", "failed"}}
	}
	return []stage{{"done", "done"}}
}
