package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
)

// runView is a run as the API shows it.
type runView struct {
	ID          int64          `json:"id"`
	Project     string         `json:"project"`
	Build       string         `json:"build"`
	Branch      string         `json:"branch"`
	Commit      string         `json:"commit,omitempty"`
	Scenario    string         `json:"scenario"`
	Name        string         `json:"name"`
	State       string         `json:"state"`
	Complete    bool           `json:"complete"` // no more evidence is to come
	CreatedAt   time.Time      `json:"created_at"`
	CompletedAt *time.Time     `json:"completed_at"`
	AnalysedAt  *time.Time     `json:"analysed_at"`
	Status      string         `json:"status"`   // of the verdict; "" before the first
	Sentence    string         `json:"sentence"` // of the verdict
	Sites       int64          `json:"sites"`
	Process     string         `json:"process"` // that was chosen for the report
	Processes   []processView  `json:"processes"`
	Progress    progressView   `json:"progress"`
	Evidence    []evidenceView `json:"evidence"`
	Error       *errorView     `json:"error"`
	Hold        *leaks.Hold    `json:"hold"` // nil where nothing but the project is held
	// Warnings say what is odd about the build.
	Warnings []leaks.BuildWarning `json:"warnings"`
	Links    linksView            `json:"links"`
}

type progressView struct {
	Pending int       `json:"pending"` // jobs queued or running
	Percent int       `json:"percent"` // mean of all jobs so far
	Jobs    []jobView `json:"jobs"`
}

type jobView struct {
	ID       int64      `json:"id"`
	Kind     string     `json:"kind"`
	Evidence *int64     `json:"evidence"`
	State    string     `json:"state"`
	Attempt  int        `json:"attempt"`
	Percent  int        `json:"percent"`
	Stage    string     `json:"stage"`
	Error    *errorView `json:"error"`
}

type evidenceView struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	SHA256     string     `json:"sha256"`
	Bytes      int64      `json:"bytes"`
	Kind       string     `json:"kind"`
	State      string     `json:"state"`
	ReadWith   *int64     `json:"read_with"` // the file that this one is one trace with, and that has what was read
	Error      *errorView `json:"error"`
	UploadedAt time.Time  `json:"uploaded_at"`
	ExpiredAt  *time.Time `json:"expired_at"` // when the file was deleted; what was read of it stays
}

type errorView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type linksView struct {
	Self     string `json:"self"`
	Page     string `json:"page"`
	Report   string `json:"report"`
	Verdict  string `json:"verdict"`
	Complete string `json:"complete"`
}

// runShow handles GET /api/v1/runs/:id: how far a run is and what it consists of.
func (a *API) runShow(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	return a.sendRun(c, http.StatusOK, id)
}

func (a *API) sendRun(c echo.Context, status int, id int64) error {
	ctx := c.Request().Context()
	view, err := store.Read(ctx, a.store, func(v store.View) (*runView, error) { return readRun(ctx, v, id) })
	if err != nil {
		return err
	}
	return fresh(c, status, view)
}

func readRun(ctx context.Context, v store.View, id int64) (*runView, error) {
	run, err := v.FindRun(ctx, id)
	if err != nil {
		return nil, err
	}
	jobs, err := v.ListJobs(ctx, id)
	if err != nil {
		return nil, err
	}
	evidence, err := v.ListEvidence(ctx, id)
	if err != nil {
		return nil, err
	}
	processes, _, err := v.ListProcesses(ctx, id, maxProcesses)
	if err != nil {
		return nil, err
	}
	hold, err := v.FindRunHold(ctx, id)
	if err != nil {
		return nil, err
	}
	warnings, err := v.ListRunWarnings(ctx, id)
	if err != nil {
		return nil, err
	}
	view := viewOf(&run, jobs, evidence)
	view.Warnings, view.Hold = filled(warnings), utcHold(hold)
	view.Processes = viewOfProcesses(processes)
	return &view, nil
}

func viewOf(run *store.Run, jobs []store.Job, evidence []store.Evidence) runView {
	view := runView{
		ID: run.ID, Project: run.Project, Build: run.Build, Branch: run.Branch, Commit: run.Commit,
		Scenario: run.Scenario, Name: run.Name,
		State: string(run.State()), Complete: run.CompletedAt != nil,
		CreatedAt: run.CreatedAt.UTC(), CompletedAt: utc(run.CompletedAt), AnalysedAt: utc(run.AnalysedAt),
		Status: run.Status, Sentence: run.Sentence, Sites: run.SiteCount, Process: run.ChosenProcess,
		Error:    viewOfError(run.ErrorCode, run.Error),
		Progress: progressView{Pending: run.PendingJobs, Jobs: []jobView{}}, Evidence: []evidenceView{},
		Links: linksView{
			Self: runResource(run.ID), Page: address.Run(run.ID), Report: runResource(run.ID) + "/report",
			Verdict: runResource(run.ID) + "/verdict", Complete: runResource(run.ID) + "/complete",
		},
	}
	done := 0
	for _, j := range jobs {
		if j.State == "done" || j.State == "failed" {
			j.Percent = 100 // nothing more is to come of it
		}
		done += j.Percent
		view.Progress.Jobs = append(view.Progress.Jobs, jobView{
			ID: j.ID, Kind: j.Kind, Evidence: j.EvidenceID, State: j.State, Attempt: j.Attempt,
			Percent: j.Percent, Stage: j.Stage,
			Error: viewOfError(j.ErrorCode, j.Error),
		})
	}
	if len(jobs) > 0 {
		view.Progress.Percent = done / len(jobs)
	}
	for _, e := range evidence {
		view.Evidence = append(view.Evidence, evidenceView{
			ID: e.ID, Name: e.Name, SHA256: e.SHA256, Bytes: e.Bytes, Kind: e.Kind, State: e.State, ReadWith: e.ReadWith,
			Error: viewOfError(e.ErrorCode, e.Error), UploadedAt: e.UploadedAt.UTC(),
			ExpiredAt: utc(e.ExpiredAt),
		})
	}
	return view
}

func viewOfError(code, message string) *errorView {
	if code == "" {
		return nil
	}
	return &errorView{code, message}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
