package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// origins reads since when the findings of a case are there, on the line and in the scenario of its run.
func (v View) origins(ctx context.Context, run *Run, c *leaks.GateCase) error {
	type place struct {
		ProjectID, BuildID, ScenarioID int64
		Suffices                       bool
	}
	at, err := db.One[place](ctx, db.Q(v), `
		select b.project_id, r.build_id, r.scenario_id, r.suffices from runs r join builds b on b.id = r.build_id where r.id = $1`, run.ID)
	if err != nil {
		return db.Wrap("run", err)
	}
	h, err := readHistories(ctx, db.Q(v), at.ProjectID)
	if err != nil {
		return db.Wrap("histories", err)
	}
	line := h.lines.OfBuild(at.BuildID)
	head := line.IndexOf(at.BuildID)
	first, ran := h.firstOn(line)[at.ScenarioID]
	c.Suffices, c.FirstBuild, c.Origins = at.Suffices, !ran || first >= head, map[string]leaks.Origin{}
	var texts []string
	for i := range c.Head.Findings {
		if f := &c.Head.Findings[i]; f.Class.IsSuspect() {
			texts = append(texts, f.Signature)
		}
	}
	type row struct {
		ID   int64
		Text string
		leaks.TriageDecision
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select s.id, s.text, `+triageDecisionColumns+` from signatures s where s.project_id = $1 and s.text = any($2) and s.alias_of is null`, at.ProjectID, texts)
	if err != nil || len(rows) == 0 {
		return db.Wrap("signatures of a run", err)
	}
	subjects := make(map[int64]*subject, len(rows))
	for i := range rows {
		subjects[rows[i].ID] = &subject{id: rows[i].ID, word: rows[i].TriageDecision}
	}
	// What newer builds show is not known to this one.
	if err := h.read(ctx, subjects, runScope{scenario: at.ScenarioID, builds: line.BuildIDsUpTo(at.BuildID)}); err != nil {
		return db.Wrap("histories", err)
	}
	for i := range rows {
		s := subjects[rows[i].ID]
		s.runs = slices.DeleteFunc(s.runs, func(r leaks.RunSighting) bool { // absences are read of all builds
			build := line.IndexOf(r.BuildID)
			return build < 0 || build > head
		})
		past := leaks.PastLine{BuildLine: line, HeadIndex: head, ScenarioID: at.ScenarioID,
			Sightings: leaks.SightingsOn(line, s.runs, leaks.SlowestRatesOf(s.runs)), Marks: h.marksOn(line, s),
			FailedHere: slices.ContainsFunc(s.failed, func(f failedRun) bool { return f.build == at.BuildID && f.run < run.ID }),
			Owner:      s.word.Assignee, Name: h.lines.BuildName, AtExit: leaks.OnlyAtExit(s.runs)}
		c.Origins[rows[i].Text] = past.Origin()
	}
	return v.gone(ctx, c, at.ProjectID, at.ScenarioID, line.BuildIDsUpTo(at.BuildID))
}
