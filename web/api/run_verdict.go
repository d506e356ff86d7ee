package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/kit"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
	"heapdrift/web/problem"
)

// maxWait is how long a request may wait for a verdict; proxies give up long before on more.
const maxWait = 5 * time.Minute

// verdictView is the decision on a run. New, grown, fixed and persisting are signatures that leak or grow, against the
// baseline; those that the team knows stand in Known alone.
type verdictView struct {
	Run    int64             `json:"run"`
	State  leaks.RunState    `json:"state"`
	Status string            `json:"status"`
	Gate   leaks.Gate        `json:"gate"`
	Why    string            `json:"why"` // by what the gate was decided
	FailOn []leaks.FailOn    `json:"fail_on"`
	Policy int               `json:"policy"` // version; 0 where the project has saved none
	Exit   int               `json:"exit"`   // what a CI job ends with
	Canary leaks.CanaryProof `json:"canary"`
	// Matters is from which growth on a leak matters; null while nothing is decided, and where the evidence cannot be
	// weighed.
	Matters    *leaks.DecisionThreshold `json:"matters"`
	Reasons    []leaks.Reason           `json:"reasons"`  // what fails, what doubts, then what is silenced; empty while nothing is decided
	Silenced   int                      `json:"silenced"` // how many of them say that a leak is silenced
	Baseline   *baselineView            `json:"baseline"` // null where there is none
	New        []string                 `json:"new"`
	Grown      []string                 `json:"grown"`
	Fixed      []string                 `json:"fixed"`
	Clean      []string                 `json:"clean"` // clean here, and not fixed by their state
	Persisting []string                 `json:"persisting"`
	Known      []string                 `json:"known"` // of the run, that fail no gate
	// NewRows and RegressedRows say in which interval the leaks came in, or came back.
	NewRows        []leaks.UntriagedLeak    `json:"new_rows"`
	RegressedRows  []leaks.UntriagedLeak    `json:"regressed_rows"`
	Causes         []leaks.LostTogether     `json:"causes"`    // of what leaks or grows and is lost together
	Undecided      []leaks.UndecidedFinding `json:"undecided"` // that could fail the gate
	Rerun          bool                     `json:"rerun"`     // one more run of the same kind would probably decide
	Next           *analysis.Next           `json:"next"`      // the evidence that would decide the run; null where it is decided
	Record         *recordView              `json:"record"`    // what would decide; null where the gate is decided, and where no recording would
	Power          string                   `json:"power"`     // what the evidence would have shown; "" where it could show nothing
	Sentence       string                   `json:"sentence"`
	URL            string                   `json:"url"`
	Pending        int                      `json:"pending"`
	FailedEvidence int                      `json:"failed_evidence"`

	made *leaks.Decision // nil while nothing is decided
}

// recordView is the recording that would decide a run.
type recordView struct {
	Command string `json:"command"` // of heapdrift record, filled in; "" where the evidence names no program
	Kit     string `json:"kit"`     // page with scripts that do the same
}

// recordOf is the recording that would decide a verdict; nil for none.
func recordOf(r *kit.Run, v *leaks.RunVerdict, server string) *recordView {
	order, ok := kit.Decide(r, v)
	if !ok {
		return nil
	}
	order.Server = server
	return &recordView{Command: order.RecordLine(), Kit: address.Kit(order.Project, order.Query())}
}

// baselineView is what a run was compared with, and what came of it.
type baselineView struct {
	Build    string  `json:"build"`
	Runs     []int64 `json:"runs"`
	Sentence string  `json:"sentence"`
	URL      string  `json:"url"` // the page of the comparison
}

// A verdictQuestion is whose verdict is asked for, against which build, and what fails the gate.
type verdictQuestion struct {
	run      int64
	baseline string // "" leaves the choice to the server
	failOn   []leaks.FailOn
	matters  *analysis.Threshold // nil for what the policy says
	server   string              // address under which the caller reaches it
}

func (q *verdictQuestion) gate() store.GateQuestion {
	return store.GateQuestion{Baseline: q.baseline, FailOn: q.failOn, Matters: q.matters}
}

// runVerdict handles GET /api/v1/runs/:id/verdict: it waits until no job is pending and says whether the gate is
// passed.
func (a *API) runVerdict(c echo.Context) error {
	q := verdictQuestion{server: c.Scheme() + "://" + c.Request().Host}
	var err error
	if q.run, err = runID(c); err != nil {
		return err
	}
	wait, err := waitTime(c.QueryParam("wait"))
	if err != nil {
		return err
	}
	if q.failOn, err = leaks.ParseFailOn(c.QueryParam("fail_on")); err != nil {
		return err
	}
	if q.matters, err = leaks.ParseAskedThreshold(c.QueryParam("matters")); err != nil {
		return err
	}
	if q.baseline, err = textParam(c, "baseline"); err != nil {
		return err
	}
	ctx := c.Request().Context()
	verdict, err := a.settled(ctx, &q, wait)
	if err != nil {
		return err
	}
	if verdict.made != nil { // what a CI job is told can be read later
		if err := a.store.CreateDecision(ctx, q.run, q.gate(), verdict.made); err != nil {
			return err
		}
	}
	if verdict.Gate == leaks.GatePending {
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		return fresh(c, http.StatusAccepted, verdict)
	}
	return fresh(c, http.StatusOK, verdict)
}

// settled returns the verdict when no job of the run is pending any more, or as it is when the time is up. Each look is
// a View of its own: none is held while waiting.
func (a *API) settled(ctx context.Context, q *verdictQuestion, wait time.Duration) (*verdictView, error) {
	changed, stop := a.watch(q.run)
	defer stop()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	poll := time.NewTicker(a.poll)
	defer poll.Stop()
	for {
		verdict, err := store.Read(ctx, a.store, func(v store.View) (*verdictView, error) { return readVerdict(ctx, v, q) })
		if err != nil || verdict.Gate != leaks.GatePending || wait == 0 {
			return verdict, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeout.C:
			wait = 0 // look once more, then answer
		case <-a.closing:
			return verdict, nil
		case <-changed:
		case <-poll.C:
		}
	}
}

func waitTime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 {
		return 0, problem.Invalid("wait", "wait: %q is not a duration such as 60s or 5m", text)
	}
	return min(wait, maxWait), nil
}

func readVerdict(ctx context.Context, v store.View, q *verdictQuestion) (*verdictView, error) {
	run, err := v.FindRun(ctx, q.run)
	if err != nil {
		return nil, err
	}
	verdict, err := v.FindVerdict(ctx, &run, q.gate())
	if err != nil {
		return nil, err
	}
	view := viewOfVerdict(&run, &verdict)
	if verdict.Gate != leaks.GateInconclusive && verdict.Next == nil {
		return view, nil
	}
	recorded := kit.Run{Project: run.Project, Scenario: run.Scenario, Build: run.Build}
	if recorded.Report, err = v.FindSummary(ctx, run.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	view.Record = recordOf(&recorded, &verdict, q.server)
	return view, nil
}

func viewOfVerdict(run *store.Run, v *leaks.RunVerdict) *verdictView {
	view := &verdictView{
		Run: run.ID, State: v.State, Status: v.Status, Gate: v.Gate, Why: v.Why, FailOn: filled(v.FailOn), Policy: v.Policy,
		Exit: v.Gate.ExitCode(), Reasons: []leaks.Reason{}, NewRows: []leaks.UntriagedLeak{},
		RegressedRows: []leaks.UntriagedLeak{},
		Undecided:     []leaks.UndecidedFinding{},
		New:           filled(v.New), Grown: filled(v.Grown),
		Fixed: filled(v.Fixed), Clean: filled(v.CleanButOpen), Persisting: filled(v.Persisting), Known: filled(v.Known),
		Causes: filled(v.Causes), Next: v.Next, Power: v.Power, Sentence: v.Sentence,
		URL: address.Run(run.ID), Pending: run.PendingJobs, FailedEvidence: run.FailedFiles,
	}
	for _, a := range v.Arrivals {
		if a.Change == leaks.FailOnRegressed {
			view.RegressedRows = append(view.RegressedRows, a)
		} else {
			view.NewRows = append(view.NewRows, a)
		}
	}
	if d := v.Decision; d != nil {
		view.Undecided, view.Rerun = filled(d.Undecided), d.Rerun
		view.Matters = d.Matters
		view.made, view.Canary, view.Reasons, view.Silenced = d, d.Canary, d.Reasons, len(d.SilencedReasons())
	}
	if c := v.Compared; c != nil {
		view.Baseline = &baselineView{
			Build: c.Base.Build, Runs: filled(c.Base.RunIDs), Sentence: c.Sentence,
			URL: address.Compare(c.Project, c.Scenario, c.Base.Build, run.Build),
		}
	}
	return view
}
