package year

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// A player plays a script against the store of the product: it saves results as a worker does, asks for verdicts as
// push does, and answers as a team does.
type player struct {
	*Script
	store      *store.Store
	project    string
	places     int
	behaviours []behaviour.Behaviour
	names      map[int][]string // signatures by stack
	answered   map[int]bool     // stacks of leaks that somebody accepted or took, until they come back
	waiting    map[lineLeak]int // builds since it came in, of those that no build failed for
	kept       map[lineLeak]int64
	there      map[lineLeak]bool  // by the newest build that was run
	newest     map[lineLeak]int64 // its sequence
	tally      *Tally
	strip      []string
	bad        bool
}

type lineLeak struct {
	branch string
	stack  int
}

// play plays a whole script, in a project of its own.
func (p *player) play(ctx context.Context) error {
	p.names, p.answered = map[int][]string{}, map[int]bool{}
	p.waiting, p.kept = map[lineLeak]int{}, map[lineLeak]int64{}
	p.there, p.newest = map[lineLeak]bool{}, map[lineLeak]int64{}
	var late *Build
	for _, b := range p.Builds {
		if b.Late && late == nil {
			late = b
			continue
		}
		if err := p.build(ctx, b); err != nil {
			return err
		}
		if late != nil {
			if err := p.build(ctx, late); err != nil {
				return err
			}
			late = nil
		}
	}
	return p.states(ctx)
}

func (p *player) build(ctx context.Context, b *Build) error {
	for run := range b.Runs {
		e, err := p.record(ctx, b, run, p.places, p.behaviours)
		if err != nil {
			return err
		}
		for name, stack := range e.stacks {
			if !slices.Contains(p.names[stack], name) {
				p.names[stack] = append(p.names[stack], name)
			}
		}
		id, err := p.save(ctx, b, run, e)
		if err != nil {
			return fmt.Errorf("build %s of seed %d: %w", b.Name, p.Seed, err)
		}
		e.run = id
		verdict, err := p.ask(ctx, id)
		if err != nil {
			return err
		}
		if err := p.judge(ctx, b, run, e, verdict); err != nil {
			return err
		}
	}
	return nil
}

// save stores the report as the jobs of a worker would.
func (p *player) save(ctx context.Context, b *Build, run int, e *evidence) (int64, error) {
	target := leaks.Target{Project: p.project, Build: b.Name, Sequence: &b.Sequence, Branch: b.Branch, Commit: b.Commit,
		Ancestors: b.Ancestors, Scenario: "soak", Run: fmt.Sprint(run + 1)}
	if err := target.Normalize(); err != nil {
		return 0, err
	}
	added, err := p.store.AddEvidence(ctx, target, store.Evidence{Name: "log.txt", SHA256: b.Name + target.Run + p.project, Bytes: 1, Kind: "umdh"})
	if err != nil {
		return 0, err
	}
	for { // read, name, analyse
		due, err := p.store.DueJobs(ctx, time.Hour)
		if err != nil || len(due) == 0 {
			return added.RunID, err
		}
		for _, job := range due {
			if err := p.work(ctx, job.ID, e); err != nil {
				return 0, err
			}
		}
	}
}

func (p *player) work(ctx context.Context, job int64, e *evidence) error {
	lease, err := p.store.ClaimJob(ctx, job, time.Minute)
	if err != nil {
		return err
	}
	switch lease.Kind {
	case store.JobRead:
		c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Shape: capture.ShapeSnapshot,
			Process: capture.Process{Name: "workload.exe", PID: 1, Bits: 64}, Snapshots: make([]capture.Snapshot, 1)}
		return p.store.SaveCaptures(ctx, lease, []store.StoredCapture{{Capture: c, Artifact: "none", Bytes: 1}})
	case store.JobSymbolise:
		naming, err := p.store.BeginNaming(ctx, lease.RunID)
		if err != nil {
			return err
		}
		return p.store.SaveNames(ctx, lease, naming, "")
	}
	in, err := store.Read(ctx, p.store, func(v store.View) (store.Input, error) { return v.InputOfRun(ctx, lease.RunID) })
	if err != nil {
		return err
	}
	return p.store.SaveResult(ctx, lease, store.Result{Report: e.report, Key: "report", Revision: in.Revision})
}

// ask asks for the verdict as push does, which fails on new leaks.
func (p *player) ask(ctx context.Context, run int64) (leaks.Verdict, error) {
	question := store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnNew}}
	verdict, err := store.Read(ctx, p.store, func(v store.View) (leaks.Verdict, error) {
		r, err := v.Run(ctx, run)
		if err != nil {
			return leaks.Verdict{}, err
		}
		return v.Verdict(ctx, &r, question)
	})
	if err != nil || verdict.Decision == nil {
		return verdict, fmt.Errorf("run %d has no verdict: %w", run, err)
	}
	return verdict, p.store.RecordDecision(ctx, run, question, verdict.Decision)
}

// answer is what the team does with a leak that a build failed for.
func (p *player) answer(ctx context.Context, b *Build, l *Leak, signature string) error {
	change := leaks.Change{Actor: "ann", Version: -1}
	who := "ann"
	switch {
	case l.Answer == Accept:
		change.Known = &leaks.Toleration{Reason: "accepted"}
	case l.Answer == Fix && b.Branch == "main" && l.Fixed == 0:
		l.Fixed = b.Number + 2
		if l.Back < 0 {
			l.Back = l.Fixed + 4
		}
		change.Assignee = &who
	case l.Answer == Fix && b.Branch == release && l.Picked == 0:
		l.Picked = b.Number + 2
		change.Assignee = &who
	default:
		change.Assignee = &who
	}
	p.answered[l.Stack] = true
	_, err := p.store.ChangeTriage(ctx, p.project, signature, change)
	return err
}
