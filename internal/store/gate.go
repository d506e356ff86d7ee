package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A GateQuestion is what a call asks of a gate in addition to the policy.
type GateQuestion struct {
	Baseline string              // the build to compare with; "" leaves the choice to leaks.ChooseBaseline
	FailOn   []leaks.FailOn      // nil for nothing more
	Matters  *analysis.Threshold // growth from which a leak matters; it may only be lower than the policy's; nil for none
}

// FindVerdict decides whether a run passes its gate under the present policy. Its error is a *leaks.FieldError where
// the baseline cannot be one.
func (v View) FindVerdict(ctx context.Context, run *Run, q GateQuestion) (leaks.RunVerdict, error) {
	file, err := v.FindPolicy(ctx, run.Project)
	if err != nil {
		return leaks.RunVerdict{}, err
	}
	result, c, err := v.gateCase(ctx, run, q, &file)
	if err != nil {
		return leaks.RunVerdict{}, err
	}
	verdict := leaks.Judge(result, c)
	verdict.Policy, verdict.FailOn = file.Version, file.Policies.For(run.Scenario).TightenedFailOn(file.Version, q.FailOn)
	return verdict, nil
}

// gateCase reads the facts about a run and the case that its gate decides on, which is nil where the run is not judged.
func (v View) gateCase(ctx context.Context, run *Run, q GateQuestion, file *PolicyFile) (*leaks.RunResult,
	*leaks.GateCase, error) {
	result := &leaks.RunResult{RunFacts: run.facts(), Status: analysis.VerdictStatus(run.Status),
		Sentence: run.Sentence, Error: run.Error}
	if !result.IsJudged() {
		var err error
		if result.State() == leaks.RunFailed && !result.Failed {
			result.Unreadable, err = v.firstFailure(ctx, run.ID)
		}
		return result, nil, err
	}
	c := &leaks.GateCase{Asked: q.FailOn, AskedMatters: q.Matters, BaselineNamed: q.Baseline != ""}
	var err error
	if result.Next, err = v.next(ctx, run.ID); err != nil {
		return nil, nil, err
	}
	if c.Head, err = v.FindRunResult(ctx, run.ID); err != nil {
		return nil, nil, err
	}
	if c.Compared, err = v.withBaseline(ctx, run, c.Head, q.Baseline); err != nil {
		return nil, nil, err
	}
	if err := v.origins(ctx, run, c); err != nil {
		return nil, nil, err
	}
	if err := v.risks(ctx, run.ID, c); err != nil {
		return nil, nil, err
	}
	if c.Causes, err = v.ListCauses(ctx, run.ID); err != nil {
		return nil, nil, err
	}
	return result, c, v.underPolicy(ctx, run, c, file)
}

// underPolicy applies policies to a case, and reads the further facts that they need.
func (v View) underPolicy(ctx context.Context, run *Run, c *leaks.GateCase, file *PolicyFile) (err error) {
	c.Version, c.Matters = file.Version, file.Policies.RequestedThreshold(run.Scenario)
	if c.Policy, err = v.rooted(ctx, run.Project, file.Policies.For(run.Scenario)); err != nil {
		return err
	}
	if c.Process == "" && c.Policy.NamesProcess() {
		head, err := v.FindSummary(ctx, run.ID)
		if err != nil {
			return err
		}
		c.Process = head.Process.Name
	}
	if c.Release == nil && c.Policy.Drift != nil {
		if err := v.readRelease(ctx, run, c); err != nil {
			return err
		}
	}
	if c.Policy.Noise != nil {
		c.FoundInPastRuns, err = v.past(ctx, run, c)
	}
	return err
}

// rooted is a policy that names signatures as findings do. A signature that was merged into another, or whose frames
// got their names since, is found by its former name too.
func (v View) rooted(ctx context.Context, project string, p *leaks.Policy) (*leaks.Policy, error) {
	names := []string{p.Canary}
	for i := range p.Budgets {
		if p.Budgets[i].Scope == leaks.BudgetSignature {
			names = append(names, p.Budgets[i].Name)
		}
	}
	type row struct{ Former, Name string }
	rows, err := db.All[row](ctx, db.Q(v), `
		select s.text as former, root.text as name from signatures s join signatures root on root.id = s.root_id join projects p on p.id = s.project_id
		where p.name = $1 and s.text = any($2) and s.id <> s.root_id`, project, names)
	if err != nil || len(rows) == 0 {
		return p, db.Wrap("signatures of a policy", err)
	}
	now := *p
	now.Budgets = slices.Clone(p.Budgets)
	for _, r := range rows {
		if now.Canary == r.Former {
			now.Canary = r.Name
		}
		for i := range now.Budgets {
			if b := &now.Budgets[i]; b.Scope == leaks.BudgetSignature && b.Name == r.Former {
				b.Name = r.Name
			}
		}
	}
	return &now, nil
}

// readRelease reads the release that drift is compared with, where there is one.
func (v View) readRelease(ctx context.Context, run *Run, c *leaks.GateCase) error {
	heads, err := candidates(ctx, db.Q(v), run.Project, run.Scenario, `b.name = $3`, run.Build)
	if err != nil || len(heads) == 0 {
		return db.Wrap("release", err)
	}
	list, err := candidates(ctx, db.Q(v), run.Project, run.Scenario, `b.pinned and $3 = ''`, "")
	if err != nil {
		return db.Wrap("release", err)
	}
	if name := leaks.NewestReleaseBefore(heads[0].BaselineCandidate, bare(list)); name != "" {
		c.Release, err = v.FindBuildResult(ctx, run.Project, run.Scenario, name)
	}
	return err
}

// pastRuns is how many runs are read for each one that a noise guard looks at: some decide nothing about a signature.
const pastRuns = 4

// past reads whether the last runs of the scenario, on the branch of the run, found the leaks of a case. Runs are
// ordered by build and name, and not by when they came.
func (v View) past(ctx context.Context, run *Run, c *leaks.GateCase) (map[string][]bool, error) {
	var signatures []string
	for i := range c.Head.Findings {
		if f := &c.Head.Findings[i]; f.Class.IsSuspect() {
			signatures = append(signatures, f.Signature)
		}
	}
	type row struct {
		Text, Class, Status string
		At                  int
		Certain, Absent     bool
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		with here as (select r.scenario_id, r.name, b.branch, b.place, b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1),
		last as (
			select r.id, r.status, b.place, r.name from runs r join builds b on b.id = r.build_id, here
			where r.scenario_id = here.scenario_id and b.branch = here.branch and r.analysed_at is not null
				and (b.place, r.name collate "C") <= (here.place, here.name collate "C")
			order by b.place desc, r.name collate "C" desc limit $3),
		numbered as (select id, status, row_number() over (order by place, name collate "C")::int as at from last),
		leak as (select s.id, s.text, s.only_at_exit from signatures s, here where s.project_id = here.project_id and s.text = any($2))
		select leak.text, f.class, n.status, n.at, f.certain, false as absent
			from leak join signatures own on own.root_id = leak.id join findings f on f.signature_id = own.id join numbered n on n.id = f.run_id
			where not (leak.only_at_exit and `+silentAtExit+`)
		union all
		select leak.text, '' as class, n.status, n.at, false as certain, true as absent
			from leak join absences a on a.signature_id = leak.id join numbered n on n.id = a.run_id
			where not exists (select from signatures own join findings f on f.signature_id = own.id where own.root_id = leak.id and f.run_id = a.run_id and not (a.frame = '' and `+silentAtExit+`))
		order by 1, 4`, run.ID, signatures, pastRuns*c.Policy.Noise.Runs)
	if err != nil {
		return nil, db.Wrap("past of a run", err)
	}
	list := make([]leaks.PastFinding, len(rows))
	for i, r := range rows {
		list[i] = leaks.PastFinding{Signature: r.Text, RunOrder: r.At, Class: analysis.Class(r.Class), Certain: r.Certain,
			Status: analysis.VerdictStatus(r.Status), Absent: r.Absent}
	}
	return leaks.FoundInPastRuns(list), nil
}

// next is the evidence that would decide a run, as its report has it; nil where that is decided, or of before there was
// this.
func (v View) next(ctx context.Context, run int64) (*analysis.Next, error) {
	text, err := db.Value[[]byte](ctx, db.Q(v), `select coalesce(summary->'verdict'->'next', 'null') from runs where id = $1`, run)
	if err != nil {
		return nil, db.Wrap("what would decide", err)
	}
	var next *analysis.Next
	if err := json.Unmarshal(text, &next); err != nil {
		return nil, fmt.Errorf("store: what would decide run %d: %w", run, err)
	}
	return next, nil
}
