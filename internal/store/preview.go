package store

import (
	"context"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

const (
	previewRuns   = 50   // newest runs on which other rules and policies are tried
	previewStacks = 5000 // stacks of those
)

// FindRuleTrial returns what changed rules of a project can be tried on, or ErrNotFound.
func (v View) FindRuleTrial(ctx context.Context, project string) (*leaks.RuleTrial, error) {
	present, err := v.FindRules(ctx, project)
	if err != nil {
		return nil, err
	}
	t := &leaks.RuleTrial{PresentRules: present.Text, Runs: map[int64]*leaks.RuleContext{}}
	if t.Stacks, err = v.ListRuleStacks(ctx, project, previewStacks); err != nil {
		return nil, err
	}
	own, err := v.ListOwnModules(ctx)
	if err != nil {
		return nil, err
	}
	for i := range t.Stacks {
		run := t.Stacks[i].RunID
		if t.Runs[run] != nil {
			continue
		}
		head, err := v.FindSummary(ctx, run)
		if err != nil {
			return nil, err
		}
		t.Runs[run] = leaks.NewRuleContext(head, own)
	}
	tolerated, err := db.Values[string](ctx, db.Q(v), `
		select own.text from signatures own join signatures s on s.id = own.root_id join projects p on p.id = s.project_id
		where p.name = $1 and (s.not_leak or s.mark = 'known' and not `+untilOver+`)`, project)
	if err != nil {
		return nil, db.Wrap("tolerated signatures", err)
	}
	t.Tolerated = make(map[string]bool, len(tolerated))
	for _, text := range tolerated {
		t.Tolerated[text] = true
	}
	file, err := v.FindPolicy(ctx, project)
	if err != nil {
		return nil, err
	}
	t.Cases, err = v.pastCases(ctx, project, &file)
	return t, err
}

// PreviewPolicy says what changed policies of a project would do to its newest runs. It saves nothing. It returns
// ErrNotFound for no project.
func (v View) PreviewPolicy(ctx context.Context, project string, policies leaks.Policies) (*leaks.Impact, error) {
	file, err := v.FindPolicy(ctx, project)
	if err != nil {
		return nil, err
	}
	cases, err := v.pastCases(ctx, project, &file)
	if err != nil {
		return nil, err
	}
	then := make([]leaks.PastCase, len(cases))
	for i := range cases {
		then[i] = cases[i]
		then[i].GateCase = new(*cases[i].GateCase)
		run, err := v.FindRun(ctx, cases[i].RunID)
		if err != nil {
			return nil, err
		}
		if err := v.underPolicy(ctx, &run, then[i].GateCase,
			&PolicyFile{Version: file.Version + 1, Policies: policies}); err != nil {
			return nil, err
		}
	}
	return leaks.ImpactOf(ctx, cases, then)
}

// pastCases reads what gates of the newest runs decide on under policies. Runs that are not judged are left out.
func (v View) pastCases(ctx context.Context, project string, file *PolicyFile) ([]leaks.PastCase, error) {
	runs, err := db.All[Run](ctx, db.Q(v), `select `+runColumns+runTables+
		` where p.name = $1 and r.analysed_at is not null order by `+newestFirst+`, r.id desc limit $2`, project, previewRuns)
	if err != nil {
		return nil, db.Wrap("runs of a preview", err)
	}
	return v.casesOf(ctx, runs, file)
}

// casesOf reads what gates of runs decide on under policies. Runs that are not judged are left out.
func (v View) casesOf(ctx context.Context, runs []Run, file *PolicyFile) ([]leaks.PastCase, error) {
	var list []leaks.PastCase
	for i := range runs {
		r := &runs[i]
		_, c, err := v.gateCase(ctx, r, GateQuestion{}, file)
		if err != nil {
			return nil, err
		}
		if c != nil {
			list = append(list, leaks.PastCase{RunID: r.ID, Build: r.Build, Scenario: r.Scenario, Name: r.Name, GateCase: c})
		}
	}
	return list, nil
}

// ListRuleStacks returns the distinct stacks of sites that leak or grow in the newest runs of a project, those of the
// newest run first, and at most limit; or ErrNotFound.
func (v View) ListRuleStacks(ctx context.Context, project string, limit int) ([]leaks.RuleStack, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	type row struct {
		StackID     int64
		Kind        string
		RunID       int64
		Text, Title string
		Told        bool
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		with newest as (
			select r.id from runs r join builds b on b.id = r.build_id where b.project_id = $1 and r.analysed_at is not null order by r.id desc limit $2),
		bad as (
			select distinct on (st.stack_id, st.kind) st.stack_id, st.kind, st.run_id, st.ordinal, st.signature_id
			from newest n join findings f on f.run_id = n.id and f.class`+suspect+`
				join sites st on st.run_id = n.id and st.signature_id = f.signature_id
			where st.stack_id is not null and st.verdict`+suspect+` order by st.stack_id, st.kind, st.run_id desc)
		select bad.stack_id, bad.kind, bad.run_id, s.text, s.title, s.not_leak or s.mark = 'known' and not `+untilOver+` as told
		from bad join signatures own on own.id = bad.signature_id join signatures s on s.id = own.root_id order by bad.run_id desc, bad.ordinal limit $3`, id, previewRuns, limit)
	if err != nil {
		return nil, db.Wrap("stacks of rules", err)
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].StackID
	}
	frames, err := v.ListStackFrames(ctx, ids)
	if err != nil {
		return nil, err
	}
	list := make([]leaks.RuleStack, len(rows))
	for i, r := range rows {
		list[i] = leaks.RuleStack{Frames: frames[r.StackID], Kind: r.Kind, RunID: r.RunID, Signature: r.Text,
			Title: r.Title, Tolerated: r.Told}
	}
	return list, nil
}
